"""Blanks around values: a file with them is the same graph as one without, however it is read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.command_line import Nodewise, Outcome

BARE = "source,target\na,b\nb,c\nc,d\nd,a\n"
NODES = "id,label,x\na,red,1\nb,red,2\nc,blue,3\nd,blue,4\n"
NOTE = "spaces around values removed"


def counted(outcome: Outcome, what: str) -> int:
    found = re.search(rf"^ {what} +(\d+)", outcome.out, re.MULTILINE)
    return int(found[1]) if found else -1


@pytest.mark.parametrize(
    "edges",
    [
        BARE.replace(",", ", "),
        BARE.replace("\n", "  \n"),
        BARE.replace("b,c", "b ,\tc"),
        BARE.replace("b,c", '"b", "c"'),
        " " + BARE.replace("source,", "source , "),
    ],
)
@pytest.mark.parametrize("store", [False, True])
def test_padded_edges_are_the_same_graph(nodewise: Nodewise, edges: str, store: bool) -> None:
    Path("edges.csv").write_text(edges)
    if store:
        assert nodewise("convert", "edges.csv", "-o", "store").code == 0
    outcome = nodewise("inspect", "store" if store else "edges.csv")
    assert outcome.code == 0, outcome.err
    assert counted(outcome, "nodes") == 4, outcome.out
    assert counted(outcome, "edges") == 4
    assert NOTE in outcome.err
    assert "occur nowhere else" not in outcome.err


@pytest.mark.parametrize("store", [False, True])
def test_padded_ids_and_labels_of_tables(nodewise: Nodewise, store: bool) -> None:
    Path("edges.csv").write_text(BARE)
    Path("nodes.csv").write_text(NODES.replace("a,red", "a , red").replace("4", " 4"))
    tables = ("--features", "nodes.csv", "--labels", "nodes.csv")
    if store:
        assert nodewise("convert", "edges.csv", "-o", "store", *tables).code == 0
    outcome = nodewise("inspect", "store") if store else nodewise("inspect", "edges.csv", *tables)
    assert outcome.code == 0, outcome.err
    assert counted(outcome, "classes") == 2, outcome.out
    assert NOTE in outcome.err


def test_quoted_blanks_are_part_of_a_value(nodewise: Nodewise) -> None:
    Path("edges.csv").write_text('source,target\n"a ",a\n"a ","b, c"\n')
    outcome = nodewise("inspect", "edges.csv")
    assert counted(outcome, "nodes") == 3, outcome
    assert NOTE not in outcome.err


def test_decimal_commas_do_not_delimit(nodewise: Nodewise) -> None:
    Path("edges.csv").write_text("a;b;0,5\nb;c;1,5\n")
    outcome = nodewise("inspect", "edges.csv")
    assert counted(outcome, "nodes") == 3, outcome
    assert counted(outcome, "edges") == 2
