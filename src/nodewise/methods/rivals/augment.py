"""Features with whole columns hidden, dense or sparse."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.core.progress import Progress
from nodewise.methods.inputs import Inputs
from nodewise.views.diffusion import DiffusionSettings, diffuse
from nodewise.views.topology import Topology, csr_tensor


def drop_columns(x: Tensor, rate: float) -> Tensor:
    """Set each column of the features (N, F) to zero with probability `rate`."""
    kept = (torch.rand(x.shape[1], device=x.device) >= rate).to(x.dtype)
    if x.layout == torch.strided:
        return x * kept
    values = x.values() * kept[x.col_indices()]
    return csr_tensor(x.crow_indices(), x.col_indices(), values, (x.shape[0], x.shape[1]))


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


# Training and embedding ask for the same matrix; it goes when the inputs do.
_KNOWN: WeakKeyDictionary[Inputs, dict[DiffusionSettings, Tensor]] = WeakKeyDictionary()


def diffusion_tensor(inputs: Inputs, settings: DiffusionSettings, progress: Progress) -> Tensor:
    """Return S as sparse CSR (N, N), float32, on the device of the inputs."""
    known = _KNOWN.setdefault(inputs, {})
    if settings not in known:
        matrix = diffuse(inputs.graph, settings, progress)
        indptr, indices = (torch.as_tensor(part, dtype=torch.int64) for part in (matrix.indptr, matrix.indices))
        size = (inputs.num_nodes, inputs.num_nodes)
        known[settings] = csr_tensor(indptr, indices, torch.as_tensor(matrix.data), size).to(inputs.device)
    return known[settings]
