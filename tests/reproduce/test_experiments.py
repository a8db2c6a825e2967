"""Each experiment's plan and tables, from rows made by hand."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.reproduce.planted import CPU, SMALL, load, row, small_setup

from nodewise.core.errors import InputError
from nodewise.methods.estimator import METHODS
from nodewise.reproduce import datasets, inductive, parameters, strategies, table2, tables
from nodewise.reproduce import separation as figure
from nodewise.reproduce.experiments import EXPERIMENTS
from nodewise.reproduce.paper_values import DATASETS, OURS, PLAIN, TABLE2
from nodewise.reproduce.results import Results
from nodewise.reproduce.run import Runner
from nodewise.reproduce.setup import Setup, Task
from nodewise.sampling.strategy import STRATEGIES

Score = Callable[[Task, int], dict[str, Any]]


def filled(tasks: list[Task], score: Score, seeds: int = 2) -> Results:
    """Return results in which every task has this score."""
    rows = [
        row(
            kind=task.kind, dataset=task.dataset, method=task.method, seed=seed, config=task.config, **score(task, seed)
        )
        for task in tasks
        for seed in range(seeds)
    ]
    return Results(tasks, rows)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_no_cell_of_a_plan_is_there_twice(name: str, tmp_path: Path) -> None:
    for quick in (False, True):
        tasks = EXPERIMENTS[name].plan(small_setup(tmp_path, datasets=DATASETS, quick=quick))
        keys = [task.key(0) for task in tasks]
        assert tasks
        assert len(set(keys)) == len(keys)
        assert {task.dataset for task in tasks} == set(DATASETS)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_unknown_rows_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no row 'nonesuch'"):
        EXPERIMENTS[name].plan(small_setup(tmp_path, methods=("nonesuch",)))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_without_rows_still_has_tables(name: str, tmp_path: Path) -> None:
    experiment, setup = EXPERIMENTS[name], small_setup(tmp_path)
    for table in experiment.render(Results(experiment.plan(setup), []), setup):
        assert all(len(line) == len(table.header) for line in table.rows)
        assert "nan" not in table.markdown()


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
        return {"test": 0.70 + 0.02 * seed, "seconds": 1.5, "peak_mb": 100}

    results = filled(table2.plan(setup), score)
    overview, details = table2.render(results, setup)
    assert "| X A | ours [a] | 71.00 ± 1.41 (n=2) [73.5] |" in overview.markdown()
    assert "| X A | random encoder | 71.00 ± 1.41 (n=2) |" in overview.markdown()
    assert "- [a] The paper's own rows are the best test accuracy over epochs" in overview.markdown()
    assert "| X A | ours [a] | 73.5 | 71.00 | 1.41 | 2 | -2.50 | 75.00 | 1.5 | 100 |" in details.markdown()
    assert "Oracle passes were made for 'ours' only;" in details.markdown()
    assert r"ours {[}a{]} & 71.00 $\pm$ 1.41 (n=2) {[}73.5{]} \\" in overview.latex("x")


def test_the_hazards_are_footnotes_of_their_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without = tuple(name for name in METHODS.names() if name != "mvgrl")
    monkeypatch.setattr(METHODS, "names", lambda: without)
    setup = small_setup(tmp_path)
    overview = table2.render(Results(table2.plan(setup), []), setup)[0].markdown()
    for said in ("another split", "68.0 three times", "MLP of Kipf", "seldom re-run", "Public Planetoid split"):
        assert said in overview
    assert "Not in this version, so not measured: Mvgrl" in overview


def test_parameters_change_one_setting(tmp_path: Path) -> None:
    tasks = {task.method: task.settings for task in parameters.plan(small_setup(tmp_path))}
    assert tasks["batch size = 50"] == replace(SMALL, training=replace(SMALL.training, batch_size=50))
    assert tasks["walk length = 10"] == replace(SMALL, views=replace(SMALL.views, length=10))
    assert tasks["α = 0.99"].sampling.class_collision.alpha == 0.99
    assert tasks["DPP size = none"].sampling.diversity.size is None
    assert tasks["DPP size = 50"].sampling.diversity.size == 50
    assert tasks["hops K = 2"].sampling.class_collision.hops == 2
    assert tasks["temperature τ = 0.1"].loss.temperature == 0.1
    base = replace(SMALL, training=replace(SMALL.training, steps=20, batch_size=1000))
    (passes,) = (sweep for sweep in parameters.SWEEPS if sweep.name == parameters.BATCH_PASSES)
    assert [passes.settings(base, size).training.steps for size in (50, 1000, 2000)] == [400, 20, 10]


def test_parameters_have_a_table_each(tmp_path: Path) -> None:
    setup = small_setup(tmp_path, methods=("α", "DPP size"))
    tasks = parameters.plan(setup)
    assert dict(tasks[0].more) == {"parameter": "α", "value": "0.5"}
    alpha, size = parameters.render(filled(tasks, lambda task, seed: {"test": 0.5 + 0.1 * seed}), setup)
    assert "| 0.99 | 55.00 ± 7.07 (n=2) |" in alpha.markdown()
    assert "| none | 55.00 ± 7.07 (n=2) |" in size.markdown()
    assert "Value in the full method's config: Citeseer: none." in size.markdown()
    assert "drops dramatically when α is close to 1" in alpha.markdown()
    assert "The paper says" not in size.markdown()


def test_repetitions_of_the_value_in_use_say_what_differences_mean_nothing(tmp_path: Path) -> None:
    setup = small_setup(tmp_path, methods=("hops K", "DPP size"))
    tasks = parameters.plan(setup)
    assert parameters.rows_in_use(Results(tasks, []), setup, "citeseer") == ["hops K = 1", "DPP size = none"]

    def repeated(task: Task, seed: int) -> dict[str, Any]:
        return {"test": {"hops K = 1": 0.70, "DPP size = none": 0.71}.get(task.method, 0.9)}

    said = parameters.render(filled(tasks, repeated), setup)[-1].markdown()
    assert "their means range from 70.00 to 71.00 on Citeseer. Differences of that size mean nothing." in said
    equal = parameters.render(filled(tasks, lambda task, seed: {"test": 0.7}), setup)
    assert "mean nothing" not in equal[-1].markdown()


def test_strategies_are_paired_with_all(tmp_path: Path) -> None:
    setup = small_setup(tmp_path)
    tasks = strategies.plan(setup)
    assert tuple(task.method for task in tasks) == STRATEGIES.names()
    assert [task.settings.sampling.name for task in tasks] == list(STRATEGIES.names())

    def score(task: Task, seed: int) -> dict[str, Any]:
        seen = dict.fromkeys(EXPERIMENTS["strategies"].columns, 0.25)
        gain = 0.02 if task.method == "adaptive" else 0.0
        return seen | {"test": 0.70 + gain + 0.01 * seed, "seconds": 1, "peak_mb": 9}

    (table,) = strategies.render(filled(tasks, score), setup)
    assert "| adaptive | 72.50 | 0.71 | 2 | +2.00 [+2.00, +2.00] (n=2) | gain | 0.250 |" in table.markdown()
    assert "| all | 70.50 | 0.71 | 2 | – | – | 0.250 |" in table.markdown()


OWN = """
from nodewise.sampling.pairs import PairSets
from nodewise.sampling.strategy import Strategy
class Middle(Strategy):
    def choose(self, candidates):
        return PairSets((candidates.scores < candidates.scores.mean()) & ~candidates.own)
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The file of a strategy of the user's own, in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    path = tmp_path / "mine_nodewise_test.py"
    path.write_text(OWN)
    yield path
    sys.modules.pop(path.stem, None)


