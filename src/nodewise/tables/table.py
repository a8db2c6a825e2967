"""A table becomes features: its columns are fitted once, and then applied to any rows, also those of new nodes.

Fitted on a sample of at most `SAMPLED` rows and applied some rows at a time, so that a table may be larger than the
memory. What was fitted is plain data: a run and a store keep it as JSON.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import MISSING as MISSING_DEFAULT
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy.sparse as sp

from nodewise.core.errors import InputError
from nodewise.core.files import content_of
from nodewise.core.messages import count, first_line, listing
from nodewise.tables import values
from nodewise.tables.columns import (
    COLUMNS,
    CYCLES,
    CategoryColumn,
    DateColumn,
    FittedColumn,
    NumberColumn,
    TextColumn,
    VectorColumn,
    side_by_side,
)
from nodewise.tables.kinds import Reading, fit_column, reading_of

MISSING, SPELLING = -1, -2
"""Origins of features that are no topics of a node."""
SAMPLED = 100_000
_VERSION = 1
_HEAVIEST, _LARGEST = 1e6, float(np.finfo(np.float32).max)
"""Weights and centers that no fit gives; from a file they may be anything."""
_WIDEST_DENSE = 128
_ROWS_TO_TELL = 20
_EXAMPLES = 3
UNLIKE_SCALES = 100
"""Ratio of the largest to the least deviation of columns from which on their units are unlike."""
_CROWDED = 1 << 12
"""Ratio of the number farthest from zero to the range of a column; single precision has 2^23 steps to a number."""


@dataclass(frozen=True)
class FittedTable:
    """How the columns of a table become features.

    Attributes:
        columns: those that become features, in their order.
        left_out: the others, and why.
        comparable: whether the columns of the features can be compared as they are; numbers that were left in their
            own units are made comparable later, by the `features` settings of the method.
        sparse: whether the features are a sparse matrix.
    """

    columns: tuple[FittedColumn, ...]
    left_out: Mapping[str, str]
    comparable: bool
    sparse: bool

    @classmethod
    def fit(
        cls, source: str, sample: Mapping[str, Any], overrides: Mapping[str, str | None], left_out: Mapping[str, str]
    ) -> FittedTable:
        """Fit what becomes of each column to a sample of its values, which are Arrow arrays.

        Args:
            source: what to call the table in messages.
            sample: columns by name.
            overrides: kinds by name, as `parse_overrides` returns them.
            left_out: columns that are no features already, and why.
        """
        readings = {name: reading_of(source, name, column, overrides.get(name)) for name, column in sample.items()}
        left_out = dict(left_out) | {name: each.warning for name, each in readings.items() if not each.kind}
        readings = {name: each for name, each in readings.items() if each.kind}
        if not readings:
            raise InputError(
                f"{source}: no column is a feature ({'; '.join(f'{n}: {why}' for n, why in left_out.items())}); "
                "leave the table out, or say what a column is with --columns NAME:KIND",
                code="bad-column",
            )
        raw = all(each.kind == "number" for each in readings.values())
        if raw:
            rows = _numbers_of(sample, readings)
            raw = not (unlike_units(rows) or blurred(rows))
        if not raw:
            readings = {name: _without_counts(sample[name], each) for name, each in readings.items()}
        columns = tuple(fit_column(name, sample[name], each, raw) for name, each in readings.items())
        width = sum(len(column.names()) for column in columns)
        return cls(columns, left_out, not raw, not raw and width > _WIDEST_DENSE)

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each column of the features."""
        return tuple(name for column in self.columns for name in column.names())

    @property
    def origins(self) -> np.ndarray:
        """Which features follow from one value, int (F,): equal numbers; below zero what is no topic.

        That a value is missing is MISSING. Words, tags and the numbers of a vector, of which a value has many, tell
        of each other, since notes follow patterns; they stand for themselves only where there is no other column, and
        then runs of letters are SPELLING, which any word tells.
        """
        found: list[int] = []
        for column in self.columns:
            width, first = len(column.parts()), max(found, default=-1) + 1
            alone = len(self.columns) == 1 and column.kind in ("text", "tags", "vector")
            spelled = len(column.grams) if alone and isinstance(column, TextColumn) else 0
            found += [first + i * alone for i in range(width - spelled)] + [SPELLING] * spelled
            found += [MISSING] * column.missing
        return np.array(found, np.int64)

    def notes(self, source: str) -> tuple[str, ...]:
        """Return what a reader should be told, in words: what became of the columns, and every warning."""
        kinds = Counter(column.kind for column in self.columns)
        made = listing([f"{number} {kind}" for kind, number in kinds.items()])
        notes = [f"{source}: columns read as {made}, and made {count(len(self.names), 'feature')}"]
        notes += [f"{source}: {name!r} left out: {why}" for name, why in self.left_out.items()]
        notes += [f"{source}: {column.name!r}: {column.warning}" for column in self.columns if column.warning]
        return tuple(notes)

    def describe(self) -> list[dict[str, str]]:
        """Return for each column its kind, what becomes of it, what its owner should know, and its unit."""
        rows = [
            {
                "column": column.name,
                "kind": column.kind,
                "becomes": column.becomes() + (", and whether it is missing" if column.missing else ""),
                "warning": column.warning,
                "unit": getattr(column, "unit", ""),
            }
            for column in self.columns
        ]
        return rows + [
            {"column": name, "kind": "left out", "becomes": "nothing", "warning": why, "unit": ""}
            for name, why in self.left_out.items()
        ]

    def apply(
        self, columns: Mapping[str, Any], misread: Counter[str], examples: dict[str, list[str]] | None = None
    ) -> Any:
        """Return the features of some rows, float32 (rows, F), dense or CSR.

        Args:
            columns: Arrow arrays by name.
            misread: counts the values of each column that cannot be read.
            examples: takes the first few of them.
        """
        blocks: list[Any] = []
        for column in self.columns:
            block, given = column.apply(columns[column.name]), columns[column.name]
            if block.misread is not None and (number := int(block.misread.sum())):
                misread[column.name] += number
                if examples is not None and len(seen := examples.setdefault(column.name, [])) < _EXAMPLES:
                    some = given.filter(pa.array(block.misread)).slice(0, 100).to_pylist()
                    new = dict.fromkeys(value for value in map(str, some) if value not in seen)
                    seen += list(new)[: _EXAMPLES - len(seen)]
            blocks.append(block.matrix)
        if self.sparse:
            return side_by_side(blocks)
        dense = [each if isinstance(each, np.ndarray) else each.toarray() for each in blocks]
        return np.ascontiguousarray(np.concatenate(dense, axis=1), np.float32)

    def missing_rows(self, rows: int) -> Any:
        """Return the features of rows of which nothing is known."""
        kinds = {True: pa.list_(pa.float64()), False: pa.string()}
        nothing = {each.name: pa.nulls(1, kinds[isinstance(each, VectorColumn)]) for each in self.columns}
        row = self.apply(nothing, Counter())
        return sp.vstack([row] * rows, format="csr") if self.sparse else np.repeat(row, rows, axis=0)

    def require_columns(self, source: str, names: Iterable[str]) -> None:
        """Refuse a table that lacks a column."""
        present = set(names)
        absent = [column.name for column in self.columns if column.name not in present]
        if absent:
            raise InputError(
                f"{source}: has no column {listing([repr(name) for name in absent])}, which training had; add it, "
                "empty where nothing is known",
                code="other-features",
            )

    def to_json(self) -> str:
        """Return it as a text."""
        facts: dict[str, Any] = {"version": _VERSION, "comparable": self.comparable, "sparse": self.sparse}
        facts |= {"left_out": dict(self.left_out), "columns": [column.to_dict() for column in self.columns]}
        return json.dumps(facts, ensure_ascii=False) + "\n"

    @classmethod
    def read(cls, path: Path) -> FittedTable | None:
        """Read a file that `to_json` was written to; None if there is none."""
        return cls.from_json(content_of(path).decode(errors="replace"), str(path)) if path.is_file() else None

    @classmethod
    def from_json(cls, text: str, source: str) -> FittedTable:
        """Read what `to_json` wrote; it may be anybody's, so all of it is checked."""
        try:
            facts = json.loads(text)
            if not isinstance(facts, dict) or facts.get("version") != _VERSION:
                raise ValueError("of another version")
            left_out, comparable, sparse = (facts.get(name) for name in ("left_out", "comparable", "sparse"))
            if not isinstance(left_out, dict) or not isinstance(comparable, bool) or not isinstance(sparse, bool):
                raise ValueError("it lacks a part")
            if not all(isinstance(part, str) for pair in left_out.items() for part in pair):
                raise ValueError("'left_out' holds no texts")
            columns = tuple(_column_from(each) for each in facts["columns"])
            if not columns or len({column.name for column in columns}) != len(columns):
                raise ValueError("its columns are none, or one is there twice")
            json.dumps(facts, ensure_ascii=False).encode()  # fails at half a letter, which only JSON can spell
            return cls(columns, left_out, comparable, sparse)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InputError(
                f"{source}: what it says about the columns of features is damaged ({first_line(error)}); make it again",
                code="damaged-file",
            ) from None


