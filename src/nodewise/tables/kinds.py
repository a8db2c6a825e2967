"""Tell what a column holds, from its values alone, or as its owner says."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nodewise.core.errors import InputError, did_you_mean, require_type
from nodewise.core.messages import count, excerpt, listing
from nodewise.tables import values
from nodewise.tables.columns import (
    BooleanColumn,
    CategoryColumn,
    DateColumn,
    FittedColumn,
    NumberColumn,
    TagsColumn,
    TextColumn,
    VectorColumn,
    is_moment,
    vectors_of,
)

_MARKS = ("thousands", "decimals")
KINDS = ("number", *_MARKS, "boolean", "category", "date", "day-first", "month-first", "text", "tags", "vector")
"""What a column may be said to hold; two say what a comma or point stands for in numbers, and two how dates go."""
_MOST_CATEGORIES = 100_000
_FEW = 30
"""Distinct values up to which short texts are categories, however few rows there are."""
_MOSTLY, _NEARLY_ALL = 0.8, 0.99
"""Shares of the known values: with fewer than the first, a column is not meant as numbers (or dates); with fewer than
the second, it is doubtful."""
_MOST_UNITS = 5
_ID_ENDINGS = ("id", "nr", "no", "number", "key", "code")
_ORDERS = {"day-first": "day-month-year", "month-first": "month-day-year"}


class Reading(NamedTuple):
    """What a column holds: its kind, how it is written, and what its owner should know; no kind to leave it out."""

    kind: str
    detail: Any = None
    warning: str = ""


class NotFinite(InputError):
    """A number that is infinite, or beyond single precision, and in which row of the sample it is."""

    def __init__(self, message: str, name: str, row: int, value: float) -> None:
        super().__init__(message, code="bad-number")
        self.name, self.row, self.value = name, row, value


def parse_overrides(given: str | Mapping[str, str | None] | None) -> dict[str, str | None]:
    """Return what the owner says about columns: the kind of each, None for one to leave out.

    >>> parse_overrides("age:number,-internal_id")
    {'age': 'number', 'internal_id': None}
    """
    if not given:
        return {}
    if isinstance(given, str) and given.startswith("{"):  # as `format_overrides` writes names with commas
        try:
            given = json.loads(given)
        except ValueError:
            raise _bad(f"--columns {excerpt(given)} is no JSON") from None
    require_type("columns", given, str | Mapping, "text such as age:number,-note, or a mapping from columns to kinds")
    if isinstance(given, Mapping):
        pairs = [(str(name), None if kind in (None, "-") else str(kind)) for name, kind in given.items()]
    else:
        pairs = [_pair(part) for part in given.split(",") if part.strip()]
    found: dict[str, str | None] = {}
    for name, kind in pairs:
        if kind is not None and kind not in KINDS:
            raise _bad(f"--columns: {name!r} as {kind!r}, which is no kind{did_you_mean(kind, KINDS)}")
        if name in found and found[name] != kind:
            both = " and ".join(each or "left out" for each in (found[name], kind))
            raise _bad(f"--columns: {name!r} is to be {both}; say it once")
        found[name] = kind
    return found


def format_overrides(given: Mapping[str, str | None]) -> str:
    """Return overrides as a text that `parse_overrides` reads."""
    if any("," in name or name.startswith(("-", "{")) or name != name.strip() for name in given):
        return json.dumps(dict(given))
    return ",".join(f"-{name}" if kind is None else f"{name}:{kind}" for name, kind in given.items())


def reading_of(source: str, name: str, column: Any, kind: str | None = None) -> Reading:
    """Return what a column, an Arrow array of a sample of its values, holds.

    Args:
        source: what to call the table in messages.
        name: of the column.
        column: its values.
        kind: one of KINDS, where the owner says so.
    """
    where = f"{source}: column {name!r}"
    if values.is_list(column.type):
        return _list_reading(where, name, column, kind)
    if not _is_plain(column.type):
        raise _bad(f"{where} is of type {column.type}, which is no feature; leave it out with --columns=-{name}")
    if kind is not None:
        return _as_told(where, name, column, kind)
    if pa.types.is_boolean(column.type):
        return Reading("boolean")
    if is_moment(column.type):
        return Reading("date") if column.null_count < len(column) else Reading("", warning="no value is known")
    text = values.as_text(column)
    if text.null_count == len(text):
        return Reading("", warning="no value is known")
    if _is_number(column.type):
        return _number(where, name, text, values.NumberForm("point"))
    return _grouped(name, text, _from_text(where, name, text))


def fit_column(name: str, column: Any, reading: Reading, raw: bool = False) -> FittedColumn:
    """Return the column fitted as what it holds; `raw` leaves numbers in their own units."""
    kind, detail, warning = reading
    if kind == "number":
        return NumberColumn.fit(name, column, detail, warning, raw)
    if kind == "boolean":
        missing = float(np.isnan(values.truths(values.as_text(column))).mean()) > 0.05
        return BooleanColumn(name, missing, warning)
    if kind == "date":
        return DateColumn.fit(name, column, detail, warning)
    if kind == "tags":
        return TagsColumn.fit(name, column, detail or "", warning)
    if kind == "vector":
        return VectorColumn.fit(name, column, warning)
    return (TextColumn if kind == "text" else CategoryColumn).fit(name, column, warning)


def _pair(part: str) -> tuple[str, str | None]:
    part = part.strip()
    if part.startswith("-"):
        return part[1:].strip(), None
    name, colon, kind = part.rpartition(":")
    if not colon or not name.strip():
        raise _bad(f"--columns: {part!r} says nothing; write NAME:KIND, such as age:number, or -NAME to leave it out")
    return name.strip(), kind.strip().lower()


def _is_plain(kind: Any) -> bool:
    checks = (pa.types.is_string, pa.types.is_large_string, pa.types.is_boolean, pa.types.is_integer)
    others = (pa.types.is_floating, pa.types.is_decimal, pa.types.is_timestamp, pa.types.is_date)
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    return any(check(plain) for check in (*checks, *others)) or pa.types.is_null(plain)


def _is_number(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _list_reading(where: str, name: str, column: Any, kind: str | None) -> Reading:
    item = column.type.value_type
    numeric = pa.types.is_integer(item) or pa.types.is_floating(item) or pa.types.is_boolean(item)
    found = "vector" if numeric else "tags"
    if not numeric and not (pa.types.is_string(item) or pa.types.is_large_string(item)):
        raise _bad(f"{where} holds lists of {item}, which are no features; leave it out with --columns=-{name}")
    if kind not in (None, found):
        raise _bad(f"{where} holds lists, which are no {kind}; write {name}:{found}, or -{name} to leave it out")
    lengths = np.asarray(pc.list_value_length(column).fill_null(0))
    if not lengths.any() or (numeric and not np.isfinite(vectors_of(column, int(lengths.max()))).all(axis=1).any()):
        return Reading("", warning="no value is known")
    if numeric and len(set(lengths[lengths > 0].tolist())) > 1:
        seen = ", ".join(map(str, sorted(set(lengths.tolist()))[:3]))
        raise _bad(
            f"{where} holds lists of {seen} numbers; give all one length, or leave it out with --columns=-{name}"
        )
    return Reading(found)


def _as_told(where: str, name: str, column: Any, kind: str) -> Reading:
    """Return the reading that the owner asks for, refusing one that nothing in the column fits."""
    if kind == "vector":
        raise _bad(f"{where} holds no lists, which a vector is; write {name}:text or {name}:category")
    text = values.as_text(column)
    known = len(text) - text.null_count
    if known == 0:
        raise _bad(f"{where} has no known value, so nothing of it can be {kind}; leave it out with --columns=-{name}")
    if kind == "number" or kind in _MARKS:
        if _is_number(column.type):
            written = values.NumberForm("point")
        else:
            written = _usual_form(text)
            if kind in _MARKS:
                bare = values.without_unit(text, written.unit)
                written = written._replace(style=values.told_style(bare, kind == "thousands"))
        bad = ~np.isfinite(_numbers(text, written))
        share = 1 - (int(bad.sum()) - text.null_count) / known
        found = Reading("number", written, _left_over(where, name, text, bad, share, "number"))
        return found if kind in _MARKS or _is_number(column.type) else _grouped(name, text, found)
    if kind in ("date", *_ORDERS):
        if is_moment(column.type):
            return Reading("date")
        forms = [each for each in values.date_forms(text) if kind == "date" or each[0].style == _ORDERS[kind]]
        form, share = forms[0] if forms else (None, 0.0)
        bad = np.isnan(values.seconds(text, form)) if form else np.zeros(0)
        return Reading("date", form, _left_over(where, name, text, bad, share, "date"))
    if kind == "boolean":
        bad = np.isnan(values.truths(text))
        share = 1 - (int(bad.sum()) - text.null_count) / known
        return Reading("boolean", None, _left_over(where, name, text, bad, share, "boolean"))
    if kind == "category" and (distinct := len(pc.unique(text))) > _MOST_CATEGORIES:
        raise _bad(
            f"{where} has {distinct:,} different values, such as {_examples(text)}, too many for categories; write "
            f"{name}:text to use the words in it, or -{name} to leave it out"
        )
    return Reading(kind, _separator(text) or "|" if kind == "tags" else None)


def _left_over(where: str, name: str, text: Any, bad: Any, share: float, kind: str) -> str:
    """Return a warning of values that are not what they are said to be; that none is, is an error."""
    if share == 0:
        raise _bad(
            f"{where} is to be {kind}, but none of its values is one, such as {_examples(text)}; write "
            f"{name}:category or {name}:text, or -{name} to leave it out"
        )
    if share == 1:
        return ""
    others = text.filter(pa.array(bad)).drop_null()
    return f"{count(len(others), 'value')} no {kind}, such as {_examples(others)}: taken for missing"


def _from_text(where: str, name: str, text: Any) -> Reading:
    known = text.drop_null()
    distinct = pc.unique(known)
    lower = {value.lower() for value in distinct[:5].to_pylist()}
    if len(distinct) <= 4 and lower <= values.TRUE | values.FALSE and not lower <= {"0", "1"}:
        return Reading("boolean")
    style, share = values.number_style(known)
    signs = values.signs(known) if share >= _MOSTLY else Counter[str]()
    if len(signs.keys() - {"", "%"}) > 1:  # € and $ are no one number, though each is
        share = 0.0
    if share == 1 and not values.are_codes(known):
        found = _number(where, name, text, values.NumberForm(style))
        if "%" in signs and len(signs) > 1:
            others = f"{len(known) - signs['%']:,} without"
            doubt = f"{count(signs['%'], 'value')} with % and {others}, all read as they stand: 10% is 10"
            return _warned(found, found.warning, doubt)
        return found
    if _MOSTLY <= share < 1:
        bad = np.isnan(values.numbers(known, style))
        return _doubtful(where, name, known, bad, share, "number", values.NumberForm(style))
    mixed = ""
    if share < 1 and (measured := _in_units(where, name, text, known)) is not None:
        if measured.kind:
            return measured
        mixed = measured.warning
    found = _of_words(where, name, text, known, share < 1)
    return _warned(found, mixed, found.warning)


def _warned(reading: Reading, *warnings: str) -> Reading:
    return reading._replace(warning="; ".join(filter(None, warnings)))


def _grouped(name: str, text: Any, reading: Reading) -> Reading:
    """Return numbers with a warning if their marks may stand between thousands or before decimals."""
    if reading.kind != "number":
        return reading
    found = values.grouping(values.without_unit(text, reading.detail.unit))
    if found is None:
        commas = "commas are read as between thousands" if reading.detail.style == "thousands" else ""
        return _warned(reading, commas, reading.warning)
    whole, cut = found.example.replace(",", "").replace(".", ""), found.example.replace(",", ".")
    read, may, other = (whole, cut, "decimals") if found.thousands else (cut, whole, "thousands")
    doubt = f"{excerpt(found.example)} is read as {read}, but may be {may}: say {name}:{other} if it is"
    return _warned(reading, doubt, reading.warning)


def _in_units(where: str, name: str, text: Any, known: Any) -> Reading | None:
    """Return numbers that all have one unit; of numbers with several a warning; None of anything else."""
    found = values.units(known)
    if not found or found.total() < _NEARLY_ALL * len(known):
        return None
    (unit, often), *others = found.most_common()
    if often >= _NEARLY_ALL * len(known):
        bare = values.without_unit(known, unit)
        form = values.NumberForm(values.number_style(bare)[0], unit)
        bad = np.isnan(_numbers(known, form))
        if values.are_codes(bare) or bad.mean() > 1 - _NEARLY_ALL:
            return None
        if not bad.any():
            return _number(where, name, text, form)
        return _doubtful(where, name, known, bad, float(1 - bad.mean()), "number", form)
    if len(others) >= _MOST_UNITS or found.total() < 2 * len(found):  # a house number and its street
        return None
    seen = listing([repr(each) if each else "none" for each, _ in found.most_common()])
    most = next(each for each, _ in found.most_common() if each)
    warning = (
        f"numbers in several units ({seen}), so no numbers; write all in one, or {name}:number for those in {most}"
    )
    return Reading("", warning=warning)


def _usual_form(text: Any) -> values.NumberForm:
    """Return the way of writing numbers, with a unit or without, that reads the most values."""
    style, share = values.number_style(text)
    common = [unit for unit, _ in values.units(text).most_common() if unit]
    if not common or (share == 1 and len(values.signs(text).keys() - {"", "%"}) < 2):
        return values.NumberForm(style)
    other, more = values.number_style(values.without_unit(text, common[0]))
    return values.NumberForm(other, common[0]) if more > share or share == 1 else values.NumberForm(style)


def _numbers(text: Any, form: values.NumberForm) -> Any:
    return values.numbers(values.without_unit(text, form.unit), form.style)


def _of_words(where: str, name: str, text: Any, known: Any, worded: bool) -> Reading:
    """Return what a column holds that is neither numbers nor yes and no; `worded` if not all of it is digits."""
    distinct = pc.unique(known)
    if worded and (dates := _dates(where, name, known)) is not None:
        return dates
    if worded and (separator := _separator(known)) is not None:
        return Reading("tags", separator)
    if len(distinct) == 1 and text.null_count <= 0.05 * len(text):
        return Reading("", warning=f"it is {excerpt(distinct[0].as_py())} everywhere")
    length = float(np.mean(np.asarray(pc.count_substring(known, " ")))) + 1
    varied = len(distinct) > 0.5 * len(known)
    if (length >= 3 and len(distinct) > _FEW) or (length >= 4 and varied):
        return Reading("text")
    if len(known) >= 20 and len(distinct) >= 0.9 * len(known):
        warning = f"hardly a value comes twice, such as {_examples(known)}, so it names rows; {name}:text uses it"
        return Reading("", warning=warning)
    return Reading("category")


def _number(where: str, name: str, text: Any, form: values.NumberForm) -> Reading:
    found = _numbers(text, form)
    bad = np.isinf(found)
    if bad.any():
        row = int(np.argmax(bad))
        told = f"{where} holds {_examples(text.filter(pa.array(bad)))}"
        raise NotFinite(f"{told}; features must be finite numbers of at most 3.4e38", name, row, float(found[row]))
    known = found[np.isfinite(found)]
    if len(known) > 20 and (np.diff(known) == 1).all():
        return Reading("number", form, f"counts the rows; -{name} leaves it out if it means nothing")
    if len(known) > 20 and name.lower().endswith(_ID_ENDINGS) and len(np.unique(known)) == len(known):
        return Reading("number", form, f"no value comes twice; -{name} leaves it out if it only names rows")
    return Reading("number", form)


def _doubtful(where: str, name: str, known: Any, bad: Any, share: float, kind: str, detail: Any) -> Reading:
    """Return numbers (or dates) of which a few values are none, taken for missing; refuse more of them."""
    others = known.filter(pa.array(bad))
    if share >= _NEARLY_ALL:
        warning = f"{count(len(others), 'value')} no {kind}, such as {_examples(others)}: taken for missing"
        return Reading(kind, detail, warning)
    raise _bad(
        f"{where}: {share:.0%} are {kind}s and the others are not, such as {_examples(others)}; write "
        f"--columns {name}:{kind} to take these for missing, or {name}:category"
    )


def _dates(where: str, name: str, known: Any) -> Reading | None:
    first = known[:200]
    marks = pc.match_substring_regex(first, r"\d\s?[-/. ,]\s?(\d|[A-Za-z]{3})")
    if pc.sum(marks).as_py() < 0.5 * len(first):
        return None
    forms = values.date_forms(known)
    if not forms or forms[0][1] < 0.02:
        return None
    form, share = forms[0]
    equal = [other for other, its_share in forms if its_share == share]
    if share >= _MOSTLY:
        warning = ""
        if len(equal) > 1:  # both orders read all of them
            form = next((each for each in equal if "/" in each.day and each.style == _ORDERS["month-first"]), form)
            other = next(order for order, style in _ORDERS.items() if style != form.style)
            warning = f"read as {form.style}, but may be {other}: say {name}:{other} if it is"
        bad = np.isnan(values.seconds(known, form))
        told = Reading("date", form, warning) if share == 1 else None
        if told is not None or share >= _NEARLY_ALL:
            return told or _doubtful(where, name, known, bad, share, "date", form)
    read = [np.isfinite(values.seconds(known, each)) for each, _ in forms]
    if np.logical_or.reduce(read).mean() >= _NEARLY_ALL:
        examples = [_examples(known.filter(pa.array(each)), 1) for each in read]
        raise _bad(
            f"{where} holds dates written in several ways, such as {' and '.join(dict.fromkeys(examples[:3]))}; write "
            f"all of them as 2024-12-31, or take one kind with --columns {name}:day-first, or leave it out with -{name}"
        )
    if share >= _MOSTLY:
        return _doubtful(where, name, known, np.isnan(values.seconds(known, form)), share, "date", form)
    return None


def _separator(known: Any) -> str | None:
    """Return what stands between the tags of a column; None where its values are no lists of tags."""
    known = known.drop_null()
    for separator in values.TAG_SEPARATORS:
        there = pc.match_substring(known, separator)
        if not len(known) or pc.sum(there).as_py() < 0.3 * len(known):
            continue
        flat = values.tags(known, separator).flatten()
        distinct = pc.unique(flat)
        words = float(np.mean(np.asarray(pc.count_substring(flat, " ")))) + 1
        if len(distinct) <= 0.8 * len(flat) and len(distinct) <= max(0.2 * len(flat), _FEW) and words <= 2:
            return separator
    return None


def _examples(text: Any, most: int = 3) -> str:
    return listing([excerpt(value) for value in pc.unique(text.drop_null())[:most].to_pylist()])


def _bad(message: str) -> InputError:
    return InputError(message, code="bad-column")
