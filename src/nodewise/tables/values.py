"""Read the values of one column, whatever way they are written: numbers, dates, yes and no, tags.

Everything works on Arrow arrays of strings, a column at a time. What cannot be read is null, and never an error: who
asks for numbers of a column decides what a value that is none means.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

MISSING = pa.array(["", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "-", "--", "?", "."])
"""How people write that they do not know, in lower case."""

TRUE = frozenset(("true", "yes", "y", "t", "ja", "oui", "si", "sí", "1", "1.0"))
FALSE = frozenset(("false", "no", "n", "f", "nein", "non", "0", "0.0"))

_NUMBER = {
    "point": r"^[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|inf|Inf|INF|Infinity|infinity)$",
    "comma": r"^[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?$",
    "thousands": r"^[+-]?(\d+|[1-9]\d{0,2}(,\d{3})+)(\.\d+)?$",
}
"""How numbers are written: 1234.5 or 1e3; 1.234,5 or 1234,5; 1,234.5."""
NUMBER_STYLES = tuple(_NUMBER)
_MARKS = {",": ("thousands", "comma"), ".": ("comma", "point")}
"""The styles in which each mark stands between thousands, and before decimals."""
_ANY_NUMBER = r"^[+-]?[\d.,]*\d[\d.,]*([eE][+-]?\d+)?$"
_GAPS = "\u00a0\u2007\u2009\u202f"
"""Blanks that do not break or are thin, as they stand between thousands."""
_UNITS = rf"[\s{_GAPS}€$£%']"
_APART = rf"\d\D*{_UNITS}\D*\d"
_IN_GROUPS = rf"^\D*[1-9]\d{{0,2}}(([\s{_GAPS}]\d{{3}})+|('\d{{3}})+)([.,]\d+)?\D*$"
"""Digits with a blank or a sign in between are one number only if that parts thousands: 1 234,5 but not 52, 13."""
_BELOW_ZERO = (("\u2212", "-"), (r"^\(([\d.,]+)\)$", r"-\1"), (r"^([\d.,]*\d[\d.,]*)-$", r"-\1"))
"""Other ways to write a minus: the sign of typesetters, an accountant's parentheses, and one behind the number."""
_LONGEST_UNIT = 8
_UNIT_SIGNS = "°%²³/"
_CURRENCIES = "EUR|USD|GBP|CHF|JPY|CNY|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|KRW|ZAR|TRY"
_WITH_UNIT = (
    rf"^(?P<before>[A-Z]{{0,2}}\p{{Sc}}|{_CURRENCIES})?\s*[+\-\x{{2212}}]?\d[\d.,'{_GAPS}]*(?:[eE][+-]?\d+)?"
    rf"\s*(?P<after>[\p{{L}}\p{{Sc}}{_UNIT_SIGNS}]{{1,{_LONGEST_UNIT}}})?$"
)
"""A number with its unit. Before it only money is one: letters before a number are the name of something."""
_LARGEST = float(np.finfo(np.float32).max)

DATE_STYLES = {
    "year-month-day": ("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d"),
    "day-month-year": ("%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y", "%d %b %Y"),
    "month-day-year": ("%m/%d/%Y", "%m-%d-%Y", "%b %d, %Y"),
}
"""The order of a date's parts, and how they may be put together; one column is written in one way."""
_TIMES = ("", " %H:%M", " %H:%M:%S")
_TIME_MARK = r"(\d)T(\d)"
_FRACTION_AND_ZONE = r"(:\d\d)(\.\d+)?\s?(Z|UTC|[+-]\d\d:?\d\d)?$"

TAG_SEPARATORS = ("|", ";", ",")


class NumberForm(NamedTuple):
    """One way to write numbers: a style, and the unit that stands with each of them, if one does."""

    style: str
    unit: str = ""


class DateForm(NamedTuple):
    """One way to write dates: the order of the parts, and the format of the day in it."""

    style: str
    day: str


