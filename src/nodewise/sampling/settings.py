"""Settings of the sampling stage: the ablation's three switches, and what is behind each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from nodewise.core.config import MOST_DIMENSIONS, check_ranges
from nodewise.core.errors import InputError
from nodewise.sampling.dpp.settings import DppSettings


@dataclass(frozen=True)
class CollisionSettings:
    """How suspected positives are found among the negatives (Section 4.2).

    Attributes:
        alpha: the soft margin: j leaves S_i- when p_i+(j) / p_i-(j) > alpha. Above 1 it asks for more evidence.
        hops: K of N_K, the neighbourhood that begins S_i+.
        neighbours: members of N_K drawn for each query beside those that happen to be in its batch.
        mixup: mixed-up members added to S_i+.
        evidence: what F_i+ and F_i- look at: `embedding`, the embeddings in training (the paper's reading), or
            `consensus`, clusterings of perturbed copies of the graph, which do not echo the training.
        clusterings: number of clusterings behind `consensus`.
        hidden: width of F's hidden layer; 0 for linear networks.
        steps: gradient steps of F in each batch.
        learning_rate: size of those steps.
    """

    alpha: float = 1.5
    hops: int = 1
    neighbours: int = 4
    mixup: int = 4
    evidence: Literal["embedding", "consensus"] = "consensus"
    clusterings: int = 20
    hidden: int = 0
    steps: int = 5
    learning_rate: float = 4.0

    def __post_init__(self) -> None:
        if not self.alpha > 0:
            raise InputError(f"alpha is {self.alpha:g}; a ratio of probabilities needs a margin above 0, such as 0.9")
        check_ranges(
            self,
            alpha=(0, None),
            hops=(1, 16),
            neighbours=(1, 1000),
            mixup=(0, 1000),
            clusterings=(1, 1000),
            hidden=(0, MOST_DIMENSIONS),
            steps=(0, 10_000),
            learning_rate=(1e-12, 1e6),
        )


@dataclass(frozen=True)
class WeightSettings:
    """How negatives are weighted (Section 4.4).

    Attributes:
        temperature: τ_w.
        form: how the weight stays positive; see `weights.py`.
    """

    temperature: float = 2.0
    form: Literal["clamped", "softplus"] = "softplus"

    def __post_init__(self) -> None:
        check_ranges(self, temperature=(1e-9, 1e9))


@dataclass(frozen=True)
class RivalSettings:
    """Settings of the strategies other than `adaptive`.

    Attributes:
        share: part of the candidates that `uniform` keeps.
        concentration: β of `hard`: weights are proportional to exp(β score).
        positive_prior: τ+ of `debiased` (and of `hard`, which may combine both).
        quantile: part of the most similar candidates that `quantile` drops.
    """

    share: float = 0.5
    concentration: float = 0.5
    positive_prior: float = 0.1
    quantile: float = 0.1

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise InputError(f"share is {self.share:g}; it must be in (0, 1]")
        check_ranges(self, concentration=(0, 1e6))
        for name in ("positive_prior", "quantile"):
            if not 0 <= getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name):g}; it must be in [0, 1)")


@dataclass(frozen=True)
class SamplingSettings:
    """Which negatives a node is contrasted with.

    Attributes:
        strategy: a name from `nodewise strategies`, or your own class as `module:Class`.
        collision: remove class-colliding negatives (the ablation's α).
        dpp: draw diverse negatives (the ablation's DPP).
        weights: weigh negatives by similarity (the ablation's w).
        near_negatives: with collision off, count the K-hop neighbours among the negatives, as the plain loss does.
        class_collision: settings of the first switch.
        diversity: settings of the second.
        weighting: settings of the third.
        rivals: settings of the other strategies.
    """

    strategy: str = "adaptive"
    collision: bool = True
    dpp: bool = True
    weights: bool = True
    near_negatives: bool = True
    class_collision: CollisionSettings = field(default_factory=CollisionSettings)
    diversity: DppSettings = field(default_factory=DppSettings)
    weighting: WeightSettings = field(default_factory=WeightSettings)
    rivals: RivalSettings = field(default_factory=RivalSettings)
