"""What every encoder can do, its settings, and how a subgraph becomes one vector."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, NamedTuple

import torch
from torch import Tensor, nn

from nodewise.core.config import Checked, Layers, Size
from nodewise.core.errors import InputError, seen
from nodewise.core.parts import Part
from nodewise.core.registry import Registry, name_in_files, told_as_own
from nodewise.encoders.features import Features
from nodewise.encoders.own import guard
from nodewise.views.subgraphs import Subgraphs, induced_subgraphs
from nodewise.views.topology import Topology
from nodewise.views.walks import ViewSettings, random_walks


class Encoder(nn.Module, ABC):
    """S graph neural networks that embed subgraphs or whole graphs with the same weights."""

    static = False
    """Whether the shapes of a step never depend on values, so that a GPU can replay it."""

    directions = False
    """Whether it sees the directions of edges, where they have any."""

    num_runs = 1
    """S, as `built` writes here."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        guard(cls, Encoder)

    def start(self, features: Features, topology: Topology, seeds: Tensor) -> None:
        """Set the weights that training begins with, where they depend on the graph; called once, before training."""

    def views(
        self,
        features: Features,
        topology: Topology,
        starts: Tensor,
        chosen: ViewSettings,
        key: Tensor,
        noise: Tensor | None = None,
    ) -> Tensor:
        """Embed one random view of each start (S, B) -> (S, B, d): walk, induced subgraph, readout (Algorithm 1).

        `key` names the draw of the walks, `noise` those of dropout and masks, if any.
        """
        walks = random_walks(topology, starts, chosen.length, key, restart=chosen.restart, lazy=chosen.lazy)
        return self.subgraphs(features, induced_subgraphs(topology, walks), noise)

    def finish(self, rows: Tensor) -> Tensor:
        """Return the vectors (..., d) of nodes from what the last pass over the graph leaves of them."""
        return rows

    @abstractmethod
    def subgraphs(self, features: Features, views: Subgraphs, noise: int | Tensor | None = None) -> Tensor:
        """Embed subgraphs of (S, B, L) nodes -> (S, B, d); `noise` names the draws of dropout and masks, if any."""

    @abstractmethod
    def weights_of(self, run: int) -> list[Tensor]:
        """Return one run's weights, as views: writing to them changes the encoder."""

    @abstractmethod
    def graph(self, features: Features, topology: Topology) -> Tensor:
        """Embed every node of a graph -> (S, N, d), without gradient."""

    def passes(self, run: int) -> list[Pass] | None:
        """Return what `graph` computes for one run as passes over all nodes; None where it has no such form.

        With passes a graph is embedded some rows at a time, from the disk, or for a few nodes only.
        """
        return None

    def face_passes(self, run: int) -> list[Pass] | None:
        """Return the same where edges have directions, so that what is mixed are halves of the coordinates."""
        return self.passes(run)


class Pass(NamedTuple):
    """One pass over all nodes, Z <- f(Z), the first from Z = X.

    Attributes:
        weight: (rows, columns) to multiply by, Z <- Z W, a node at a time; else neighbors are mixed, Z <- A Z.
        rectified: whether max(0, .) follows.
        teleport: a of a smoothing step, Z <- (1 - a) A Z + a Z_0, one or of each column; None in others.
        origin: whether the Z that comes in is the Z_0 of this and the following smoothing steps.
    """

    weight: Tensor | None = None
    rectified: bool = False
    teleport: float | Tensor | None = None
    origin: bool = False

    def combine(self, mixed: Tensor, origin: Tensor | None) -> Tensor:
        """Return the rows of f(Z) from those of Z W or A Z, and those of Z_0 where there is one."""
        if self.rectified:
            return mixed.relu()
        if self.teleport is None or origin is None:
            return mixed
        return (1 - self.teleport) * mixed + self.teleport * origin


