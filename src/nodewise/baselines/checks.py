"""Settings in range, or one line that says which is not."""

from __future__ import annotations

from typing import Any

from nodewise.core.errors import InputError


def check_ranges(settings: Any, **bounds: tuple[float, float | None]) -> None:
    """Refuse a setting below its lower or above its upper bound; None is no bound."""
    for name, (low, high) in bounds.items():
        value = getattr(settings, name)
        if not (low <= value and (high is None or value <= high)):
            rule = f"at least {low:g}" if high is None else f"from {low:g} to {high:g}"
            raise InputError(f"{name} is {value:g}; it must be {rule}")
