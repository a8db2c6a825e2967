"""Table 2: its rows, notes and both kinds of numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.reproduce.planted import GROUPS, SMALL, filled, small_setup

from nodewise.core import config
from nodewise.methods.estimator import METHODS
from nodewise.reproduce.experiments import table2
from nodewise.reproduce.paper_values import OURS, PLAIN, TABLE2
from nodewise.reproduce.results import Results
from nodewise.reproduce.setup import CHOICE, Task


def test_table2_has_every_row_of_the_paper_and_ours_and_the_random_encoder(tmp_path: Path) -> None:
    setup = small_setup(tmp_path)
    names = table2.rows()
    assert set(TABLE2) <= set(names)
    assert {name for name in METHODS if name != "random"} <= set(names)
    assert names[-3:] == ("random encoder", PLAIN, OURS)
    own = {task.method: task for task in table2.plan(setup) if task.kind == "accuracy"}
    assert own[OURS].settings == SMALL
    assert not own[PLAIN].settings.sampling.collision
    assert own["random encoder"].settings.training.steps == 0
    assert {task.method for task in table2.plan(setup) if task.kind == "oracle"} == {OURS, PLAIN}


def test_table2_shows_measured_beside_printed(tmp_path: Path) -> None:
    setup = small_setup(tmp_path, methods=(OURS, "random encoder"))

    def score(task: Task, seed: int) -> dict[str, Any]:
        if task.kind == "oracle":
            return {"oracle": 0.75}
        post = {"post_test": 0.72 + 0.02 * seed, "post_test_groups": GROUPS, "post": "5 steps"}
        return {"test": 0.70 + 0.02 * seed, "seconds": 1.5, "peak_mb": 100, **post}

    results = filled(table2.plan(setup), score)
    overview, _, details, against = table2.render(results, setup)
    assert "| X A | ours [a] | 71.00 ± 1.41 (n=2) [73.5] | 73.00 ± 1.41 (n=2) |" in overview.markdown()
    assert "| X A | random encoder | 71.00 ± 1.41 (n=2) |" in overview.markdown()
    assert "- [a] The paper's own rows are the best test accuracy over epochs" in overview.markdown()
    line = "| 73.5 | – | -2.50 | 71.00 | 1.41 | 2 | – | 73.00 | 1.41 | – | 5 steps | 75.00 | 1.5 | 100 |"
    assert line in details.markdown()
    assert "Oracle passes were made for 'ours' only;" in against.markdown()
    assert "| random encoder | +0.00 [+0.00, +0.00] (n=2) | – | within noise | +0.00" in against.markdown()
    assert r"ours {[}a{]} & 71.00 $\pm$ 1.41 (n=2) {[}73.5{]} & 73.00" in overview.latex("x")


def test_the_gap_to_print_is_that_of_the_authors_probe(tmp_path: Path) -> None:
    setup = small_setup(tmp_path, methods=("dgi",), oracle=False)
    post = {"post_test": 0.70, "post_test_groups": GROUPS, "post": "none"}
    results = filled(table2.plan(setup), lambda task, seed: {"test": 0.70, "own_test": 0.71, **post})
    _, own, details, *_ = table2.render(results, setup)
    assert "| 71.8 | 71.00 ± 0.00 (n=2) | -0.80 | 70.00 |" in details.markdown()
    assert "| DGI [a] | `dgi` | 71.00 ± 0.00 (n=2) | 71.8 | -0.80 |" in own.markdown()


def test_a_method_whose_authors_have_the_tables_probe_is_scored_by_it(tmp_path: Path) -> None:
    setup = small_setup(tmp_path, methods=("mvgrl", "gcn", OURS), oracle=False)
    results = filled(table2.plan(setup), lambda task, seed: {"test": 0.70, "post_test": 0.7, "post": "none"})
    own = table2.render(results, setup)[1].markdown()
    assert "`mvgrl` | 70.00 ± 0.00 (n=2) | 73.3 | -3.30 |" in own
    assert "GCN" not in own
    assert "ours" not in own


def test_the_hazards_are_footnotes_of_their_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without = tuple(name for name in METHODS.names() if name != "mvgrl")
    monkeypatch.setattr(METHODS, "names", lambda: without)
    setup = small_setup(tmp_path)
    overview = table2.render(Results(table2.plan(setup), []), setup)[0].markdown()
    for said in ("another split", "68.0 three times", "MLP of Kipf", "seldom re-run", "Public Planetoid split"):
        assert said in overview
    assert "Not in this version, so not measured: Mvgrl" in overview


def test_methods_without_labels_meet_on_equal_terms(tmp_path: Path) -> None:
    tasks = table2.plan(small_setup(tmp_path, methods=(OURS, "dgi", "gcn"), oracle=False))
    terms = {task.method: task.equal_terms for task in tasks if task.kind == "accuracy"}
    assert terms == {"gcn": False, "dgi": True, OURS: True}
    choices = [task for task in tasks if task.kind == CHOICE]
    assert {task.method: task.seeds for task in choices} == {"dgi": (1000, 1001), OURS: (1000, 1001)}


def test_our_raw_vectors_are_as_training_leaves_them(tmp_path: Path) -> None:
    setup = small_setup(tmp_path, methods=(OURS,))
    smoothed = config.override(SMALL, ["embedding.propagation=3", "embedding.length=0.1"])
    (tmp_path / "citeseer.toml").write_text(config.to_toml(smoothed))
    assert {task.settings for task in table2.plan(setup)} == {SMALL}
