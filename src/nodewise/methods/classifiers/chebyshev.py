"""Chebyshev filters of the graph Laplacian, trained on labels.

Defferrard et al., "Convolutional neural networks on graphs with fast localized spectral filtering", NeurIPS 2016:
Z = sum_k T_k(L') X W_k with T_0 = 1, T_1 = L', T_k = 2 L' T_(k-1) - T_(k-2) and L' = 2 L / λ_max - I. Here
L = I - D^-1/2 A D^-1/2 and λ_max = 2, its bound, so that L' = -D^-1/2 A D^-1/2.

As compared with in Kipf & Welling 2017, Table 3, whose numbers Table 2 repeats: two layers, settings of their section
5.2, filters of order K = 2 on Cora and 3 on the others (their best).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import cast

import torch
from torch import Tensor, nn
from torch_geometric.nn import ChebConv

from nodewise.core.config import CountOrNone
from nodewise.methods.classifiers.supervised import LayeredSettings, NetworkClassifier, Stack
from nodewise.methods.estimator import method
from nodewise.methods.inputs import Inputs
from nodewise.methods.products import FeatureProduct, symmetric_product


@dataclass(frozen=True)
class ChebyshevSettings(LayeredSettings):
    """Those of a GCN, and the order K of the polynomials: K + 1 weight matrices a layer."""

    order: CountOrNone = 3


class ChebyshevLayer(ChebConv):  # type: ignore[misc]  # torch_geometric is not typed
    """torch_geometric's layer, summed by Clenshaw's recurrence.

    b_k = X W_k + 2 L' b_(k+1) - b_(k+2), and the sum is X W_0 + L' b_1 - b_2: every product with L' is as wide as the
    output, not as the features.
    """

    def __init__(self, fan_in: int, fan_out: int, order: int) -> None:
        super().__init__(fan_in, fan_out, order + 1)
        self._product = FeatureProduct()

    def forward(self, x: Tensor, laplacian: Tensor) -> Tensor:
        """Filter features (N, F), dense or CSR, by a scaled Laplacian (N, N) in CSR."""
        weights = torch.cat([layer.weight for layer in self.lins])
        first, *terms = self._product(x, weights).chunk(len(self.lins), 1)
        last = before = torch.zeros_like(first)
        for term in reversed(terms):
            last, before = term + 2 * symmetric_product(laplacian, last) - before, last
        filtered: Tensor = first + symmetric_product(laplacian, last) - before + self.bias
        return filtered


@method("chebyshev")
class Chebyshev(NetworkClassifier):
    """Two filters with a relu between them."""

    title = "Chebyshev filters"
    paper = "Defferrard, Bresson & Vandergheynst, NeurIPS 2016"
    cost = "O(K (N F d + E d)) time, O(N (F + K d) + E) memory an epoch, order K"
    settings_class = ChebyshevSettings
    tuned = {"cora": {"order": 2}}

    def _build(self, num_features: int, num_classes: int) -> nn.Module:
        layer = partial(ChebyshevLayer, order=self.settings.order)
        return Stack(layer, self.settings.sizes(num_features, num_classes), self.settings.dropout)

    def _logits(self, network: nn.Module, inputs: Inputs) -> Tensor:
        return cast(Tensor, network(inputs.x, inputs.scaled_laplacian))
