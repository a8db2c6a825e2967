"""Tables as Markdown and LaTeX. Cells are plain text; each form escapes what it would misread."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nodewise.core.errors import InputError
from nodewise.core.files import atomic_write
from nodewise.core.lock import LOCK
from nodewise.evaluation.evaluate import Summary
from nodewise.evaluation.paired import PairedDifference
from nodewise.reproduce.results import Comparison

EMPTY = "–"

_CODE = re.compile(r"(`[^`]+`)")


@dataclass(frozen=True)
class Table:
    """A table with a caption, and notes below it. The first columns are text, those from `numbers` on numbers."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    numbers: int = 1

    def markdown(self) -> str:
        """Return the table for Markdown."""
        rule = ["---"] * self.numbers + ["---:"] * (len(self.header) - self.numbers)
        lines = ["| " + " | ".join(map(_markdown, row)) + " |" for row in (self.header, *self.rows)]
        lines.insert(1, "|" + "|".join(rule) + "|")
        notes = [f"- {_markdown(note)}" for note in self.notes]
        return "\n".join([f"**{_markdown(self.caption)}**", "", *lines, *([""] if notes else []), *notes]) + "\n"

    def latex(self, label: str) -> str:
        """Return the table for LaTeX, without its notes."""
        return latex_table(self.caption, self.header, self.rows, numbers=self.numbers, label=label)


def noted(tables: Sequence[Table], notes: Sequence[str]) -> list[Table]:
    """Return the tables with notes below the last of them."""
    return [*tables[:-1], *(replace(last, notes=(*last.notes, *notes)) for last in tables[-1:])]


def _markdown(text: str) -> str:
    """Return text that Markdown prints as it is; words in back-quotes are code."""
    parts = _CODE.split(text.replace("\n", " "))
    return "".join(_escaped(part) if i % 2 == 0 else part.replace("|", "\\|") for i, part in enumerate(parts))


def _escaped(text: str) -> str:
    for letter in ("\\", "|", "*", "_", "<", "`"):
        text = text.replace(letter, "\\" + letter)
    return text


_MARK = r"% needs \usepackage{"
_ROWS = ("rows.csv", "failures.csv")


def refuse_foreign(folder: Path, name: str, *, whole: bool) -> None:
    """Refuse to write where others' files are: over those of the tables' names or, in a `whole` folder, beside any.

    A folder is ours once it has our tables, of which the LaTeX one is marked, or rows, which are checked when read.
    """
    there = next(each for each in (folder, *folder.parents) if os.path.lexists(each))
    if not there.is_dir():
        raise InputError(f"{there}: is no folder, which the results need; name another", code="cannot-write")
    tables = [f"{name}.{ending}" for ending in ("md", "tex")]
    path = folder / tables[1]
    try:
        ours = path.is_file() and _MARK.encode() in path.read_bytes()[:4000]
        found = {each.name for each in folder.iterdir()} - {LOCK} if folder.is_dir() else set[str]()
    except OSError as error:
        raise InputError(f"{error.filename}: cannot be read: {error.strerror}", code="unreadable-file") from None
    begun = whole and found & set(_ROWS) and not found & set(tables)
    taken = sorted(found if whole else found & set(tables))
    if taken and not (ours or begun):
        named = tables[1] if tables[1] in taken else taken[0]
        raise InputError(f"{folder / named}: is not a table of ours; name another folder", code="foreign-folder")


def write_tables(folder: Path, name: str, title: str, tables: Sequence[Table], warning: str = "") -> str:
    """Write NAME.md and NAME.tex; return the Markdown."""
    head = [f"# {title}", *([f"**{warning}**"] if warning else [])]
    markdown = "\n\n".join([*head, *(table.markdown() for table in tables)])
    comment = [f"% {title}", *([f"% {warning}"] if warning else []), f"{_MARK}{PACKAGES}}}", ""]
    latex = "\n".join([*comment, *_latex_of_all(name, tables)])
    folder.mkdir(parents=True, exist_ok=True)
    for ending, text in (("md", markdown), ("tex", latex)):
        with atomic_write(folder / f"{name}.{ending}") as temporary:
            temporary.write_text(text, encoding="utf-8")
    return markdown


def _latex_of_all(name: str, tables: Sequence[Table]) -> Iterator[str]:
    """Yield the tables, and notes where there are some; they hold for every table since the last notes."""
    first = 1
    for place, table in enumerate(tables, start=1):
        yield table.latex(f"tab:{name}-{place}")
        if table.notes:
            yield latex_notes(table.notes, f"tab:{name}-{first}", f"tab:{name}-{place}")
            first = place + 1


def mean(summary: Summary | None, digits: int = 2) -> str:
    """Return the mean, or a dash."""
    return EMPTY if summary is None else f"{summary.mean:.{digits}f}"


def spread(summary: Summary | None, digits: int = 2) -> str:
    """Return the standard deviation, or a dash."""
    return EMPTY if summary is None or summary.std is None else f"{summary.std:.{digits}f}"


def number(summary: Summary | None) -> str:
    """Return n."""
    return "0" if summary is None else str(summary.n)


def whole(summary: Summary | None) -> str:
    """Return mean, standard deviation and n in one cell."""
    if summary is None:
        return EMPTY
    middle = f" ± {summary.std:.2f}" if summary.std is not None else ""
    return f"{summary.mean:.2f}{middle} (n={summary.n})"


def printed(value: float | None) -> str:
    """Return a value of the paper, or a dash."""
    return EMPTY if value is None else f"{value:.1f}"


def gap(summary: Summary | None, value: float | None) -> str:
    """Return ours minus the paper's."""
    return EMPTY if summary is None or value is None else f"{summary.mean - value:+.2f}"


def interval(difference: PairedDifference | None, digits: int = 2) -> str:
    """Return a paired difference with its interval and its number of seeds."""
    if difference is None:
        return EMPTY
    middle, low, high = (f"{value:+.{digits}f}" for value in (difference.mean, difference.low, difference.high))
    return f"{middle} [{low}, {high}] (n={difference.n})"


def compared(comparison: Comparison | None) -> tuple[str, str, str]:
    """Return three cells: the differences on test nodes and on other unseen ones, and the verdict."""
    if comparison is None:
        return EMPTY, EMPTY, EMPTY
    return interval(comparison.test), interval(comparison.others), comparison.verdict


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

_LATEX_CODE = re.compile(r"`([^`]+)`")
_MINUS = re.compile(r"(?<![\w)])-(?=\d)|(?<= )-(?= )")  # not the hyphens of words, of 0-139 and of 1e-4
_OPENING_QUOTE = re.compile(r"(?<![\w)])'(?=\w)")


def escape_latex(text: str) -> str:
    """Return text that LaTeX prints as it is; words in back-quotes are set as code."""
    parts = _LATEX_CODE.split(text)
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
