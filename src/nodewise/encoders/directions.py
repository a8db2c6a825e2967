"""The leading singular directions of features, found without forming anything larger than a few columns.

Randomised subspace iteration (Halko, Martinsson & Tropp 2011), with more columns than are wanted and a last rotation:
O((nnz + (N + F) k) k) time, O((N + F) k) memory.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.encoders.features import Features

_POWER_STEPS = 3
MOST_ROWS = 1 << 16
"""Of features that directions are found from; of more nodes, a random part."""


@torch.no_grad()
def leading_directions(
    features: Features, count: int, *, spare: int = 16, columns: Tensor | None = None, centered: bool = False
) -> tuple[Tensor, Tensor]:
    """Return the leading right singular vectors (F, k) of the features, and the features projected on them (N, k).

    Args:
        features: X (N, F).
        count: how many; fewer where X has a lower rank.
        spare: columns beyond those wanted, which make the wanted ones exact.
        columns: bool (F,), only these columns, rows scaled to length one again; all if None.
        centered: subtract the mean of the rows first.
    """
    rows, width = features.shape
    if not rows:
        return torch.zeros(width, 0, device=features.device), torch.zeros(0, 0, device=features.device)
    if rows > MOST_ROWS:
        part = features.sample(MOST_ROWS)
        directions, _ = leading_directions(part, count, spare=spare, columns=columns, centered=centered)
        projected = features.product(directions)
        if columns is not None:
            projected /= features.row_norms(columns.to(torch.float32)).clamp(min=1e-12).unsqueeze(-1)
        return directions, projected - projected.mean(0) if centered else projected
    mask = torch.ones(width, device=features.device) if columns is None else columns.to(torch.float32)
    lengths = torch.ones(rows, 1, device=features.device)
    if columns is not None:
        lengths = features.row_norms(mask).clamp(min=1e-12).unsqueeze(-1)
    size = max(1, min(count + spare, rows, int(mask.sum())))
    ones = torch.full((rows, 1), 1 / rows, device=features.device)
    mean = features.transposed_product(ones / lengths).T * mask if centered else None  # (1, F)

    def product(right: Tensor) -> Tensor:
        found = features.product(mask.unsqueeze(-1) * right) / lengths
        return found if mean is None else found - mean @ right

    def transposed(left: Tensor) -> Tensor:
        found = mask.unsqueeze(-1) * features.transposed_product(left / lengths)
        return found if mean is None else found - mean.T @ left.sum(0, keepdim=True)

    index = torch.arange(width * size, device=features.device)
    basis = rng.normal(rng.key(0, "directions"), index).view(width, size) * mask.unsqueeze(-1)
    for _ in range(_POWER_STEPS):
        basis = _orthonormal(transposed(_orthonormal(product(basis))))
    projected = product(basis)
    _, turned = _principal(projected)
    return basis @ turned[:, :count], projected @ turned[:, :count]


def directions_by_kind(features: Features, count: int) -> Tensor:
    """Return leading right singular vectors (F, k) of the features, where kinds of nodes differ of each kind by itself.

    Every kind gets as many as its features have, or an equal share of `count` where these are too many: among all rows
    together, a few products with a few columns would have none beside many customers with hundreds. Kinds have
    columns of their own, so the vectors are orthonormal all the same.
    """
    if features.kinds is None:
        return leading_directions(features.sample(MOST_ROWS), count)[0]
    number = features.kinds.number
    found = [leading_directions(features.of_kind(kind, MOST_ROWS), count)[0] for kind in range(number)]
    shares = fair_shares([each.shape[1] for each in found], count)
    kept = [each[:, :share] for each, share in zip(found, shares, strict=True)]
    blocks: Tensor = torch.block_diag(*kept)  # type: ignore[no-untyped-call]
    return blocks


def fair_shares(wanted: Sequence[int], count: int) -> list[int]:
    """Return how many each gets of `count` where all want some: what they want, or equally many if that is too much.

    >>> fair_shares([200, 5, 40], 64)
    [30, 5, 29]
    """
    shares = [0] * len(wanted)
    for rank, place in enumerate(sorted(range(len(wanted)), key=wanted.__getitem__)):
        shares[place] = min(wanted[place], (count - sum(shares)) // (len(wanted) - rank))
    return shares


def _orthonormal(columns: Tensor) -> Tensor:
    """Return an orthonormal basis of the span of columns (n, k), less where they depend on each other."""
    values, turned = _principal(columns)
    found: Tensor = columns @ (turned * values.rsqrt())
    return found


def _principal(columns: Tensor) -> tuple[Tensor, Tensor]:
    """Return the eigenvalues of C^T C, largest first, and its eigenvectors (k, r), without those that are nearly zero.

    By the Gram matrix and on the host: it is small, and a GPU is slow at factorizing small matrices.
    """
    wide = columns.double()
    values, turned = torch.linalg.eigh((wide.T @ wide).cpu())
    kept = values.flip(0) > 1e-10 * values[-1:].sum()  # of no columns there is no largest
    return tuple(part.to(columns.device, torch.float32) for part in (values.flip(0)[kept], turned.flip(1)[:, kept]))
