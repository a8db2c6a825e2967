"""Tables as LaTeX, in the style of the package booktabs.

A table of numbers floats, and shrinks where it is wider than the text. One with sentences in its cells breaks across
lines and pages instead. Notes follow the table as text: a float cannot hold a page of them.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

PACKAGES = "array,booktabs,graphicx,longtable"

_SENTENCE = 40  # characters of a cell from which on its column is set as paragraphs
_LETTER, _GAP = 0.5, 1.5  # width of a letter and of the space between columns, in em

_LETTERS = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "[": "{[}",  # after a line's end a bracket would be an option of the line break
    "]": "{]}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "α": r"$\alpha$",
    "τ": r"$\tau$",
    "±": r"$\pm$",
    "−": r"$-$",
    "×": r"$\times$",
    "²": r"$^2$",
    "–": "--",
    "č": r"\v{c}",
    "ć": r"\'c",
    "ä": r"\"a",
    "ö": r"\"o",
    "ü": r"\"u",
}

_CODE = re.compile(r"`([^`]+)`")
_MINUS = re.compile(r"(?<![\w)])-(?=\d)|(?<= )-(?= )")  # not the hyphens of words, of 0-139 and of 1e-4
_OPENING_QUOTE = re.compile(r"(?<![\w)])'(?=\w)")


def escape_latex(text: str) -> str:
    """Return text that LaTeX prints as it is; words in back-quotes are set as code."""
    parts = _CODE.split(text)
    return "".join(_letters(_typeset(part)) if i % 2 == 0 else _code(part) for i, part in enumerate(parts))


def _typeset(text: str) -> str:
    return _OPENING_QUOTE.sub("`", _MINUS.sub("−", text))


def _code(text: str) -> str:
    return rf"\texttt{{{_letters(text)}}}"


def _letters(text: str) -> str:
    return "".join(_LETTERS.get(letter, letter) for letter in text)


def latex_table(caption: str, header: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: int, label: str) -> str:
    """Return a table whose columns from `numbers` on are numbers."""
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(len(header))]
    named = rf"\caption{{{escape_latex(caption)}}}\label{{{label}}}"
    lines = [" & ".join(map(escape_latex, row)) + r" \\" for row in rows]
    if any(width > _SENTENCE for width in widths[:numbers]):
        head = " & ".join(map(escape_latex, header)) + r" \\"
        return _across_pages(named, _paragraphs(header, widths, numbers), head, lines)
    stacked = [*map(escape_latex, header[:numbers]), *map(_stacked, header[numbers:], widths[numbers:])]
    columns = "l" * numbers + "r" * (len(header) - numbers)
    return _floating(named, columns, " & ".join(stacked) + r" \\", lines)


def latex_notes(notes: Sequence[str], first: str, last: str) -> str:
    """Return notes as paragraphs of small type; `first` and `last` are the labels of the tables they belong to."""
    tables = rf"Table~\ref{{{first}}}" if first == last else rf"Tables~\ref{{{first}}} to~\ref{{{last}}}"
    paragraphs = [rf"\par\noindent {escape_latex(note)}" for note in notes]
    return "\n".join([r"{\footnotesize", rf"\par\noindent\textit{{Notes to {tables}.}}", *paragraphs, r"\par}", ""])


def _floating(named: str, columns: str, head: str, lines: Sequence[str]) -> str:
    return "\n".join(
        [
            r"\begin{table}[htbp]",
            r"\centering",
            named,
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            rf"\begin{{tabular}}{{{columns}}}",
            *(r"\toprule", head, r"\midrule"),
            *lines,
            r"\bottomrule",
            r"\end{tabular}}",
            r"\end{table}",
            "",
        ]
    )


def _across_pages(named: str, columns: str, head: str, lines: Sequence[str]) -> str:
    return "\n".join(
        [
            r"{\footnotesize",
            rf"\begin{{longtable}}{{{columns}}}",
            rf"{named}\\",
            *(r"\toprule", head, r"\midrule", r"\endfirsthead"),
            *(r"\toprule", head, r"\midrule", r"\endhead"),
            *(r"\bottomrule", r"\endfoot"),
            "\n\\addlinespace\n".join(lines),
            r"\end{longtable}}",
            "",
        ]
    )


def _stacked(name: str, width: int) -> str:
    """Return a column's name on as many lines as it takes to be no wider than the cells."""
    lines = textwrap.wrap(name, max([width, *map(len, name.split())]), break_on_hyphens=False)
    stack = r"\\".join(map(escape_latex, lines))
    # The strut keeps the first line off the rule above.
    return rf"\shortstack[r]{{\strut {stack}}}" if len(lines) > 1 else stack


def _paragraphs(header: Sequence[str], widths: Sequence[int], numbers: int) -> str:
    """Return columns in which those of sentences share the width that the others leave."""
    long = [column < numbers and width > _SENTENCE for column, width in enumerate(widths)]
    others = sum(
        _LETTER * max(len(name), width) + _GAP
        for name, width, sentences in zip(header, widths, long, strict=True)
        if not sentences
    )
    # By the root: the longest cell gets most, and none becomes a column of single words.
    whole = sum(width**0.5 for width, sentences in zip(widths, long, strict=True) if sentences)
    columns = []
    for column, (width, sentences) in enumerate(zip(widths, long, strict=True)):
        share = width**0.5 / whole if sentences else 0.0
        wide = rf"\dimexpr {share:.3f}\linewidth-{share * others + _GAP:.2f}em\relax"
        plain = "l" if column < numbers else "r"
        columns.append(rf">{{\raggedright\arraybackslash}}p{{{wide}}}" if sentences else plain)
    return "".join(columns)
