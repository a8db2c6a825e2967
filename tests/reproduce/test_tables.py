"""Tables against text written by hand."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from tests.conftest import ROOT

from nodewise.evaluation.evaluate import Summary
from nodewise.evaluation.paired import PairedDifference
from nodewise.reproduce import tables
from nodewise.reproduce.tables import PACKAGES, Table, escape_latex, latex_notes, latex_table, noted, write_tables

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


NUMBERS = [("with α", "1.00 ± 0.10"), ("a|b_c", "-2")]


def test_a_table_of_numbers_floats_and_shrinks_to_the_text() -> None:
    assert latex_table("A & B", ("method", "value"), NUMBERS, numbers=1, label="tab:x") == "\n".join(
        [
            r"\begin{table}[htbp]",
            r"\centering",
            r"\caption{A \& B}\label{tab:x}",
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            r"\begin{tabular}{lr}",
            r"\toprule",
            r"method & value \\",
            r"\midrule",
            r"with $\alpha$ & 1.00 $\pm$ 0.10 \\",
            r"a\textbar{}b\_c & $-$2 \\",
            r"\bottomrule",
            r"\end{tabular}}",
            r"\end{table}",
            "",
        ]
    )


def test_names_of_columns_are_no_wider_than_their_numbers() -> None:
    header = ("method", "same class, offered", "log-det gap", "gain")
    text = latex_table("", header, [("all of it", "0.123 ± 0.1", "0.1", "+1")], numbers=1, label="x")
    assert r"method & \shortstack[r]{\strut same class,\\offered} & \shortstack[r]{\strut log-det\\gap} & gain" in text


def test_sentences_are_paragraphs_on_as_many_pages_as_it_takes() -> None:
    rows = [("it is so", "yes", "because of this. " * 10), ("it is so in every case that was looked at", "no", "-1")]
    text = latex_table("Claims", ("claim", "answer", "why"), rows, numbers=3, label="x")
    assert r"\begin{longtable}" in text
    assert r"\begin{table}" not in text
    paragraph = r">\{\\raggedright\\arraybackslash\}p\{\\dimexpr (0\.\d+)\\linewidth-[\d.]+em\\relax\}"
    narrow, wide = re.findall(paragraph, text)
    assert float(narrow) + float(wide) == pytest.approx(1)
    assert float(narrow) < float(wide)
    assert re.search(paragraph + "l" + paragraph, text), "a short column takes what it needs"


def test_notes_are_text_that_names_its_tables() -> None:
    one, several = latex_notes(["50%"], "tab:a", "tab:a"), latex_notes(["50%"], "tab:a", "tab:c")
    assert r"Notes to Table~\ref{tab:a}." in one
    assert r"Notes to Tables~\ref{tab:a} to~\ref{tab:c}." in several
    assert r"\par\noindent 50\%" in one


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("50% & #1_x", r"50\% \& \#1\_x"),
        ("{a}^2 ~ \\n", r"\{a\}\textasciicircum{}2 \textasciitilde{} \textbackslash{}n"),
        ("$5 < 6 > 4", r"\$5 \textless{} 6 \textgreater{} 4"),
        ("[+0.1, +0.2]", "{[}+0.1, +0.2{]}"),
        ("Veličković – τ×², −1", r"Veli\v{c}kovi\'c -- $\tau$$\times$$^2$, $-$1"),
        ("-0.5 [-1.0, +0.2]", "$-$0.5 {[}$-$1.0, +0.2{]}"),
        ("with DPP - with w", "with DPP $-$ with w"),
        ("JK-Net, nodes 0-139, 1e-4", "JK-Net, nodes 0-139, 1e-4"),
        ("as `results/a_b` says", r"as \texttt{results/a\_b} says"),
        ("the papers' row 'without all'", "the papers' row `without all'"),
    ],
)
def test_escapes(text: str, escaped: str) -> None:
    assert escape_latex(text) == escaped


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_the_committed_tables_compile_and_fit_the_page(tmp_path: Path) -> None:
    tables = sorted((ROOT / "results").glob("**/*.tex"))
    assert len(tables) > 5
    inputs = "\n".join(rf"\input{{{path}}}\clearpage" for path in tables)
    (tmp_path / "all.tex").write_text(
        rf"\documentclass{{article}}\usepackage{{{PACKAGES}}}\begin{{document}}{inputs}\end{{document}}"
    )
    for _ in range(2):  # a long table needs a second pass to know its widths
        done = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            errors="replace",
        )
        assert done.returncode == 0, done.stdout[-2000:]
    log = (tmp_path / "all.log").read_text(errors="replace")
    assert "Output written on all.pdf" in log
    assert "Overfull \\hbox" not in log, "a table or a note is wider than the text"
    assert "Float too large" not in log, "a table is longer than a page"
