"""LaTeX against text written by hand, and by the program that has to read it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.conftest import ROOT

from nodewise.reproduce.tables import PACKAGES, escape_latex, latex_notes, latex_table

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
