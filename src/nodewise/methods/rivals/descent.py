"""The training loop that label-free networks share: Adam on a loss, stopping when it no longer falls."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn

from nodewise.core.errors import NodewiseError
from nodewise.methods.estimator import Watch


def descend(
    network: nn.Module,
    loss_of: Callable[[int], Tensor],
    watch: Watch,
    *,
    epochs: int,
    learning_rate: float,
    weight_decay: float = 0.0,
    patience: int = 0,
    groups: list[dict[str, Any]] | None = None,
    schedule: Callable[[int], float] = lambda epoch: 1.0,
    after: Callable[[int], None] = lambda epoch: None,
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
        groups: parameter groups of Adam, instead of all parameters.
        schedule: the factor of the learning rate in an epoch.
        after: called after each epoch.
    """
    optimiser = torch.optim.Adam(groups or network.parameters(), lr=learning_rate, weight_decay=weight_decay)
    rates = torch.optim.lr_scheduler.LambdaLR(optimiser, schedule)
    best, best_at, kept = math.inf, 0, None
    with watch.progress.stage("training", total=epochs) as bar:
        for epoch in range(epochs):
            network.train()
            optimiser.zero_grad(set_to_none=True)
            loss = loss_of(epoch)
            value = float(loss.detach())
            if not math.isfinite(value):
                raise NodewiseError(
                    f"the loss is not finite at epoch {epoch}; lower learning_rate", code="training-diverged"
                )
            if patience and value < best:
                best, best_at, kept = value, epoch, deepcopy(network.state_dict())
            elif patience and epoch - best_at >= patience:
                break
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
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
