"""Tables against text written by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodewise.evaluation.paired import PairedDifference
from nodewise.evaluation.summary import Summary
from nodewise.reproduce import tables
from nodewise.reproduce.tables import Table, escape_latex, noted, write_tables

TABLE = Table("A & B", ("method", "value"), [("with α", "1.00 ± 0.10"), ("a|b_c", "-2")], ("100% [a]",))


def test_markdown() -> None:
    assert TABLE.markdown() == (
        "**A & B**\n\n| method | value |\n|---|---:|\n| with α | 1.00 ± 0.10 |\n| a\\|b\\_c | -2 |\n\n- 100% [a]\n"
    )


def test_latex() -> None:
    assert TABLE.latex("tab:x") == "\n".join(
        [
            r"\begin{table}[htbp]",
            r"\centering",
            r"\caption{A \& B}\label{tab:x}",
            r"\begin{tabular}{lr}",
            r"\toprule",
            r"method & value \\",
            r"\midrule",
            r"with $\alpha$ & 1.00 $\pm$ 0.10 \\",
            r"a\textbar{}b\_c & -2 \\",
            r"\bottomrule",
            r"\end{tabular}",
            r"\par\footnotesize 100\% {[}a{]}",
            r"\end{table}",
            "",
        ]
    )


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("50% & #1_x", r"50\% \& \#1\_x"),
        ("{a}^2 ~ \\n", r"\{a\}\textasciicircum{}2 \textasciitilde{} \textbackslash{}n"),
        ("$5 < 6 > 4", r"\$5 \textless{} 6 \textgreater{} 4"),
        ("[+0.1, +0.2]", "{[}+0.1, +0.2{]}"),
        ("Veličković – τ×², −1", r"Veli\v{c}kovi\'c -- $\tau$$\times$$^2$, $-$1"),
    ],
)
def test_latex_escapes(text: str, escaped: str) -> None:
    assert escape_latex(text) == escaped


def test_the_files_hold_a_warning_where_there_is_one(tmp_path: Path) -> None:
    shown = write_tables(tmp_path / "new", "some", "Title", [TABLE, TABLE], "QUICK: 5% of it")
    assert (tmp_path / "new" / "some.md").read_text() == shown
    assert shown.startswith("# Title\n\n**QUICK: 5% of it**\n\n**A & B**")
    latex = (tmp_path / "new" / "some.tex").read_text()
    assert latex.startswith("% Title\n% QUICK: 5% of it\n")
    assert r"\label{tab:some-1}" in latex
    assert r"\label{tab:some-2}" in latex
    assert "QUICK" not in write_tables(tmp_path, "some", "Title", [TABLE])


def test_notes_go_below_the_last_table() -> None:
    first, last = noted([TABLE, TABLE], ["more"])
    assert first == TABLE
    assert last.notes == ("100% [a]", "more")
    assert noted([], ["more"]) == []


def test_cells() -> None:
    some, one = Summary.of([70.0, 71.0, 72.0]), Summary.of([70.0])
    assert (tables.mean(some), tables.spread(some), tables.number(some)) == ("71.00", "1.00", "3")
    assert (tables.mean(None), tables.spread(one), tables.number(None)) == ("–", "–", "0")
    assert tables.whole(some) == "71.00 ± 1.00 (n=3)"
    assert tables.whole(one) == "70.00 (n=1)"
    assert tables.gap(some, 73.5) == "-2.50"
    assert tables.gap(None, 73.5) == tables.gap(some, None) == "–"
    assert tables.printed(73.5) == "73.5"
    assert tables.interval(PairedDifference(0.5, -0.25, 1.25, 7, 0.95)) == "+0.50 [-0.25, +1.25] (n=7)"
