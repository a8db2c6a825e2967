"""All settings of the node embedder, and the literal reading of the paper as a preset."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from nodewise.core.config import Checked, Range, Share
from nodewise.core.errors import InputError, did_you_mean
from nodewise.encoders.gcn import GCNSettings
from nodewise.encoders.preparation import FeatureSettings
from nodewise.losses.node_infonce import LossSettings
from nodewise.sampling.adaptive import AdaptiveSampler
from nodewise.sampling.choose.networks import CollisionSettings
from nodewise.sampling.dpp.settings import DppSettings
from nodewise.sampling.weigh.similarity import WeightSettings
from nodewise.training.settings import LearnerSettings, TrainingSettings
from nodewise.views.walks import ViewSettings


@dataclass(frozen=True)
class EmbeddingSettings(Checked, section="embedding"):
    """How the trained encoder embeds nodes.

    Attributes:
        mode: `graph`, the encoder over the whole graph, H = G(X, A); or `walks`, the mean readout of some walks.
        walks: number R of walks per node in mode `walks`.
        propagation: steps of personalised-PageRank smoothing of the result, in mode `graph`.
        teleport: weight of the unsmoothed embedding in each of them.
        length: scale every vector to this length; None leaves them as they come. A linear classifier trained for so
            many steps of one size is the more regularized the shorter its inputs.
    """

    mode: Literal["graph", "walks"] = "graph"
    walks: Annotated[int, Range(1, 10_000)] = 8
    propagation: Annotated[int, Range(0, 1000)] = 0
    teleport: Share = 0.1
    length: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.length is not None and not 1e-6 <= self.length <= 1e6:
            raise InputError(f"embedding.length is {self.length:g}; it must be from 1e-06 to 1e+06, or none")


@dataclass(frozen=True)
class Settings(LearnerSettings):
    """Everything that decides the embeddings; the defaults are the best-evidenced reading of the paper."""

    embedding: EmbeddingSettings = field(default_factory=EmbeddingSettings)

    @property
    def adaptive(self) -> AdaptiveSampler:
        """The strategy, where it must be the paper's, whose parts can be switched."""
        if not isinstance(self.sampling, AdaptiveSampler):
            raise InputError(f"sampling.strategy is {self.sampling.name!r}; only 'adaptive' has parts to switch off")
        return self.sampling

    @classmethod
    def preset(cls, name: str) -> Settings:
        """Return the settings that a name stands for: `default` or `paper`."""
        if name == "default":
            return cls()
        if name == "paper":
            return cls._paper()
        raise InputError(f"unknown preset {name!r}{did_you_mean(str(name), ('default', 'paper'))}")

    @classmethod
    def _paper(cls) -> Settings:
        """Return the paper's text read literally, also where it is known to learn badly."""
        return cls(
            features=FeatureSettings(scaling="none", unit_rows=False),
            encoder=GCNSettings(
                layers=2, final_activation=True, readout="sigmoid_mean_max", dropout=0.7, feature_mask=0.0
            ),
            views=ViewSettings(length=25),
            sampling=AdaptiveSampler(
                dpp=True,
                class_collision=CollisionSettings(alpha=0.9, evidence="embedding", hidden=16),
                diversity=DppSettings(law="literal"),
                weighting=WeightSettings(temperature=1.0, form="clamped"),
            ),
            loss=LossSettings(score="dot", temperature=1.0),
            # All 2000 epochs: the loss it would stop by rises from the first step, and step 0 would be what is kept.
            training=TrainingSettings(steps=2000, batch_size=1000, learning_rate=0.001, patience=0),
            embedding=EmbeddingSettings(propagation=0),
        )
