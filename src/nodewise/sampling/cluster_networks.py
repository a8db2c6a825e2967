"""Linear networks F_i+ and F_i- that see descriptions by clusters (Section 4.2).

The fast twin of `discriminators.log_ratio` on `Descriptions.dense()`: the same networks, but for rounding. On a CPU it
needs neither the descriptions nor the mixed-up members as vectors, on a GPU only indicators of the clusters in use:

- A logit is a sum of R weights (`cluster_sums`).
- Inputs z_j are centered and scaled there: F(z) = w . (z - m) / s + b, with m the mean of the candidates. Here m is
  subtracted from sums, and s² = mean |z - m|² = (1/R) sum_c f_c (1 - f_c), with f_c the share of candidates in c.
- R weights are added in any case, so a bias is a number that all weights have in common: b / R.
- F is affine, so the logit of a mixed-up member is that mixture of its two members' logits, and its error is divided
  between them in the same way.
- F_i- is kept as its negative -F_i-, whose classes are those of F_i+.

Weights are drawn for clusters that have nodes, by the number of their column, as for vectors of the full length.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import embedding_bag, logsigmoid

from nodewise.core import rng
from nodewise.sampling.descriptions import Descriptions
from nodewise.sampling.discriminators import Queries, class_balance, draw_weights

_QUERIES_AT_ONCE = 256  # on a CPU, so that their weights and errors stay in its cache


def cluster_log_ratio(
    candidates: Descriptions,
    members: Descriptions,
    shares: Tensor,
    queries: Queries,
    *,
    steps: int = 10,
    learning_rate: float = 1.0,
) -> Tensor:
    """Fit F_i+ and F_i- for every query and return log(p_i+(j) / p_i-(j)) for every candidate.

    Args:
        candidates: descriptions of (S, M) nodes.
        members: descriptions of (S, B, P) members of S_i+ that need not be candidates.
        shares: (S, B, T, P), what each of T further members has of those (`mixup.mixup_shares`).
        queries: whose networks.
        steps: steps of full-batch gradient descent.
        learning_rate: its step size.

    Returns:
        (S, B, M).
    """
    near, nodes, key = queries
    runs, count, _ = near.shape
    columns, clusterings = candidates.columns.shape[-1], candidates.clusters.shape[-1]
    positive, negative = class_balance(near, sum(shares.shape[-2:]))

    def fit(seen: CandidateSums, own: MemberSums, run: slice, some: slice) -> Tensor:
        part = (run, some)
        name = key[run] if isinstance(key, Tensor) else key
        table = _initial(candidates.columns[run], candidates.width, nodes[part], name)
        classes = (near[part], positive[part], negative[part])
        return _fit(table, seen, own, shares[part], classes, clusterings, steps, learning_rate)

    if not _gathers(near.device):
        dense = DenseCandidates(candidates.clusters, columns)
        return fit(dense, DenseMembers(members.clusters, columns), slice(None), slice(None))
    stack = []
    for run in range(runs):
        gathered = GatheredCandidates(candidates.clusters[run], columns)
        rows = []
        for first in range(0, count, _QUERIES_AT_ONCE):
            some = slice(first, first + _QUERIES_AT_ONCE)
            rows.append(fit(gathered, GatheredMembers(members.clusters[run, some]), slice(run, run + 1), some))
        stack.append(torch.cat(rows, dim=1))
    return torch.cat(stack)


def _gathers(device: torch.device) -> bool:
    """Tell in which of the two ways of `cluster_sums` a device takes sums."""
    return device.type == "cpu"


def _initial(columns: Tensor, width: int, nodes: Tensor, key: int | Tensor) -> Tensor:
    """Draw the weights of every F_i+ and F_i-: (S, C, 2, B)."""
    streams = torch.stack([rng.fold(rng.fold(rng.fold(key, kind), 0), nodes) for kind in (1, 0)], dim=1)
    return draw_weights(streams.unsqueeze(1), columns[:, :, None, None], width + 1)


def _fit(
    weights: Tensor,
    candidates: CandidateSums,
    members: MemberSums,
    shares: Tensor,
    classes: tuple[Tensor, Tensor, Tensor],
    clusterings: int,
    steps: int,
    learning_rate: float,
) -> Tensor:
    """Fit networks from weights (S, C, 2, B) and return the log ratio (S, B, M).

    The table holds weights over s sqrt(R), with the bias and the center in it: a logit is a sum over the table. The
    mean logit of the candidates is then the bias, which is how the table is brought to it after each step.
    """
    near = classes[0].mT.contiguous().unsqueeze(2)
    positive, negative = (one[:, None, None] for one in classes[1:])
    importance = torch.where(near, positive, negative)  # (S, M, 1, B)
    target = near * positive
    mixed = shares.permute(0, 2, 3, 1).unsqueeze(3)  # (S, T, P, 1, B)
    frequency = candidates.frequency()
    row = frequency.view(len(weights), 1, -1)
    spread = (frequency * (1 - frequency)).sum(1, keepdim=True).clamp(min=1e-12 * clusterings)  # s² R
    table = weights.mul_(torch.cat([spread.rsqrt(), -spread.rsqrt()], dim=2))  # from here on -F_i- instead of F_i-
    bias = torch.zeros_like(table[:, :1])

    def settle() -> None:
        table.add_((bias - (row @ table.flatten(2)).view_as(bias)).div_(clusterings))

    settle()
    for _ in range(steps):
        error = candidates.sums(table).sigmoid_().mul_(importance).sub_(target)
        own = members.sums(table)
        mixed_error = (mixed * own.unsqueeze(1)).sum(2).sigmoid_().sub_(1).mul_(positive)
        own_error = own.sigmoid().sub_(1).mul_(positive).add_((mixed * mixed_error.unsqueeze(2)).sum(1))
        slope = candidates.spread(error)
        members.spread_onto(slope, own_error)
        total = slope.sum(1, keepdim=True).div_(clusterings)  # of the errors, each of which went to R clusters
        bias = bias - learning_rate * total
        table.sub_(slope.addcmul_(frequency, total, value=-1).mul_(learning_rate / spread))
        settle()
    plus, minus = candidates.sums(table).unbind(2)
    return (logsigmoid(plus) - logsigmoid(minus.neg_())).mT


class GatheredCandidates:
    """Candidates (M, R) of a single run, among `columns` clusters."""

    def __init__(self, clusters: Tensor, columns: int) -> None:
        self.clusters = clusters
        ordered, order = clusters.flatten().sort(stable=True)
        self.by_cluster = order // clusters.shape[-1]
        self.bounds = torch.searchsorted(ordered, torch.arange(columns + 1))  # of the stretch of each cluster

    def frequency(self) -> Tensor:
        """Return the share of candidates in each cluster, (1, C, 1, 1)."""
        return (self.bounds.diff() / len(self.clusters)).view(1, -1, 1, 1)

    def sums(self, table: Tensor) -> Tensor:
        """Add up every candidate's weights: (1, C, 2, B) -> (1, M, 2, B)."""
        return embedding_bag(self.clusters, table[0].flatten(1), mode="sum").view(1, -1, *table.shape[2:])

    def spread(self, error: Tensor) -> Tensor:
        """Add up every cluster's errors: (1, M, 2, B) -> (1, C, 2, B)."""
        found = embedding_bag(self.by_cluster, error[0].flatten(1), self.bounds[:-1], mode="sum")
        return found.view(1, -1, *error.shape[2:])


