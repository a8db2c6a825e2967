"""Notice a training that has gone astray, without asking the device at every step."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from nodewise.core.errors import NodewiseError
from nodewise.encoders.encoder import Encoder
from nodewise.training.step import Learner

EXPLODED = 1000.0
"""A loss so many times that of the first step, or of 1, is no longer about the graph."""

HEAVIEST = 1e4
"""Weights begin at about 0.1; scores that are bounded hide from the loss that weights have grown beyond all use."""

_LARGE = 1e4
_FAST = 0.05


class GoneAstray(NodewiseError):
    """The loss or the weights are of no use any more; what was learned before `step` may be."""

    code = "training-diverged"

    def __init__(self, message: str, step: int) -> None:
        super().__init__(message)
        self.step = step


class LossGuard:
    """Remembers the first step at which any run's loss was not finite or had exploded.

    It is noted on the device; `check` reads it, which on a GPU waits for the steps so far.
    """

    def __init__(self, learner: Learner) -> None:
        self._learner = learner
        self._limit: Tensor | None = None
        self._latest = -1
        self._first = torch.full_like(learner.seeds, -1)

    def note(self, loss: Tensor, step: int) -> None:
        """Look at the losses (S,) of a step."""
        if self._limit is None:
            self._limit = EXPLODED * loss.abs().clamp(min=1)
        self._latest = step
        astray = ~(loss.abs() <= self._limit)  # so that what is not a number is astray
        self._first = torch.where(astray & (self._first < 0), step, self._first)

    def check(self, encoder: Encoder) -> None:
        """End the training if the loss or the weights have gone astray."""
        if astray := [step for step in self._first.tolist() if step >= 0]:
            first = min(astray)
            raise GoneAstray(f"the loss is not finite or exploded at step {first}; {_remedy(self._learner)}", first)
        heaviest = float(torch.stack([weight.detach().abs().max() for weight in encoder.parameters()]).max())
        if not heaviest <= HEAVIEST:  # so that what is not a number is too much
            raise GoneAstray(
                f"the weights reach {heaviest:.2g} after step {self._latest}; {_remedy(self._learner)}", self._latest
            )

    def tensors(self) -> dict[str, Tensor]:
        """Return what must be remembered: the limits (S,), once there are some."""
        return {} if self._limit is None else {"limit": self._limit}

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Remember them."""
        self._limit = tensors["limit"].to(self._first.device) if "limit" in tensors else None


def _remedy(learner: Learner) -> str:
    """Return what most likely went wrong and what to do, the surest sign first."""
    chosen = learner.settings
    columns = torch.ones(learner.features.shape[1], device=learner.features.device)
    largest = float(learner.features.row_norms(columns).max())
    if not largest < _LARGE:
        return (
            f"a node's features are a vector of length {largest:.2g}: set features.unit_rows=true, or scale them to 1"
        )
    if chosen.training.learning_rate > _FAST:
        return f"lower training.learning_rate, which is {chosen.training.learning_rate:g}"
    if chosen.loss.temperature < 0.05 or chosen.loss.score == "dot":
        return (
            f"raise loss.temperature, which is {chosen.loss.temperature:g}, or choose loss.score=cosine, "
            "which bounds the scores"
        )
    if chosen.training.precision == "bfloat16":
        return "choose training.precision=float32"
    return "lower training.learning_rate or raise loss.temperature"