def test_a_strategy_of_ones_own_is_a_row_like_others(tmp_path: Path, own: Path) -> None:
    setup = small_setup(tmp_path, methods=("mine_nodewise_test:Middle", "all"))
    outcome = Runner(tmp_path / "out", load, CPU).run(EXPERIMENTS["strategies"], setup)
    assert (outcome.missing, outcome.failures, len(outcome.rows)) == (0, [], 4)
    tasks = strategies.plan(setup)
    (table,) = strategies.render(Results(tasks, outcome.rows), setup)
    plain, mine = table.rows
    assert (plain[0], mine[0]) == ("all", "mine_nodewise_test:Middle")
    assert "(n=2)" in mine[4], "paired on both seeds"
    assert all(cell != tables.EMPTY for cell in mine)
    assert "kept no negative" not in outcome.markdown
    assert (tmp_path / "out" / "strategies" / "strategies.png").exists()


def test_rows_of_ones_own_class_do_not_stand_for_a_changed_one(tmp_path: Path, own: Path) -> None:
    setup = small_setup(tmp_path, methods=("all", "mine_nodewise_test:Middle"))
    plain, mine = strategies.plan(setup)
    own.write_text(OWN + "\n# changed")
    plain_again, changed = strategies.plan(setup)
    assert plain_again.config == plain.config
    assert changed.config != mine.config


