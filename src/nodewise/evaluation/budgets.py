"""Accuracy under a budget of labels: a regularized linear classifier on many random splits at once.

Vectors are taken as they are, with rows of length one, and with standardized columns; strengths of the L2 penalty range
from hardly any to much. Validation nodes choose among all of these, split by split; where several are equally good, the
mean of their test accuracies is taken. All methods are scored alike.

The classifier is multinomial logistic regression, min_W mean_i -log softmax(W^T x_i)_{y_i} + λ/2 |W|². All splits,
strengths and classes are solved together: Böhning's (1992) bound on the Hessian, X^T X / 2n, needs one inverse for each
split and strength, and Nesterov's momentum with restarts does the rest. Where training nodes are fewer than columns,
W = X^T A and the same is done for A.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize, one_hot

from nodewise.core.errors import InputError
from nodewise.graph.graph import Split

Budget = Literal["few", "10%"]
BUDGETS = ("few", "10%")

STRENGTHS = tuple(10.0**power for power in (-5.5, -5, -4.5, -4, -3.5, -3, -2.5, -2, -1.5))
_ITERATIONS = 70
_TRAIN, _VAL = 20, 30


def budget_splits(labels: np.ndarray, budget: Budget, count: int = 10) -> list[Split]:
    """Draw splits of the labeled nodes, the same for every method.

    `few` is 20 nodes per class to train and 30 to validate; `10%` is a tenth of all nodes each. The rest is tested. Of
    a class with fewer than 60 labels a third trains and a third validates.
    """
    known, classes = np.flatnonzero(labels >= 0), int(labels.max()) + 1
    splits = []
    for number in range(count):
        generator = np.random.Generator(np.random.Philox(key=[number, budget == "few"]))
        if budget == "few":
            members = [generator.permutation(known[labels[known] == each]) for each in range(classes)]
            sizes = [(min(_TRAIN, len(each) // 3), min(_VAL, len(each) // 3)) for each in members]
            train = np.concatenate([each[:first] for each, (first, _) in zip(members, sizes, strict=True)])
            val = np.concatenate(
                [each[first : first + then] for each, (first, then) in zip(members, sizes, strict=True)]
            )
        else:
            order, tenth = generator.permutation(known), len(known) // 10
            train, val = order[:tenth], order[tenth : 2 * tenth]
        if not len(train) or not len(val):
            least = "three nodes of some class" if budget == "few" else "ten nodes"
            raise InputError(
                f"{len(known)} labeled nodes are too few for the budget '{budget}'; label at least {least}",
                code="too-few-labels",
            )
        splits.append(Split(np.sort(train), np.sort(val), np.setdiff1d(known, np.concatenate([train, val]))))
    return splits


@dataclass(frozen=True)
class BudgetScore:
    """What vectors reach under a budget.

    Attributes:
        accuracy: on the test nodes of each split (B,), a fraction.
        right: in how many splits each node (N,) was answered rightly; equally good classifiers count in parts.
        tested: in how many splits it was a test node (N,).
        validation: the accuracy on the validation nodes of each split (B,) that chose the classifier, a fraction.
    """

    accuracy: np.ndarray
    right: np.ndarray
    tested: np.ndarray
    validation: np.ndarray


@torch.no_grad()
def budget_scores(
    vectors: Tensor, labels: np.ndarray, splits: Sequence[Split], device: torch.device | str = "cpu"
) -> BudgetScore:
    """Score vectors (N, d) on each split."""
    truth = torch.as_tensor(labels, dtype=torch.int64, device=device)
    val: list[Tensor] = []
    test: list[list[Tensor]] = []
    for inputs in _scaled(vectors.to(device, torch.float32)):
        # Splits of one budget have equal sizes, so they are solved as one batch.
        weights = _solve(inputs, truth, [torch.as_tensor(split.train, device=device) for split in splits])
        val.append(torch.stack([each.double().mean(-1) for each in _answers(inputs, truth, splits, "val", weights)]))
        test.append(_answers(inputs, truth, splits, "test", weights))
    chosen = torch.cat(val, 1)  # (splits, scalings x strengths)
    best = (chosen >= chosen.amax(1, keepdim=True) - 1e-9).double()
    share = best / best.sum(1, keepdim=True)
    right, tested, accuracy = np.zeros(len(labels)), np.zeros(len(labels)), []
    for number, split in enumerate(splits):
        hits = (share[number] @ torch.cat([scaling[number] for scaling in test]).double()).cpu().numpy()
        right[split.test] += hits
        tested[split.test] += 1
        accuracy.append(hits.mean())
    return BudgetScore(np.array(accuracy), right, tested, chosen.amax(1).cpu().numpy())


def _answers(inputs: Tensor, truth: Tensor, splits: Sequence[Split], part: str, weights: Tensor) -> list[Tensor]:
    """Return which nodes of a part of each split its classifiers answer rightly: (strengths, n) each."""
    nodes = [torch.as_tensor(getattr(split, part), device=truth.device) for split in splits]
    return [(inputs[some] @ each).argmax(-1) == truth[some] for some, each in zip(nodes, weights, strict=True)]


def budget_accuracy(
    vectors: Tensor, labels: np.ndarray, splits: Sequence[Split], device: torch.device | str = "cpu"
) -> np.ndarray:
    """Return the test accuracy of vectors (N, d) on each split, a fraction."""
    return budget_scores(vectors, labels, splits, device).accuracy


def _scaled(vectors: Tensor) -> list[Tensor]:
    """Return the three scalings, centered, of equal mean length, each with a column of ones (N, d + 1)."""
    found = []
    for rows, standardize in ((vectors, False), (normalize(vectors, dim=-1), False), (vectors, True)):
        rows = rows - rows.mean(0)
        if standardize:
            deviation = rows.std(0)
            rows = torch.where(deviation > 1e-6 * deviation.max(), rows / deviation.clamp(min=1e-30), 0)
        rows = rows / rows.square().sum(1).mean().sqrt().clamp(min=1e-12)
        found.append(torch.cat([rows, torch.ones_like(rows[:, :1])], 1))
    return found


def _solve(inputs: Tensor, truth: Tensor, train: list[Tensor]) -> Tensor:
    """Return the weights (splits, strengths, d, C) of every classifier."""
    classes = int(truth.max()) + 1
    x = torch.stack([inputs[nodes] for nodes in train])  # (B, n, d)
    wanted = torch.stack([one_hot(truth[nodes], classes).to(x.dtype) for nodes in train]).unsqueeze(1)  # (B, 1, n, C)
    nodes = x.shape[1]
    strengths = torch.tensor(STRENGTHS, dtype=torch.float64, device=x.device).view(1, -1, 1, 1)
    dual = nodes <= x.shape[2]
    gram = x @ x.mT if dual else x.mT @ x
    eye = torch.eye(gram.shape[-1], dtype=torch.float64, device=x.device)
    inverse = torch.cholesky_inverse(
        torch.linalg.cholesky(gram.double().unsqueeze(1) / (2 * nodes) + strengths * (1 + 1e-9) * eye)
    ).to(x.dtype)
    penalty, kernel = strengths.to(x.dtype), gram.unsqueeze(1)
    x = x.unsqueeze(1)

    def gradient(weights: Tensor) -> Tensor:
        logits = (kernel if dual else x) @ weights
        missed = (logits.softmax(-1) - wanted) / nodes
        return (missed if dual else x.mT @ missed) + penalty * weights

    def aligned(step: Tensor, change: Tensor) -> Tensor:
        return ((kernel @ step if dual else step) * change).sum((-1, -2), keepdim=True) > 0

    shape = (len(train), len(STRENGTHS), gram.shape[-1], classes)
    found = _accelerated(lambda weights: inverse @ gradient(weights), aligned, torch.zeros(shape, device=x.device))
    return x.mT @ found if dual else found


def _accelerated(
    step_of: Callable[[Tensor], Tensor], aligned: Callable[[Tensor, Tensor], Tensor], start: Tensor
) -> Tensor:
    """Take Nesterov's steps, beginning again wherever the momentum points uphill (O'Donoghue & Candès 2015)."""
    found, ahead = start, start
    pace = torch.ones(*start.shape[:2], 1, 1, device=start.device)
    for _ in range(_ITERATIONS):
        step = step_of(ahead)
        following = ahead - step
        uphill = aligned(step, following - found)
        faster = torch.where(uphill, 1.0, (1 + torch.sqrt(1 + 4 * pace * pace)) / 2)
        momentum = torch.where(uphill, 0.0, (pace - 1) / faster)
        ahead = following + momentum * (following - found)
        found, pace = following, faster
    return found
