"""Dates in the forms that tables hold: ISO, or day, month and year as numbers where their order is beyond doubt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

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
