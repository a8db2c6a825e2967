"""Exact draws of k items: the k-DPP, P(Y = A) ∝ det(L_A) over the sets of size k (Kulesza & Taskar 2011).

Phase 1 chooses k eigenvectors with the elementary symmetric polynomials e_l of the eigenvalues, in log space;
phase 2 draws from the projection onto them, one item at a time in proportion to what is left of each item's
row after orthogonalising against the rows of the items already drawn. Runs on the CPU; one eigendecomposition
serves all draws.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nodewise.core.errors import InputError

Array = NDArray[np.float64]


def draw_fixed_size(likelihood: Tensor, select: Tensor, pick: Tensor) -> Tensor:
    """Return draws (R, M), True for k items in each, from a likelihood (M, M).

    Uniforms `select` (R, M) choose the eigenvectors and `pick` (R, k) the items. A likelihood of rank below k
    is drawn from as the limit of full-rank ones.
    """
    items, size = likelihood.shape[-1], pick.shape[-1]
    if not 1 <= size <= items:
        raise InputError(f"a fixed-size determinantal sample holds 1 to {items} of {items} items; got {size}")
    values, vectors = torch.linalg.eigh(likelihood.double().cpu())
    spectrum = (values / values[-1].clamp(min=1e-200)).clamp(min=1e-15).numpy()
    table = log_symmetric_polynomials(np.log(spectrum), size)
    chosen = torch.zeros((len(select), items), dtype=torch.bool)
    for draw, (first, second) in enumerate(zip(select.cpu().numpy(), pick.cpu().numpy(), strict=True)):
        columns = _select_eigenvectors(np.log(spectrum), table, size, first)
        chosen[draw, _draw_from_projection(vectors.numpy()[:, columns], second)] = True
    return chosen.to(likelihood.device)


def log_symmetric_polynomials(log_values: Array, size: int) -> Array:
    """Return the table log e_l(λ_1 .. λ_n) with rows n = 0..M and columns l = 0..size."""
    table = np.full((len(log_values) + 1, size + 1), -np.inf)
    table[:, 0] = 0.0
    for n, value in enumerate(log_values, start=1):
        table[n, 1:] = np.logaddexp(table[n - 1, 1:], value + table[n - 1, :-1])
    return table


def _select_eigenvectors(log_values: Array, table: Array, size: int, uniforms: Array) -> list[int]:
    """Walk back through the table: eigenvector n is in with probability λ_n e_{l-1}(before) / e_l(so far)."""
    columns: list[int] = []
    for n in range(len(log_values), 0, -1):
        missing = size - len(columns)
        if missing == 0:
            break
        if uniforms[n - 1] < np.exp(log_values[n - 1] + table[n - 1, missing - 1] - table[n, missing]):
            columns.append(n - 1)
    return columns


def _draw_from_projection(vectors: Array, uniforms: Array) -> list[int]:
    """Draw as many items as `vectors` (M, k) has orthonormal columns."""
    left = np.square(vectors).sum(axis=1)
    directions = np.zeros(vectors.shape)
    drawn: list[int] = []
    for step, uniform in enumerate(uniforms):
        cumulative = np.cumsum(left.clip(min=0.0))
        item = int(np.searchsorted(cumulative, uniform * cumulative[-1], side="right"))
        drawn.append(item)
        row = vectors @ vectors[item] - directions[:, :step] @ directions[item, :step]
        directions[:, step] = row / np.sqrt(left[item])
        left -= np.square(directions[:, step])
        left[drawn] = 0.0
    return drawn
