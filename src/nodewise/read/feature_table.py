"""Read the features of nodes, keyed by id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nodewise.core.errors import InputError
from nodewise.core.messages import count, excerpt, listing
from nodewise.graph.features import Features, as_features, check_finite
from nodewise.graph.ids import NodeIds
from nodewise.read.columns import (
    CLASS_NAMES,
    ID_NAMES,
    ROW_ORDER,
    ColumnFile,
    id_column,
    names_every_node,
    row_ids,
    simplified,
)
from nodewise.read.formats import format_of, open_columns
from nodewise.read.npz import SPARSE_PARTS, is_sparse, load_npy, load_npz, sparse_matrix, unused


@dataclass(frozen=True)
class FeatureTable:
    """Features (rows, F), the id of each row, and what to call the table in messages."""

    source: str
    ids: NodeIds
    features: Features
    notes: tuple[str, ...] = ()


def read_features(
    path: Path, nodes: NodeIds, *, key_name: str | None = None, leave_out: tuple[str, ...] = ()
) -> FeatureTable:
    """Return the features of a csv, tsv, Parquet, npy or npz file.

    Args:
        path: the file.
        nodes: the ids that the edges name. They decide whether a first column of integers holds ids, and what
            a row without an id stands for.
        key_name: the column of ids, if the guess is wrong.
        leave_out: columns that are no features, such as labels in the same file.
    """
    kind = format_of(path)
    if kind == "npy":
        return _in_row_order(path, as_features(load_npy(path), str(path)), nodes)
    if kind == "npz":
        return _from_npz(path, nodes)
    if kind not in ("text", "parquet"):
        raise InputError(
            f"{path}: {kind} cannot hold features; give csv, tsv, Parquet, npy or npz", code="unsupported-format"
        )
    return features_from_columns(open_columns(path, kind, (ID_NAMES,), named=(key_name,)), nodes, key_name, leave_out)


def features_from_columns(
    file: ColumnFile, nodes: NodeIds, key_name: str | None, leave_out: tuple[str, ...]
) -> FeatureTable:
    """Return the features of a file of columns; see `read_features`."""
    path = file.path
    # Labels must never reach training; a column named like them is no feature, whatever it holds.
    labels = [name for name in file.names if file.has_names and simplified(name) in CLASS_NAMES]
    key, certain = id_column(file, key_name)
    columns = [i for i, name in enumerate(file.names) if i != key and name not in (*leave_out, *labels)]
    if not columns:
        raise InputError(f"{path}: no feature columns, only {listing(file.names)}; leave the file out or add some")
    ids, notes = None, []
    read = file.read([] if key is None else [key], columns)
    if key is not None:
        named = file.settle(read.keys)[0]
        if certain or names_every_node(named, nodes):
            ids = NodeIds(named, str(path), file.place)
            notes = [] if certain else [f"{path.name}: {excerpt(file.names[key])} read as node ids"]
        else:
            columns = [key, *columns]
            read = file.read([], columns)
    if ids is None:
        ids, notes = row_ids(path, len(read.numbers), nodes), [f"{path.name}: {ROW_ORDER}"]
    if labels := [name for name in labels if name not in leave_out]:
        notes.append(f"{path.name}: {listing(labels)} left out of the features, being named like labels")
    names = tuple(file.names[i] for i in columns) if len(columns) == read.numbers.shape[1] else ()
    check_finite(read.numbers, lambda row: f"{path}, {file.place(row)}", names)
    return FeatureTable(str(path), ids, read.numbers, (*read.notes, *notes))


def _from_npz(path: Path, nodes: NodeIds) -> FeatureTable:
    arrays = load_npz(path)
    if is_sparse(arrays):
        matrix = as_features(sparse_matrix(path, arrays), str(path))
        return _in_row_order(path, matrix, nodes, unused(path, arrays, SPARSE_PARTS))
    others = [name for name in arrays if name != "ids"]
    name = "features" if "features" in arrays else others[0] if len(others) == 1 else None
    if name is None:
        raise InputError(f"{path}: holds {listing(tuple(arrays))}; save 'features' (N, F) and perhaps 'ids' (N,)")
    matrix = as_features(arrays[name], str(path))
    notes = unused(path, arrays, (name, "ids"))
    if "ids" not in arrays:
        return _in_row_order(path, matrix, nodes, notes)
    ids = NodeIds(arrays["ids"], str(path))
    if len(ids) != matrix.shape[0]:
        raise InputError(f"{path}: {count(len(ids), 'id')} but {count(int(matrix.shape[0]), 'row')} of features")
    return FeatureTable(str(path), ids, matrix, notes)


def _in_row_order(path: Path, matrix: Features, nodes: NodeIds, notes: tuple[str, ...] = ()) -> FeatureTable:
    ids = row_ids(path, int(matrix.shape[0]), nodes)
    return FeatureTable(str(path), ids, matrix, (f"{path.name}: {ROW_ORDER}", *notes))


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
