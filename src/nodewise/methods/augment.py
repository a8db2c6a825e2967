"""What rivals change about a graph: columns of features hidden, edges left out or diffused, nodes and pairs drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.core.config import Checked, Share
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

    Pairs that turn out to be edges are left out, not drawn again: in a sparse graph they are few.
    """
    index = torch.arange(count, device=topology.device)
    sources, targets = (rng.below(topology.num_nodes, rng.fold(key, end), index) for end in (0, 1))
    kept = (sources != targets) & ~topology.has_edge(sources, targets)
    return torch.stack([sources[kept], targets[kept]])


def edges_of(adjacency: Tensor) -> Tensor:
    """Return the entries of a CSR adjacency (N, N) off the diagonal that are not zero as (2, n): rows, columns."""
    rows = torch.arange(adjacency.shape[0], device=adjacency.device)
    pairs = torch.stack([rows.repeat_interleave(adjacency.crow_indices().diff()), adjacency.col_indices()])
    return pairs[:, (pairs[0] != pairs[1]) & (adjacency.values() != 0)]


_AT_ONCE = 1 << 25  # similarities held at a time
_ONE_IN = 32  # the share of a GPU's memory that the similarities of one sum may keep for the gradient


def row_sums(first: Tensor, second: Tensor, of: Callable[[Tensor], Tensor]) -> Tensor:
    """Return Σ_j of(a_i · b_j) of rows a (N, d) and b (M, d): (N,).

    Of all N x M similarities only some rows are held at a time. The gradient of b computes them again, unless they are
    few enough to be kept.
    """
    kept = len(first) * len(second) <= _few(first.device)
    sums: Tensor = _RowSums.apply(first, second, of, kept)  # type: ignore[no-untyped-call]
    return sums


def sum_of_all(first: Tensor, second: Tensor, of: Callable[[Tensor], Tensor]) -> Tensor:
    """Return Σ_ij of(a_i · b_j) of rows a (N, d) and b (M, d); its gradients take one pass over the similarities."""
    total: Tensor = _SumOfAll.apply(first, second, of)  # type: ignore[no-untyped-call]
    return total


def _few(device: torch.device) -> int:
    """Return how many similarities may be kept from the sum to its gradient."""
    if device.type != "cuda":
        return _AT_ONCE
    return int(torch.cuda.get_device_properties(device).total_memory) // (4 * _ONE_IN)


