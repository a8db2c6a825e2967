"""Networks that are trained on labels, full batch, until the validation nodes say that it is enough."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from nodewise.core.config import Checked, Count, CountOrNone, Layers, NotNegative, Share, Size
from nodewise.core.errors import NodewiseError
from nodewise.graph.graph import Graph
from nodewise.graph.validate import require_features
from nodewise.methods.classifiers.classifier import Classifier, Supervision
from nodewise.methods.estimator import Watch
from nodewise.methods.inputs import Inputs
from nodewise.methods.products import drop
from nodewise.training.device import choose_device


@dataclass(frozen=True)
class TrainingSettings(Checked):
    """How a network learns from labels; the methods add what the network looks like.

    Attributes:
        learning_rate: of the optimizer.
        weight_decay: L2 penalty λ/2 |w|² of the weights that the method penalizes.
        epochs: at most so many.
        patience: stop after so many epochs in which validation did not improve; 0 runs all epochs, and then the last
            weights are taken, as they are without validation nodes.
        monitor: what has to improve: "loss", "accuracy" (the loss decides between equals), or, as for GAT, "either",
            where the weights taken are those of the last epoch at which both were at their best.
    """

    learning_rate: NotNegative = 0.01
    weight_decay: NotNegative = 5e-4
    epochs: Count = 200
    patience: CountOrNone = 10
    monitor: Literal["loss", "accuracy", "either"] = "loss"


@dataclass(frozen=True)
class LayeredSettings(TrainingSettings):
    """Layers with as many hidden units each, and dropout before each."""

    hidden: Size = 16
    layers: Layers = 2
    dropout: Share = 0.5

    def sizes(self, num_features: int, num_classes: int) -> list[int]:
        """Return the widths from the features to the classes."""
        return [num_features, *[self.hidden] * (self.layers - 1), num_classes]


class Stack(nn.ModuleList):
    """Layers with dropout before each and a ReLU between them."""

    def __init__(self, layer: Callable[[int, int], nn.Module], sizes: list[int], dropout: float) -> None:
        super().__init__(layer(fan_in, fan_out) for fan_in, fan_out in pairwise(sizes))
        self.dropout = dropout

    def forward(self, x: Tensor, *edges: Tensor) -> Tensor:
        """Return class scores (N, C) of features (N, F), dense or CSR, and of what else each layer takes."""
        for number, layer in enumerate(self):
            x = layer(drop(x.relu() if number else x, self.dropout, self.training), *edges)
        return x


@dataclass
class Stopping:
    """Decide after each epoch whether its weights are to be kept, and whether to go on."""

    monitor: str
    patience: int
    loss: float = math.inf
    accuracy: float = -1.0
    idle: int = 0

    def keep(self, loss: float, accuracy: float) -> bool:
        """Take note of an epoch's validation; return whether its weights are the ones to take so far."""
        lower, higher = loss < self.loss, accuracy > self.accuracy
        if self.monitor == "either":
            improved = loss <= self.loss or accuracy >= self.accuracy
            kept = loss <= self.loss and accuracy >= self.accuracy
            self.loss, self.accuracy = min(loss, self.loss), max(accuracy, self.accuracy)
        else:
            kept = lower if self.monitor == "loss" else higher or (accuracy == self.accuracy and lower)
            improved = kept
            if kept:
                self.loss, self.accuracy = loss, accuracy
        self.idle = 0 if improved else self.idle + 1
        return kept

    @property
    def over(self) -> bool:
        """Whether validation has not improved for too long."""
        return self.idle >= self.patience


def supervise(
    network: nn.Module,
    logits_of: Callable[[], Tensor],
    optimizer: torch.optim.Optimizer,
    known: Supervision,
    settings: TrainingSettings,
    watch: Watch,
) -> int:
    """Minimize the mean cross entropy of the training nodes; return the number of epochs.

    `logits_of` returns (N, C) for the network as it is, which is left with the weights that validation chose.
    """
    stopping, kept = Stopping(settings.monitor, settings.patience), None
    validate = settings.patience > 0 and len(known.val) > 0
    wanted, val_labels = known.labels[known.train], known.labels[known.val]
    done = 0
    with watch.progress.stage("training", total=settings.epochs) as bar:
        while done < settings.epochs and not (validate and stopping.over):
            network.train()
            optimizer.zero_grad(set_to_none=True)
            loss = functional.cross_entropy(logits_of()[known.train], wanted)
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            seen = {"loss": float(loss.detach())}
            if not math.isfinite(seen["loss"]):
                raise NodewiseError(
                    f"the loss is not finite at epoch {done}; lower learning_rate", code="training-diverged"
                )
            if validate:
                network.eval()
                with torch.no_grad():
                    logits = logits_of()[known.val]
                seen["val_loss"] = float(functional.cross_entropy(logits, val_labels))
                seen["val_accuracy"] = float((logits.argmax(1) == val_labels).float().mean())
                if stopping.keep(seen["val_loss"], seen["val_accuracy"]):
                    kept = deepcopy(network.state_dict())
            if done % 10 == 0:
                watch.log({"step": done, **seen})
            bar.advance(1, **seen)
            done += 1
    if kept is not None:
        network.load_state_dict(kept)
    return done


class NetworkClassifier(Classifier):
    """A classifier that is a network of features and edges, and so classifies the nodes of any graph.

    Attributes:
        network_: the trained network.
        epochs_: number of epochs it was trained for.
    """

    inductive = True
    uses = "X A Y"
    settings_class: ClassVar[type[TrainingSettings]]
    optimizer_class: ClassVar[Any] = torch.optim.Adam
    network_: nn.Module

    @abstractmethod
    def _build(self, num_features: int, num_classes: int) -> nn.Module:
        """Return the untrained network."""

    def _logits(self, network: nn.Module, inputs: Inputs) -> Tensor:
        """Return class scores (N, C) of every node, with dropout where the network is in training mode."""
        return cast(Tensor, network(inputs.x, inputs.adjacency))

    def _penalized(self, network: Any) -> list[nn.Parameter]:
        """Return the weights that weight decay is for: all of them."""
        return list(network.parameters())

    def _optimizer(self, network: nn.Module) -> torch.optim.Optimizer:
        penalized = self._penalized(network)
        known = {id(weight) for weight in penalized}
        free = [weight for weight in network.parameters() if id(weight) not in known]
        groups = [{"params": penalized, "weight_decay": self.settings.weight_decay}, {"params": free}]
        return cast(torch.optim.Optimizer, self.optimizer_class(groups, lr=self.settings.learning_rate))

    def _classify(self, inputs: Inputs, known: Supervision, watch: Watch) -> Tensor:
        self.num_features_ = inputs.num_features
        self.network_ = self._build(inputs.num_features, known.num_classes).to(inputs.device)
        optimizer = self._optimizer(self.network_)
        self.epochs_ = supervise(
            self.network_, lambda: self._logits(self.network_, inputs), optimizer, known, self.settings, watch
        )
        return self._probabilities(inputs)

    def _probabilities(self, inputs: Inputs) -> Tensor:
        self.network_.eval()
        with torch.no_grad():
            return self._logits(self.network_, inputs).softmax(1)

    def predict(self, graph: Graph) -> Tensor:
        """Return class probabilities (N, C) of the nodes of any graph with the same features."""
        if not hasattr(self, "network_"):
            raise self._not_fitted()
        require_features(graph, self.num_features_)
        device = choose_device(self.device)
        self.network_.to(device)
        return self._probabilities(Inputs(graph, device)).to("cpu", torch.float32)
