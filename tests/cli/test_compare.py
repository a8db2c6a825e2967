"""`nodewise compare` from the shell, on a graph of one's own."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from tests.command_line import Nodewise

from nodewise.cli.main import main
from nodewise.datasets.planted import block_model
from nodewise.sampling.strategy import Strategy


@pytest.fixture(autouse=True)
def no_module_of_another_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests have a module of this name too, in folders that are gone."""
    monkeypatch.delitem(sys.modules, "mine", raising=False)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    graph = block_model(100, num_classes=2, num_features=20, words_per_node=5, noise=0.5, seed=2)
    edges = [f"{a},{b}" for a in range(100) for b in graph.indices[graph.indptr[a] : graph.indptr[a + 1]] if a < b]
    (tmp_path / "edges.csv").write_text("\n".join(["source,target", *edges]) + "\n")
    assert graph.labels is not None
    (tmp_path / "labels.csv").write_text(
        "id,label\n" + "".join(f"{n},c{y}\n" for n, y in enumerate(graph.labels) if graph.degrees[n])
    )
    (tmp_path / "mine.py").write_text(
        "import nodewise as nw\n\nclass Mine(nw.Strategy):\n"
        "    def choose(self, candidates):\n        return nw.PairSets(candidates.scores < 1)\n"
    )
    monkeypatch.chdir(tmp_path)
    return ["compare", "mine.py:Mine", "--on", "edges.csv", "-l", "labels.csv", "--seeds", "2", "-o", "out", "-q"]


SMALL = [*("--set", "training.steps=2"), *("--set", "encoder.dimension=8"), "--budgets", "few", "--device", "cpu"]


def test_own_graph_own_idea(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*files, *SMALL, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in found["strategies"]] == ["all", "mine.py:Mine"]
    assert found["graphs"] == ["edges"]
    assert len(Path("out/rows.jsonl").read_text().splitlines()) == 4
    assert main([*files, *SMALL]) == 0  # all is there; only shown again
    shown = capsys.readouterr().out
    Path("out/compare.md").unlink()
    assert main(["compare", "-o", "out", "--only-tables", "-q"]) == 0
    assert capsys.readouterr().out == shown
    assert "beyond noise" in Path("out/compare.md").read_text()
    assert "mine.py:Mine" in shown
    assert "beyond noise" in shown


@pytest.mark.parametrize(
    ("more", "code"),
    [
        (["--budgets", "many"], "input"),
        (["--on", "edges.csv,citeseer"], "input"),
        (["mine.py:Mein"], "own-code-failed"),
        (["--on", "no-such-graph"], "missing-file"),
    ],
)
def test_mistakes_are_one_line(
    files: list[str], more: list[str], code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [*files, *SMALL]
    if more[0] in given:  # no option may be given twice
        at = given.index(more[0])
        del given[at : at + 2]
    assert main([*given, *more]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert told.endswith(f"[{code}]\n")


def test_the_settings_that_the_help_shows_exist(nodewise: Nodewise) -> None:
    shown = re.findall(r"(\w+)@(\w+)=", nodewise("compare", "--help").out)
    assert shown
    assert all(name in {field.name for field in fields(Strategy.named(strategy))} for strategy, name in shown)
