"""Settings of the encoder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nodewise.core.config import MOST_DIMENSIONS, MOST_LAYERS, check_ranges
from nodewise.core.errors import InputError


@dataclass(frozen=True)
class EncoderSettings:
    """What turns a subgraph, or a graph, into embeddings.

    Attributes:
        kind: the graph neural network; `gcn` is the paper's.
        dimension: size d of the embedding and of the hidden layers.
        layers: number of layers.
        final_activation: whether the last layer ends in a ReLU, as the formula of Section 4.1 says.
        readout: how a subgraph becomes one vector.
        dropout: share of hidden units dropped before every layer but the first. A node's units are dropped
            alike wherever it occurs in one view.
        feature_mask: share of feature columns hidden from each view.
        propagation: steps of personalised-PageRank smoothing after the last layer.
        teleport: weight a of the unsmoothed embedding in each such step, Z <- (1 - a) A Z + a Z_0.
    """

    kind: Literal["gcn", "gat", "sage", "gin"] = "gcn"
    dimension: int = 512
    layers: int = 1
    final_activation: bool = False
    readout: Literal["sigmoid_mean_max", "mean_max", "mean", "center"] = "center"
    dropout: float = 0.0
    feature_mask: float = 0.2
    propagation: int = 0
    teleport: float = 0.1

    def __post_init__(self) -> None:
        check_ranges(
            self,
            "encoder",
            dimension=(1, MOST_DIMENSIONS),
            layers=(1, MOST_LAYERS),
            propagation=(0, 1000),
            teleport=(0, 1),
        )
        for name in ("dropout", "feature_mask"):
            if not 0 <= getattr(self, name) < 1:
                raise InputError(f"encoder.{name} is {getattr(self, name)}; it must be in [0, 1)")
        if self.propagation and self.kind != "gcn":
            raise InputError(f"encoder.propagation works with encoder.kind = 'gcn', not {self.kind!r}")
