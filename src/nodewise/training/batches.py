"""Which nodes are in the batch of a step: passes over random orders of the training nodes."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from nodewise.core import rng


class Batches:
    """Equal batches for each of S runs; a pass visits every training node at most once.

    The ceil(T / batch size) batches of a pass have floor(T / that) nodes each, so shapes never change; fewer
    nodes than there are batches sit out a pass, others each time.
    """

    def __init__(self, seeds: Tensor, num_nodes: int, batch_size: int, held_out: int = 0) -> None:
        self._seeds = seeds
        order = torch.stack([rng.permutation(rng.key(s, "held_out"), num_nodes, seeds.device) for s in seeds.tolist()])
        self.held_out = order[:, :held_out]
        self._trained = order[:, held_out:].sort(-1).values if held_out else order[:, held_out:]
        self.per_pass = max(1, math.ceil(self._trained.shape[1] / batch_size))
        self.size = self._trained.shape[1] // self.per_pass
        self._pass, self._order = -1, self._trained

    def at(self, step: int) -> Tensor:
        """Return the nodes (S, B) of a step: a function of (seed, step), whatever was asked before."""
        number, place = divmod(step, self.per_pass)
        if number != self._pass:
            count = self._trained.shape[1]
            orders = [
                rng.permutation(rng.key(s, "batch", number), count, self._seeds.device) for s in self._seeds.tolist()
            ]
            self._pass, self._order = number, self._trained.gather(1, torch.stack(orders))
        return self._order[:, place * self.size : (place + 1) * self.size]
