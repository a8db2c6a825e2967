"""What is known of every node beside its vector: numbers, categories and texts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

import numpy as np

MOST_COLOURED = 20
"""Of more different values than this the most frequent have a colour of their own; the others share one."""

UNKNOWN = -1
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class Column:
    """One value a node.

    Attributes:
        name: as the reader of the page knows it.
        kind: numbers and categories can colour the map; a text is shown where the node is.
        values: floats (N,) with NaN where unknown, or int64 codes (N,) into `names`, -1 where unknown.
        names: of the categories, or the distinct texts.
        logarithmic: numbers whose colour follows their logarithm, such as degrees.
        dates: numbers that are seconds since 1970, shown as dates.
        coloured: how many of the categories, from the first on, have a colour of their own; None for all.
        unknown: what to call a missing value.
        note: what the reader should know of the values, in a sentence.
        origin: given beside the graph, read by training, or found in making the page.
    """

    name: str
    kind: Literal["number", "category", "text"]
    values: np.ndarray
    names: tuple[str, ...] = ()
    logarithmic: bool = False
    dates: bool = False
    coloured: int | None = None
    unknown: str = "unknown"
    note: str = ""
    origin: Literal["attribute", "feature", "found"] = "attribute"

    def take(self, rows: np.ndarray) -> Column:
        """Return the column of some of the nodes."""
        return replace(self, values=self.values[rows])


def numbers(name: str, values: Any, *, logarithmic: bool = False) -> Column:
    """Return a column of numbers; what is not finite counts as unknown."""
    array = np.asarray(values, np.float64)
    with np.errstate(over="ignore"):
        single = array.astype(np.float32)
    return Column(name, "number", np.where(np.isfinite(single), single, np.float32("nan")), logarithmic=logarithmic)


def categories(
    name: str, codes: np.ndarray, names: Sequence[object], *, unknown: str = "unknown", note: str = ""
) -> Column:
    """Return a column of categories from codes, -1 where unknown."""
    return Column(name, "category", np.asarray(codes, np.int64), tuple(map(str, names)), unknown=unknown, note=note)


def guessed(name: str, values: Sequence[object]) -> Column:
    """Return a column as what it looks like: numbers, dates, categories, or texts if most values are different.

    None and empty strings are unknown. Whole numbers with few different values are categories: they are more
    often codes of something than quantities. Of many categories the most frequent come first.
    """
    known = [value for value in values if value not in (None, "")]
    parsed = _parsed(known)
    distinct = set(known)
    few = len(distinct) <= 12 and all(float(number).is_integer() for number in parsed or ())
    if parsed is not None and not few:
        return numbers(name, _with_gaps(parsed, values))
    if (moments := _moments(known)) is not None:
        return Column(name, "number", _with_gaps(moments, values), dates=True)
    many = len(distinct) > MOST_COLOURED
    often = Counter(known) if many else Counter()
    order = sorted(distinct, key=lambda value: (-often[value], parsed is None or float(str(value)), str(value)))
    place = {value: number for number, value in enumerate(order)}
    codes = np.array([UNKNOWN if value in (None, "") else place[value] for value in values], np.int64)
    # Values that hardly ever come twice are names, not groups: there is nothing to colour by.
    kind: Literal["category", "text"] = "text" if many and 2 * len(order) > len(known) else "category"
    return Column(name, kind, codes, tuple(map(str, order)), coloured=MOST_COLOURED - 1 if many else None)


def distinct_names(columns: Sequence[Column]) -> tuple[Column, ...]:
    """Return the columns with a number behind every name that was there before."""
    return tuple(_renamed(columns))


def _renamed(columns: Sequence[Column]) -> Iterator[Column]:
    taken: set[str] = set()
    for column in columns:
        name, number = column.name, 2
        while name in taken:
            name, number = f"{column.name} ({number})", number + 1
        taken.add(name)
        yield replace(column, name=name)


def _with_gaps(parsed: Sequence[float], values: Sequence[object]) -> np.ndarray:
    """Return float64 (N,): what was parsed of the known values, NaN for the others."""
    array = np.full(len(values), np.nan)
    array[[value not in (None, "") for value in values]] = parsed
    return array


def _moments(values: Sequence[object]) -> list[float] | None:
    """Return ISO dates, with or without a time, as seconds since 1970; None if there are none or one is no date."""
    texts = list(map(str, values))
    if not texts or not all(map(_DATE.match, texts)):
        return None
    try:
        moments = [datetime.fromisoformat(text) for text in texts]
    except ValueError:
        return None
    return [(moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() for moment in moments]


def _parsed(values: Sequence[object]) -> list[float] | None:
    """Return the values as numbers; None if there are none or one is something else."""
    try:
        return [float(str(value)) for value in values] or None
    except ValueError:
        return None
