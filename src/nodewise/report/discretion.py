"""A page may be shown to others: files are called by their names in it, not by the folders of whoever made it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

# Folders from the root on, up to the last slash; what follows an address's host is no path of this machine.
_FOLDERS = re.compile(r"(?<![\w.~:/\\-])(?:/(?:[^/\s]+/)+|[A-Za-z]:\\(?:[^\\\s]+\\)*)")


def without_folders(value: Any, known: tuple[str, ...] = ()) -> Any:
    """Return nested tables and lists with every absolute path in their texts cut to its last name.

    Args:
        value: texts, and whatever holds them.
        known: folders to cut also where spaces in their names would hide how far they go.
    """
    if isinstance(value, Mapping):
        return {name: without_folders(item, known) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_folders(item, known) for item in value]
    if not isinstance(value, str):
        return value
    if (path := _absolute(value)) is not None:
        return path.name
    for folder in known:
        value = value.replace(folder, "")
    return _FOLDERS.sub("", value)


def folders_of(value: Any) -> tuple[str, ...]:
    """Return the folders, with the slash behind them, of the absolute paths among nested texts; the longest first."""
    found = {text[: -len(path.name)] for text in _texts(value) if (path := _absolute(text)) is not None and path.name}
    return tuple(sorted(found, key=lambda folder: (-len(folder), folder)))


def _absolute(text: str) -> PurePosixPath | PureWindowsPath | None:
    """Return a text that is an absolute path and nothing else, as far as can be told."""
    if "\n" in text or ": " in text:
        return None
    return next((path for path in (PurePosixPath(text), PureWindowsPath(text)) if path.is_absolute()), None)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (Mapping, list, tuple)):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(item)
