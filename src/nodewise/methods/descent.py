"""What label-free networks share: settings of the descent, and the loop of Adam on a loss of the whole graph."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import torch
from torch import Tensor, nn

from nodewise.core.config import Checked, Count, CountOrNone, NotNegative
from nodewise.core.errors import NodewiseError
from nodewise.methods.estimator import InductiveEmbedder, Watch
from nodewise.methods.inputs import Inputs


@dataclass(frozen=True)
class DescentSettings(Checked):
    """How long and how fast.

    Attributes:
        epochs: steps of Adam on the whole graph, at most.
        learning_rate: of Adam, at its highest.
    """

    epochs: Count = 200
    learning_rate: NotNegative = 1e-3


@dataclass(frozen=True)
class DecaySettings(DescentSettings):
    """With the weight decay of Adam."""

    weight_decay: NotNegative = 0.0


@dataclass(frozen=True)
class PatientSettings(DescentSettings):
    """Stopping after `patience` epochs without a lower loss; 0 never does."""

    patience: CountOrNone = 0


class EncoderNetwork(nn.Module):
    """A network whose vectors are those of its encoder; what else it has is for the loss."""

    encoder: nn.Module

    def forward(self, x: Tensor, adjacency: Tensor) -> Tensor:
        """Return vectors (N, d)."""
        return cast(Tensor, self.encoder(x, adjacency))


class DescendingEmbedder(InductiveEmbedder):
    """An embedder whose network descends on a loss; a subclass is its network and that loss."""

    cost = "O(N F d + N d² + E d) an epoch"
    optimizer_class: ClassVar[Any] = torch.optim.Adam
    clip: ClassVar[float] = math.inf
    network_class: ClassVar[type[Any]]
    """Made of the number of features and the settings, unless `_build` says otherwise."""
    settings: Any

    def _build(self, num_features: int) -> nn.Module:
        return cast(nn.Module, self.network_class(num_features, self.settings))

    @abstractmethod
    def _objective(self, network: Any, inputs: Inputs, watch: Watch) -> Callable[[int], Tensor]:
        """Prepare what all epochs share; return the loss of an epoch."""

    def _encode(self, network: nn.Module, inputs: Inputs) -> Tensor:
        return cast(Tensor, network(inputs.x, inputs.adjacency))

    def _learned(self, network: Any) -> Iterable[nn.Parameter]:
        return cast(Iterable[nn.Parameter], network.parameters())

    def _schedule(self, epoch: int) -> float:
        return 1.0

    def _after(self, network: Any, epoch: int) -> None:
        """Do what follows each step."""

    def _train(self, network: nn.Module, inputs: Inputs, watch: Watch) -> None:
        chosen = self.settings
        descend(
            network,
            self._objective(network, inputs, watch),
            watch,
            epochs=chosen.epochs,
            learning_rate=chosen.learning_rate,
            weight_decay=getattr(chosen, "weight_decay", 0.0),
            patience=getattr(chosen, "patience", 0),
            clip=self.clip,
            parameters=self._learned(network),
            schedule=self._schedule,
            after=lambda epoch: self._after(network, epoch),
            optimizer_class=self.optimizer_class,
        )


_TOGETHER = 10  # epochs between two looks at the loss, where looking means waiting


def _looks(changing: list[nn.Parameter], patience: int) -> int:
    """Return after how many epochs to read losses: a processor that reads one waits until a GPU has computed it."""
    return _TOGETHER if changing and changing[0].is_cuda and not patience else 1


def _read(pending: list[Tensor], epoch: int) -> float:
    """Return the latest of some losses, and forget them; the last is that of this epoch."""
    values = torch.stack(pending).tolist()
    for at, value in enumerate(values, epoch + 1 - len(values)):
        if not math.isfinite(value):
            raise NodewiseError(f"the loss is not finite at epoch {at}; lower learning_rate", code="training-diverged")
    pending.clear()
    return cast(float, values[-1])


@torch.no_grad()
def follow(copy: nn.Module, network: nn.Module, momentum: float) -> None:
    """Move the weights of a copy towards a network's: φ <- τ φ + (1 - τ) θ."""
    for slow, fast in zip(copy.parameters(), network.parameters(), strict=True):
        slow.lerp_(fast, 1 - momentum)


def descend(
    network: nn.Module,
    loss_of: Callable[[int], Tensor],
    watch: Watch,
    *,
    epochs: int,
    learning_rate: float,
    weight_decay: float = 0.0,
    patience: int = 0,
    clip: float = math.inf,
    parameters: Iterable[nn.Parameter] | None = None,
    schedule: Callable[[int], float] = lambda epoch: 1.0,
    after: Callable[[int], None] = lambda epoch: None,
    optimizer_class: Any = torch.optim.Adam,
) -> int:
    """Train a network in place; return the number of epochs.

    Args:
        network: put into training mode; given back with the weights of the lowest loss if `patience`, else the last.
        loss_of: the loss of an epoch.
        watch: who watches.
        epochs: at most so many.
        learning_rate: of Adam.
        weight_decay: of Adam.
        patience: stop after so many epochs without a lower loss; 0 never stops early.
        clip: gradients longer than this are shortened to it.
        parameters: what Adam changes, instead of all parameters.
        schedule: the factor of the learning rate in an epoch.
        after: called after each epoch.
        optimizer_class: Adam, or one like it.
    """
    changing = list(network.parameters() if parameters is None else parameters)
    options = (
        {"fused": True} if changing and changing[0].is_cuda and issubclass(optimizer_class, torch.optim.Adam) else {}
    )
    optimizer = optimizer_class(changing, lr=learning_rate, weight_decay=weight_decay, **options)
    rates = torch.optim.lr_scheduler.LambdaLR(optimizer, schedule)
    best, best_at, kept = math.inf, 0, None
    looks, value, pending = _looks(changing, patience), math.nan, list[Tensor]()
    with watch.progress.stage("training", total=epochs) as bar:
        for epoch in range(epochs):
            network.train()
            optimizer.zero_grad(set_to_none=True)
            loss = loss_of(epoch)
            pending.append(loss.detach())
            if epoch % looks == 0 or epoch == epochs - 1:
                value = _read(pending, epoch)
            if patience and value < best:
                best, best_at, kept = value, epoch, deepcopy(network.state_dict())
            elif patience and epoch - best_at >= patience:
                break
            loss.backward()  # type: ignore[no-untyped-call]
            if clip < math.inf:
                nn.utils.clip_grad_norm_(changing, clip)
            optimizer.step()
            rates.step()
            after(epoch)
            if epoch % 10 == 0 or epoch == epochs - 1:
                watch.log({"step": epoch, "loss": value})
            bar.advance(loss=value)
        else:
            epoch += 1
    if kept is not None:
        network.load_state_dict(kept)
    return epoch
