"""What rivals change about a graph: columns of features hidden, edges left out or diffused, nodes and pairs drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.core.config import Checked, Share
from nodewise.core.errors import InputError
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
    """Leave out edges at random, each direction for itself, as the authors of methods with views do.

    All graphs that it returns have the entries of the whole one; those that are missing are zero. So their places are
    found once, no shape depends on what was drawn, which would make a processor wait for a GPU, and the transpose of
    one graph says how to transpose the others (`nodewise.methods.products`).
    """

    def __init__(self, topology: Topology) -> None:
        self._topology, whole = topology, topology.normalized_adjacency()
        nodes = torch.arange(topology.num_nodes, device=topology.device)
        self._starts, self._columns = whole.crow_indices(), whole.col_indices()
        self._rows = nodes.repeat_interleave(self._starts.diff())
        self._edges = (self._rows != self._columns).nonzero().squeeze(1)
        # Entries are sorted by (row, column): sorted by (column, row), entry k of that order is the mirror of entry k.
        rows, columns = self._rows[self._edges], self._columns[self._edges]
        self._mirror = torch.argsort(columns * topology.num_nodes + rows)

    def adjacency(self, rate: float) -> Tensor:
        """Return D^-1/2 (A' + I) C^-1/2 as CSR (N, N), each entry zero in A' with probability `rate`.

        D and C are the sums of the rows and of the columns.
        """
        return self.of(self.draw(rate))

    def draw(self, rate: float) -> Tensor:
        """Draw which entries (2E,) stay, each with probability 1 - `rate`."""
        return torch.rand(len(self._mirror), device=self._mirror.device) >= rate

    def either(self, kept: Tensor) -> Tensor:
        """Return the entries (2E,) that stay, and their mirrors."""
        return kept | kept[self._mirror]

    def of(self, kept: Tensor) -> Tensor:
        """Return the normalized adjacency of the entries (2E,) that stay."""
        whole = self._topology
        weights = whole.loops[self._rows]
        weights[self._edges] = (kept if whole.weights is None else whole.weights * kept).to(weights.dtype)
        received, sent = (self._sums(ends, weights) for ends in (self._rows, self._columns))
        return self._matrix(weights * (received[self._rows] * sent[self._columns]).rsqrt())

    def received(self, kept: Tensor | None = None) -> Tensor:
        """Return D^-1/2 (A'^T + I) D^-1/2 of the entries (2E,) that stay, or of all, without weights.

        This is what torch_geometric makes of edges from rows to columns: D counts what a node receives.
        """
        weights = torch.ones(len(self._rows), device=self._rows.device)
        if kept is not None:
            weights[self._edges] = kept[self._mirror].to(weights.dtype)
        scale = self._sums(self._rows, weights).rsqrt()
        return self._matrix(weights * (scale[self._rows] * scale[self._columns]))

    def _sums(self, ends: Tensor, weights: Tensor) -> Tensor:
        return weights.new_zeros(self._topology.num_nodes).index_add_(0, ends, weights)

    def _matrix(self, values: Tensor) -> Tensor:
        return csr_tensor(self._starts, self._columns, values, (self._topology.num_nodes, self._topology.num_nodes))


@dataclass(frozen=True)
class TwoViewSettings(Checked):
    """What is missing from each of two views.

    Attributes:
        drop_edges_1: share of edges missing from the first view.
        drop_edges_2: and from the second.
        drop_features_1: share of feature columns hidden from the first view.
        drop_features_2: and from the second.
    """

    drop_edges_1: Share = 0.2
    drop_edges_2: Share = 0.3
    drop_features_1: Share = 0.2
    drop_features_2: Share = 0.1


def drops(edges_1: float, edges_2: float, features_1: float, features_2: float) -> dict[str, Any]:
    """Return the four settings of two views, as the papers' tables list them."""
    return dict(zip(TwoViewSettings.__dataclass_fields__, (edges_1, edges_2, features_1, features_2), strict=True))


class Views:
    """Views of a graph: features with columns hidden (N, F), and the adjacency without some edges (N, N)."""

    def __init__(self, inputs: Inputs) -> None:
        self._x, self._thinning = inputs.x, Thinning(inputs.topology)

    def draw(self, drop_edges: float, drop_features: float) -> tuple[Tensor, Tensor]:
        """Draw one view."""
        return drop_columns(self._x, drop_features), self._thinning.adjacency(drop_edges)

    def pair(self, settings: TwoViewSettings) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
        """Draw both views."""
        first = self.draw(settings.drop_edges_1, settings.drop_features_1)
        return first, self.draw(settings.drop_edges_2, settings.drop_features_2)


class DegreeNoise:
    """Nodes drawn with a probability proportional to (weighted) degree^power, the unigram noise of word2vec at 3/4."""

    def __init__(self, topology: Topology, power: float = 0.75) -> None:
        # Isolated nodes are in no walk's context, so they are no noise either: 0^power = 0.
        self._filled = topology.strengths.pow(power).cumsum(0)

    def draw(self, key: int, shape: tuple[int, ...]) -> Tensor:
        """Return nodes, int64 of this shape, that are a function of the key alone."""
        index = torch.arange(torch.Size(shape).numel(), device=self._filled.device)
        height = rng.uniform64(key, index) * self._filled[-1]
        found = torch.searchsorted(self._filled, height, right=True)
        return found.clamp_(max=len(self._filled) - 1).view(shape)


def non_edges(topology: Topology, count: int, key: int) -> Tensor:
    """Return about `count` uniformly drawn pairs (2, n) of two different nodes that no edge joins.

    Pairs that turn out to be edges are left out, not drawn again: in a sparse graph they are few. Where none is left,
    as in a small or a nearly complete graph, all pairs that there are stand in.
    """
    index = torch.arange(count, device=topology.device)
    sources, targets = (rng.below(topology.num_nodes, rng.fold(key, end), index) for end in (0, 1))
    kept = (sources != targets) & ~topology.has_edge(sources, targets)
    pairs = torch.stack([sources[kept], targets[kept]])
    return pairs if pairs.shape[1] else _all_non_edges(topology)


def _all_non_edges(topology: Topology) -> Tensor:
    nodes = torch.arange(topology.num_nodes, device=topology.device)
    apart = ~topology.has_edge(nodes[:, None], nodes)
    apart.fill_diagonal_(False)
    if not apart.any():
        raise InputError(
            "every two nodes are joined by an edge; this method learns to tell edges from pairs without one",
            code="no-non-edges",
        )
    return apart.nonzero().T


def edges_of(adjacency: Tensor) -> Tensor:
    """Return the entries of a CSR adjacency (N, N) off the diagonal that are not zero as (2, n): rows, columns."""
    rows = torch.arange(adjacency.shape[0], device=adjacency.device)
    pairs = torch.stack([rows.repeat_interleave(adjacency.crow_indices().diff()), adjacency.col_indices()])
    return pairs[:, (pairs[0] != pairs[1]) & (adjacency.values() != 0)]


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
