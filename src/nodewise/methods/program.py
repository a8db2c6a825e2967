"""What a graph convolutional network does to a whole graph, as a list of passes over all nodes.

The same list is carried out in memory, in chunks from the disk, and for the neighbourhood of a few nodes; what it
computes is `GCN.graph` followed by the smoothing of `embed_nodes`.
"""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

from nodewise.encoders.gcn import GCN
from nodewise.methods.settings import Settings


class Pass(NamedTuple):
    """One pass, Z <- f(Z), the first from Z = X.

    Attributes:
        weight: (rows, columns) to multiply by, Z <- Z W, a node at a time; else neighbours are mixed, Z <- A Z.
        rectified: whether max(0, .) follows.
        teleport: a of a smoothing step, Z <- (1 - a) A Z + a Z_0; None in others.
        origin: whether the Z that comes in is the Z_0 of this and the following smoothing steps.
    """

    weight: Tensor | None = None
    rectified: bool = False
    teleport: float | None = None
    origin: bool = False

    def combine(self, mixed: Tensor, origin: Tensor | None) -> Tensor:
        """Return the rows of f(Z) from those of Z W or A Z, and those of Z_0 where there is one."""
        if self.rectified:
            return mixed.relu()
        if self.teleport is None or origin is None:
            return mixed
        return (1 - self.teleport) * mixed + self.teleport * origin


def program(encoder: GCN, run: int, settings: Settings) -> list[Pass]:
    """Return the passes of one run's encoder and of the smoothing that the settings ask for."""
    chosen, passes = encoder.settings, []
    for layer, weight in enumerate(encoder.weights_of(run)):
        last = layer == chosen.layers - 1
        passes += [Pass(weight), Pass(rectified=not last or chosen.final_activation)]
    for smoothing in (chosen, settings.embedding):
        passes += [Pass(teleport=smoothing.teleport, origin=step == 0) for step in range(smoothing.propagation)]
    return passes


def hops(passes: list[Pass]) -> int:
    """Return how far a node sees."""
    return sum(step.weight is None for step in passes)
