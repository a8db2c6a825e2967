"""Strategies are compared on equal seeds and splits, nobody's labels train anything, and a cut costs nothing."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import nodewise as nw
from nodewise.comparison import run
from nodewise.comparison.cells import Bench
from nodewise.core.errors import InputError
from nodewise.core.interrupt import Paused
from nodewise.datasets.planted import block_model
from nodewise.evaluation import budgets

GRAPH = replace(block_model(120, num_classes=3, num_features=60, words_per_node=8, noise=0.6, seed=1), name="planted")
SMALL: dict[str, Any] = {
    "steps": 4,
    "batch_size": 64,
    "dimension": 16,
    "device": "cpu",
    "budgets": ("few",),
    "looks": 2,
}

OWN = """
import nodewise as nw

class Far(nw.Strategy):
    share: float = 0.4

    def choose(self, candidates):
        return nw.PairSets(candidates.scores < candidates.scores.quantile(self.share, -1, keepdim=True))

class Wrong(nw.Strategy):
    def choose(self, candidates):
        return nw.PairSets(candidates.missing)
"""


class Near(nw.Strategy):
    """Keep the least similar part."""

    share: float = 0.4

    def choose(self, candidates: nw.Candidates) -> nw.PairSets:
        return nw.PairSets(candidates.scores < candidates.scores.quantile(self.share, -1, keepdim=True))


@pytest.fixture(autouse=True)
def _roughly_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    """A classifier of a few iterations is as good a witness, and ten times as fast."""
    monkeypatch.setattr(budgets, "_ITERATIONS", 7)


def kept(folder: Path) -> list[str]:
    """The rows without what they cost, which no two runs have in common."""
    rows = [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]
    return sorted(json.dumps({name: value for name, value in row.items() if name != "cost"}) for row in rows)


def test_rows_are_paired_with_all_negatives() -> None:
    found = nw.compare([Near(share=0.2), "quantile@quantile=0.3"], on=[GRAPH], seeds=range(3), **SMALL)
    assert found.strategies == ("all", "Near(share=0.2)", "quantile@quantile=0.3")
    assert found.accuracy.shape == (3, 1, 3)
    gain = found.gain("quantile@quantile=0.3", "planted")
    assert gain.mean == pytest.approx(
        (found.accuracy[2, 0] - found.accuracy[0, 0]).mean(), abs=0.5
    )  # by groups of nodes
    assert "2 strategies against `all` on planted with 3 seeds" in repr(found)
    assert "<td>quantile@quantile=0.3</td>" in found._repr_html_()


def test_a_row_is_what_the_embedder_gives_with_that_seed() -> None:
    settings = {name: value for name, value in SMALL.items() if name not in ("budgets", "looks")}
    found = nw.compare(["quantile"], on=[GRAPH], seeds=[4], **SMALL)
    model = nw.NodeEmbedder(seed=4, strategy="quantile", **settings).fit(GRAPH)
    assert GRAPH.labels is not None
    scores = budgets.budget_accuracy(
        torch.as_tensor(model.embeddings_.vectors), GRAPH.labels, budgets.budget_splits(GRAPH.labels, "few")
    )
    assert found.accuracy[1, 0, 0] == pytest.approx(100 * scores.mean(), abs=1e-3)


def test_all_negatives_are_always_there_and_only_once() -> None:
    same = nw.compare(["all"], on=[GRAPH], seeds=[5, 6], **SMALL)
    assert same.strategies == ("all",)
    assert np.array_equal(same.accuracy, nw.compare([], on=[GRAPH], seeds=[5, 6], **SMALL).accuracy)


def test_what_was_killed_resumes_with_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    plan: dict[str, Any] = {"strategies": ["hard", "quantile"], "on": [GRAPH], "seeds": range(2), **SMALL}
    nw.compare(output=whole, **plan)
    measure, calls = Bench.measure, []

    def interrupted(self: Bench, *given: Any) -> Any:
        calls.append(given)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return measure(self, *given)

    monkeypatch.setattr(Bench, "measure", interrupted)
    with pytest.raises(Paused, match="resumes"):
        nw.compare(output=cut, **plan)
    rows = (cut / "rows.jsonl").read_bytes()
    assert rows.count(b"\n") == 2
    (cut / "rows.jsonl").write_bytes(rows + b'{"graph": "pla')  # what a kill in the middle of a line leaves
    calls.clear()
    calls.extend([()] * 3)
    found = nw.compare(output=cut, **plan)
    assert len(calls) == 3 + 4  # the four stacks that were missing, and no other
    assert kept(cut) == kept(whole)
    assert found.missing == 0
    assert {"rows.jsonl", "compare.md", "compare.json", "compare.html"} <= {path.name for path in cut.iterdir()}


def test_processes_side_by_side_leave_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan: dict[str, Any] = {"strategies": ["hard"], "on": [GRAPH], "seeds": range(2), **SMALL}
    monkeypatch.undo()  # other processes know nothing of it
    nw.compare(output=tmp_path / "one", **plan)
    nw.compare(output=tmp_path / "two", workers=2, **plan)
    assert kept(tmp_path / "two") == kept(tmp_path / "one")


def test_ideas_of_ones_own_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "ideas").mkdir()
    file = tmp_path / "ideas" / "own_idea_of_tests.py"
    file.write_text(OWN)
    found = nw.compare([f"{file}:Far@share=0.3"], on=[GRAPH], seeds=[0], output=tmp_path / "out", **SMALL)
    before = found.rows[1]["config"]
    file.write_text(OWN + "\n# another idea\n")
    assert nw.compare([f"{file}:Far@share=0.3"], on=[GRAPH], seeds=[0], **SMALL).rows[1]["config"] != before
    with pytest.raises(InputError, match=r"Wrong failed at own_idea_of_tests.py, line 12"):
        nw.compare([f"{file}:Wrong"], on=[GRAPH], seeds=[0], **SMALL)


def test_looks_hold_measures_and_the_accuracy_of_the_first_seeds() -> None:
    found = nw.compare(["quantile"], on=[GRAPH], seeds=range(3), stack=3, **SMALL)
    looks = {(row["strategy"], row["seed"]): row["looks"] for row in found.rows}
    assert looks["quantile", 0]["step"] == [0, 4]
    assert looks["all", 1]["accuracy"][0] == looks["quantile", 1]["accuracy"][0]  # they start alike
    assert "accuracy" not in looks["all", 2]
    assert found.measure("collision", "quantile") < found.measure("collision", "all")
    assert found.measure("recall", "all") == 0


def test_a_diagnosis_reads_labels_and_does_not_count() -> None:
    found = nw.compare(["oracle", "hard"], on=[GRAPH], seeds=range(2), **SMALL)
    assert found.measure("collision", "oracle") == 0
    assert found.contenders == ("all", "hard")
    assert "oracle (reads labels)" in found.markdown()
    assert {each.strategy for each in found.gains} == {"oracle", "hard"}
    assert "1 strategy against `all`" in found.verdict


def test_a_strategy_that_fails_costs_the_others_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measure = Bench.measure

    def failing(self: Bench, graph: Any, settings: Any, *given: Any) -> Any:
        if settings.sampling.name == "hard":
            raise RuntimeError("out of\nmemory")
        return measure(self, graph, settings, *given)

    monkeypatch.setattr(Bench, "measure", failing)
    found = nw.compare(["hard", "quantile"], on=[GRAPH], seeds=range(2), output=tmp_path / "out", **SMALL)
    assert [failure["error"] for failure in found.failures] == ["out of memory"] * 2
    assert found.missing == 2
    assert "2 cells of the plan are not measured" in found.verdict
    assert "| hard | –" in found.markdown()


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"on": []}, "nothing-to-compare"),
        ({"seeds": []}, "nothing-to-compare"),
        ({"minutes": 0}, "nothing-to-compare"),
        ({"strategies": ["hrad"]}, "unknown-strategy"),
        ({"strategies": ["hard@beat=2"]}, "unknown-setting"),
        ({"strategies": [3]}, "bad-argument"),
        ({"strategies": ["oracle@x=y"]}, "bad-setting"),
        ({"on": [replace(GRAPH, labels=None, class_names=(), split=None)]}, "no-labels"),
    ],
)
def test_what_cannot_be_compared_is_told(change: dict[str, Any], code: str) -> None:
    with pytest.raises(InputError) as told:
        nw.compare(**{"strategies": ["hard"], "on": [GRAPH], "seeds": [0], **SMALL, **change})
    assert told.value.code == code


def test_folders_of_others_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(InputError) as told:
        nw.compare(["hard"], on=[GRAPH], seeds=[0], output=tmp_path, **SMALL)
    assert told.value.code == "foreign-folder"
    (tmp_path / "thesis.txt").unlink()
    (tmp_path / "rows.jsonl").write_text("not ours\n")
    (tmp_path / "compare.md").write_text("nor is this")
    with pytest.raises(InputError) as told:
        nw.compare(["hard"], on=[GRAPH], seeds=[0], output=tmp_path, **SMALL)
    assert told.value.code == "foreign-folder"
    assert (tmp_path / "compare.md").read_text() == "nor is this"
    with pytest.raises(InputError) as told:
        run.read_rows(tmp_path / "rows.jsonl")
    assert told.value.code == "damaged-file"


def test_rows_that_were_compressed_are_not_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan: dict[str, Any] = {"strategies": ["hard"], "on": [GRAPH], "seeds": [0], "output": tmp_path, **SMALL}
    first = nw.compare(**plan)
    (tmp_path / "rows.jsonl.gz").write_bytes(gzip.compress((tmp_path / "rows.jsonl").read_bytes()))
    (tmp_path / "rows.jsonl").unlink()
    monkeypatch.setattr(Bench, "measure", None)
    assert nw.compare(**plan).rows == first.rows


@pytest.mark.parametrize("odd", [{"budgets": ["zz"]}, {"budgets": "few"}, {"workers": 0}, {"on": [5]}])
def test_odd_arguments_are_refused(odd: dict[str, Any]) -> None:
    graph = block_model(60, num_classes=2, num_features=8, words_per_node=3, seed=0)
    with pytest.raises(InputError) as refused:
        nw.compare(["hard"], **{"on": [graph], "seeds": [0]} | odd)
    assert refused.value.code == "bad-argument"