def as_text(column: Any) -> Any:
    """Return a column as one Arrow array of strings, null where the value is missing, whatever its type was."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if not pa.types.is_string(array.type):
        try:
            array = array.cast(pa.string())
        except pa.ArrowException:  # lists, structures, bytes that are no text
            return pa.nulls(len(array), pa.string())
    text = pc.utf8_trim_whitespace(array)
    return pc.if_else(pc.is_in(pc.utf8_lower(text), MISSING), None, text)


def numbers(text: Any, style: str) -> npt.NDArray[np.float64]:
    """Return strings as numbers, NaN where one is none, and infinite where float32 cannot hold it.

    >>> numbers(pa.array(["1.234,5", "x", None]), "comma")
    array([1234.5,    nan,    nan])
    """
    if style == "point":
        try:
            return _finite(text.cast(pa.float64()))
        except pa.ArrowInvalid:
            pass
    bare = _bare(text)
    bare = pc.if_else(pc.match_substring_regex(bare, _NUMBER[style]), bare, None)
    if style == "comma":
        bare = pc.replace_substring(pc.replace_substring(bare, ".", ""), ",", ".")
    elif style == "thousands":
        bare = pc.replace_substring(bare, ",", "")
    return _finite(pc.replace_substring_regex(bare, r"^\+", "").cast(pa.float64()))


def _bare(text: Any) -> Any:
    """Return strings without the signs around numbers, a minus before them; null where there are several numbers."""
    apart = pc.match_substring_regex(text, _APART)
    if pc.any(apart).as_py():
        several = pc.and_not(apart, pc.match_substring_regex(text, _IN_GROUPS))
        text = pc.if_else(several, pa.scalar(None, text.type), text)
    bare = pc.replace_substring_regex(text, _UNITS, "")
    for written, meant in _BELOW_ZERO:
        bare = pc.replace_substring_regex(bare, written, meant)
    return bare


def number_style(text: Any) -> tuple[str, float]:
    """Return the way of writing numbers that reads most of the known values, and which share of them it reads."""
    known = len(text) - text.null_count
    best, share = "point", 0.0
    for style in NUMBER_STYLES:
        read = float((~np.isnan(numbers(text, style))).sum()) / max(known, 1)
        if read > share:
            best, share = style, read
        if share == 1.0:
            break
    doubt = grouping(text)
    return (best if doubt is None else doubt.style), share


class Grouping(NamedTuple):
    """How to read numbers such as 1,234 whose mark may stand between thousands or before decimals.

    Attributes:
        style: the likelier way.
        thousands: whether that is the one with marks between thousands.
        example: one of them as it is written.
    """

    style: str
    thousands: bool
    example: str


def grouping(text: Any) -> Grouping | None:
    """Return how to read numbers if all of their commas (or points) may stand between thousands or before decimals.

    They may if exactly three digits follow each, and there is no other mark. Marks are between thousands unless a whole
    number beyond 999 has none. Programs that write three decimals write them in every number, and others leave out
    zeros: so points are in doubt only beside whole numbers below 1000, and are between thousands if a zero ends one.

    >>> grouping(pa.array(["1,234", "999"]))
    Grouping(style='thousands', thousands=True, example='1,234')
    """
    bare = _bare(text).drop_null()
    found = bare.filter(pc.match_substring_regex(bare, _ANY_NUMBER))
    plain = pc.match_substring_regex(found, r"^[+-]?\d+$")
    marked = found.filter(pc.invert(plain))
    long = bool(pc.any(pc.match_substring_regex(found, r"^[+-]?\d{4,}$")).as_py())
    for mark, (between, before) in _MARKS.items():
        alone = rf"^[+-]?[1-9]\d{{0,2}}\{mark}\d{{3}}$"
        if not len(marked) or not pc.all(pc.match_substring_regex(marked, alone)).as_py():
            continue
        if mark == "." and (long or not pc.any(plain).as_py()):
            return None
        thousands = not long and (mark == "," or bool(pc.any(pc.ends_with(marked, "0")).as_py()))
        return Grouping(between if thousands else before, thousands, marked[0].as_py())
    return None


def told_style(text: Any, thousands: bool) -> str:
    """Return how to read numbers whose owner says that marks are between thousands, or else before decimals."""
    commas = pc.any(pc.match_substring(text, ",")).as_py()
    styles = ("point", "comma") if not thousands else ("thousands", "comma") if commas else ("comma", "thousands")
    return max(styles, key=lambda style: int((~np.isnan(numbers(text, style))).sum()))


def without_unit(text: Any, unit: str) -> Any:
    """Return strings without the unit that stands after or before their number, null for another sign of money.

    Those without a unit are as they are.
    """
    if not unit:
        return text
    written = re.escape(unit)
    bare = pc.replace_substring_regex(text, rf"^{written}\s*|\s*{written}$", "", max_replacements=1)
    return pc.if_else(pc.match_substring_regex(bare, r"\p{Sc}"), None, bare)


def units(text: Any) -> Counter[str]:
    """Return how often known values are a number with each unit, "" for a number alone; others do not count.

    >>> units(pa.array(["6.2 kg", "7kg", "8", "EUR 9", "C-12"])).most_common(1)
    [('kg', 2)]
    """
    parts = pc.extract_regex(text.drop_null(), _WITH_UNIT)
    pairs = zip(*(pc.struct_field(parts, name).to_pylist() for name in ("before", "after")), strict=True)
    return Counter(
        (before or "") + (after or "") for before, after in pairs if before is not None and not (before and after)
    )


def signs(text: Any) -> Counter[str]:
    """Return how often known values have each sign of money, a percent sign, or neither ("")."""
    found = pc.struct_field(pc.extract_regex(text.drop_null(), r"^[^\p{Sc}%]*(?P<sign>[\p{Sc}%]?)"), "sign")
    return Counter(found.to_pylist())


def is_unit(text: str) -> bool:
    """Tell whether a text can be the unit of numbers, or none."""
    signs = all(each.isalpha() or each in _UNIT_SIGNS or unicodedata.category(each) == "Sc" for each in text)
    return signs and len(text) <= _LONGEST_UNIT


def are_codes(text: Any) -> bool:
    """Tell whether digits are the name of something, such as a postal code: some begin with a zero before others."""
    return bool(pc.any(pc.match_substring_regex(text, r"^0\d+$")).as_py())


def seconds(text: Any, form: DateForm) -> npt.NDArray[np.float64]:
    """Return dates as seconds since 1970, NaN where one is not written in this way; zones of time are left out."""
    bare = pc.replace_substring_regex(text, _TIME_MARK, r"\1 \2")
    bare = pc.replace_substring_regex(bare, _FRACTION_AND_ZONE, r"\1")
    read = [pc.strptime(bare, form.day + time, "s", error_is_null=True) for time in _TIMES]
    found = pc.coalesce(*read)
    moments = np.array(found.cast(pa.int64()).cast(pa.float64()).fill_null(np.nan), np.float64)
    # strptime takes a 30th of February for the 2nd of March, so a month's first days are looked at again.
    rows = np.flatnonzero(np.asarray(pc.less_equal(pc.day(found), 3).fill_null(False)))
    said = pc.struct_field(pc.extract_regex(bare.take(pa.array(rows)), _day_in(form)), "day").cast(pa.int64())
    moments[rows[np.asarray(pc.not_equal(said, pc.day(found.take(pa.array(rows)))).fill_null(False), bool)]] = np.nan
    return moments


def _day_in(form: DateForm) -> str:
    parts = {".": r"\.", "%d": r"(?P<day>\d{1,2})", "%m": r"\d{1,2}", "%Y": r"\d{4}", "%b": "[A-Za-z]+"}
    return "^" + re.sub(r"\.|%\w", lambda part: parts[part.group()], form.day)


def date_forms(text: Any) -> list[tuple[DateForm, float]]:
    """Return every way of writing dates that reads some of the known values, with the share it reads, most first."""
    known = max(len(text) - text.null_count, 1)
    shares = []
    for style, days in DATE_STYLES.items():
        for day in days:
            read = np.isfinite(seconds(text, DateForm(style, day))).sum()
            if read:
                shares.append((DateForm(style, day), float(read) / known))
    return sorted(shares, key=lambda each: -each[1])


def truths(text: Any) -> npt.NDArray[np.float64]:
    """Return yes as 1 and no as -1, NaN for anything else."""
    lower = pc.utf8_lower(text)
    yes, no = (pc.is_in(lower, pa.array(sorted(words))) for words in (TRUE, FALSE))
    return np.where(np.asarray(yes), 1.0, np.where(np.asarray(no), -1.0, np.nan))


def words(text: Any) -> Any:
    """Return the words of each text, in lower case: an Arrow array of lists, empty where the text is missing."""
    lower = pc.utf8_lower(pc.utf8_normalize(text.fill_null(""), "NFKC"))
    return pc.split_pattern_regex(lower, r"[^\p{L}\p{N}]+")


def tags(column: Any, separator: str | None) -> Any:
    """Return the tags of each row as lists of strings: lists as they are, texts split, brackets and quotes removed."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if is_list(array.type):
        try:
            return array.cast(pa.list_(pa.string()))
        except pa.ArrowException:
            array = pa.nulls(len(array), pa.string())
    bare = pc.replace_substring_regex(as_text(array), r"^\[|\]$|[\"']", "").fill_null("")
    parts = pc.split_pattern(bare, separator or "|")
    return pa.ListArray.from_arrays(parts.offsets, pc.utf8_trim_whitespace(parts.values))


def is_list(kind: Any) -> bool:
    """Tell whether a type is one of lists."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _finite(array: Any) -> npt.NDArray[np.float64]:
    values = np.asarray(array.fill_null(np.nan), np.float64)
    return np.where(np.abs(values) > _LARGEST, np.copysign(np.inf, values), values)
