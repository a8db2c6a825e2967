"""What becomes of one column: fitted once, kept as plain data, applied to any rows afterwards.

Every column becomes a block of numbers of which a row has length one on average, however many numbers it has, so that
columns weigh equally:

=========  ============================================================================================
number     (x - mean) / deviation; where tails are heavy, normal scores of the quantiles in place of x
boolean    1 or -1
category   one of the frequent values, or one of the rare ones (together, or by a hash where they are many)
date       the trend, and where it goes on for long enough the month, the weekday and the hour as circles
text       words and runs of three letters, each by its inverse document frequency; rows of length one
tags       likewise, without letters
vector     lists of numbers of one length: centered, with one scale for all
=========  ============================================================================================

A missing value is a row of zeros, which is the mean of a number and no category at all. Where many are missing, that
itself is a further number.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from nodewise.core.messages import count
from nodewise.tables import values

MANY_MISSING = 0.05
"""Share of missing values from which on it is worth knowing of a row that its value is missing."""
MOST_CATEGORIES = 64
MOST_WORDS, MOST_GRAMS, MOST_TAGS = 1000, 500, 256
_RARE = 0.005
"""Share of rows below which a category is rare, and put together with the other rare ones."""
_BUCKETS = 32
_HASHED = 0.1
"""Share of rows with rare categories from which on they are told apart by a hash."""
_HEAVY = 2.0
"""Deviation in units of the one that the middle half of a normal distribution would have; above, tails are heavy."""
_LEVELS = np.linspace(0, 1, 129)
_FARTHEST = 5.0
"""Deviations from the mean beyond which a value counts as so far: of new rows one may be anywhere."""
_LONGEST_WORD = 30
_YEAR, _DAY = 365.2425 * 86400, 86400.0
CYCLES = {"month": (_YEAR, 1.5 * _YEAR), "weekday": (7 * _DAY, 14 * _DAY), "hour": (_DAY, 2 * _DAY)}
"""Length of each circle in a date, and how long a column must go on for it to be worth having."""


class Block(NamedTuple):
    """The numbers that a column became: (rows, width), dense or CSR, and of which rows the value could not be read."""

    matrix: Any
    misread: npt.NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class FittedColumn(ABC):
    """One column of a table, and everything that is needed to turn any rows of it into numbers.

    Attributes:
        name: of the column.
        missing: whether it has a further number that tells that the value is missing.
        warning: what its owner should know, in words, or nothing.
    """

    name: str
    missing: bool
    warning: str
    kind: ClassVar[str]

    @abstractmethod
    def parts(self) -> list[str]:
        """Return what each number of the block is, the one for missing values aside."""

    @abstractmethod
    def becomes(self) -> str:
        """Return in words what becomes of the column."""

    @abstractmethod
    def block(self, column: Any) -> Block:
        """Return the numbers of some rows, those for missing values aside."""

    def names(self) -> list[str]:
        """Return the name of each number of the block."""
        return [f"{self.name}{part}" for part in self.parts()] + ([f"{self.name} is missing"] if self.missing else [])

    def apply(self, column: Any) -> Block:
        """Return the numbers of some rows of the column, an Arrow array."""
        matrix, misread = self.block(column)
        if not self.missing:
            return Block(matrix, misread)
        absent = _absent(column)
        if sp.issparse(matrix):
            return Block(side_by_side([matrix, absent[:, None]]), misread)
        return Block(np.concatenate([matrix, absent[:, None]], axis=1), misread)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"kind": self.kind, **asdict(self)}


@dataclass(frozen=True)
class NumberColumn(FittedColumn):
    """A quantity with its unit; `knots` are quantiles of heavy tails, else none; `raw` leaves it in its own units."""

    style: str
    knots: list[float]
    center: float
    scale: float
    raw: bool
    unit: str = ""
    kind = "number"

    @classmethod
    def fit(cls, name: str, column: Any, form: values.NumberForm, warning: str = "", raw: bool = False) -> NumberColumn:
        """Fit the scale of a column of numbers."""
        style, unit = form
        found = _as_numbers(column, style, unit)
        known = found[np.isfinite(found)]
        missing = _often_missing(found)
        if raw:
            return cls(name, missing, warning, style, [], float(known.mean()), 1.0, True, unit)
        knots = np.quantile(known, _LEVELS) if has_heavy_tails(known) else np.empty(0)
        shaped = _normal_scores(known, knots) if len(knots) else known
        center, scale = float(shaped.mean()), float(shaped.std())
        return cls(name, missing, warning, style, knots.tolist(), center, scale if scale > 0 else 1.0, False, unit)

    def parts(self) -> list[str]:
        """Return the one number."""
        return [""]

    def becomes(self) -> str:
        """Return in words what becomes of the column."""
        if self.raw:
            return f"as it is; {self.center:.4g} where missing"
        how = "normal scores of its quantiles, for its tails are heavy" if self.knots else "standardized"
        return how + {"comma": ", read with decimal commas", "thousands": ", read with commas between thousands"}.get(
            self.style, ""
        )

    def block(self, column: Any) -> Block:
        """Return the scaled numbers; 0 where missing, or the mean of those in their own units."""
        found = _as_numbers(column, self.style, self.unit)
        bad = ~np.isfinite(found)
        misread = _misread(bad, column)
        if self.raw:
            return Block(np.where(bad, self.center, found).astype(np.float32)[:, None], misread)
        shaped = (
            _normal_scores(np.where(bad, 0, found), np.array(self.knots)) if self.knots else np.where(bad, 0, found)
        )
        with np.errstate(over="ignore"):
            scaled = np.clip((shaped - self.center) / self.scale, -_FARTHEST, _FARTHEST)
        return Block(np.where(bad, 0, scaled).astype(np.float32)[:, None], misread)


@dataclass(frozen=True)
class BooleanColumn(FittedColumn):
    """Yes or no."""

    kind = "boolean"

    def parts(self) -> list[str]:
        """Return the one number."""
        return [""]

    def becomes(self) -> str:
        """Return in words what becomes of the column."""
        return "1 or -1"

    def block(self, column: Any) -> Block:
        """Return 1 for yes, -1 for no."""
        found = values.truths(values.as_text(column))
        return Block(np.nan_to_num(found).astype(np.float32)[:, None], _misread(np.isnan(found), column))


@dataclass(frozen=True)
class CategoryColumn(FittedColumn):
    """One of some values; those not in `frequent` share `buckets` numbers."""

    frequent: list[str]
    buckets: int
    kind = "category"

    @classmethod
    def fit(cls, name: str, column: Any, warning: str = "") -> CategoryColumn:
        """Fit which values are frequent enough for a number of their own."""
        text = values.as_text(column)
        often = _value_counts(text)
        known = sum(often.values())
        least = max(2, _RARE * known) if len(often) > MOST_CATEGORIES // 2 else 1
        frequent = [value for value, times in often.most_common(MOST_CATEGORIES) if times >= least]
        rest = 1 - sum(often[value] for value in frequent) / max(known, 1)
        buckets = 0 if len(frequent) == len(often) else _BUCKETS if rest >= _HASHED else 1
        return cls(name, _often_missing(text), warning, sorted(frequent), buckets)

    def parts(self) -> list[str]:
        """Return the frequent values, and those that the others share."""
        others = ["others"] if self.buckets == 1 else [f"others {i + 1}" for i in range(self.buckets)]
        return [f"={value}" for value in self.frequent] + [f" ({each})" for each in others]

    def becomes(self) -> str:
        """Return in words what becomes of the column."""
        rest = {0: "", 1: ", rare ones together"}.get(self.buckets, f", rare ones by a hash into {self.buckets}")
        return f"one of {count(len(self.frequent), 'value')}{rest}"

    def block(self, column: Any) -> Block:
        """Return a single 1 per row; a value that was not there is one of the rare ones, or none if there were none."""
        text = values.as_text(column)
        place = np.asarray(pc.index_in(text, pa.array(self.frequent, pa.string())).fill_null(-1), np.int64)
        known = np.asarray(text.is_valid())
        if self.buckets:
            others = np.flatnonzero(known & (place < 0))
            coded = text.take(pa.array(others)).dictionary_encode()
            hashed = np.array(
                [zlib.crc32(value.encode()) % self.buckets for value in coded.dictionary.to_pylist()], np.int64
            )
            place[others] = len(self.frequent) + hashed[np.asarray(coded.indices)] if len(others) else place[others]
        return Block(_one_hot(place, len(self.frequent) + self.buckets), known & (place < 0))


@dataclass(frozen=True)
class DateColumn(FittedColumn):
    """A moment; `day` is how it is written, nothing where it is stored as a date."""

    style: str
    day: str
    center: float
    scale: float
    cycles: list[str]
    kind = "date"

    @classmethod
    def fit(cls, name: str, column: Any, form: values.DateForm | None, warning: str = "") -> DateColumn:
        """Fit the trend, and which circles the dates go round more than once."""
        found = _as_seconds(column, form)
        known = found[np.isfinite(found)]
        length = float(np.ptp(known)) if len(known) else 0.0
        cycles = [cycle for cycle, (_, least) in CYCLES.items() if length >= least]
        if not (known % _DAY).any():
            cycles = [cycle for cycle in cycles if cycle != "hour"]
        style, day = form or ("", "")
        center, scale = float(known.mean()), float(known.std()) or 1.0
        return cls(name, _often_missing(found), warning, style, day, center, scale, cycles)

    def parts(self) -> list[str]:
        """Return the trend, and two numbers per circle."""
        return [" (trend)"] + [f" ({cycle}, {axis})" for cycle in self.cycles for axis in ("sine", "cosine")]

    def becomes(self) -> str:
        """Return in words what becomes of the column."""
        read = f", read as {self.style}" if self.style not in ("", "year-month-day") else ""
        return " and ".join(filter(None, ["trend", ", ".join(self.cycles)])) + read

    def block(self, column: Any) -> Block:
        """Return half of the squared length for the trend, and half for all circles together."""
        found = _as_seconds(column, values.DateForm(self.style, self.day) if self.day else None)
        bad = ~np.isfinite(found)
        moment = np.where(bad, self.center, found)
        with np.errstate(over="ignore"):
            trend = np.clip((moment - self.center) / self.scale, -_FARTHEST, _FARTHEST)
        parts = [trend if not self.cycles else trend * np.sqrt(0.5)]
        for cycle in self.cycles:
            angle = 2 * np.pi * (moment % CYCLES[cycle][0]) / CYCLES[cycle][0]
            parts += [part * np.sqrt(0.5 / len(self.cycles)) for part in (np.sin(angle), np.cos(angle))]
        matrix = np.where(bad[:, None], 0, np.stack(parts, axis=1)).astype(np.float32)
        return Block(matrix, _misread(bad, column))


@dataclass(frozen=True)
class TextColumn(FittedColumn):
    """Words that mean something, and runs of three letters that tell which words are alike."""

    words: list[str]
    word_weights: list[float]
    grams: list[str]
    gram_weights: list[float]
    kind = "text"

    @classmethod
    def fit(cls, name: str, column: Any, warning: str = "") -> TextColumn:
        """Fit the vocabulary, the most frequent words and runs of letters, and how rare each is."""
        text = values.as_text(column)
        counts, found = _counted(values.words(text))
        rows = max(len(text) - text.null_count, 1)
        words, word_weights = _vocabulary(counts, found, rows, MOST_WORDS)
        by_word = [_grams(word) for word in found]
        often = counts.astype(bool).sum(axis=0).A1 if len(found) else np.empty(0)
        total: Counter[str] = Counter()
        for each, times in zip(by_word, often.tolist(), strict=True):
            total.update(dict.fromkeys(each, times))
        grams = sorted(gram for gram, _ in total.most_common(MOST_GRAMS))
        spelled = _spelled(found, grams)
        present = (counts @ spelled).astype(bool).sum(axis=0).A1
        return cls(name, _often_missing(text), warning, words, word_weights, grams, _idf(rows, present).tolist())

    def parts(self) -> list[str]:
        """Return the words and the runs of letters."""
        return [f": {word}" for word in self.words] + [f": ...{gram}..." for gram in self.grams]

    def becomes(self) -> str:
        """Return in words what becomes of the column."""
        return f"{count(len(self.words), 'word')} and {count(len(self.grams), 'run')} of three letters, by how rare"

    def block(self, column: Any) -> Block:
        """Return half of the squared length for words, and half for letters."""
        counts, found = _counted(values.words(values.as_text(column)))
        words = _weighed(counts @ _chosen(found, self.words), self.word_weights)
        grams = _weighed(counts @ _spelled(found, self.grams), self.gram_weights)
        return Block(_unit(side_by_side([words, grams])))


@dataclass(frozen=True)
class TagsColumn(FittedColumn):
    """Several of some values; `separator` is what stands between them in a text."""

    separator: str
    values: list[str]
    weights: list[float]
    kind = "tags"

    @classmethod
    def fit(cls, name: str, column: Any, separator: str, warning: str = "") -> TagsColumn:
        """Fit which tags are frequent, and how rare each is."""
        counts, found = _counted(values.tags(column, separator))
        rows = max(len(column) - _num_absent(column), 1)
        kept, weights = _vocabulary(counts, found, rows, MOST_TAGS)
        return cls(name, _num_absent(column) > MANY_MISSING * len(column), warning, separator, kept, weights)

    def parts(self) -> list[str]:
        """Return the tags."""
        return [f": {value}" for value in self.values]

    def becomes(self) -> str:
        """Return in words what becomes of the column."""
        return f"any of {count(len(self.values), 'tag')}, by how rare"

    def block(self, column: Any) -> Block:
        """Return the tags of each row; those that were not there are none."""
        counts, found = _counted(values.tags(column, self.separator))
        return Block(_weighed(counts @ _chosen(found, self.values), self.weights))


@dataclass(frozen=True)
class VectorColumn(FittedColumn):
    """Lists of numbers, all of one length."""

    centers: list[float]
    scale: float
    kind = "vector"

    @classmethod
    def fit(cls, name: str, column: Any, warning: str = "") -> VectorColumn:
        """Fit the center, and the mean length about it."""
        lengths = np.asarray(pc.list_value_length(column).fill_null(0))
        width = int(np.bincount(lengths[lengths > 0]).argmax()) if (lengths > 0).any() else 0
        rows = vectors_of(column, width)
        known = rows[np.isfinite(rows).all(axis=1)]
        largest = float(np.abs(known).max(initial=0)) or 1.0
        shrunk = known / largest  # the square of a number above 1e154 is beyond any float
        centers = shrunk.mean(axis=0)
        scale = float(np.sqrt(np.square(shrunk - centers).sum(axis=1).mean()))
        scale = min(scale * largest, float(np.finfo(np.float64).max)) or 1.0
        return cls(name, len(known) < (1 - MANY_MISSING) * len(rows), warning, (centers * largest).tolist(), scale)

    def parts(self) -> list[str]:
        """Return the places in the list."""
        return [f"[{place}]" for place in range(len(self.centers))]

    def becomes(self) -> str:
        """Return in words what becomes of the column."""
        return f"{count(len(self.centers), 'number')}, centered, one scale for all"

    def block(self, column: Any) -> Block:
        """Return the centered numbers; a list of another length counts as missing."""
        rows = vectors_of(column, len(self.centers))
        bad = np.isnan(rows).any(axis=1, keepdims=True)
        with np.errstate(over="ignore"):  # what lies beyond any float is cut to the farthest place like the rest
            scaled = np.clip((rows - np.array(self.centers)) / self.scale, -_FARTHEST, _FARTHEST)
        return Block(np.where(bad, 0, scaled).astype(np.float32), _misread(np.isnan(rows).any(axis=1), column))


COLUMNS: dict[str, type[FittedColumn]] = {
    each.kind: each
    for each in (NumberColumn, BooleanColumn, CategoryColumn, DateColumn, TextColumn, TagsColumn, VectorColumn)
}


def side_by_side(blocks: list[Any]) -> Any:
    """Return matrices, dense or CSR, as one CSR matrix."""
    sparse: list[Any] = [block if sp.issparse(block) else sp.csr_matrix(block) for block in blocks]
    return sp.csr_matrix(sp.hstack(sparse, format="csr", dtype=np.float32))


def has_heavy_tails(known: npt.NDArray[np.float64]) -> bool:
    """Tell whether a few values lie so far out that they would decide the scale of all."""
    middle = np.subtract(*np.quantile(known, (0.75, 0.25))) / 1.349
    return bool(known.std() > _HEAVY * middle) and len(np.unique(known[:10_000])) > 2


def _normal_scores(found: npt.NDArray[np.float64], knots: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the normal distribution's quantile at each value's place among the knots, of equal ones the middle."""
    from scipy.special import ndtri

    levels = np.linspace(0, 1, len(knots))
    upper = np.interp(found, knots, levels)
    lower = -np.interp(-found, -knots[::-1], -levels[::-1])
    place: npt.NDArray[np.float64] = ndtri(np.clip((upper + lower) / 2, 0.002, 0.998))
    return place


