"""Tables as Markdown and LaTeX. Cells are plain text; each form escapes what it would misread."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nodewise.core.files import atomic_write
from nodewise.evaluation.paired import PairedDifference
from nodewise.evaluation.summary import Summary
from nodewise.reproduce.latex import PACKAGES, latex_notes, latex_table

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


def write_tables(folder: Path, name: str, title: str, tables: Sequence[Table], warning: str = "") -> str:
    """Write NAME.md and NAME.tex; return the Markdown."""
    head = [f"# {title}", *([f"**{warning}**"] if warning else [])]
    markdown = "\n\n".join([*head, *(table.markdown() for table in tables)])
    comment = [f"% {title}", *([f"% {warning}"] if warning else []), rf"% needs \usepackage{{{PACKAGES}}}", ""]
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
