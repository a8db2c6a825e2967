"""Negatives that follow the positives, sublinearly (MCNS: Yang, Ding, Zhou, Yang, Zhou & Tang 2020).

p_n(j | i) ∝ p_d(j | i)^α, the density of positives being told by the embedding itself, p_d ∝ e^{f_ij}. It is drawn by a
Metropolis-Hastings chain for each query: from x the proposal y is, with probability one half each, any candidate or one
of the k nearest of x, so q(y | x) = 1 / 2M + [y in kNN(x)] / 2k, accepted with probability

    min(1, e^{α (f_iy - f_ix)} q(x | y) / q(y | x)).

The places it visits after `burn_in` steps are the negatives. All chains step at once.

Differs from the paper: there one chain walks through the nodes of the graph and carries over between them; here every
query of a batch has a chain of its own among the candidates.
"""

from __future__ import annotations

from typing import Annotated

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.core.config import NotNegative, Range
from nodewise.sampling.pairs import Candidates
from nodewise.sampling.strategy import StackedStrategy, strategy


@strategy("mcns")
class MCNS(StackedStrategy):
    """Draw negatives by Markov chains with density e^{α score}: like the positives, but flatter (MCNS)."""

    paper = "Yang et al. 2020"

    alpha: NotNegative = 0.75
    steps: Annotated[int, Range(1, 10_000)] = 64
    burn_in: Annotated[int, Range(0, 10_000)] = 16
    nearest: Annotated[int, Range(1, 1000)] = 8

    def choose(self, batch: Candidates) -> Tensor:
        """Choose the negatives of one step."""
        density = (self.alpha * batch.scores).masked_fill(~batch.negatives, -torch.inf)
        count, zero = density.shape[-1], torch.zeros_like(batch.query_nodes)
        likeness = batch.key @ batch.key.mT
        likeness.diagonal(dim1=-2, dim2=-1).fill_(-torch.inf)
        near = likeness.topk(max(1, min(self.nearest, count - 1)), dim=-1).indices  # (S, M, k)
        stream = rng.fold(rng.fold(batch.draw, 11), batch.query_nodes)  # (S, B)

        def around(place: Tensor) -> Tensor:
            return near.gather(-2, place.unsqueeze(-1).expand(*place.shape, near.shape[-1]))

        def step_density(start: Tensor, end: Tensor) -> Tensor:
            """Return 2 q(end | start)."""
            return 1 / count + (around(start) == end.unsqueeze(-1)).any(-1) / near.shape[-1]

        place, visited = rng.below(count, rng.fold(stream, 0), zero), torch.zeros_like(batch.negatives)
        for step in range(1, self.burn_in + self.steps + 1):
            name = rng.fold(stream, step)
            which = rng.below(near.shape[-1], rng.fold(name, 1), zero).unsqueeze(-1)
            beside = around(place).gather(-1, which).squeeze(-1)
            anywhere = rng.below(count, rng.fold(name, 0), zero)
            proposed = torch.where(rng.uniform(rng.fold(name, 2), zero) < 0.5, anywhere, beside)
            there, here = (density.gather(-1, at.unsqueeze(-1)).squeeze(-1) for at in (proposed, place))
            ratio = (there - here).exp() * step_density(proposed, place) / step_density(place, proposed)
            place = torch.where(rng.uniform(rng.fold(name, 3), zero) < ratio, proposed, place)
            if step > self.burn_in:
                visited = visited.scatter(-1, place.unsqueeze(-1), True)
        return visited & batch.negatives