def test_ones_own_class_is_refused_before_anything_is_measured(tmp_path: Path, own: Path) -> None:
    for source, said in (
        ("", "has no strategy 'Middle'"),
        ("Middle = 3", "not a class derived from"),
        (
            OWN + "    def __post_init__(self): 1 / 0",
            r"mine_nodewise_test:Middle failed at mine_nodewise_test.py, line 7: ZeroDivisionError",
        ),
    ):
        sys.modules.pop(own.stem, None)
        own.write_text(source)
        with pytest.raises(InputError, match=said):
            strategies.plan(small_setup(tmp_path, methods=("all", "mine_nodewise_test:Middle")))


def test_other_experiments_have_no_such_rows(tmp_path: Path, own: Path) -> None:
    with pytest.raises(InputError, match="no row 'mine_nodewise_test:Middle'"):
        table2.plan(small_setup(tmp_path, methods=("mine_nodewise_test:Middle",)))
    assert own.stem not in sys.modules


def test_a_strategy_without_negatives_is_told(tmp_path: Path, own: Path) -> None:
    own.write_text(OWN.replace("(candidates.scores < candidates.scores.mean())", "candidates.own"))
    setup = small_setup(tmp_path, methods=("all", "mine_nodewise_test:Middle"))
    outcome = Runner(tmp_path / "out", load, CPU).run(EXPERIMENTS["strategies"], setup)
    assert (outcome.missing, outcome.failures) == (0, [])
    assert "mine\\_nodewise\\_test:Middle kept no negative of nearly all queries of Citeseer" in outcome.markdown
    assert "all kept no negative" not in outcome.markdown


def test_a_node_is_never_its_own_negative_though_the_strategy_forgot(tmp_path: Path, own: Path) -> None:
    setup, found = small_setup(tmp_path, methods=("mine_nodewise_test:Middle",), runs=1), []
    for number, kept in enumerate(("& ~candidates.own", "| candidates.own")):
        sys.modules.pop(own.stem, None)
        own.write_text(OWN.replace("& ~candidates.own", kept))
        outcome = Runner(tmp_path / f"out{number}", load, CPU).run(EXPERIMENTS["strategies"], setup)
        assert outcome.failures == []
        found.append({name: outcome.rows[0][name] for name in ("test", "negatives", "same_class_after")})
    assert found[0] == found[1]


def test_new_nodes_beside_the_usual_numbers(tmp_path: Path) -> None:
    setup = small_setup(tmp_path, methods=(OURS,))
    tasks = inductive.plan(setup)
    assert [task.kind for task in tasks] == ["accuracy", "inductive"]
    assert tasks[0].config == next(task for task in table2.plan(setup) if task.kind == "accuracy").config
    results = filled(tasks, lambda task, seed: {"test": 0.7 if task.kind == "accuracy" else 0.69})
    (table,) = inductive.render(results, setup)
    line = "| ours | 70.00 ± 0.00 (n=2) | 69.00 ± 0.00 (n=2) | -1.00 [-1.00, -1.00] (n=2) |"
    assert line in table.markdown()


def test_only_inductive_methods_without_labels_meet_new_nodes(tmp_path: Path) -> None:
    for name in ("gcn", "deepwalk"):
        with pytest.raises(InputError, match=f"no row '{name}'"):
            inductive.plan(small_setup(tmp_path, methods=(name,)))


def test_the_figure_has_raw_features_and_ours(tmp_path: Path) -> None:
    setup = small_setup(tmp_path)
    tasks = figure.plan(setup)
    assert [task.method for task in tasks] == [name for name in figure.COMPARED if name in ("features", *METHODS)]
    score = dict.fromkeys(("silhouette", "purity", "map_silhouette", "map_purity"), 0.5)
    (table,) = figure.render(filled(tasks, lambda task, seed: score), setup)
    assert "| raw features | 0.500 | 0.500 | 0.500 | 0.500 | 2 |" in table.markdown()
    assert EXPERIMENTS["figure"].datasets == ("pubmed",)


def test_the_data_sets_as_read() -> None:
    (table,) = datasets.render([load("citeseer"), load("karate")])
    citeseer, karate = table.rows
    assert citeseer[:3] == ("Citeseer", "150", "3,327")
    assert karate[:3] == ("Karate", "150", "–")
    assert "/" in citeseer[-1]
    assert "4,732" in citeseer
    assert "left out" not in table.markdown()
    assert "left out: Cora, Pubmed." in datasets.render([load("citeseer")], ("cora", "pubmed"))[0].markdown()


def test_the_defaults_run_the_papers_number_of_seeds() -> None:
    assert EXPERIMENTS["table2"].runs == EXPERIMENTS["ablation"].runs == 50
    assert Setup().datasets == DATASETS
