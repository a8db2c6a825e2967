"""Take optimizer steps, one after another: plainly, or on a GPU as a captured graph of kernels.

A step is some thousand small kernels, and starting them one by one takes longer than running them. `CapturedStepper`
records the step once and replays it. Its slow twin is `Stepper`; both compute the same numbers, for the draws of
a step are a function of its number, which the captured graph reads from the device.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.optim.adam import adam

from nodewise.fast.lanes import beside, join, mark
from nodewise.sampling.measures import measure
from nodewise.sampling.pairs import Candidates, PairSets
from nodewise.training.step import Learner


class FusedAdam:
    """`torch.optim.Adam(fused=True)` to the bit, one pass over the weights instead of seven.

    Torch's own class loads its compiler when first used: more than a second, as long as a small graph takes.
    """

    def __init__(self, parameters: Iterable[torch.nn.Parameter], *, lr: float, weight_decay: float) -> None:
        self.parameters, self.state = list(parameters), dict[int, dict[str, Tensor]]()
        self.rates: dict[str, Any] = {"lr": lr, "weight_decay": weight_decay}

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients."""
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Move the parameters that have a gradient."""
        used = [(i, each) for i, each in enumerate(self.parameters) if each.grad is not None]
        for i, each in used:
            if i not in self.state:
                self.state[i] = {name: torch.zeros_like(each) for name in ("exp_avg", "exp_avg_sq")}
                self.state[i]["step"] = torch.zeros(())
        of = {name: [self.state[i][name] for i, _ in used] for name in ("exp_avg", "exp_avg_sq", "step")}
        adam(
            [each for _, each in used],
            [each.grad for _, each in used if each.grad is not None],
            of["exp_avg"],
            of["exp_avg_sq"],
            [],
            of["step"],
            fused=True,
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            eps=1e-8,
            maximize=False,
            **self.rates,
        )

    def state_dict(self) -> dict[str, Any]:
        """Return the moments of each parameter, as torch's class does."""
        return {"state": self.state, "param_groups": [self.rates]}

    def load_state_dict(self, found: dict[str, Any]) -> None:
        """Carry on from moments that `state_dict` returned."""
        self.state = {
            int(i): {name: torch.as_tensor(value).clone() for name, value in moments.items()}
            for i, moments in found["state"].items()
        }


class Stepper:
    """Adam on the sum of the runs' losses. Adam is elementwise, so stacked runs do not touch each other."""

    def __init__(self, learner: Learner, *, capturable: bool = False) -> None:
        chosen = learner.settings.training
        self.learner = learner
        self._seen: tuple[Candidates, PairSets]
        rates: dict[str, Any] = {"lr": chosen.learning_rate, "weight_decay": chosen.weight_decay}
        self.optimizer: torch.optim.Adam | FusedAdam
        if learner.seeds.device.type == "cpu":
            self.optimizer = FusedAdam(learner.encoder.parameters(), **rates)
        else:
            self.optimizer = torch.optim.Adam(learner.encoder.parameters(), **rates, capturable=capturable)

    def __call__(self, nodes: Tensor, step: int) -> tuple[Tensor, dict[str, Tensor]]:
        """Learn from a batch (S, B); return the losses (S,) and what the strategy did."""
        return self._learn(nodes, step)

    def _learn(self, nodes: Tensor, step: int | Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        self.optimizer.zero_grad(set_to_none=True)
        loss, candidates, pairs = self.learner.loss(nodes, step)
        if self.learner.settings.training.measure_every:
            self._seen = candidates, pairs
        loss.sum().backward()  # type: ignore[no-untyped-call]
        self.learner.team.sum_gradients(self.learner.encoder.parameters())
        self.optimizer.step()
        return loss.detach(), pairs.statistics

    def diagnose(self, nodes: Tensor, step: int) -> dict[str, Tensor]:
        """Return the strategy's slow diagnostics of a batch, without learning from it."""
        if not self.learner.sampler.diagnoses:
            return {}
        with torch.no_grad():
            loss, candidates, pairs = self.learner.loss(nodes, step)
            if not loss.isfinite().all():  # the step just taken went astray, and what is not finite has no rank
                return {}
            return self.learner.sampler.diagnose(candidates, pairs)

    def measure(self) -> dict[str, Tensor]:
        """Return the measures of the step just taken."""
        candidates, pairs = self._seen
        # A copy: what it would remember of these tensors, the next replay would not renew.
        return measure(replace(candidates, begun=None, encoded=None), pairs, self.learner.labels)


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
        self.optimizer.zero_grad(set_to_none=True)
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
