"""Random walks from many nodes at once (Section 4.1, Augmentation)."""

from __future__ import annotations

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.views import native
from nodewise.views.topology import Topology


def random_walks(
    topology: Topology,
    starts: Tensor,
    length: int,
    key: int | Tensor,
    *,
    restart: float = 0.0,
    lazy: float = 0.0,
) -> Tensor:
    """Walk `length` uniform steps from every start: seq_i = {t_0 = i, t_1, ..., t_k}.

    At each step the walk stays with probability `lazy`, else returns to its start with probability
    `restart`, else moves to a neighbour chosen uniformly. A node without neighbours stays where it is.

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
    topology: Topology,
    starts: Tensor,
    length: int,
    key: int | Tensor,
    *,
    restart: float = 0.0,
    lazy: float = 0.0,
) -> Tensor:
    """Take the steps of `random_walks` for all walks at once, on any device."""
    streams = rng.fold(rng.fold(key, starts).unsqueeze(-1), torch.arange(1, length + 1, device=starts.device))
    # All random numbers of all steps at once: the loop below is then a handful of operations a step.
    draws = rng.bits(streams, torch.zeros_like(streams))
    returns = rng.uniform(streams, torch.ones_like(streams)) < restart if restart > 0 else None
    stays = rng.uniform(streams, torch.full_like(streams, 2)) < lazy if lazy > 0 else None
    walks, current = [starts], starts
    for t in range(length if len(topology.indices) else 0):
        degree = topology.degrees[current]
        # A node without neighbours reads a place that is not its own; `where` puts it back.
        place = topology.indptr[current] + rng.scale_below(degree, draws[..., t])
        following = torch.where(degree > 0, topology.indices[place.clamp_(max=len(topology.indices) - 1)], current)
        if returns is not None:
            following = torch.where(returns[..., t], starts, following)
        if stays is not None:
            following = torch.where(stays[..., t], current, following)
        walks.append(following)
        current = following
    walks += [current] * (length + 1 - len(walks))
    return torch.stack(walks, dim=-1)
