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

Columns of dense numbers, such as averaged word vectors, are mixtures of the same few things, so that a node's own half
tells the other half whatever its edges are worth. Therefore a teleport above 0.2 must also not be contradicted by the
neighbors themselves: where a node is like what its neighbors bring, which is S without its diagonal (the positive part
of the correlation, squared, averaged over leading directions, is at least 0.02), 0.2 is kept.

Columns of a user's table are hidden whole, for a country that is not one is likely another, and whoever sees that needs
no neighbors. Which values are missing is no topic either: products lack what customers have, and know it by themselves.
So it is not among the targets, and what follows from it is taken out of them. A note or a list of tags is hidden whole
too, unless there is nothing else: notes follow patterns, and half of one tells the other half.

Singular directions are computed from a part of the nodes of a large graph, and fewer of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import normalize

from nodewise.core import rng
from nodewise.core.progress import current
from nodewise.encoders.directions import leading_directions
from nodewise.encoders.features import Features
from nodewise.tables.table import MISSING, SPELLING
from nodewise.views.topology import Topology, mixed

USUAL = 0.2
CLEARLY = 0.95
NOTHING = 0.01
ALIKE = 0.02
GRID = (0.1, 0.2, 0.5, 1.0)
_DOES = {
    0.1: "a node is mixed with many nodes around it",
    0.2: "a node is mixed with its neighbors",
    0.5: "half of a node is its own features, and half its neighbors",
    1.0: "a node keeps to its own features",
}
_HALVINGS = 3
_TOPICS, _DIRECTIONS = 32, 128
_STEPS = 10
_STRENGTHS = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)
_MOST_ENTRIES = 1 << 26
_FEWEST_COLUMNS, _FEWEST_NODES = 8, 20


@dataclass(frozen=True)
class Choice:
    """A teleport and the reasons for it.

    Attributes:
        teleport: the chosen one.
        scores: R² of each that was tried; nothing was tried where features are too few.
        likeness: how much neighbors are like a node, in [0, 1]; None where nobody asked.
    """

    teleport: float
    scores: dict[float, float]
    likeness: float | None = None

    @property
    def reason(self) -> str:
        """What it does and why it was chosen, in words for those who never heard of a teleport."""
        does = _DOES.get(self.teleport, "a node is mixed with its neighbors")
        if not self.scores:
            return f"{does}, as usual: there are too few features or nodes to test whether this helps"
        usual, best = self.scores[USUAL], max(self.scores.values())
        if best < NOTHING:
            return f"{does}, as usual: features predict nothing of each other to test this by (R² {max(best, 0):.3f})"
        if self.likeness is not None and self.likeness >= ALIKE:
            alone = f"a node's own features predict hidden ones best (R² {best:.3f})"
            return f"{does}: {alone}, but neighbors have similar features (R² {self.likeness:.3f})"
        if self.teleport == USUAL:
            well = "predicts hidden features about as well as any other choice"
            return f"{does}: this {well} (R² {usual:.3f}, the best {best:.3f})"
        if self.teleport == 1:
            return f"{does}: neighbors mislead (R² of hidden features {usual:.3f} with them, {best:.3f} without)"
        return f"{does}: this predicts hidden features clearly better (R² {best:.3f}) than {USUAL:g} does ({usual:.3f})"


@torch.no_grad()
def choose_teleport(features: Features, topology: Topology) -> Choice:
    """Return the teleport that suits a graph; the choice depends on nothing but the graph."""
    rows, columns = features.shape
    if columns < _FEWEST_COLUMNS or rows < _FEWEST_NODES:
        return Choice(USUAL, {})
    adjacency, scores = topology.mixing(), dict.fromkeys(GRID, 0.0)
    sides = 1 if topology.faces is None else 2
    given = torch.arange(columns) if features.origins is None else torch.from_numpy(features.origins)
    origins, missing = given.to(features.device), None
    if (origins == MISSING).any():
        _, flags = leading_directions(features, _TOPICS, columns=origins == MISSING, centered=True)
        missing = torch.linalg.qr(flags)[0]  # (N, k), orthonormal
    halvings = 0
    with current().stage("choice of the teleport", _HALVINGS) as bar:
        for number in range(_HALVINGS):
            key = rng.key(0, "teleport", number)
            half = (rng.uniform(rng.fold(key, 0), origins.clamp(min=0)) < 0.5) & (origins != SPELLING)
            target = ~half & (origins >= 0)
            _, known = leading_directions(features, min(_DIRECTIONS, _MOST_ENTRIES // rows), columns=half)
            _, hidden = leading_directions(features, _TOPICS, spare=2 * _TOPICS, columns=target, centered=True)
            bar.advance()
            if not known.shape[1] or not hidden.shape[1]:  # one half has nothing but zeros, or no column at all
                continue
            halvings += 1
            hidden = hidden / hidden.std(0).clamp(min=1e-12)
            if missing is not None:
                hidden = hidden - missing @ (missing.T @ hidden)
            fitted = rng.uniform(rng.fold(key, 1), torch.arange(rows, device=features.device)) < 0.5
            for teleport, seen in _smoothed(adjacency, known.repeat(1, sides)).items():
                scores[teleport] += _explained(normalize(seen, dim=-1), hidden, fitted)
    if not halvings:
        return Choice(USUAL, {})
    scores = {teleport: score / halvings for teleport, score in scores.items()}
    best = max(scores, key=lambda teleport: scores[teleport])
    gain = scores[best] - scores[USUAL]
    if scores[best] < NOTHING or gain < max(NOTHING, (1 - CLEARLY) * scores[best]):
        return Choice(USUAL, scores)
    likeness = _likeness(features, topology) if best > USUAL else None
    return Choice(best if likeness is None or likeness < ALIKE else USUAL, scores, likeness)


def _likeness(features: Features, topology: Topology) -> float:
    """Return how much the neighbors of nodes are like them: 0, not at all or unlike, to 1.

    The mean over leading directions of max(ρ, 0)², with ρ the correlation of nodes with what S brings them from others.
    """
    own = leading_directions(features, _TOPICS, spare=2 * _TOPICS, centered=True)[1]
    others = topology.normalized_adjacency() @ own - (topology.scale.square() * topology.loops).unsqueeze(-1) * own
    joined = topology.degrees > 0
    both = [(each - each.mean(0)).double() for each in (own[joined], others[joined])]
    lengths = both[0].norm(dim=0) * both[1].norm(dim=0)
    correlation = (both[0] * both[1]).sum(0) / lengths.clamp(min=1e-30)
    return float(correlation.clamp(min=0).square().mean()) if joined.any() and len(correlation) else 0.0


def _smoothed(adjacency: Tensor, rows: Tensor) -> dict[float, Tensor]:
    """Return PPR_a of rows (N, c) for every a of the grid, from one series of powers.

    Z_T = a Σ_{t<T} (1 - a)^t S^t Z_0 + (1 - a)^T S^T Z_0.
    """
    found, power = {teleport: teleport * rows for teleport in GRID}, rows
    for step in range(1, _STEPS + 1):
        power = mixed(adjacency, power)
        for teleport, total in found.items():
            total.add_(power, alpha=(1 - teleport) ** step * (teleport if step < _STEPS else 1))
    return found


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
