"""Train many linear classifiers at once: every encoder seed, restart and weight decay in one tensor program.

Each classifier is ``nn.Linear(d, C)`` under cross entropy and ``torch.optim.Adam`` (weight decay added to the
gradient, of the bias too), full batch. Adam works element by element, so stacking changes nothing but speed.
Shapes: S embeddings, R restarts, W weight decays, C classes; weights are (S, R, W, C, d + 1), the bias last.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.evaluation.inputs import Rows
from nodewise.evaluation.presets import Preset

_BETA_1, _BETA_2, _EPSILON = 0.9, 0.999, 1e-8


@dataclass(frozen=True)
class Fitted:
    """The classifiers taken, and the step (from 1) each was taken at."""

    weights: Tensor  # (S, R, W, C, d + 1)
    steps: Tensor  # (S, R, W)


def initial_weights(
    seeds: Sequence[int], restarts: int, decays: int, dims: int, classes: int, dtype: torch.dtype, device: torch.device
) -> Tensor:
    """Draw Xavier-uniform weights, U(-a, a) with a = sqrt(6 / (d + C)), and zero biases.

    A draw is a function of (seed, restart) only. All weight decays start from the same point, so that
    comparing them is a paired comparison.
    """
    keys = torch.as_tensor(
        rng.key(
            torch.tensor(list(seeds), device=device)[:, None], "probe.weights", torch.arange(restarts, device=device)
        )
    )
    unit = rng.uniform64(keys.unsqueeze(-1), torch.arange(classes * dims, device=device))  # (S, R, C d)
    bound = math.sqrt(6 / (dims + classes))
    drawn = ((2 * unit - 1) * bound).to(dtype).view(len(seeds), restarts, 1, classes, dims)
    weights = drawn.new_zeros(len(seeds), restarts, decays, classes, dims + 1)
    weights[..., :-1] = drawn
    return weights


def scores(rows: Rows, weights: Tensor) -> Tensor:
    """Return the logits (S, R, W, C, n)."""
    flat = rows.scores(weights.flatten(1, 3))
    return flat.view(*weights.shape[:4], -1)


def correct(rows: Rows, targets: Tensor, weights: Tensor) -> Tensor:
    """Count rightly classified rows: targets (S, n) -> (S, R, W)."""
    return (scores(rows, weights).argmax(-2) == targets[:, None, None]).sum(-1)


def fit(
    train: Rows,
    targets: Tensor,
    weights: Tensor,
    decays: Sequence[float],
    preset: Preset,
    validation: tuple[Rows, Tensor] | None = None,
    watch: Callable[[Tensor], None] | None = None,
) -> Fitted:
    """Train from `weights`, which are overwritten; no step waits for the device.

    Args:
        train: the training rows X (S, n, d + 1).
        targets: their classes (S, n).
        weights: the starting point (S, R, W, C, d + 1).
        decays: the W weight decays.
        preset: learning rate, number of steps, and which of equally good steps is taken.
        validation: rows and classes that choose the step; without them the last step is taken.
        watch: called with the weights after each step. It cannot change what is taken.
    """
    decay = torch.tensor(list(decays), dtype=weights.dtype, device=weights.device)[:, None, None]  # (W, 1, 1)
    own = targets[:, None, None, None].expand(*weights.shape[:3], 1, -1)  # (S, R, W, 1, n)
    ones = torch.ones((), dtype=weights.dtype, device=weights.device).expand(own.shape)
    mean, square = torch.zeros_like(weights), torch.zeros_like(weights)
    taken, steps = weights, torch.full_like(weights[..., 0, 0], preset.steps, dtype=torch.int64)
    most = torch.full_like(steps, -1)
    for step in range(1, preset.steps + 1):
        # In place: with thousands of classes this is the largest thing by far, and every copy of it costs.
        errors = torch.softmax(scores(train, weights), -2)  # (S, R, W, C, n)
        errors.scatter_add_(-2, own, -ones).div_(targets.shape[1])
        gradient = train.gradient(errors.flatten(1, 3)).view_as(weights).addcmul_(weights, decay)
        mean.lerp_(gradient, 1 - _BETA_1)
        square.mul_(_BETA_2).addcmul_(gradient, gradient, value=1 - _BETA_2)
        denominator = square.sqrt().div_(math.sqrt(1 - _BETA_2**step)).add_(_EPSILON)
        weights.addcdiv_(mean, denominator, value=-preset.learning_rate / (1 - _BETA_1**step))
        if validation is not None:
            hits = correct(*validation, weights)
            better = hits > most if preset.taken == "first best validation step" else hits >= most
            most, steps = torch.where(better, hits, most), torch.where(better, step, steps)
            taken = torch.where(better[..., None, None], weights, taken)
        if watch is not None:
            watch(weights)
    return Fitted(taken, steps)
