"""Tables as Markdown and LaTeX. Cells are plain text; each form escapes what it would misread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nodewise.core.files import atomic_write
from nodewise.evaluation.paired import PairedDifference
from nodewise.evaluation.summary import Summary

EMPTY = "–"

_LATEX = {
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
        """Return the table for LaTeX, in the style of the package booktabs."""
        columns = "l" * self.numbers + "r" * (len(self.header) - self.numbers)
        lines = [" & ".join(map(escape_latex, row)) + r" \\" for row in (self.header, *self.rows)]
        return "\n".join(
            [
                r"\begin{table}[htbp]",
                r"\centering",
                rf"\caption{{{escape_latex(self.caption)}}}\label{{{label}}}",
                rf"\begin{{tabular}}{{{columns}}}",
                r"\toprule",
                lines[0],
                r"\midrule",
                *lines[1:],
                r"\bottomrule",
                r"\end{tabular}",
                *(rf"\par\footnotesize {escape_latex(note)}" for note in self.notes),
                r"\end{table}",
                "",
            ]
        )


def noted(tables: Sequence[Table], notes: Sequence[str]) -> list[Table]:
    """Return the tables with notes below the last of them."""
    return [*tables[:-1], *(replace(last, notes=(*last.notes, *notes)) for last in tables[-1:])]


def escape_latex(text: str) -> str:
    """Return text that LaTeX prints as it is."""
    return "".join(_LATEX.get(letter, letter) for letter in text)


def _markdown(text: str) -> str:
    for letter in ("\\", "|", "*", "_", "<", "`"):
        text = text.replace(letter, "\\" + letter)
    return text.replace("\n", " ")


def write_tables(folder: Path, name: str, title: str, tables: Sequence[Table], warning: str = "") -> str:
    """Write NAME.md and NAME.tex; return the Markdown."""
    head = [f"# {title}", *([f"**{warning}**"] if warning else [])]
    markdown = "\n\n".join([*head, *(table.markdown() for table in tables)])
    comment = [f"% {title}", *([f"% {warning}"] if warning else []), r"% needs \usepackage{booktabs}", ""]
    latex = "\n".join([*comment, *(table.latex(f"tab:{name}-{i}") for i, table in enumerate(tables, start=1))])
    folder.mkdir(parents=True, exist_ok=True)
    for ending, text in (("md", markdown), ("tex", latex)):
        with atomic_write(folder / f"{name}.{ending}") as temporary:
            temporary.write_text(text, encoding="utf-8")
    return markdown


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


def interval(difference: PairedDifference | None) -> str:
    """Return a paired difference with its interval and its number of seeds."""
    if difference is None:
        return EMPTY
    return f"{difference.mean:+.2f} [{difference.low:+.2f}, {difference.high:+.2f}] (n={difference.n})"