def smoothing_passes(steps: int, teleport: float | Tensor) -> list[Pass]:
    """Return the passes of so many steps of personalised-PageRank smoothing."""
    return [Pass(teleport=teleport, origin=step == 0) for step in range(steps)]


ENCODERS: Registry[type[EncoderSettings]] = Registry("encoder", "nodewise.encoders")
encoder = ENCODERS.register


class EncoderSettings(Checked, Part, section="encoder"):
    """What turns a subgraph, or a graph, into embeddings.

    An encoder of your own is a subclass with further settings and a method `build`, registered by the decorator
    `encoder` or named as ``module:Class``.

    Attributes:
        dimension: size d of the embedding.
    """

    key: ClassVar[str] = "kind"
    registry: ClassVar[Registry[Any]] = ENCODERS

    dimension: Size = 512

    @classmethod
    def upgraded(cls, section: Mapping[str, Any]) -> Mapping[str, Any]:
        """Read settings from when every encoder had those of the GCN."""
        if section.get(cls.key) not in ("gat", "sage", "gin") or section.get("propagation") != 0:
            return section
        return {key: value for key, value in section.items() if key not in ("propagation", "teleport")}

    def build(self, num_features: int, seeds: Tensor) -> Encoder:
        """Build the encoder of each seed (S,)."""
        raise TypeError(f"{type(self).__name__} must say what it builds: define build(self, num_features, seeds)")


ENCODERS.base = EncoderSettings


def built(settings: EncoderSettings, num_features: int, seeds: Tensor) -> Encoder:
    """Build the encoder of each seed (S,); where one of the user's own fails, say so in one line."""
    with told_as_own("encoder", type(settings)):
        found = settings.build(num_features, seeds)
    if not isinstance(found, Encoder):
        name, base = name_in_files(type(settings)), f"{Encoder.__module__}.{Encoder.__qualname__}"
        raise InputError(f"encoder {name}: build returned {seen(found)}, no {base}", code="own-code-failed")
    found.num_runs = len(seeds)
    return found


def refuse_all(name: str, share: float) -> None:
    """Raise InputError unless a share that is hidden from training leaves something."""
    if not 0 <= share < 1:
        raise InputError(f"encoder.{name} is {share}; it must be in [0, 1)")


class LayeredSettings(EncoderSettings):
    """Settings of graph neural networks with layers and a readout.

    Attributes:
        feature_mask: share of feature columns hidden from each view.
        layers: number of layers.
        final_activation: whether the last layer ends in a ReLU, as the formula of Section 4.1 says.
        readout: how a subgraph becomes one vector.
        dropout: share of hidden units dropped before every layer but the first. A node's units are dropped
            alike wherever it occurs in one view.
    """

    feature_mask: float = 0.2
    layers: Layers = 1
    final_activation: bool = False
    readout: Literal["sigmoid_mean_max", "mean_max", "mean", "center"] = "center"
    dropout: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_all("feature_mask", self.feature_mask)
        refuse_all("dropout", self.dropout)


LINEAR = ("mean", "center")


def linear_row(name: str, mask: Tensor) -> Tensor:
    """Return the row r (..., L) of a linear readout r^T H; mask (..., L) marks the real nodes."""
    if name == "mean":
        return mask.to(torch.float32) / mask.sum(-1, keepdim=True)
    row = torch.zeros(mask.shape, device=mask.device)
    row[..., 0] = 1.0
    return row


def readout(name: str, embeddings: Tensor, mask: Tensor) -> Tensor:
    """Pool (..., L, d) over the real nodes to (..., d)."""
    if name in LINEAR:
        return (linear_row(name, mask).unsqueeze(-2) @ embeddings).squeeze(-2)
    mean = (linear_row("mean", mask).unsqueeze(-2) @ embeddings).squeeze(-2)
    largest = embeddings.masked_fill(~mask.unsqueeze(-1), -torch.inf).amax(-2)
    return torch.sigmoid(mean + largest) if name == "sigmoid_mean_max" else mean + largest
