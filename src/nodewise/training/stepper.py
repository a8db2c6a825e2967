"""Take optimiser steps, one after another: plainly, or on a GPU as a captured graph of kernels.

A step is some thousand small kernels, and starting them one by one takes longer than running them. `CapturedStepper`
records the step once and replays it. Its slow twin is `Stepper`; both compute the same numbers, for the draws of
a step are a function of its number, which the captured graph reads from the device.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nodewise.fast.lanes import beside, join, mark
from nodewise.training.step import Learner


class Stepper:
    """Adam on the sum of the runs' losses. Adam is elementwise, so stacked runs do not touch each other."""

    def __init__(self, learner: Learner, *, capturable: bool = False) -> None:
        chosen = learner.settings.training
        self.learner = learner
        self.optimiser = torch.optim.Adam(
            learner.encoder.parameters(),
            lr=chosen.learning_rate,
            weight_decay=chosen.weight_decay,
            capturable=capturable,
            fused=learner.seeds.device.type == "cpu",  # one pass over the weights instead of seven
        )

    def __call__(self, nodes: Tensor, step: int) -> tuple[Tensor, dict[str, Tensor]]:
        """Learn from a batch (S, B); return the losses (S,) and what the strategy did."""
        return self._learn(nodes, step)

    def _learn(self, nodes: Tensor, step: int | Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        self.optimiser.zero_grad(set_to_none=True)
        loss, _, pairs = self.learner.loss(nodes, step)
        loss.sum().backward()  # type: ignore[no-untyped-call]
        self.learner.team.sum_gradients(self.learner.encoder.parameters())
        self.optimiser.step()
        return loss.detach(), pairs.statistics

    def diagnose(self, nodes: Tensor, step: int) -> dict[str, Tensor]:
        """Return the strategy's slow diagnostics of a batch, without learning from it."""
        with torch.no_grad():
            loss, candidates, pairs = self.learner.loss(nodes, step)
            if not loss.isfinite().all():  # the step just taken went astray, and what is not finite has no rank
                return {}
            return self.learner.sampler.diagnose(candidates, pairs)


class CapturedStepper(Stepper):
    """The same steps, replayed as one CUDA graph."""

    _WARM_UP = 2

    def __init__(self, learner: Learner) -> None:
        super().__init__(learner, capturable=True)
        self._graph: torch.cuda.CUDAGraph | None = None
        self._taken = 0

    def __call__(self, nodes: Tensor, step: int) -> tuple[Tensor, dict[str, Tensor]]:
        """Learn from a batch; the tensors returned are overwritten by the next call."""
        if self._graph is None and self._taken < self._WARM_UP:
            self._taken += 1
            return self._warm_up(nodes, step)
        if self._graph is None:
            self._capture(nodes, step)
        self._nodes.copy_(nodes)
        self._step.fill_(step)
        self._graph.replay()  # type: ignore[union-attr]
        return self._result

    def _warm_up(self, nodes: Tensor, step: int) -> tuple[Tensor, dict[str, Tensor]]:
        # Libraries make their handles and workspaces at first use, which a capture must not see.
        begun = mark(nodes)
        with beside("warm-up", begun):
            result = self._learn(nodes, torch.tensor(step, device=nodes.device))
        join("warm-up", begun)
        return result

    def _capture(self, nodes: Tensor, step: int) -> None:
        self._nodes, self._step = nodes.clone(), torch.tensor(step, device=nodes.device)
        self.optimiser.zero_grad(set_to_none=True)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            self._result = self._learn(self._nodes, self._step)


def build_stepper(learner: Learner) -> Stepper:
    """Return the captured stepper where the whole step has static shapes, the plain one elsewhere."""
    static = (
        learner.seeds.device.type == "cuda"
        and learner.team.size == 1
        and learner.features.on_device
        and learner.encoder.static
        and learner.sampler.strategy.static
    )
    return CapturedStepper(learner) if static else Stepper(learner)
