"""The strategies by name."""

from __future__ import annotations

from nodewise.core.registry import Registry
from nodewise.sampling.own import OwnStrategy
from nodewise.sampling.pairs import Strategy
from nodewise.sampling.settings import SamplingSettings

STRATEGIES: Registry[type[Strategy]] = Registry("strategy")
STRATEGIES.register("adaptive", "nodewise.sampling.adaptive:AdaptiveSampler")
STRATEGIES.register("all", "nodewise.sampling.all_in_batch:AllInBatch")
STRATEGIES.register("uniform", "nodewise.sampling.uniform:Uniform")
STRATEGIES.register("hard", "nodewise.sampling.hard:Hard")
STRATEGIES.register("debiased", "nodewise.sampling.debiased:Debiased")
STRATEGIES.register("quantile", "nodewise.sampling.quantile:SimilarityQuantile")


def build_strategy(settings: SamplingSettings) -> Strategy:
    """Build the strategy that `settings.strategy` names."""
    chosen = STRATEGIES.get(settings.strategy)
    if STRATEGIES.is_own(settings.strategy):
        return OwnStrategy(settings.strategy, chosen, settings)
    return chosen(settings)
