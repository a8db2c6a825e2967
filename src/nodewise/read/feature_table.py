"""Read the features of nodes, keyed by id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from nodewise.core.errors import InputError
from nodewise.core.messages import count, excerpt, listing
from nodewise.graph.features import Features, as_features, check_finite, not_finite
from nodewise.graph.ids import NodeIds, id_kind
from nodewise.read.columns import (
    CERTAIN_ID_NAMES,
    CLASS_NAMES,
    ID_NAMES,
    ColumnFile,
    column_called,
    column_given,
    refuse_namesakes,
    simplified,
)
from nodewise.read.formats import format_of, open_columns
from nodewise.read.frames import FrameColumns, rows_of
from nodewise.read.keys import COUNTED, ROW_ORDER, id_column, named_id_column, names_every_node, row_ids, row_numbers
from nodewise.read.npz import SPARSE_PARTS, is_sparse, load_npy, load_npz, sparse_matrix, unused
from nodewise.tables import values
from nodewise.tables.kinds import NotFinite, parse_overrides
from nodewise.tables.table import FittedTable, blurred, crowded, spread_out, unlike_units

_ROWS = 1 << 16
_SAMPLED = 10_000
KIND_NAMES = frozenset(("type", "nodetype"))
MOST_KINDS = 20
"""A column called type with more different values is one feature among others."""


@dataclass(frozen=True)
class FeatureTable:
    """Features (rows, F), with the id of each row, and the kind where the table says so.

    `source` is what to call it in messages, and `table` how its columns became features.
    """

    source: str
    ids: NodeIds
    features: Features
    notes: tuple[str, ...] = ()
    table: FittedTable | None = None
    kinds: Sequence[Any] | None = None


@dataclass(frozen=True)
class TableOptions:
    """What is said about a table of features.

    Attributes:
        key_name: the column of ids, if the guess is wrong.
        leave_out: columns that are no features, such as labels in the same file.
        overrides: what columns hold, if the guess is wrong; see `nodewise.tables.kinds.parse_overrides`.
        like: how the columns of an earlier table became features, to be done to this one; "numbers" for nothing but
            numbers, as they are.
    """

    key_name: str | None = None
    leave_out: tuple[str, ...] = ()
    overrides: Mapping[str, str | None] = field(default_factory=dict)
    like: FittedTable | Literal["numbers"] | None = None


NOTHING_SAID = TableOptions()


class Collected:
    """Rows of features that come one after the other, put together in memory."""

    def __init__(self) -> None:
        self._parts: list[Any] = []

    def add(self, matrix: Any) -> None:
        """Take some more rows."""
        self._parts.append(matrix)

    def whole(self) -> Features:
        """Return all of them."""
        if len(self._parts) == 1:
            return cast(Features, self._parts[0])
        stacked: Features = (
            sp.vstack(self._parts, format="csr") if sp.issparse(self._parts[0]) else np.concatenate(self._parts)
        )
        return stacked


def features_from_frame(frame: Any, nodes: NodeIds, options: TableOptions = NOTHING_SAID) -> FeatureTable:
    """Return the features of a pandas or polars frame or an Arrow table."""
    return features_from_columns(FrameColumns.of(frame).about(nodes, options.key_name), nodes, options)


def frame_of_nodes(
    frame: Any, columns: str | Mapping[str, str | None] | None = None, nodes: NodeIds | None = None, size: int = 0
) -> FeatureTable:
    """Return the features of a table in memory with a row per node, in the order of the nodes.

    Rows that are called something, by a column of ids or an index, are put in that order; others are in it.

    Args:
        frame: the table.
        columns: what columns hold, where the guess is wrong.
        nodes: the ids; where there are none, nodes are 0, 1, ..., and a row that is called by a text is where it is.
        size: how many nodes there are then, if it is known.
    """
    whole, options = FrameColumns.of(frame), TableOptions(overrides=parse_overrides(columns))
    known = NodeIds.range(size or whole.num_rows) if nodes is None else nodes
    file = whole.about(known)
    key = _key_of_rows(file, known)
    if key is None and whole.counts:
        file, key = whole, 0
    chosen, left_out = _chosen(file, key, options)
    kind = "" if key is None else id_kind(file.schema.types[key])
    unsure = key is not None and simplified(file.names[key]) not in CERTAIN_ID_NAMES and file.names[key] != file.index
    stands = key is None or (nodes is None and kind == "string") or (unsure and not file.names_some(key, known))
    if stands:
        rows = NodeIds.range(file.num_rows)
        table = _features_of(file, rows, options, None, True, chosen, left_out, Collected())
        if key is None:
            return table
        note = f"{file.path.name}: rows in the order of the nodes; {excerpt(file.names[key])} is not used"
        return replace(table, notes=tuple(note if ROW_ORDER in each else each for each in table.notes))
    table = _features_of(file, known, options, key, True, chosen, left_out, Collected())
    place = rows_of(table.ids, known, str(file.path))
    if len(lacking := np.flatnonzero(place < 0)):
        raise InputError(
            f"{file.path}: no row for {count(len(lacking), 'node')}, such as {excerpt(known[int(lacking[0])])}; every "
            "node needs one",
            code="other-nodes",
        )
    return replace(table, ids=known, features=cast(Any, table.features)[place])


def _key_of_rows(file: FrameColumns, nodes: NodeIds) -> int | None:
    """Return the column that says what rows are called: one named like ids or the index, if possible one of `nodes`."""
    found = [named_id_column(file), file.names.index(file.index) if file.index else None]
    there = [each for each in found if each is not None]
    return next((each for each in there if file.names_some(each, nodes)), there[0] if there else None)


def read_features(path: Path, nodes: NodeIds, options: TableOptions = NOTHING_SAID) -> FeatureTable:
    """Return the features of a csv, tsv, Parquet, npy or npz file.

    Args:
        path: the file.
        nodes: the ids that the edges name. They decide which column holds ids, whether a first line holds names, and
            what a row without an id stands for.
        options: what is said about the columns of a table.
    """
    kind = format_of(path)
    if kind not in ("text", "parquet") and (options.overrides or isinstance(options.like, FittedTable)):
        raise InputError(f"{path}: {kind} has no named columns; give csv, tsv or Parquet", code="bad-column")
    if kind == "npy":
        return _in_row_order(path, as_features(load_npy(path), str(path)), nodes)
    if kind == "npz":
        return _from_npz(path, nodes)
    if kind not in ("text", "parquet"):
        raise InputError(
            f"{path}: {kind} cannot hold features; give csv, tsv, Parquet, npy or npz", code="unsupported-format"
        )
    named = (options.key_name, *options.overrides)
    return features_from_columns(open_columns(path, kind, (ID_NAMES,), named=named, nodes=nodes), nodes, options)


def features_from_columns(
    file: ColumnFile, nodes: NodeIds, options: TableOptions, collected: Collected | None = None
) -> FeatureTable:
    """Return the features of a file of columns: numbers as they are, and of any other table what it is prepared to.

    A table of nothing but numbers of like units, none missing, is not touched if single precision can tell them apart;
    see `nodewise.tables` for the others.
    """
    key, certain = id_column(file, options.key_name, nodes)
    kinds = _kinds(file, key, options)
    if kinds is not None:
        options = replace(options, leave_out=(*options.leave_out, kinds[0]))
    chosen, left_out = _chosen(file, key, options)
    table = _features_of(file, nodes, options, key, certain, chosen, left_out, collected or Collected())
    if kinds is None:
        return table
    note = f"{file.path.name}: {excerpt(kinds[0])} read as the kind of each node, with features of its own"
    rest = [None] * (len(table.ids) - len(kinds[1]))
    return replace(table, kinds=[*kinds[1], *rest], notes=(*table.notes, note))


def _kinds(file: ColumnFile, key: int | None, options: TableOptions) -> tuple[str, list[Any]] | None:
    """Return the column called type, and its values, where it is there beside others and has a few different ones."""
    place = column_called(file, KIND_NAMES)
    others = [i for i in range(len(file.names)) if i not in (key, place) and file.names[i] not in options.leave_out]
    if place is None or place == key or not others or file.names[place] in (*options.overrides, *options.leave_out):
        return None
    values = [str(value) if value not in (None, "") else None for value in file.read([place]).keys[0].to_pylist()]
    different = {value for value in values if value is not None}
    fewest = 1 if _was_kind(file, place, options) else 2
    return (file.names[place], values) if fewest <= len(different) <= MOST_KINDS else None


def _was_kind(file: ColumnFile, place: int, options: TableOptions) -> bool:
    """Tell whether a column called type, being no feature of training, can only have been the kind of nodes there.

    New nodes are often all of one kind, where those of training were of several.
    """
    if isinstance(options.like, FittedTable):
        known = {*(column.name for column in options.like.columns), *options.like.left_out}
        return file.names[place] not in known
    return options.like == "numbers" and not file.is_numeric(place)


def _features_of(
    file: ColumnFile,
    nodes: NodeIds,
    options: TableOptions,
    key: int | None,
    certain: bool,
    chosen: list[int],
    left_out: Mapping[str, str],
    collected: Collected,
) -> FeatureTable:
    told = [kind for kind in options.overrides.values() if kind not in (None, "number")]
    refused: InputError | None = None
    plain = options.like == "numbers"
    if plain or (
        options.like is None and not told and all(file.is_numeric(i) and not file.is_grouped(i) for i in chosen)
    ):
        try:
            table = _numbers(file, nodes, key, certain, chosen)
        except InputError as error:
            if plain or error.code != "bad-number":
                raise
            refused = error
        else:
            changed = len(_lacks_rows(table.ids, nodes)) or _unlike(table.features)
            if plain or not (changed or _blurred(file, key, chosen, table.features)):
                return replace(table, notes=(*table.notes, *(f"{file.path.name}: {why}" for why in _told(left_out))))
    try:
        return _prepared(file, nodes, options, key, certain, chosen, left_out, collected)
    except InputError as error:
        # Of numbers that are not finite the first reader knows the place.
        raise (refused if refused is not None and error.code == "bad-number" else error) from None


def _chosen(file: ColumnFile, key: int | None, options: TableOptions) -> tuple[list[int], dict[str, str]]:
    """Return the columns that may be features, and of the others that a person would miss why they are not."""
    # Labels must never reach training; a column named like them is no feature, whatever it holds.
    labels = [name for name in file.names if file.has_names and simplified(name) in CLASS_NAMES]
    for name, kind in options.overrides.items():
        place = column_given(file, name)
        taken = "the column of ids" if place == key else "a label" if name in (*labels, *options.leave_out) else ""
        if taken and kind is not None:
            raise InputError(
                f"{file.path}: {name!r} is {taken} and cannot be a {kind}; leave it out of --columns", code="bad-column"
            )
    dropped = [file.names[column_given(file, name)] for name, kind in options.overrides.items() if kind is None]
    out = {*options.leave_out, *labels, *dropped}
    counters = () if key is None or isinstance(options.like, FittedTable) else row_numbers(file)
    columns = [i for i, name in enumerate(file.names) if i not in (key, *counters) and name not in out]
    if not columns:
        raise InputError(f"{file.path}: no feature columns, only {listing(file.names)}; leave the file out or add some")
    _refuse_namesakes(file, columns)
    left_out = {name: "named like labels" for name in labels if name not in options.leave_out}
    left_out |= {file.names[i]: COUNTED for i in counters if i != key}
    return columns, left_out | dict.fromkeys(dropped, "as --columns says")


def _refuse_namesakes(file: ColumnFile, columns: list[int]) -> None:
    """Refuse two columns of one name: columns are told apart by their names, so that one would be lost."""
    if not file.has_names:
        return
    name, times = Counter(file.names[i] for i in columns).most_common(1)[0]
    if times > 1:
        refuse_namesakes(file, file.names.index(name))


def _told(left_out: Mapping[str, str]) -> list[str]:
    labels = [name for name, why in left_out.items() if why == "named like labels"]
    told = [f"{listing(labels)} left out of the features, being named like labels"] if labels else []
    return [*told, *(f"{excerpt(name)} left out: {why}" for name, why in left_out.items() if why == COUNTED)]


def _numbers(file: ColumnFile, nodes: NodeIds, key: int | None, certain: bool, columns: list[int]) -> FeatureTable:
    """Return a table of numbers as it is."""
    path = file.path
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
    names = tuple(file.names[i] for i in columns) if len(columns) == read.numbers.shape[1] else ()
    check_finite(read.numbers, lambda row: f"{path}, {file.place(row)}", names)
    return FeatureTable(str(path), ids, read.numbers, (*read.notes, *notes))


def _prepared(
    file: ColumnFile,
    nodes: NodeIds,
    options: TableOptions,
    key: int | None,
    certain: bool,
    columns: list[int],
    left_out: Mapping[str, str],
    collected: Collected,
) -> FeatureTable:
    """Return what a table of any columns is prepared to: read once to fit, unless it was before, and once to apply."""
    path, table = file.path, options.like if isinstance(options.like, FittedTable) else None
    keys: list[Any] = []
    notes: tuple[str, ...] = ()
    if table is not None:
        table.require_columns(str(path), file.names)
        columns = [file.names.index(column.name) for column in table.columns]

    def tables() -> Iterator[Any]:
        nonlocal notes
        keys.clear()
        for batch in file.batches([*([] if key is None else [key]), *columns], (), _ROWS):
            own = batch.keys if key is None else batch.keys[1:]
            keys.extend([] if key is None else batch.keys[0].chunks)
            notes = batch.notes
            if batch.keys[0].length():
                yield pa.table(dict(zip((file.names[i] for i in columns), own, strict=True)))

    whole = None
    if table is None:
        sample, rows = spread_out(tables())
        if rows == 0:
            raise _no_rows(file)
        if key is not None and not certain and not names_every_node(file.settle([pa.chunked_array(keys)])[0], nodes):
            columns, key = [key, *columns], None
            sample, rows = spread_out(tables())
        try:
            table = FittedTable.fit(str(path), _by_name(sample), options.overrides, left_out)
        except NotFinite as error:  # of every so many rows, as `spread_out` takes them
            place = file.place(error.row * round(rows / sample.num_rows))
            raise not_finite(f"{path}, {place}", error.name, error.value) from None
        whole = sample if sample.num_rows == rows else None
    misread: Counter[str] = Counter()
    examples: dict[str, list[str]] = {}
    rows = 0
    for part in tables() if whole is None else whole.to_batches(_ROWS):
        collected.add(table.apply(_by_name(part), misread, examples))
        rows += part.num_rows
    if rows == 0:
        raise _no_rows(file)
    if key is None:
        ids, more = row_ids(path, rows, nodes), [f"{path.name}: {ROW_ORDER}"]
    else:
        ids, more = NodeIds(file.settle([pa.chunked_array(keys)])[0], str(path), file.place), []
    fitted_here = options.like is None
    if fitted_here:
        more += table.notes(path.name)
    unread = {name: number for name, number in misread.items() if number and not fitted_here}
    more += [
        f"{path.name}: {count(number, 'value')} of {name!r} unknown to training, such as "
        f"{listing([excerpt(value) for value in examples[name]])}"
        for name, number in unread.items()
    ]
    if len(absent := _lacks_rows(ids, nodes)):
        collected.add(table.missing_rows(len(absent)))
        extended = pa.concat_arrays([ids.to_arrow(), absent.cast(ids.type)])
        ids = NodeIds.from_distinct(extended)
        more.append(f"{path.name}: no row for {count(len(absent), 'node')} of the edges: all its values are missing")
    return FeatureTable(str(path), ids, collected.whole(), (*notes, *more), table)


def _no_rows(file: ColumnFile) -> InputError:
    return InputError(f"{file.path}: has columns ({listing(file.names)}) but no rows", code="empty-file")


def _by_name(table: Any) -> dict[str, Any]:
    return {name: table[name] for name in table.schema.names}


def _lacks_rows(ids: NodeIds, nodes: NodeIds) -> Any:
    """Return the nodes that have no row, if others have one; nothing if none has, which is another mistake."""
    if ids.kind != nodes.kind:
        return ()
    absent = ids.positions(nodes) < 0
    return nodes.to_arrow().filter(pa.array(absent)) if absent.any() and not absent.all() else ()


def _unlike(features: Features) -> bool:
    return unlike_units(np.asarray(features[:_SAMPLED], np.float64))


def _blurred(file: ColumnFile, key: int | None, chosen: list[int], features: Features) -> bool:
    """Tell whether features, which are of single precision, are too coarse for what the file holds."""
    if any(file.holds_lists(i) for i in chosen):
        return False
    columns = chosen if key is None or features.shape[1] == len(chosen) else [key, *chosen]
    coarse = [columns[i] for i in crowded(np.asarray(features[:_SAMPLED]))]
    first = next(file.batches(coarse, (), _SAMPLED), None) if coarse else None
    if first is None:
        return False
    found = [values.numbers(values.as_text(column), "point")[:_SAMPLED] for column in first.keys]
    return blurred(np.stack(found, axis=1))


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


def feature_names(
    path: Path | None, id_name: str | None = None, leave_out: Sequence[str] = (), nodes: NodeIds | None = None
) -> tuple[str, ...]:
    """Return the names of a file's columns of features; none where it has no names, or cannot have any."""
    if path is None or not path.is_file() or (kind := format_of(path)) not in ("text", "parquet"):
        return ()
    file = open_columns(path, kind, (ID_NAMES,), named=(id_name,), nodes=nodes)
    if not file.has_names:
        return ()
    key = id_column(file, id_name, nodes)[0]
    aside = (key, *(() if key is None else row_numbers(file)))
    others = (name for i, name in enumerate(file.names) if i not in aside)
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
