"""Settings as Python keywords: ``NodeEmbedder(steps=80, dpp=False)`` for ``training.steps`` and ``sampling.dpp``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from nodewise.core.config import changed, parse_assignments, part_keys, to_mapping
from nodewise.core.errors import InputError, did_you_mean

T = TypeVar("T")


def with_keywords(settings: T, keywords: Mapping[str, Any], source: str) -> T:
    """Return a copy of `settings` changed by Python keywords such as ``steps=80``; see `path_of`.

    A part may be given as an object, and then or when it is named anew, keywords may be settings of that part.
    """
    parts = {name for name in keywords if _chooses(settings, name)}
    for some in (parts, keywords.keys() - parts):
        if some:
            changes = {path_of(settings, name): _without_numpy(keywords[name]) for name in some}
            settings = changed(settings, changes, source)
    return settings


def with_assignments(settings: T, assignments: Iterable[str], source: str = "--set") -> T:
    """Return a copy of `settings` changed by ``"training.steps=80"``, or ``"steps=80"`` as the keyword means."""
    given = parse_assignments(assignments, source)
    bare = {path[0] for path in given if len(path) == 1}
    parts = {name for name in bare if _chooses(settings, name)}
    first = {path for path in given if len(path) > 1 or path[0] in parts}
    if not parts and not first & part_keys(type(settings)):  # then names mean the same before and after
        first = set(given)
    for some in (first, given.keys() - first):
        if some:
            meant = {_meant(settings, path, source): value for path, value in given.items() if path in some}
            settings = changed(settings, meant, source)
    return settings


def _meant(settings: object, path: tuple[str, ...], source: str) -> tuple[str, ...]:
    if len(path) > 1:
        return path
    try:
        return path_of(settings, path[0])
    except InputError as error:
        raise InputError(f"{source}: {error}", code=error.code) from None


def _without_numpy(value: Any) -> Any:
    """Return numbers and arrays of numpy, such as a grid of settings holds, as Python's own."""
    if isinstance(value, list | tuple):
        return type(value)(map(_without_numpy, value)) if type(value) in (list, tuple) else value
    return value.tolist() if hasattr(value, "dtype") and hasattr(value, "tolist") else value


def path_of(settings: object, name: str) -> tuple[str, ...]:
    """Return the path of the setting that a Python keyword means.

    The keyword is the setting's own name if no other setting so high up in the sections has it; otherwise, sections and
    name joined by underscores, such as ``encoder_teleport``.
    """
    paths = list(_paths(to_mapping(settings)))
    exact = [path for path in paths if "_".join(path) == name]
    called = [path for path in paths if path[-1] == name]
    highest = [path for path in called if len(path) == min(map(len, called))]
    if exact or len(highest) == 1:
        return (exact or highest)[0]
    if highest:
        means = " or ".join("_".join(path) for path in highest)
        raise InputError(f"{name!r} is the name of several settings; write {means}", code="bad-setting")
    raise InputError(
        f"there is no setting {name!r}{did_you_mean(name, (path[-1] for path in paths))}", code="unknown-setting"
    )


def keyword_values(settings: object) -> dict[str, Any]:
    """Return the value of every setting by the shortest keyword that means it."""
    paths = [path for path in _paths(to_mapping(settings)) if not isinstance(_at(settings, path), Mapping)]
    shortest = {}
    for path in paths:
        try:
            name = path[-1] if path_of(settings, path[-1]) == path else "_".join(path)
        except InputError:
            name = "_".join(path)
        shortest[name] = _at(settings, path)
    return shortest


def _at(settings: object, path: tuple[str, ...]) -> Any:
    value: Any = to_mapping(settings)
    for name in path:
        value = value[name]
    return value


def _paths(mapping: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, value in mapping.items():
        yield (*above, name)
        if isinstance(value, Mapping):
            yield from _paths(value, (*above, name))


def _chooses(settings: object, name: str) -> bool:
    """Tell whether a keyword means a section, or the setting that chooses a part."""
    path = next((path for path in _paths(to_mapping(settings)) if name in (path[-1], "_".join(path))), None)
    return path is not None and (path in part_keys(type(settings)) or isinstance(_at(settings, path), Mapping))
