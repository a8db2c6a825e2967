"""Tables against text written by hand."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from nodewise.evaluation.evaluate import Summary
from nodewise.evaluation.paired import PairedDifference
from nodewise.reproduce import tables
from nodewise.reproduce.tables import Table, noted, write_tables

TABLE = Table("A & B", ("method", "value"), [("with α", "1.00 ± 0.10"), ("a|b_c", "-2")], ("100% [a]",))


def test_markdown() -> None:
    assert TABLE.markdown() == (
        "**A & B**\n\n| method | value |\n|---|---:|\n| with α | 1.00 ± 0.10 |\n| a\\|b\\_c | -2 |\n\n- 100% [a]\n"
    )


def test_back_quotes_are_code() -> None:
    table = Table("x", ("a|b", "n"), [("`results/a_b*` or a_b", "1")], ("one ` alone",))
    assert "| `results/a_b*` or a\\_b | 1 |" in table.markdown()
    assert "- one \\` alone" in table.markdown()


def test_notes_follow_the_tables_they_hold_for(tmp_path: Path) -> None:
    bare = replace(TABLE, notes=())
    write_tables(tmp_path, "some", "Title", [TABLE, bare, bare, TABLE])
    text = (tmp_path / "some.tex").read_text()
    assert r"\usepackage{array,booktabs,graphicx,longtable}" in text
    first, second = re.findall(r"Notes to (.*)\.}", text)
    assert first == r"Table~\ref{tab:some-1}"
    assert second == r"Tables~\ref{tab:some-2} to~\ref{tab:some-4}"
    assert r"\par\noindent 100\% {[}a{]}" in text.rpartition(r"\end{table}")[2], "outside the float"


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
    assert tables.interval(PairedDifference(0.5, -0.25, 1.25, 7, 0.95), digits=3) == "+0.500 [-0.250, +1.250] (n=7)"
