"""What is known of every node beside its vector: numbers, categories and texts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from nodewise.tables.values import as_text
from nodewise.tables.values import numbers as numbers_in_style

MOST_COLORED = 20
"""Of more different values than this the most frequent have a color of their own; the others share one."""

UNKNOWN = -1
_DECIMAL_COMMA = re.compile(r"[+-]?\d+(,\d+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})?")


@dataclass(frozen=True)
class Column:
    """One value a node.

    Attributes:
        name: as the reader of the page knows it.
        kind: numbers and categories can color the map; a text is shown where the node is.
        values: floats (N,) with NaN where unknown, or int64 codes (N,) into `names`, -1 where unknown.
        names: of the categories, or the distinct texts.
        logarithmic: numbers whose color follows their logarithm, such as degrees.
        dates: numbers that are seconds since 1970, shown as dates.
        colored: how many of the categories, from the first on, have a color of their own; None for all.
        tones: names the page's style sheet has for the colors of the categories, where a color should mean
            something; the first category is drawn over the others. Empty for colors that only differ.
        meanings: what each category is, in words, where its name does not tell; empty for no words.
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
    colored: int | None = None
    tones: tuple[str, ...] = ()
    meanings: tuple[str, ...] = ()
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


def guessed(name: str, values: Sequence[object], style: str | None = None) -> Column:
    """Return a column as what it looks like: numbers, dates, categories, or texts if most values are different.

    None and empty strings are unknown. Whole numbers with few different values are categories: they are more
    often codes of something than quantities. Of many categories the most frequent come first. A note says which
    dates and numbers could not be told.

    Args:
        name: of the column.
        values: one a node.
        style: how its numbers are written, if features were made of them, see `nodewise.tables.values`.
    """
    known = [value for value in values if value not in (None, "")]
    texts = list(map(str, known))
    # Units and currencies are left aside; what is no number is unknown, as it was to training.
    parsed = _parsed(texts) if style is None or not texts else list(numbers_in_style(as_text(pa.array(texts)), style))
    distinct = set(known)
    few = len(distinct) <= 12 and all(float(number).is_integer() for number in parsed or ())
    if parsed is not None and not few:
        return numbers(name, _with_gaps(parsed, values))
    if (moments := seconds_of_dates(texts)) is not None:
        return Column(name, "number", _with_gaps(moments, values), dates=True)
    many = len(distinct) > MOST_COLORED
    often = Counter(known) if many else Counter()
    size = dict(zip(known, parsed or (), strict=False))
    order = sorted(distinct, key=lambda value: (-often[value], size.get(value, 0), str(value)))
    place = {value: number for number, value in enumerate(order)}
    codes = np.array([UNKNOWN if value in (None, "") else place[value] for value in values], np.int64)
    # Values that hardly ever come twice are names, not groups: there is nothing to color by.
    kind: Literal["category", "text"] = "text" if many and 2 * len(order) > len(known) else "category"
    colored = MOST_COLORED - 1 if many else None
    return Column(name, kind, codes, tuple(map(str, order)), colored=colored, note=_doubt(texts, kind))


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


def _parsed(texts: Sequence[str]) -> list[float] | None:
    """Return the texts as numbers, with points or commas; None if there are none or one is something else."""
    try:
        return [float(text) for text in texts] or None
    except ValueError:
        pass
    if not all(map(_DECIMAL_COMMA.fullmatch, texts)) or all(map(_THOUSANDS.fullmatch, texts)):
        return None
    return [float(text.replace(",", ".")) for text in texts]


def _doubt(texts: Sequence[str], kind: Literal["category", "text"]) -> str:
    """Return a sentence about values that look like dates or numbers and are not read as such, or nothing."""
    if not texts:
        return ""
    if all(map(looks_like_a_date, texts)):
        what = "Dates that are not ISO"
    elif all(map(_THOUSANDS.fullmatch, texts)) and any("," in text for text in texts):
        what = "Numbers whose comma may stand before thousands or decimals"
    else:
        return ""
    fate = "shown, not colored" if kind == "text" else "colored as categories, not in their order"
    return f"{what} are {fate}."


_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")
_YEAR_FIRST = re.compile(r"(\d{4})([/.-])(\d{1,2})\2(\d{1,2})")
_YEAR_LAST = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4})")
_SHORT_YEAR = re.compile(r"\d{1,2}/\d{1,2}/\d{2}")
_TIME = re.compile(r"[ T]\d{1,2}:.*")


def seconds_of_dates(texts: Sequence[str]) -> list[float] | None:
    """Return dates, all of one form, as seconds since 1970; None if there are none or one cannot be told.

    ISO dates may have a time. Where the year comes last, a number above 12 in one of the dates shows which of the
    other two is the day.
    """
    if not texts:
        return None
    try:
        moments = _iso(texts) or _year_first(texts) or _year_last(texts)
    except ValueError:  # a month 13, or a 30th of February
        return None
    return [moment.timestamp() for moment in moments] if moments else None


def looks_like_a_date(text: str) -> bool:
    """Return whether a text seems to be a date in numbers, in whatever order."""
    forms = (_YEAR_FIRST, _YEAR_LAST, _SHORT_YEAR)
    return any(form.fullmatch(_TIME.sub("", text)) for form in forms)


def _iso(texts: Sequence[str]) -> list[datetime] | None:
    if not all(map(_ISO.match, texts)):
        return None
    moments = map(datetime.fromisoformat, texts)
    return [moment if moment.tzinfo else moment.replace(tzinfo=UTC) for moment in moments]


def _year_first(texts: Sequence[str]) -> list[datetime] | None:
    parts = _numbers(_YEAR_FIRST, texts)
    return None if parts is None else [datetime(*numbers, tzinfo=UTC) for numbers in parts]


def _year_last(texts: Sequence[str]) -> list[datetime] | None:
    parts = _numbers(_YEAR_LAST, texts)
    if parts is None:
        return None
    day_first, month_first = (any(numbers[place] > 12 for numbers in parts) for place in (0, 1))
    if day_first == month_first:
        return None
    return [
        datetime(year, second if day_first else first, first if day_first else second, tzinfo=UTC)
        for first, second, year in parts
    ]


def _numbers(form: re.Pattern[str], texts: Sequence[str]) -> list[tuple[int, int, int]] | None:
    """Return the three numbers of every text; None if one has another form."""
    found = list(map(form.fullmatch, texts))
    return [(int(match[1]), int(match[3]), int(match[4])) for match in found if match] if all(found) else None