def _column_from(data: Any) -> FittedColumn:
    """Return the column that `to_dict` described; a ValueError says what of it cannot be true."""
    if not isinstance(data, dict) or data.get("kind") not in COLUMNS:
        raise ValueError("it lists a column of a kind that is unknown")
    found = COLUMNS[data["kind"]]
    hints = get_type_hints(found)
    usual = {field.name: None if field.default is MISSING_DEFAULT else field.default for field in fields(found)}
    given: dict[str, Any] = {name: data.get(name, default) for name, default in usual.items()}
    for name, value in given.items():
        if not _is_of(hints[name], value):
            raise ValueError(f"{name!r} of a column is not what it should be")
    column = found(**given)
    pairs = (("words", "word_weights"), ("grams", "gram_weights"), ("values", "weights"))
    if any(len(given[one]) != len(given[other]) for one, other in pairs if one in given and other in given):
        raise ValueError(f"the weights of {column.name!r} do not fit")
    if isinstance(column, CategoryColumn) and not 0 <= column.buckets <= 1 << 16:
        raise ValueError(f"'buckets' of {column.name!r} is out of range")
    if isinstance(column, NumberColumn) and (column.style not in values.NUMBER_STYLES or len(column.knots) > 10_000):
        raise ValueError(f"'style' of {column.name!r} is unknown")
    if isinstance(column, NumberColumn) and not values.is_unit(column.unit):
        raise ValueError(f"'unit' of {column.name!r} is none")
    if isinstance(column, DateColumn) and not set(column.cycles) <= set(CYCLES):
        raise ValueError(f"'cycles' of {column.name!r} is unknown")
    if isinstance(column, DateColumn) and column.day not in ("", *itertools.chain(*values.DATE_STYLES.values())):
        raise ValueError(f"'day' of {column.name!r} is unknown")
    if not given.get("scale", 1) > 0:
        raise ValueError(f"'scale' of {column.name!r} is not above zero")
    weights = (weight for _, name in pairs for weight in given.get(name, ()))
    if not all(0 <= weight < _HEAVIEST for weight in weights) or abs(given.get("center", 0)) > _LARGEST:
        raise ValueError(f"the numbers of {column.name!r} are beyond all that a fit could give")
    return column


