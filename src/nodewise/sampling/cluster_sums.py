"""Linear networks on descriptions by clusters: the sums of weights that are their logits, and the way back.

With the description z_j = (e(c_1) + ... + e(c_R)) / sqrt(R) a product w . z_j is a sum of R weights, and a gradient
sum_j error_j z_j adds each error to R weights. There are two ways to do so, which differ in rounding only:

    gathered    R weights are fetched for each node. r / R times less arithmetic; the choice on a CPU.
    dense       Matrix products with the indicators, zeros and all. The choice on a GPU, where they are cheap and where
                errors added to the same weight by many threads would be rounded differently every time.

Weights lie as (S, C, 2, B): the B networks of a kind side by side, so that a gathered row is one stretch of memory.
Neither way divides by sqrt(R).

Sums over candidates serve all networks; sums over members only the two of their query.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import embedding_bag


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