def _is_number(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def _as_numbers(column: Any, style: str, unit: str) -> npt.NDArray[np.float64]:
    kind = column.type
    if _is_number(kind):
        array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        array = array.cast(pa.uint8()) if pa.types.is_boolean(kind) else array
        found = np.asarray(array.cast(pa.float64(), safe=False).fill_null(np.nan), np.float64)
        return np.where(np.abs(found) > np.finfo(np.float32).max, np.inf, found)
    return values.numbers(values.without_unit(values.as_text(column), unit), style)


def _as_seconds(column: Any, form: values.DateForm | None) -> npt.NDArray[np.float64]:
    if form is not None:
        return values.seconds(values.as_text(column), form)
    if not is_moment(column.type):  # stored as dates when it was fitted, and now as text
        return values.seconds(values.as_text(column), values.DateForm("year-month-day", "%Y-%m-%d"))
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    moments = array.cast(pa.timestamp("s", getattr(array.type, "tz", None)), safe=False).cast(pa.int64())
    return np.asarray(moments.cast(pa.float64()).fill_null(np.nan), np.float64)


def is_moment(kind: Any) -> bool:
    """Tell whether a type is one of dates, with a time or without."""
    return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind))


def vectors_of(column: Any, width: int) -> npt.NDArray[np.float64]:
    """Return lists of so many numbers as rows; NaN where there is none of that length, or not all is finite."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    rows = np.full((len(array), width), np.nan)
    if not values.is_list(array.type) or not _is_number(array.type.value_type):
        return rows
    lengths = np.asarray(pc.list_value_length(array).fill_null(-1))
    whole = np.flatnonzero(lengths == width)
    flat = array.take(pa.array(whole)).flatten().cast(pa.float64(), safe=False).fill_null(np.nan)
    rows[whole] = np.asarray(flat, np.float64).reshape(-1, width)
    rows[~np.isfinite(rows)] = np.nan
    return rows


def _absent(column: Any) -> npt.NDArray[np.float32]:
    """Return 1 for each missing value, else 0."""
    if values.is_list(column.type):
        array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        return np.asarray(pc.equal(pc.list_value_length(array).fill_null(0), 0)).astype(np.float32)
    if pa.types.is_floating(column.type):
        return np.asarray(pc.is_null(column, nan_is_null=True)).astype(np.float32)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type) or pa.types.is_dictionary(column.type):
        column = values.as_text(column)
    return np.asarray(column.is_null()).astype(np.float32)


def _misread(bad: Any, column: Any) -> npt.NDArray[np.bool_]:
    """Return which rows hold a value that is bad, and not merely missing."""
    return np.asarray(bad & (_absent(column) == 0))


def _num_absent(column: Any) -> int:
    return int(_absent(column).sum())


def _often_missing(found: Any) -> bool:
    absent = int((~np.isfinite(found)).sum()) if isinstance(found, np.ndarray) else found.null_count
    return absent > MANY_MISSING * len(found)


def _value_counts(text: Any) -> Counter[str]:
    """Return how often each value comes, ties in the order of the alphabet, whatever order the rows have."""
    pairs = ((each["values"], each["counts"]) for each in pc.value_counts(text.drop_null()).to_pylist())
    return Counter(dict(sorted(pairs)))


def _counted(lists: Any) -> tuple[Any, list[str]]:
    """Return how often each row's list holds each distinct string, CSR (rows, strings), and the strings."""
    offsets = np.asarray(lists.offsets, np.int64)
    offsets, flat = offsets - offsets[0], lists.flatten()
    lengths = np.where(np.asarray(lists.is_valid()), np.diff(offsets), 0)
    coded = pc.dictionary_encode(flat)
    code = np.asarray(coded.indices.fill_null(-1), np.int64)
    found = coded.dictionary.to_pylist()
    row = np.repeat(np.arange(len(lists)), lengths)
    kept = code >= 0
    if "" in found:
        kept &= code != found.index("")
    ones = np.ones(int(kept.sum()), np.float32)
    matrix = sp.coo_matrix((ones, (row[kept], code[kept])), shape=(len(lists), len(found))).tocsr()
    return matrix, found


