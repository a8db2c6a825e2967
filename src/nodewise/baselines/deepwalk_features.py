"""DeepWalk + features: both side by side, a baseline of the DGI paper (Veličković et al., ICLR 2019).

Each half is scaled so that its rows have length 1 in the mean square: neither drowns the other only because of its
units. The DGI paper does not say what it did.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nodewise.baselines.deepwalk import DeepWalk
from nodewise.baselines.estimator import Watch
from nodewise.baselines.inputs import Inputs


def of_unit_size(rows: Tensor) -> Tensor:
    """Scale a matrix so that the mean squared length of its rows is 1; zeros stay zeros."""
    size = rows.square().sum(1).mean().sqrt()
    return rows / size if size > 0 else rows


class DeepWalkFeatures(DeepWalk):
    """The vectors of DeepWalk and the features, concatenated: (N, d + F)."""

    needs_features = True

    def _embed(self, inputs: Inputs, watch: Watch) -> Tensor:
        vectors = super()._embed(inputs, watch)
        return torch.cat([of_unit_size(vectors), of_unit_size(inputs.dense_x)], dim=1)
