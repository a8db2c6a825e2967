"""Random walks from many nodes at once (Section 4.1, Augmentation)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.core.config import Checked, Range
from nodewise.core.errors import InputError
from nodewise.views import native
from nodewise.views.topology import Topology


def random_walks(
    topology: Topology, starts: Tensor, length: int, key: int | Tensor, *, restart: float = 0.0, lazy: float = 0.0
) -> Tensor:
    """Walk `length` steps from every start: seq_i = {t_0 = i, t_1, ..., t_k}.

    At each step the walk stays with probability `lazy`, else returns to its start with probability
    `restart`, else moves to a neighbor chosen uniformly or, where edges have weights, in proportion to
    them. A node without neighbors stays where it is.

    Differs from the paper: nothing by default; `restart` is the walk of GCC, which the paper follows in
    name but not in its text.

    Args:
        topology: the graph.
        starts: int64 (..., B).
        length: number of steps k.
        key: the draw's name. Step t of a walk from node i is a function of (key, i, t) alone; a tensor key
            must broadcast against `starts` (one key per stacked run: (S, 1)).
        restart: probability of going back to the start.
        lazy: probability of not moving.

    Returns:
        int64 (..., B, length + 1), the nodes visited in order, the start first.
    """
    if native.worthwhile(topology.device, starts.numel()):
        from nodewise.views.compiled import walk

        return walk(topology, starts, length, key, restart=restart, lazy=lazy)
    return walks_in_torch(topology, starts, length, key, restart=restart, lazy=lazy)


def walks_in_torch(
    topology: Topology, starts: Tensor, length: int, key: int | Tensor, *, restart: float = 0.0, lazy: float = 0.0
) -> Tensor:
    """Take the steps of `random_walks` for all walks at once, on any device."""
    streams = rng.fold(rng.fold(key, starts).unsqueeze(-1), torch.arange(1, length + 1, device=starts.device))
    # All random numbers of all steps at once: the loop below is then a handful of operations a step.
    draws = rng.bits(streams, torch.zeros_like(streams))
    returns = rng.uniform(streams, torch.ones_like(streams)) < restart if restart > 0 else None
    stays = rng.uniform(streams, torch.full_like(streams, 2)) < lazy if lazy > 0 else None
    walks, current = [starts], starts
    for t in range(length if len(topology.indices) else 0):
        following = topology.step(current, draws[..., t])
        if returns is not None:
            following = torch.where(returns[..., t], starts, following)
        if stays is not None:
            following = torch.where(stays[..., t], current, following)
        walks.append(following)
        current = following
    walks += [current] * (length + 1 - len(walks))
    return torch.stack(walks, dim=-1)


_ROUNDS = 24


def biased_walks(
    topology: Topology, starts: Tensor, length: int, key: int, *, p: float = 1.0, q: float = 1.0
) -> Tensor:
    """Walk `length` steps from every start, each step biased by the one before.

    Having come from t to v, the walk goes on to a neighbor x of v with a probability proportional to 1/p if
    x = t, to 1 if x is a neighbor of t, and to 1/q otherwise, times the weight of the edge where edges have
    weights. The first step is not biased. A node without neighbors stays where it is.

    A neighbor is proposed as by `random_walks` and accepted with its bias over the largest one; a walk that
    was refused too often for its place weighs all neighbors instead, which follows the same law.

    Args:
        topology: the graph.
        starts: int64 (B,).
        length: number of steps k.
        key: the draw's name. A walk is a function of (key, start) alone.
        p: return parameter; large values keep the walk from going back.
        q: in-out parameter; small values send the walk outwards.

    Returns:
        int64 (B, length + 1), the nodes visited in order, the start first.
    """
    if p <= 0 or q <= 0:
        raise InputError(f"p and q must be above 0, not {p} and {q}")
    weights = torch.tensor([1 / p, 1.0, 1 / q], dtype=torch.float64, device=starts.device)
    streams = rng.fold(key, starts)
    walks = [starts]
    for step in range(length if len(topology.indices) else 0):
        stream = rng.fold(streams, step)
        if step == 0:
            following = _propose(topology, starts, stream, 0)
        else:
            following = _biased_step(topology, walks[-2], walks[-1], stream, weights)
        walks.append(following)
    walks += [walks[-1]] * (length + 1 - len(walks))
    return torch.stack(walks, dim=-1)


def step_weights(topology: Topology, before: Tensor, following: Tensor, weights: Tensor) -> Tensor:
    """Return the unnormalized probability of steps t -> v -> x, given t and x; `weights` are 1/p, 1 and 1/q."""
    near = topology.has_edge(before, following)
    return torch.where(before == following, weights[0], torch.where(near, weights[1], weights[2]))


def _propose(topology: Topology, current: Tensor, streams: Tensor, number: int) -> Tensor:
    return topology.step(current, rng.bits(streams, torch.full_like(streams, number)))


def _biased_step(topology: Topology, before: Tensor, current: Tensor, streams: Tensor, weights: Tensor) -> Tensor:
    following = current.clone()
    pending = torch.nonzero(topology.degrees[current] > 0).squeeze(-1)
    for number in range(_ROUNDS):
        if not len(pending):
            return following
        proposed = _propose(topology, current[pending], streams[pending], 2 * number)
        chance = step_weights(topology, before[pending], proposed, weights) / weights.max()
        draw = rng.uniform64(streams[pending], torch.full_like(pending, 2 * number + 1))
        accepted = draw < chance
        following[pending[accepted]] = proposed[accepted]
        pending = pending[~accepted]
    if len(pending):
        last = rng.uniform64(streams[pending], torch.full_like(pending, 2 * _ROUNDS))
        following[pending] = _exact_step(topology, before[pending], current[pending], last, weights)
    return following


def _exact_step(topology: Topology, before: Tensor, current: Tensor, draws: Tensor, weights: Tensor) -> Tensor:
    """Choose among all neighbors of each node by inverting their cumulative weights; draws (B,) are in [0, 1)."""
    degree = topology.degrees[current]
    ends = degree.cumsum(0)
    firsts = ends - degree
    walk = torch.repeat_interleave(torch.arange(len(current), device=current.device), degree)
    place = torch.arange(len(walk), device=current.device) - firsts[walk] + topology.indptr[current][walk]
    neighbors = topology.indices[place].to(current.dtype)
    mass = step_weights(topology, before[walk], neighbors, weights)
    if topology.weights is not None:
        mass = mass * topology.weights[place]
    # Scaled to sum to 1 for each walk, so that walk b's neighbors fill the interval from b to b + 1.
    total = torch.zeros_like(draws).index_add_(0, walk, mass)
    filled = (mass / total[walk]).cumsum(0)
    chosen = torch.searchsorted(filled, torch.arange(len(current), device=current.device) + draws, right=True)
    return neighbors[chosen.clamp(firsts, ends - 1)]


@dataclass(frozen=True)
class ViewSettings(Checked, section="views"):
    """How a node is augmented.

    Attributes:
        length: steps k of each random walk; a subgraph has at most k + 1 nodes.
        restart: probability of returning to the start at a step.
        lazy: probability of not moving at a step.
    """

    length: Annotated[int, Range(1, 1000)] = 10
    restart: float = 0.0
    lazy: float = 0.0

    def __post_init__(self) -> None:
        if self.length < 1:
            raise InputError(f"views.length is {self.length}; a walk needs at least 1 step (the paper takes 25)")
        super().__post_init__()
        for name in ("restart", "lazy"):
            if not 0 <= getattr(self, name) < 1:
                raise InputError(f"views.{name} is {getattr(self, name):g}; it must be in [0, 1)")