def _vocabulary(counts: Any, found: list[str], rows: int, most: int) -> tuple[list[str], list[float]]:
    """Return the strings that are in the most rows, at least two, and their inverse document frequency."""
    present = np.bincount(counts.indices, minlength=len(found))
    order = sorted((place for place in np.flatnonzero(present > (rows > 3))), key=lambda i: (-present[i], found[i]))
    kept = sorted(order[:most], key=lambda i: found[i])
    return [found[i] for i in kept], _idf(rows, present[kept]).tolist()


def _idf(rows: int, present: Any) -> npt.NDArray[np.float64]:
    return np.asarray(np.log((1 + rows) / (1 + np.asarray(present, np.float64))) + 1)


def _chosen(found: list[str], kept: list[str]) -> Any:
    """Return which of the kept strings each found one is, CSR (found, kept)."""
    place = np.asarray(pc.index_in(pa.array(found, pa.string()), pa.array(kept, pa.string())).fill_null(-1), np.int64)
    return _one_hot(place, len(kept))


def _grams(word: str) -> list[str]:
    """Return the runs of three letters of a word, whose ends are marked.

    >>> _grams("cat")
    ['<ca', 'cat', 'at>']
    """
    marked = f"<{word[:_LONGEST_WORD]}>"
    return [marked[i : i + 3] for i in range(len(marked) - 2)] if word else []


