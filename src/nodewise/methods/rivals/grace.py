"""GRACE: two views of the graph by dropped edges and hidden features, contrasted node by node (Zhu et al. 2020).

Settings for Cora, Citeseer and Pubmed are those of the authors' published configuration; the defaults are Cora's.

Differs from the paper: rows of features are brought to length one. Where they sum to one, the vectors come out
too short for a linear probe of a few hundred steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize
from torch_geometric.nn import GCNConv
from torch_geometric.utils import dropout_edge

from nodewise.core.config import MOST_DIMENSIONS, check_ranges
from nodewise.methods.estimator import InductiveEmbedder, Watch, method
from nodewise.methods.inputs import Inputs
from nodewise.methods.products import FeatureLinear, unit_rows
from nodewise.methods.rivals.augment import drop_columns
from nodewise.methods.rivals.descent import descend


@dataclass(frozen=True)
class GraceSettings:
    """Encoder, views and training.

    Attributes:
        dimension: size of the vectors; the hidden layer has twice as many units.
        projection: hidden units of the projection that only the loss sees.
        activation: after both layers.
        drop_edges_1: share of directed edges missing from the first view.
        drop_edges_2: and from the second.
        drop_features_1: share of feature columns hidden from the first view.
        drop_features_2: and from the second.
        temperature: τ of the loss.
        epochs: steps of Adam on the whole graph.
        learning_rate: of Adam.
        weight_decay: of Adam.
        patience: stop after so many epochs without a lower loss; 0, as in the paper, never does.
    """

    dimension: int = 128
    projection: int = 128
    activation: Literal["relu", "prelu"] = "relu"
    drop_edges_1: float = 0.2
    drop_edges_2: float = 0.4
    drop_features_1: float = 0.3
    drop_features_2: float = 0.4
    temperature: float = 0.4
    epochs: int = 200
    learning_rate: float = 5e-4
    weight_decay: float = 1e-5
    patience: int = 0

    def __post_init__(self) -> None:
        shares = {f"drop_{what}_{view}": (0.0, 1.0) for what in ("edges", "features") for view in (1, 2)}
        check_ranges(
            self,
            dimension=(1, MOST_DIMENSIONS),
            projection=(1, MOST_DIMENSIONS),
            temperature=(0.02, None),  # below, e^(1/τ) and its sums leave single precision
            epochs=(1, None),
            learning_rate=(0, None),
            weight_decay=(0, None),
            patience=(0, None),
            **shares,
        )


class GraceNetwork(nn.Module):
    """A two-layer GCN, and the projection of its vectors in which views are compared."""

    def __init__(self, num_features: int, settings: GraceSettings) -> None:
        super().__init__()
        size = settings.dimension
        self.first, self.second = GCNConv(num_features, 2 * size), GCNConv(2 * size, size)
        self.first.lin = FeatureLinear(num_features, 2 * size, bias=False)
        self.activation = nn.PReLU() if settings.activation == "prelu" else nn.ReLU()
        self.projection = nn.Sequential(
            nn.Linear(size, settings.projection), nn.ELU(), nn.Linear(settings.projection, size)
        )

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Embed the nodes: (N, d)."""
        hidden = self.activation(self.first(x, edge_index))
        vectors: Tensor = self.activation(self.second(hidden, edge_index))
        return vectors


@method("grace")
class Grace(InductiveEmbedder):
    """Vectors that tell a node from all others, whichever edges and features are missing."""

    title = "GRACE"
    paper = "Zhu et al., ICML workshop 2020"
    uses = "X A"
    cost = "O(N² d + N F d) an epoch; O(N (F + d)) memory"

    settings_class: ClassVar[type[GraceSettings]] = GraceSettings
    tuned: ClassVar[dict[str, dict[str, Any]]] = {
        "citeseer": {
            "dimension": 256,
            "projection": 256,
            "activation": "prelu",
            "drop_edges_1": 0.2,
            "drop_edges_2": 0.0,
            "drop_features_1": 0.3,
            "drop_features_2": 0.2,
            "temperature": 0.9,
            "learning_rate": 1e-3,
        },
        "pubmed": {
            "dimension": 256,
            "projection": 256,
            "drop_edges_1": 0.4,
            "drop_edges_2": 0.1,
            "drop_features_1": 0.0,
            "drop_features_2": 0.2,
            "temperature": 0.7,
            "learning_rate": 1e-3,
            "epochs": 1500,
        },
    }

    def _build(self, num_features: int) -> nn.Module:
        return GraceNetwork(num_features, self.settings)

    def _train(self, network: Any, inputs: Inputs, watch: Watch) -> None:
        chosen, x = self.settings, unit_rows(inputs.x)

        def view(drop_edges: float, drop_features: float) -> Tensor:
            edges, _ = dropout_edge(inputs.edge_index, drop_edges)
            projected: Tensor = network.projection(network(drop_columns(x, drop_features), edges))
            return projected

        def loss_of(epoch: int) -> Tensor:
            first = view(chosen.drop_edges_1, chosen.drop_features_1)
            return grace_loss(first, view(chosen.drop_edges_2, chosen.drop_features_2), chosen.temperature)

        descend(
            network,
            loss_of,
            watch,
            epochs=chosen.epochs,
            learning_rate=chosen.learning_rate,
            weight_decay=chosen.weight_decay,
            patience=chosen.patience,
        )

    def _encode(self, network: nn.Module, inputs: Inputs) -> Tensor:
        vectors: Tensor = network(unit_rows(inputs.x), inputs.edge_index)
        return vectors


_IN_CACHE, _IN_FLIGHT = 1 << 22, 1 << 25  # similarities at a time that suit a processor, and a GPU


def grace_loss(first: Tensor, second: Tensor, temperature: float, block: int | None = None) -> Tensor:
    """Return the mean loss of two views (N, d); `block` rows of the similarities are held at a time."""
    both = normalize(torch.cat([first, second]))
    rows = block or max(1, (_IN_FLIGHT if both.is_cuda else _IN_CACHE) // len(both))
    apart: Tensor = _LogSums.apply(both / temperature**0.5, rows)  # type: ignore[no-untyped-call]
    together = (both[: len(first)] * both[len(first) :]).sum() * (2 / temperature)
    return (apart - together) / len(both)


class _LogSums(torch.autograd.Function):
    """Σ_i log Σ_{j != i} exp(z_i · z_j) of vectors (n, d) so short that no exponential needs a shift."""

    @staticmethod
    def forward(ctx: Any, z: Tensor, block: int) -> Tensor:
        total, gradient = z.new_zeros(()), torch.zeros_like(z)
        with _tensor_cores(z.is_cuda):
            for start in range(0, len(z), block):
                rows = z[start : start + block]
                e = (rows @ z.T).exp_()
                e.diagonal(start).zero_()
                sums = e.sum(1, keepdim=True)
                total += sums.log().sum()
                gradient.addmm_(e.T, rows / sums)
                gradient[start : start + block] += (e @ z) / sums
        ctx.save_for_backward(gradient)
        return total

    @staticmethod
    def backward(ctx: Any, *outputs: Tensor) -> tuple[Tensor, None]:
        (gradient,) = ctx.saved_tensors
        return outputs[0] * gradient, None


@contextmanager
def _tensor_cores(there: bool) -> Iterator[None]:
    before = torch.get_float32_matmul_precision()
    try:
        if there:
            torch.set_float32_matmul_precision("high")
        yield
    finally:
        torch.set_float32_matmul_precision(before)
