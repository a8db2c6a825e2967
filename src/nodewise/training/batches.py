"""Which nodes are in the batch of a step: passes over random orders of the training nodes."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.encoders.encoder import Encoder
from nodewise.losses.node_infonce import node_infonce
from nodewise.sampling.pairs import PairSets
from nodewise.training.step import Learner


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


@torch.no_grad()
def monitored_loss(learner: Learner, held_out: Tensor) -> Tensor:
    """Return the plain loss (S,) of the held-out nodes (S, H)."""
    query = learner.embed(held_out, "query", -1, noise=False)
    key = learner.embed(held_out, "key", -1, noise=False)
    others = ~torch.eye(held_out.shape[1], dtype=torch.bool, device=held_out.device)
    pairs = PairSets(others.expand(len(held_out), -1, -1))
    return node_infonce(query, key, pairs, temperature=learner.settings.loss.temperature)


class EarlyStopping:
    """Keep each run's weights at its lowest monitored loss; a run is over after `patience` looks without one."""

    def __init__(self, encoder: Encoder, runs: int, patience: int) -> None:
        self._encoder, self._patience = encoder, patience
        self._best: list[list[Tensor]] = [[] for _ in range(runs)]
        self._lowest = [math.inf] * runs
        self._waited = [0] * runs

    def look(self, losses: Tensor) -> bool:
        """Take note of the monitored losses (S,); return True when every run is over."""
        for run, loss in enumerate(losses.tolist()):
            if self._waited[run] >= self._patience:
                continue
            self._waited[run] += 1
            if loss < self._lowest[run]:
                self._lowest[run], self._waited[run] = loss, 0
                self._best[run] = [weight.clone() for weight in self._encoder.weights_of(run)]
        return all(waited >= self._patience for waited in self._waited)

    def tensors(self) -> dict[str, Tensor]:
        """Return all that is remembered, under flat names."""
        best = {
            f"best.{run}.{place}": kept
            for run, all_kept in enumerate(self._best)
            for place, kept in enumerate(all_kept)
        }
        return {"lowest": torch.tensor(self._lowest, dtype=torch.float64), "waited": torch.tensor(self._waited)} | best

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Remember what `tensors` described."""
        self._lowest, self._waited = tensors["lowest"].tolist(), tensors["waited"].tolist()
        for run, best in enumerate(self._best):
            places = range(len(self._encoder.weights_of(run)))
            best[:] = [tensors[f"best.{run}.{place}"] for place in places if f"best.{run}.{place}" in tensors]

    def restore(self) -> None:
        """Put every run's best weights back."""
        for run, best in enumerate(self._best):
            for weight, kept in zip(self._encoder.weights_of(run), best, strict=False):
                weight.copy_(kept)
