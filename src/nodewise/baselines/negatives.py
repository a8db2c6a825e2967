"""What the methods that contrast edges or walks with noise draw it from."""

from __future__ import annotations

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.views.topology import Topology


class DegreeNoise:
    """Nodes drawn with a probability proportional to degree^power, the unigram noise of word2vec at 3/4."""

    def __init__(self, topology: Topology, power: float = 0.75) -> None:
        # Isolated nodes are in no walk's context, so they are no noise either: 0^power = 0.
        self._filled = topology.degrees.to(torch.float64).pow(power).cumsum(0)

    def draw(self, key: int, shape: tuple[int, ...]) -> Tensor:
        """Return nodes, int64 of this shape, that are a function of the key alone."""
        index = torch.arange(torch.Size(shape).numel(), device=self._filled.device)
        height = rng.uniform64(key, index) * self._filled[-1]
        found = torch.searchsorted(self._filled, height, right=True)
        return found.clamp_(max=len(self._filled) - 1).view(shape)


def non_edges(topology: Topology, count: int, key: int) -> Tensor:
    """Return about `count` uniformly drawn pairs (2, n) of two different nodes that no edge joins.

    Pairs that turn out to be edges are left out, not drawn again: in a sparse graph they are few.
    """
    index = torch.arange(count, device=topology.device)
    sources, targets = (rng.below(topology.num_nodes, rng.fold(key, end), index) for end in (0, 1))
    kept = (sources != targets) & ~topology.has_edge(sources, targets)
    return torch.stack([sources[kept], targets[kept]])