class GatheredMembers:
    """Members (B, P, R) of a single run."""

    def __init__(self, clusters: Tensor) -> None:
        self.shape = clusters.shape[1:]
        self.places = clusters.flatten(1).T.contiguous().unsqueeze(1).expand(-1, 2, -1)  # (P R, 2, B)

    def sums(self, table: Tensor) -> Tensor:
        """Add up every member's weights: (1, C, 2, B) -> (1, P, 2, B)."""
        return table[0].gather(0, self.places).view(1, *self.shape, *table.shape[2:]).sum(2)

    def spread_onto(self, slope: Tensor, error: Tensor) -> None:
        """Add errors (1, P, 2, B) to those of their clusters, (1, C, 2, B)."""
        repeated = error[0].unsqueeze(1).expand(*self.shape, *error.shape[2:])
        slope[0].scatter_add_(0, self.places, repeated.flatten(0, 1))


class DenseCandidates:
    """Candidates (S, M, R) of any number of runs, among `columns` clusters."""

    def __init__(self, clusters: Tensor, columns: int) -> None:
        self.indicators = _indicators(clusters, columns)

    def frequency(self) -> Tensor:
        """Return the share of candidates in each cluster, (S, C, 1, 1)."""
        return self.indicators.mean(1).unsqueeze(-1).unsqueeze(-1)

    def sums(self, table: Tensor) -> Tensor:
        """Add up every candidate's weights: (S, C, 2, B) -> (S, M, 2, B)."""
        return (self.indicators @ table.flatten(2)).view(len(table), -1, *table.shape[2:])

    def spread(self, error: Tensor) -> Tensor:
        """Add up every cluster's errors: (S, M, 2, B) -> (S, C, 2, B)."""
        return (self.indicators.mT @ error.flatten(2)).view(len(error), -1, *error.shape[2:])


class DenseMembers:
    """Members (S, B, P, R) of any number of runs, among `columns` clusters."""

    def __init__(self, clusters: Tensor, columns: int) -> None:
        self.indicators = _indicators(clusters, columns)

    def sums(self, table: Tensor) -> Tensor:
        """Add up every member's weights: (S, C, 2, B) -> (S, P, 2, B)."""
        return (table.permute(0, 3, 2, 1) @ self.indicators.mT).permute(0, 3, 2, 1)

    def spread_onto(self, slope: Tensor, error: Tensor) -> None:
        """Add errors (S, P, 2, B) to those of their clusters, (S, C, 2, B)."""
        slope.add_((error.permute(0, 3, 2, 1) @ self.indicators).permute(0, 3, 2, 1))


CandidateSums = GatheredCandidates | DenseCandidates
MemberSums = GatheredMembers | DenseMembers


def _indicators(clusters: Tensor, columns: int) -> Tensor:
    """Write clusters (..., R) out as zeros and ones (..., C)."""
    return torch.zeros((*clusters.shape[:-1], columns), device=clusters.device).scatter_(-1, clusters, 1.0)
