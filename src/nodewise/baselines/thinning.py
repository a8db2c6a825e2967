"""Views of a graph with some of its edges missing."""

from __future__ import annotations

import torch
from torch import Tensor

from nodewise.views.topology import Topology


class Thinning:
    """Leave out edges at random, both directions together, so that what is left is symmetric."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        nodes, rows = topology.num_nodes, torch.arange(topology.num_nodes, device=topology.device)
        self._rows = torch.repeat_interleave(rows, topology.degrees)
        place = torch.arange(len(self._rows), device=topology.device)
        # Entries are sorted by (row, column): sorted by (column, row), entry k of that order is the mirror of entry k.
        mirror = torch.argsort(topology.indices * nodes + self._rows)
        self._edge = torch.minimum(place, mirror)

    def adjacency(self, rate: float) -> Tensor:
        """Return D^-1/2 (A' + I) D^-1/2 as CSR (N, N), each edge absent from A' with probability `rate`."""
        kept = (torch.rand(len(self._edge), device=self._edge.device) >= rate)[self._edge]
        rows, columns = self._rows[kept], self._topology.indices[kept]
        return Topology.from_rows(rows, columns, self._topology.num_nodes).normalised_adjacency()
