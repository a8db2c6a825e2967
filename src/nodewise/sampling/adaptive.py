"""Adaptive negative sampling (Algorithm 2): remove class collisions, draw diverse negatives, weigh them.

It is the composition ``networks+dpp+similarity`` with a switch for each part, which are the rows of the ablation table;
each changes what it names and nothing else.
"""

from __future__ import annotations

from dataclasses import field

from nodewise.sampling.choose.diverse import DiverseDraw
from nodewise.sampling.choose.networks import CollisionSettings, NodeNetworks, NoNeighbors
from nodewise.sampling.dpp.settings import DppSettings
from nodewise.sampling.strategy import Joint, Strategy, strategy
from nodewise.sampling.weigh.similarity import SimilarityWeights, WeightSettings


@strategy("adaptive")
class AdaptiveSampler(Joint):
    """The paper's strategy: per-node discriminators, a determinantal draw and similarity weights.

    Attributes:
        collision: remove class-colliding negatives (the ablation's α).
        dpp: draw diverse negatives (the ablation's DPP); off by default, see `docs/choices.md`.
        weights: weigh negatives by similarity (the ablation's w).
        near_negatives: with collision off, count the K-hop neighbors among the negatives, as the plain loss does; with
            it on they never are negatives.
        class_collision: settings of the first switch.
        diversity: settings of the second.
        weighting: settings of the third.
    """

    collision: bool = True
    dpp: bool = False
    weights: bool = True
    near_negatives: bool = True
    class_collision: CollisionSettings = field(default_factory=CollisionSettings)
    diversity: DppSettings = field(default_factory=DppSettings)
    weighting: WeightSettings = field(default_factory=WeightSettings)

    @property
    def parts(self) -> tuple[Strategy, ...]:
        """What is switched on."""
        chosen: list[Strategy] = []
        if self.collision:
            chosen.append(NodeNetworks(**vars(self.class_collision)))
        elif not self.near_negatives:
            chosen.append(NoNeighbors(hops=self.class_collision.hops))
        if self.dpp:
            chosen.append(DiverseDraw(**vars(self.diversity)))
        if self.weights:
            chosen.append(SimilarityWeights(**vars(self.weighting)))
        return tuple(chosen)
