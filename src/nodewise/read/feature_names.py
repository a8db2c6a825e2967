"""What a file calls the features of nodes, and whether two files mean the same by the same place."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nodewise.core.errors import InputError
from nodewise.read.columns import CLASS_NAMES, ID_NAMES, simplified
from nodewise.read.formats import format_of, open_columns
from nodewise.read.keys import id_column


def feature_names(path: Path | None, id_name: str | None = None, leave_out: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the names of a file's columns of features; none where it has no names, or cannot have any."""
    if path is None or not path.is_file() or (kind := format_of(path)) not in ("text", "parquet"):
        return ()
    file = open_columns(path, kind, (ID_NAMES,), named=(id_name,))
    if not file.has_names:
        return ()
    key = id_column(file, id_name)[0]
    others = (name for i, name in enumerate(file.names) if i != key)
    return tuple(name for name in others if name not in leave_out and simplified(name) not in CLASS_NAMES)


def require_same_order(path: Path, found: Sequence[str], expected: Sequence[str]) -> None:
    """Refuse the features of training in another order; a model knows them by their places."""
    if list(found) == list(expected) or sorted(found) != sorted(expected):
        return
    place = next(i for i, (one, other) in enumerate(zip(found, expected, strict=True)) if one != other)
    raise InputError(
        f"{path}: has the columns of training in another order ({found[place]!r} where {expected[place]!r} was); "
        "write them in the same order",
        code="other-features",
    )
