"""How much of itself a node should keep, chosen from the graph without labels.

If edges join nodes that are about the same thing, a node's neighbors know what it is about. So hide half of the columns
of the features and ask how well the other half, smoothed with teleport a, predicts the hidden topics of nodes:

1. split the columns at random; X_A and X_B, rows of length one;
2. targets: the leading directions of X_B, each of variance one;
3. predictors: unit rows of PPR_a of the leading directions of X_A;
4. ridge regression on half of the nodes, R² on the others, at the best of some strengths; the mean over some splits.

The score says when edges mislead; it is too flat, and too fond of a node's own words, to find the best among teleports
that all do well. So a = 0.2, which does well wherever neighbors help, is kept unless another one is clearly better, and
where columns say next to nothing of each other at any teleport.

Singular directions are computed from a part of the nodes of a large graph, and fewer of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import normalize

from nodewise.core import rng
from nodewise.encoders.directions import leading_directions
from nodewise.encoders.features import Features
from nodewise.encoders.gcn import smooth
from nodewise.views.topology import Topology

USUAL = 0.2
CLEARLY = 0.95
NOTHING = 0.01
GRID = (0.1, 0.2, 0.5, 1.0)
_HALVINGS = 3
_TOPICS, _DIRECTIONS = 32, 128
_STEPS = 10
_STRENGTHS = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)
_MOST_ENTRIES = 1 << 26
_FEWEST_COLUMNS, _FEWEST_NODES = 8, 20


@dataclass(frozen=True)
class Choice:
    """A teleport, and the score R² of each that was tried; nothing was tried where features are too few."""

    teleport: float
    scores: dict[float, float]

    @property
    def reason(self) -> str:
        """Why it was chosen, in words."""
        if not self.scores:
            return "too few features or nodes to choose by"
        usual, best = self.scores[USUAL], max(self.scores.values())
        said = f"neighbors predict hidden features with R² {usual:.3f} at {USUAL:g}"
        if best < NOTHING:
            return f"features predict nothing of each other (R² at most {best:.3f})"
        if self.teleport == USUAL:
            return f"{said}, no teleport clearly better ({best:.3f})"
        return f"{said}, clearly less than {best:.3f} at {self.teleport:g}"


@torch.no_grad()
def choose_teleport(features: Features, topology: Topology) -> Choice:
    """Return the teleport that suits a graph; the choice depends on nothing but the graph."""
    rows, columns = features.shape
    if columns < _FEWEST_COLUMNS or rows < _FEWEST_NODES:
        return Choice(USUAL, {})
    adjacency, scores = topology.normalised_adjacency(), dict.fromkeys(GRID, 0.0)
    for number in range(_HALVINGS):
        key = rng.key(0, "teleport", number)
        half = rng.uniform(rng.fold(key, 0), torch.arange(columns, device=features.device)) < 0.5
        _, known = leading_directions(features, min(_DIRECTIONS, _MOST_ENTRIES // rows), columns=half)
        _, hidden = leading_directions(features, _TOPICS, spare=2 * _TOPICS, columns=~half, centered=True)
        if not known.shape[1] or not hidden.shape[1]:  # one half has nothing but zeros
            return Choice(USUAL, {})
        hidden = hidden / hidden.std(0).clamp(min=1e-12)
        fitted = rng.uniform(rng.fold(key, 1), torch.arange(rows, device=features.device)) < 0.5
        for teleport in GRID:
            seen = known if teleport == 1 else smooth(adjacency, known, _STEPS, teleport)
            scores[teleport] += _explained(normalize(seen, dim=-1), hidden, fitted) / _HALVINGS
    best = max(scores, key=lambda teleport: scores[teleport])
    kept = scores[best] < NOTHING or scores[USUAL] >= CLEARLY * scores[best]
    return Choice(USUAL if kept else best, scores)


def _explained(seen: Tensor, wanted: Tensor, fitted: Tensor) -> float:
    """Return the share of variance that a ridge regression on some rows (N,) explains of the others."""
    inputs, targets = seen[fitted].double(), wanted[fitted].double()
    shift, mean = inputs.mean(0), targets.mean(0)
    inputs = inputs - shift
    values, turned = torch.linalg.eigh((inputs.T @ inputs).cpu())  # small, so done on the host
    cross = turned.T @ (inputs.T @ (targets - mean)).cpu()
    rest, truth = (seen[~fitted] - shift.float()), (wanted[~fitted] - mean.float())
    total, best = truth.square().sum(), -torch.inf
    for strength in _STRENGTHS:
        weights = turned @ (cross / (values + strength * values.mean().clamp(min=1e-12)).unsqueeze(-1))
        missed = truth - rest @ weights.to(rest.device, torch.float32)
        best = max(best, float(1 - missed.square().sum() / total))
    return best
