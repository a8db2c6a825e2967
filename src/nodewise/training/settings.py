"""Settings of training, and of everything a training step is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from nodewise.core.config import Checked, Count, CountOrNone, NotNegative, Range
from nodewise.core.errors import InputError
from nodewise.encoders.encoder import EncoderSettings
from nodewise.encoders.preparation import FeatureSettings
from nodewise.encoders.smoothing import SmoothingSettings
from nodewise.losses.node_infonce import LossSettings
from nodewise.sampling.adaptive import AdaptiveSampler
from nodewise.sampling.strategy import Strategy
from nodewise.views.walks import ViewSettings

MOST_RATE = 10.0
"""Adam moves every weight by about the learning rate at every step, and weights are about 0.1: more is a mistake."""


@dataclass(frozen=True)
class TrainingSettings(Checked, section="training"):
    """How long and how fast to learn.

    Attributes:
        steps: at most this many optimizer steps, one batch each.
        batch_size: nodes per batch; a graph with fewer is one batch. Batches of a pass are of equal size.
        learning_rate: of Adam.
        weight_decay: of Adam.
        patience: stop when the monitored loss has not fallen for this many looks; 0 never stops early and holds
            no nodes out.
        monitor_every: steps between two looks at the monitored loss.
        held_out: nodes kept out of training, at most a tenth of the graph, on which the loss is monitored.
        log_every: steps between two lines of metrics.jsonl.
        measure_every: steps between two looks at what the strategy did (`sampling.measures`), written to metrics.jsonl;
            0 for none. Every tenth step costs a few percent. Labels, where there are some, are read for this alone.
        precision: arithmetic of the encoder's products.
    """

    steps: CountOrNone = 50
    batch_size: Annotated[int, Range(2)] = 512
    learning_rate: float = 0.04
    weight_decay: NotNegative = 0.0
    patience: CountOrNone = 0
    monitor_every: Count = 5
    held_out: Annotated[int, Range(2)] = 500
    log_every: Count = 10
    measure_every: CountOrNone = 0
    precision: Literal["float32", "bfloat16"] = "float32"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.learning_rate <= MOST_RATE:
            rule = f"it must be above 0 and at most {MOST_RATE:g}"
            raise InputError(f"training.learning_rate is {self.learning_rate:g}; {rule}")


@dataclass(frozen=True)
class LearnerSettings:
    """Everything that decides the trained encoder."""

    features: FeatureSettings = field(default_factory=FeatureSettings)
    views: ViewSettings = field(default_factory=ViewSettings)
    encoder: EncoderSettings = field(default_factory=SmoothingSettings)
    sampling: Strategy = field(default_factory=AdaptiveSampler)
    loss: LossSettings = field(default_factory=LossSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
