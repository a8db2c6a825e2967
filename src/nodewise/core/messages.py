"""Words shared by the errors and notes of the readers; every message stays on one line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from nodewise.core.errors import InputError
from nodewise.core.terminal import printable

_EXCERPT = 60


def excerpt(value: object) -> str:
    """Return `value` as one short quoted piece of a sentence.

    >>> excerpt("a" * 100)[-8:]
    "aaaa'..."
    """
    value = value.item() if hasattr(value, "item") else value  # numpy's numbers say of what type they are
    if isinstance(value, bytes):
        value = value[: 4 * _EXCERPT].decode("utf-8", errors="replace")
    if isinstance(value, str) and len(value) > _EXCERPT:
        return f"{value[:_EXCERPT]!r}..."
    return repr(value)


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Return the number with its noun.

    >>> count(1, "edge"), count(1200, "edge")
    ('1 edge', '1,200 edges')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def listing(names: list[str] | tuple[str, ...], limit: int = 6) -> str:
    """Return the names with commas, the end of a long list left out."""
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown}, ... ({len(names)} in all)"


def first_line(error: BaseException) -> str:
    """Return the first line of a foreign error's message, without its final full stop."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0].strip().rstrip(".")[:200]


def not_a_number(where: str, column: str, seen: object) -> InputError:
    """Return the error for a cell that should hold a number."""
    what = "a missing value" if seen in ("", None) else excerpt(seen)
    comma = isinstance(seen, str) and re.fullmatch(r"[-+]?[0-9]+,[0-9]+", seen.strip(), re.ASCII) is not None
    remedy = "write decimals with a point" if comma else "correct or remove it"
    return InputError(
        f"{where}: {excerpt(column)} holds {what} where a number is expected; {remedy}", code="bad-number"
    )


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as lines of text, its columns aligned."""
    shown = [[printable(cell) for cell in row] for row in (header, *rows)]  # ids may hold what drives a terminal
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)) for row in shown)
    return "\n".join(line.rstrip() for line in lines)


def html_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as HTML, for a notebook."""
    titles = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    lines = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
    return f"<table><tr>{titles}</tr>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"
