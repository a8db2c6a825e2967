"""Everything that changes while training: weights, the optimiser's moments, the memory of early stopping."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from nodewise.encoders.encoder import Encoder
from nodewise.training.health import LossGuard
from nodewise.training.monitor import EarlyStopping


@dataclass(frozen=True)
class TrainingState:
    """The parts of a training that a checkpoint holds."""

    encoder: Encoder
    optimiser: torch.optim.Optimizer
    guard: LossGuard
    stopping: EarlyStopping | None = None

    def tensors(self) -> dict[str, Tensor]:
        """Return all of it under flat names; the tensors are the live ones. A training gone astray has none."""
        self.guard.check(self.encoder)
        found = {f"encoder.{name}": weight for name, weight in self.encoder.state_dict().items()}
        found |= {f"guard.{name}": value for name, value in self.guard.tensors().items()}
        for index, moments in self.optimiser.state_dict()["state"].items():
            found |= {f"optimiser.{index}.{name}": value for name, value in moments.items()}
        if self.stopping is not None:
            found |= {f"stopping.{name}": value for name, value in self.stopping.tensors().items()}
        return found

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Become what `tensors` described."""
        self.guard.load(_part(tensors, "guard"))
        self.encoder.load_state_dict(_part(tensors, "encoder"))
        state: dict[int, dict[str, Tensor]] = {}
        for name, value in _part(tensors, "optimiser").items():
            index, _, moment = name.partition(".")
            state.setdefault(int(index), {})[moment] = value
        groups = self.optimiser.state_dict()["param_groups"]
        self.optimiser.load_state_dict({"state": state, "param_groups": groups})
        if self.stopping is not None:
            self.stopping.load(_part(tensors, "stopping"))


def _part(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.partition(".")[2]: value for name, value in tensors.items() if name.startswith(f"{prefix}.")}
