"""What the methods that learn from labels share, whatever they learn."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from nodewise.core.errors import InputError
from nodewise.graph.graph import Graph, Split
from nodewise.methods.estimator import Estimator, Watch
from nodewise.methods.inputs import Inputs


@dataclass(frozen=True)
class Supervision:
    """What a classifier may know.

    Attributes:
        labels: int64 (N,), those of training and validation nodes, -1 elsewhere.
        train: positions of the nodes to learn from.
        val: positions of the nodes that say when to stop; there may be none.
        num_classes: number of classes C.
    """

    labels: Tensor
    train: Tensor
    val: Tensor
    num_classes: int

    @classmethod
    def of(cls, graph: Graph, device: torch.device, seed: int = 0) -> Supervision:
        """Take the labels of the training and validation nodes of the graph's split, and no others.

        Without a split all labels are taken, some of them for validation, which the seed chooses.
        """
        if graph.labels is None or not (graph.labels >= 0).any():
            raise InputError(
                f"{graph.name} has no labels to learn from; this method needs them (--labels)", code="no-labels"
            )
        split = graph.split if graph.split is not None else hold_out(graph.labels, seed)
        if not len(split.train):
            raise InputError(f"{graph.name}: no training nodes in its split; this method needs them", code="no-labels")
        labels, given = torch.full((graph.num_nodes,), -1), torch.from_numpy(graph.labels)
        parts = [torch.from_numpy(part) for part in (split.train, split.val)]
        for name, part in zip(("training", "validation"), parts, strict=True):
            labels[part] = given[part]
            if (labels[part] < 0).any():
                raise InputError(f"{graph.name}: a {name} node of the split has no label; label it, or leave it out")
        if (labels[parts[0]] == labels[parts[0][0]]).all():
            raise InputError(
                f"{graph.name}: all training nodes are of one class; at least two are needed", code="too-few-labels"
            )
        return cls(labels.to(device), parts[0].to(device), parts[1].to(device), graph.num_classes)


class Classifier(Estimator):
    """A method that learns from labels and gives every node class probabilities.

    The labels of the training and validation nodes of the graph's split are read; others never are. Without a split all
    labels are, and a fifth of them says when to stop (`hold_out`).

    Attributes:
        probabilities_: float32 (N, C).
    """

    probabilities_: Tensor

    def _fit(self, inputs: Inputs, watch: Watch) -> None:
        known = Supervision.of(inputs.graph, inputs.device, self.seed)
        self.probabilities_ = self._classify(inputs, known, watch).detach().to("cpu", torch.float32)

    @abstractmethod
    def _classify(self, inputs: Inputs, known: Supervision, watch: Watch) -> Tensor:
        """Train and return class probabilities (N, C)."""

    @property
    def predictions_(self) -> Tensor:
        """The likeliest class of each node, int64 (N,)."""
        if not hasattr(self, "probabilities_"):
            raise self._not_fitted()
        return self.probabilities_.argmax(1)


HELD_OUT = 0.2


def hold_out(labels: npt.NDArray[np.int64], seed: int) -> Split:
    """Hold a fifth of the labeled nodes of each class out to say when to stop, rounded down; the test part is empty.

    A class of fewer than five labeled nodes therefore keeps all of them for training. The choice depends on the
    labels and the seed only.
    """
    generator = np.random.Generator(np.random.Philox(seed))
    shuffled = generator.permutation(np.flatnonzero(labels >= 0))
    by_class = shuffled[np.argsort(labels[shuffled], kind="stable")]
    _, starts, sizes = np.unique(labels[by_class], return_index=True, return_counts=True)
    rank = np.arange(len(by_class)) - np.repeat(starts, sizes)
    held = rank < np.repeat((HELD_OUT * sizes).astype(np.int64), sizes)
    return Split(np.sort(by_class[~held]), np.sort(by_class[held]), np.empty(0, np.int64))
