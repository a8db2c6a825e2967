"""What is known of every node beside its vector: numbers, categories and texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

MOST_CATEGORIES = 250
"""More different values than this make a text, which is shown but not coloured by."""

UNKNOWN = -1


@dataclass(frozen=True)
class Column:
    """One value a node.

    Attributes:
        name: as the reader of the page knows it.
        kind: numbers and categories can colour the map; a text is shown where the node is.
        values: float32 (N,) with NaN where unknown, or int64 codes (N,) into `names`, -1 where unknown.
        names: of the categories, or the distinct texts.
        logarithmic: numbers whose colour follows their logarithm, such as degrees.
        unknown: what to call a missing value.
    """

    name: str
    kind: Literal["number", "category", "text"]
    values: np.ndarray
    names: tuple[str, ...] = ()
    logarithmic: bool = False
    unknown: str = "unknown"

    def take(self, rows: np.ndarray) -> Column:
        """Return the column of some of the nodes."""
        return replace(self, values=self.values[rows])


def numbers(name: str, values: Any, *, logarithmic: bool = False) -> Column:
    """Return a column of numbers; what is not finite counts as unknown."""
    array = np.asarray(values, np.float64)
    with np.errstate(over="ignore"):
        single = array.astype(np.float32)
    return Column(name, "number", np.where(np.isfinite(single), single, np.float32("nan")), logarithmic=logarithmic)


def categories(name: str, codes: np.ndarray, names: Sequence[object], *, unknown: str = "unknown") -> Column:
    """Return a column of categories from codes, -1 where unknown."""
    return Column(name, "category", np.asarray(codes, np.int64), tuple(map(str, names)), unknown=unknown)


def guessed(name: str, values: Sequence[object]) -> Column:
    """Return a column as what it looks like: numbers, categories, or texts if nearly every value is different.

    None and empty strings are unknown. Whole numbers with few different values are categories: they are more
    often codes of something than quantities.
    """
    known = [value for value in values if value not in (None, "")]
    parsed = _parsed(known)
    distinct = set(known)
    few = len(distinct) <= 12 and all(float(number).is_integer() for number in parsed or ())
    if parsed is not None and not few:
        whole = iter(parsed)
        return numbers(name, [next(whole) if value not in (None, "") else np.nan for value in values])
    order = sorted(distinct, key=lambda value: (parsed is None or float(str(value)), str(value)))
    place = {value: number for number, value in enumerate(order)}
    codes = np.array([UNKNOWN if value in (None, "") else place[value] for value in values], np.int64)
    kind: Literal["category", "text"] = "category" if len(order) <= MOST_CATEGORIES else "text"
    return Column(name, kind, codes, tuple(map(str, order)))


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


def _parsed(values: Sequence[object]) -> list[float] | None:
    """Return the values as numbers; None if there are none or one is something else."""
    try:
        return [float(str(value)) for value in values] or None
    except ValueError:
        return None