def _value_and_slope(likeness: Tensor, of: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
    """Return of(s) and of'(s) for every similarity s."""
    with torch.enable_grad():
        found = of(likeness.requires_grad_())
        (slope,) = torch.autograd.grad(found.sum(), likeness)
    return found.detach(), slope


class _RowSums(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, first: Tensor, second: Tensor, of: Callable[[Tensor], Tensor], kept: bool) -> Tensor:
        sums, towards, slopes = [], [], []
        with tensor_cores(first.is_cuda):
            for rows in torch.split(first, max(1, _AT_ONCE // len(second))):
                value, slope = _value_and_slope(rows @ second.T, of)
                sums.append(value.sum(1))
                towards.append(slope @ second)
                if kept:
                    slopes.append(slope)
        ctx.save_for_backward(first, second, torch.cat(towards), *slopes)
        ctx.of = of
        return torch.cat(sums)

    @staticmethod
    def backward(ctx: Any, *outputs: Tensor) -> tuple[Tensor, Tensor, None, None]:
        first, second, towards, *slopes = ctx.saved_tensors
        weights = outputs[0].unsqueeze(1)
        weighted, gradient = first * weights, torch.zeros_like(second)
        block = max(1, _AT_ONCE // len(second))
        with tensor_cores(first.is_cuda):
            for number, rows in enumerate(torch.split(weighted, block)):
                if slopes:
                    slope = slopes[number]
                else:
                    slope = _value_and_slope(first[number * block : (number + 1) * block] @ second.T, ctx.of)[1]
                gradient.addmm_(slope.T, rows)
        return towards * weights, gradient, None, None


class _SumOfAll(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, first: Tensor, second: Tensor, of: Callable[[Tensor], Tensor]) -> Tensor:
        total, towards, back = first.new_zeros(()), [], torch.zeros_like(second)
        with tensor_cores(first.is_cuda):
            for rows in torch.split(first, max(1, _AT_ONCE // len(second))):
                value, slope = _value_and_slope(rows @ second.T, of)
                total += value.sum()
                towards.append(slope @ second)
                back.addmm_(slope.T, rows)
        ctx.save_for_backward(torch.cat(towards), back)
        return total

    @staticmethod
    def backward(ctx: Any, *outputs: Tensor) -> tuple[Tensor, Tensor, None]:
        towards, back = ctx.saved_tensors
        return outputs[0] * towards, outputs[0] * back, None


@contextmanager
def tensor_cores(there: bool) -> Iterator[None]:
    """Let a GPU multiply with its tensor cores, if it is `there`: similarities need no more digits than they have."""
    before = torch.get_float32_matmul_precision()
    try:
        if there:
            torch.set_float32_matmul_precision("high")
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def k_means(points: Tensor, clusters: int, iterations: int) -> tuple[Tensor, Tensor]:
    """Return the centers (C, d) and each point's cluster (N,) after some of Lloyd's iterations from random points."""
    centers, nearest = several_k_means(points, clusters, iterations, 1)
    return centers[0], nearest[0]


@torch.no_grad()
def several_k_means(points: Tensor, clusters: int, iterations: int, times: int) -> tuple[Tensor, Tensor]:
    """Return the centers (m, C, d) and each point's cluster (m, N) of several k-means of the same points (N, d)."""
    orders = [torch.randperm(len(points), device=points.device)[:clusters] for _ in range(times)]
    if points.is_cuda:
        return lloyd_at_once(points, torch.stack([points[order] for order in orders]), iterations)
    found = [lloyd(points, points[order].clone(), iterations) for order in orders]
    return torch.stack([centers for centers, _ in found]), torch.stack([nearest for _, nearest in found])


def lloyd(points: Tensor, centers: Tensor, iterations: int) -> tuple[Tensor, Tensor]:
    """Return centers (C, d) and clusters (N,) after some iterations; those that stay as they are cost nothing.

    A center moves only where its members change, so only similarities to such centers are computed anew.
    """
    likeness = centers.square().sum(1) - 2 * (points @ centers.T)
    nearest = likeness.argmin(1)
    sums, sizes = _cluster_sums(points, nearest, len(centers))
    moved = torch.arange(len(centers))
    for _ in range(iterations):
        centers[moved] = torch.where(
            sizes[moved].unsqueeze(1) > 0, sums[moved] / sizes[moved].clamp(min=1).unsqueeze(1), centers[moved]
        )
        some = centers[moved]
        likeness[:, moved] = some.square().sum(1) - 2 * (points @ some.T)
        before, nearest = nearest, likeness.argmin(1)
        left, come = before[nearest != before], nearest[nearest != before]
        if not len(come):
            break
        moved = torch.bincount(torch.cat([left, come]), minlength=len(centers)).nonzero().squeeze(1)
        sums, sizes = _cluster_sums(points, nearest, len(centers))
    return centers, nearest


def _cluster_sums(points: Tensor, nearest: Tensor, clusters: int) -> tuple[Tensor, Tensor]:
    sums = points.new_zeros(clusters, points.shape[1]).index_add_(0, nearest, points)
    return sums, torch.bincount(nearest, minlength=clusters)


def lloyd_at_once(points: Tensor, centers: Tensor, iterations: int) -> tuple[Tensor, Tensor]:
    """Return what `lloyd` does of several centers (m, C, d), for a GPU: few large products, and nothing to wait for."""
    times, clusters, size = centers.shape
    twice = 2 * points

    def assigned() -> Tensor:
        likeness = (twice @ centers.view(-1, size).T).view(-1, times, clusters)
        return (centers.square().sum(2) - likeness).argmin(2)  # (N, m)

    names = torch.arange(clusters, device=points.device)
    for _ in range(iterations):
        members = (assigned().unsqueeze(2) == names).to(points.dtype).view(len(points), -1)  # (N, m C)
        sizes = members.sum(0).view(times, clusters, 1)
        sums = (members.T @ points).view_as(centers)
        centers = torch.where(sizes > 0, sums / sizes.clamp(min=1), centers)
    return centers, assigned().T


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
