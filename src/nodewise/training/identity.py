"""What a training is a function of. Only the same training may go on from a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nodewise.core import config
from nodewise.graph.fingerprint import fingerprint
from nodewise.graph.graph import Graph


def identity(method: str, settings: object, seed: int, graph: Graph) -> dict[str, Any]:
    """Return everything that decides the outcome, under names a user knows, as JSON can hold it."""
    return {
        "method": method,
        "seed": seed,
        "graph": fingerprint(graph),
        **_flat(config.to_mapping(settings)),
    }


def difference(earlier: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    """Return in words the first thing in which two trainings differ, None if they are the same."""
    for name in {**earlier, **now}:
        if earlier.get(name) != now.get(name):
            if name == "graph":
                return "another graph (other edges, features or ids)"
            return f"{name} {earlier.get(name)!r}, not {now.get(name)!r}"
    return None


def _flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        flat |= _flat(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {prefix + name: value}
    return flat
