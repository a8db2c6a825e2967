"""Bounds of settings."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from nodewise.core.errors import InputError
from nodewise.methods.estimator import check_ranges


def test_bounds_are_inclusive() -> None:
    check_ranges(SimpleNamespace(rate=0, share=1), rate=(0, None), share=(0, 1))


@pytest.mark.parametrize(
    ("value", "bounds", "rule"),
    [
        (-1, (0, None), "it must be at least 0"),
        (1.5, (0, 1), "it must be from 0 to 1"),
        (float("nan"), (0, None), "it must be at least 0"),
    ],
)
def test_what_is_out_of_bounds_is_named(value: float, bounds: tuple[float, float | None], rule: str) -> None:
    with pytest.raises(InputError, match=f"rate is {value:g}; {rule}"):
        check_ranges(SimpleNamespace(rate=value), rate=bounds)