def _spelled(found: list[str], grams: list[str]) -> Any:
    """Return how often each word holds each run of letters, CSR (found, grams)."""
    place = {gram: number for number, gram in enumerate(grams)}
    lists = [[place[gram] for gram in _grams(word) if gram in place] for word in found]
    indptr = np.concatenate([[0], np.cumsum([len(each) for each in lists], dtype=np.int64)])
    indices = np.array([number for each in lists for number in each], np.int64)
    return sp.csr_matrix((np.ones(len(indices), np.float32), indices, indptr), shape=(len(found), len(grams)))


def _weighed(counts: Any, weights: list[float]) -> Any:
    """Return (1 + ln n) idf of each count n, rows of length one."""
    matrix = sp.csr_matrix(counts, dtype=np.float32)
    matrix.sum_duplicates()
    matrix.data = ((1 + np.log(matrix.data)) * np.asarray(weights, np.float32)[matrix.indices]).astype(np.float32)
    return _unit(matrix)


def _unit(matrix: Any) -> Any:
    """Return a CSR matrix with its rows scaled to length one, zeros kept."""
    lengths = np.sqrt(np.bincount(_rows_of(matrix), matrix.data.astype(np.float64) ** 2, matrix.shape[0]))
    scale = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    matrix.data = (matrix.data * np.repeat(scale, np.diff(matrix.indptr))).astype(np.float32)
    return matrix


def _rows_of(matrix: Any) -> npt.NDArray[np.int64]:
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def _one_hot(place: npt.NDArray[np.int64], width: int) -> Any:
    """Return a CSR matrix with a single 1 per row, in its place; none where that is below 0."""
    there = place >= 0
    indptr = np.concatenate([[0], np.cumsum(there)])
    return sp.csr_matrix((np.ones(int(there.sum()), np.float32), place[there], indptr), shape=(len(place), width))