def _is_of(hint: Any, value: Any) -> bool:
    if hint == list[float]:
        return isinstance(value, list) and all(type(each) in (int, float) and np.isfinite(each) for each in value)
    if hint == list[str]:
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    if hint is float:
        return type(value) in (int, float) and bool(np.isfinite(value))
    return type(value) is hint


def spread_out(tables: Iterable[Any], most: int = SAMPLED) -> tuple[Any, int]:
    """Return a sample of the rows of Arrow tables that come one after the other, and how many rows there were.

    Every so many rows, twice as many each time that the sample grows too large: about evenly from first to last.
    """
    kept: list[Any] = []
    step, rows = 1, 0
    for table in tables:
        kept.append(_every(table, step, -rows % step))
        rows += table.num_rows
        while sum(part.num_rows for part in kept) > 2 * most:
            kept = [_every(pa.concat_tables(kept), 2, 0)]
            step *= 2
    return (pa.concat_tables(kept).combine_chunks() if kept else pa.table({})), rows


def _every(table: Any, step: int, first: int) -> Any:
    return table if step == 1 else table.take(pa.array(np.arange(first, table.num_rows, step)))


def _without_counts(column: Any, reading: Reading) -> Reading:
    """Return a column of nothing but 0 and 1 as yes and no, which it is beside columns of other kinds."""
    if reading.kind != "number" or reading.detail.unit:
        return reading
    found = values.numbers(values.as_text(column), reading.detail.style)
    yes_or_no = np.isin(found[np.isfinite(found)], (0, 1)).all()
    return reading._replace(kind="boolean", detail=None) if yes_or_no else reading


def _numbers_of(sample: Mapping[str, Any], readings: Mapping[str, Reading]) -> npt.NDArray[np.float64]:
    columns = [
        values.numbers(values.without_unit(values.as_text(sample[name]), each.detail.unit), each.detail.style)
        for name, each in readings.items()
    ]
    return np.stack(columns, axis=1)


def crowded(rows: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.int64]:
    """Return the columns whose numbers are so far from zero, and so close together, that single precision is coarse.

    It has a few thousand steps at most between the least and the largest of them, as of moments within a day given in
    seconds since 1970.
    """
    low, high = (least.reduce(rows, axis=0).astype(np.float64) for least in (np.fmin, np.fmax))
    farthest = np.maximum(np.abs(low), np.abs(high))
    return np.flatnonzero((farthest >= _CROWDED * (high - low)) & (farthest > 0))


def blurred(rows: npt.NDArray[np.float64]) -> bool:
    """Tell whether single precision takes different numbers of such a column for one."""
    known = np.where(np.isfinite(rows), rows, np.nan)
    return any(
        len(np.unique(known[:, each].astype(np.float32))) < len(np.unique(known[:, each])) for each in crowded(known)
    )


def unlike_units(rows: npt.NDArray[np.floating[Any]]) -> bool:
    """Tell whether columns of numbers have units so unlike that one would drown the others.

    Their deviations, NaN aside, differ by a factor of 100; those of words never do.
    """
    if len(rows) < _ROWS_TO_TELL:
        return False
    known = np.where(np.isfinite(rows), rows, 0)
    if (known >= 0).all() and np.count_nonzero(known) <= 0.5 * known.size:
        return False
    spreads = np.nanstd(rows.astype(np.float64), axis=0)
    spreads = spreads[spreads > 0]
    return len(spreads) > 1 and float(spreads.max() / spreads.min()) >= UNLIKE_SCALES
