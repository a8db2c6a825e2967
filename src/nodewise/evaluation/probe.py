"""The linear probe: how well a linear classifier, trained on few labels, reads classes off frozen vectors.

Only the rows of the split are touched. Training sees training labels; validation labels choose the step where
the preset says so; test labels are compared with finished predictions and nothing else. The one exception is
the oracle pass (`oracle=True`), which also records test accuracy after every step and is labeled as such.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from nodewise.core.errors import InputError
from nodewise.evaluation.inputs import (
    DENSE_LIMIT,
    Matrix,
    Rows,
    Stack,
    as_matrices,
    check_labels,
    check_split,
    check_vectors,
    chunks,
    gather,
    probe_dtype,
)
from nodewise.evaluation.logistic import cross_validated_predictions, logistic_predictions
from nodewise.evaluation.presets import OracleCurves, Preset, ProbeResult, get_preset
from nodewise.evaluation.softmax_regression import correct, fit, initial_weights, scores
from nodewise.graph.graph import Split


def linear_probe(
    vectors: Stack,
    labels: np.ndarray | Tensor | Sequence[int],
    split: Split | Sequence[Split],
    preset: str | Preset = "mvgrl",
    *,
    dataset: str = "",
    restarts: int = 1,
    seed: int | Sequence[int] = 0,
    weight_decays: Sequence[float] | None = None,
    oracle: bool = False,
    device: torch.device | str = "cpu",
    tell: Callable[[float], None] = lambda share: None,
) -> ProbeResult:
    """Train and score linear classifiers on every embedding, restart and weight decay at once.

    Args:
        vectors: (N, d), (S, N, d) or S matrices (N, d); dense or CSR. float64 is computed in float64.
        labels: (N,), -1 where unknown.
        split: one for all embeddings, or one for each.
        preset: its name, or a `Preset`.
        dataset: the graph's name; Citeseer has its own weight decay in most presets.
        restarts: classifiers per embedding that differ in their initial weights.
        seed: names the initial weights, one for all embeddings or one for each. Scores depend on it and the
            embedding, never on what else is in the batch.
        weight_decays: replace the preset's.
        oracle: also record accuracy after each step, test accuracy included (`ProbeResult.oracle`).
        device: where to compute.
        tell: told on the way which share of the work is done.
    """
    preset = get_preset(preset).on(dataset)
    matrices = as_matrices(vectors)
    labels, num_classes = check_labels(labels)
    check_vectors(matrices, len(labels))
    splits = list(split) if isinstance(split, Sequence) else [split] * len(matrices)
    seeds = list(seed) if isinstance(seed, Sequence) else [seed] * len(matrices)
    if not len(splits) == len(seeds) == len(matrices):
        raise InputError(
            f"{len(matrices)} embeddings, {len(splits)} splits and {len(seeds)} seeds do not pair up: "
            "give one for all, or one for each embedding"
        )
    # The same split usually serves every embedding: check each object once.
    checked = {id(one): check_split(one, labels) for one in splits}
    splits = [checked[id(one)] for one in splits]
    decays = (preset.weight_decay_for(dataset),) if weight_decays is None else tuple(weight_decays)
    if restarts < 1 or not decays or min(decays) < 0:
        raise InputError(f"a probe needs restarts >= 1 and weight decays >= 0, not {restarts} and {decays}")

    if preset.solver != "adam":
        if oracle or weight_decays is not None:
            raise InputError(f"the {preset.name!r} preset has no steps for an oracle pass and no weight decays")
        outcomes = []
        for done, (matrix, part) in enumerate(zip(matrices, splits, strict=True)):
            tell(done / len(matrices))
            outcomes.append(_logistic(matrix, labels, part, preset))
    else:
        place, dtype = torch.device(device), probe_dtype(matrices)
        outcomes, groups = [], list(_groups(matrices, splits, restarts * len(decays) * num_classes))
        steps, most = itertools.count(1), len(groups) * preset.steps
        for group in groups:
            dims, names = matrices[group[0]].shape[1], [seeds[i] for i in group]
            start = initial_weights(names, restarts, len(decays), dims, num_classes, dtype, place)
            stack, parts = [matrices[i] for i in group], [splits[i] for i in group]
            outcomes.append(
                _adam(stack, labels, parts, start, decays, preset, oracle, lambda: tell(next(steps) / most))
            )

    val = [classes for outcome in outcomes for classes in outcome.val]
    test = [classes for outcome in outcomes for classes in outcome.test]
    curves = [outcome.curves for outcome in outcomes if outcome.curves is not None]
    return ProbeResult(
        preset=preset,
        protocol=preset.protocol(dataset, None if weight_decays is None else decays),
        weight_decays=decays,
        val_accuracy=np.stack([(c == labels[s.val]).mean(-1) for c, s in zip(val, splits, strict=True)]),
        test_accuracy=np.stack([(c == labels[s.test]).mean(-1) for c, s in zip(test, splits, strict=True)]),
        steps=np.concatenate([outcome.steps for outcome in outcomes]),
        predictions=tuple(test),
        oracle=OracleCurves(*map(np.concatenate, zip(*curves, strict=True))) if oracle else None,
    )


@dataclass(frozen=True)
class _Outcome:
    """What a group of embeddings gives: classes (R, W, n) of val and test nodes, steps, oracle curves."""

    val: list[np.ndarray]
    test: list[np.ndarray]
    steps: np.ndarray
    curves: tuple[np.ndarray, np.ndarray] | None = None


def _groups(matrices: list[Matrix], splits: list[Split], outputs: int) -> Iterator[list[int]]:
    """Yield runs of embeddings that stack: equal width and split sizes, and together within memory.

    A row of a matrix becomes as many scores as there are `outputs`, which of many classes are more than its numbers.
    """

    def shape(i: int) -> tuple[int, ...]:
        return matrices[i].shape[1], len(splits[i].train), len(splits[i].val), len(splits[i].test)

    group: list[int] = []
    for i in range(len(matrices)):
        width, *sizes = shape(i)
        too_large = (len(group) + 1) * max(width + 1, outputs) * sum(sizes) > DENSE_LIMIT
        if group and (too_large or shape(i) != shape(group[0])):
            yield group
            group = []
        group.append(i)
    yield group


def _adam(
    matrices: list[Matrix],
    labels: np.ndarray,
    splits: list[Split],
    weights: Tensor,
    decays: Sequence[float],
    preset: Preset,
    oracle: bool,
    after_step: Callable[[], None],
) -> _Outcome:
    def part(name: str) -> tuple[Rows, Tensor]:
        indices = [getattr(split, name) for split in splits]
        targets = torch.from_numpy(labels[np.stack(indices)]).to(weights.device)
        return gather(matrices, indices, weights.dtype, weights.device), targets

    watched = {name: part(name) for name in ("val", "test")} if oracle else {}
    hits: dict[str, list[Tensor]] = {name: [] for name in watched}

    def watch(current: Tensor) -> None:
        after_step()
        for name, (rows, targets) in watched.items():
            hits[name].append(correct(rows, targets, current))

    choosing = part("val") if preset.taken != "last step" else None
    fitted = fit(*part("train"), weights, decays, preset, choosing, watch)
    tasks = list(zip(matrices, splits, fitted.weights, strict=True))
    return _Outcome(
        val=[_predict(matrix, split.val, taken) for matrix, split, taken in tasks],
        test=[_predict(matrix, split.test, taken) for matrix, split, taken in tasks],
        steps=fitted.steps.cpu().numpy(),
        curves=(_shares(hits["val"], watched["val"][1]), _shares(hits["test"], watched["test"][1])) if oracle else None,
    )


def _shares(hits: list[Tensor], targets: Tensor) -> np.ndarray:
    return np.asarray(torch.stack(hits, -1).cpu().numpy() / targets.shape[1])


def _predict(matrix: Matrix, index: np.ndarray, weights: Tensor) -> np.ndarray:
    """Give rows their class under one embedding's classifiers (R, W, C, d + 1): (R, W, n)."""
    classes = []
    for chunk in chunks(index, matrix.shape[1] + 1):
        rows = gather([matrix], [chunk], weights.dtype, weights.device)
        classes.append(scores(rows, weights.unsqueeze(0))[0].argmax(-2))
    return torch.cat(classes, -1).cpu().numpy()


def _logistic(matrix: Matrix, labels: np.ndarray, split: Split, preset: Preset) -> _Outcome:
    """Run the scikit-learn solver once: it starts from zero, so restarts would be the same. R = W = 1."""
    predict = logistic_predictions if preset.solver == "lbfgs" else cross_validated_predictions
    val, test, iterations = predict(matrix, labels, split, preset.steps)
    return _Outcome([val[None, None]], [test[None, None]], np.array(iterations).reshape(1, 1, 1))
