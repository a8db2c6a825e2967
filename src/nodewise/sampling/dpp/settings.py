"""What to draw: the law, the similarity of two candidates, and how many of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from nodewise.core.config import MOST
from nodewise.core.errors import InputError
from nodewise.sampling.dpp.kernels import gaussian_kernel, linear_kernel, scale_to_size


@dataclass(frozen=True)
class DppSettings:
    """How diverse negatives are drawn.

    Attributes:
        law: one of those of `laws.py`.
        kernel: similarity of two candidates.
        bandwidth: σ of the Gaussian kernel; None for the median distance of the batch.
        size: items drawn from all M candidates, before S_i- is applied: the expected number (shared,
            per_node) or the exact one (fixed, greedy, which need it). None leaves L as it is; literal
            ignores it.
        draws: independent draws that the queries share among them (shared, literal, fixed).

    """

    law: Literal["shared", "literal", "per_node", "fixed", "greedy"] = "shared"
    kernel: Literal["gaussian", "linear"] = "gaussian"
    bandwidth: float | None = None
    size: float | None = None
    draws: int = 4

    def __post_init__(self) -> None:
        if self.bandwidth is not None and not 1e-9 <= self.bandwidth <= 1e9:
            rule = "positive, from 1e-09 to 1e+09, or left out for the median"
            raise InputError(f"bandwidth must be {rule}; got {self.bandwidth:g}")
        if self.size is not None and not 0 < self.size <= MOST:
            rule = f"positive, at most {MOST:,}, or left out for the kernel as it is"
            raise InputError(f"size must be {rule}; got {self.size:g}")
        if self.size is None and self.law in ("fixed", "greedy"):
            raise InputError(f'the law "{self.law}" needs the number of items to draw: set size')
        if not 1 <= self.draws <= 16:
            raise InputError(f"draws must be 1 to 16; got {self.draws}")


def similarity(points: Tensor, settings: DppSettings) -> Tensor:
    """Return the similarity (..., M, M) of points (..., M, d), float64."""
    if settings.kernel == "linear":
        return linear_kernel(points)
    return gaussian_kernel(points, settings.bandwidth)


def fit_scale(points: Tensor, settings: DppSettings) -> Tensor | None:
    """Return the factor (...) of L that gives the expected size, or None where the law has no use for one.

    It costs an eigendecomposition: hand it to `sample_negatives` and reuse it while the points change slowly.
    """
    if settings.size is None or settings.law not in ("shared", "per_node"):
        return None
    return scale_to_size(similarity(points, settings), settings.size)
