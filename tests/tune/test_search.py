"""A search never sees a test label, is fair to both variants, and resumes where it was cut off."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.reproduce.planted import CPU, trial

from nodewise.core import config
from nodewise.core.errors import InputError
from nodewise.core.parallel import Turns
from nodewise.datasets.planted import block_model
from nodewise.graph.graph import Graph
from nodewise.graph.splits import redrawn_splits
from nodewise.methods.settings import Settings
from nodewise.tune import search as tune
from nodewise.tune.folder import append_trial, ranking, read_trials
from nodewise.tune.search import confirm, plan_budget, run_trial, search, time_one, without_test_labels
from nodewise.tune.space import QUICK, Space

GRAPH = block_model(120, num_classes=3, num_features=30, seed=1)
TINY = Space(
    common={
        "encoder.dimension": (4, 6),
        "views.length": (3,),
        "loss.temperature": (0.2, 0.5, 1.0),
        "training.batch_size": (40,),
        "training.learning_rate": (0.01,),
    },
    encoders={"smoothing": {}, "gcn": {}},
    sampler={"sampling.class_collision.alpha": (0.9, 2.0), "sampling.class_collision.clusterings": (2,)},
    steps=2,
)


@pytest.fixture(autouse=True)
def _few_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tune, "LOOKS", (1, 2))
    monkeypatch.setattr(tune, "EMBEDDINGS", ((0, 1.0), (2, None)))


def lines(folder: Path, stage: str = "trials") -> list[dict[str, Any]]:
    """What a search left, but for the time it took."""
    return [{name: value for name, value in line.items() if name != "seconds"} for line in read_trials(folder, stage)]


def with_test_labels(graph: Graph, seed: int) -> Graph:
    labels = graph.labels.copy()
    labels[graph.split.test] = np.random.default_rng(seed).integers(0, 3, len(graph.split.test))
    return replace(graph, labels=labels)


def test_test_labels_are_removed_and_others_kept() -> None:
    split, kept = GRAPH.split, without_test_labels(GRAPH).labels
    known = np.concatenate([split.train, split.val])
    assert np.array_equal(kept[known], GRAPH.labels[known])
    assert set(kept[split.test]) == {0}
    rest = np.setdiff1d(np.arange(120), np.concatenate([known, split.test]))
    assert (kept[rest] == -1).all()
    for seed in (0, 1):
        assert np.array_equal(without_test_labels(with_test_labels(GRAPH, seed)).labels, kept)
    with pytest.raises(InputError, match="needs labels and a split; try --objective links"):
        without_test_labels(replace(GRAPH, split=None))


@pytest.mark.parametrize("objective", ["validation", "crossval"])
def test_test_labels_change_nothing_of_what_is_chosen(tmp_path: Path, objective: tune.Objective) -> None:
    chosen = []
    for seed in (0, 1):
        graph, folder = with_test_labels(GRAPH, seed), tmp_path / str(seed)
        search(graph, folder, trials=2, runs=2, space=TINY, objective=objective, device=CPU)
        confirm(graph, folder, top=1, runs=2, objective=objective, device=CPU)
        chosen.append((lines(folder), lines(folder, "confirmed"), ranking(read_trials(folder, "confirmed"), "full")))
    assert chosen[0] == chosen[1]
    assert chosen[0][0]


def test_validation_labels_do_matter(tmp_path: Path) -> None:
    shuffled = GRAPH.labels.copy()
    shuffled[GRAPH.split.val] = np.random.default_rng(0).permutation(shuffled[GRAPH.split.val])
    for name, graph in (("true", GRAPH), ("shuffled", replace(GRAPH, labels=shuffled))):
        search(graph, tmp_path / name, trials=1, runs=2, space=TINY, variants=["plain"], device=CPU)
    assert lines(tmp_path / "true") != lines(tmp_path / "shuffled")


def test_redrawn_training_sets_are_averaged(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = without_test_labels(GRAPH)
    settings, seeds = TINY.draw("plain", 0, 0), [1000, 1001]
    together = run_trial(graph, settings, seeds, CPU, "crossval")
    apart = []
    for split in redrawn_splits(graph.split, graph.labels, tune.REDRAWN):
        monkeypatch.setattr(tune, "redrawn_splits", lambda *_, split=split: [split])
        apart.append([outcome["scores"] for outcome in run_trial(graph, settings, seeds, CPU, "crossval")])
    mean = np.mean(apart, axis=0)
    assert np.allclose(mean, [outcome["scores"] for outcome in together], atol=2e-4)
    assert np.std(apart, axis=0).max() > 0


def test_links_need_no_labels(tmp_path: Path) -> None:
    bare = replace(GRAPH, labels=None, class_names=(), split=None)
    options = {"trials": 1, "runs": 1, "space": TINY, "variants": ["plain"], "objective": "links", "device": CPU}
    search(bare, tmp_path / "bare", **options)
    search(GRAPH, tmp_path / "labelled", **options)
    scores = [outcome["scores"] for line in lines(tmp_path / "bare") for outcome in line["outcomes"]]
    assert all(0 <= score <= 1 for pair in scores for score in pair)
    assert lines(tmp_path / "bare") == lines(tmp_path / "labelled")


def test_both_variants_get_the_same_trials_and_tuning_seeds_only(tmp_path: Path) -> None:
    search(GRAPH, tmp_path, trials=3, runs=2, space=TINY, device=CPU)
    confirm(GRAPH, tmp_path, top=2, runs=3, device=CPU)
    tried, confirmed = lines(tmp_path), lines(tmp_path, "confirmed")
    assert [(line["variant"], line["trial"]) for line in tried] == [(v, n) for n in range(3) for v in ("full", "plain")]
    assert [line["variant"] for line in confirmed] == ["full", "plain", "full", "plain"]
    seeds = [{seed for line in group for seed in line["seeds"]} for group in (tried, confirmed)]
    assert min(seeds[0] | seeds[1]) >= 1000
    assert not seeds[0] & seeds[1], "what is confirmed must be confirmed with new seeds"
    for line in tried + confirmed:
        assert [(o["training.steps"], o["embedding.propagation"]) for o in line["outcomes"]] == [
            (1, 0),
            (1, 2),
            (2, 0),
            (2, 2),
        ]
        assert {len(outcome["scores"]) for outcome in line["outcomes"]} == {len(line["seeds"])}


def test_a_look_on_the_way_is_the_training_that_ends_there() -> None:
    long = TINY.draw("full", 0, 0)
    short = replace(long, training=replace(long.training, steps=1))
    seeds = [1000, 1001]
    on_the_way = run_trial(without_test_labels(GRAPH), long, seeds, CPU, "validation")
    at_the_end = run_trial(without_test_labels(GRAPH), short, seeds, CPU, "validation")
    assert on_the_way[:2] == at_the_end


class Killed(Exception):
    pass


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """Count the trials that are run, and be killed in the middle of the one at `deadline`."""
    state: dict[str, Any] = {"run": 0, "deadline": None}
    original = tune.run_trial

    def run(*arguments: Any) -> list[dict[str, Any]]:
        if state["run"] == state["deadline"]:
            raise Killed
        state["run"] += 1
        return original(*arguments)

    monkeypatch.setattr(tune, "run_trial", run)
    return state


def test_a_search_that_was_killed_goes_on_without_repeating(tmp_path: Path, counted: dict[str, Any]) -> None:
    options = {"trials": 2, "runs": 1, "space": TINY, "device": CPU}
    search(GRAPH, tmp_path / "whole", **options)
    assert counted["run"] == 4
    counted.update(run=0, deadline=3)
    with pytest.raises(Killed):
        search(GRAPH, tmp_path / "cut", **options)
    assert len(lines(tmp_path / "cut")) == 3
    counted.update(run=0, deadline=None)
    search(GRAPH, tmp_path / "cut", **options)
    assert counted["run"] == 1
    assert lines(tmp_path / "cut") == lines(tmp_path / "whole")
    search(GRAPH, tmp_path / "cut", **options | {"trials": 3})
    assert counted["run"] == 3
    assert lines(tmp_path / "cut")[:4] == lines(tmp_path / "whole")


def test_a_line_that_was_cut_off_is_left_out_and_done_again(tmp_path: Path, counted: dict[str, Any]) -> None:
    options = {"trials": 2, "runs": 1, "space": TINY, "device": CPU}
    search(GRAPH, tmp_path, **options)
    (path,) = tmp_path.glob("*.jsonl")
    before, text = lines(tmp_path), path.read_text()
    path.write_text(text[:-100])
    assert lines(tmp_path) == before[:3]
    counted.update(run=0)
    search(GRAPH, tmp_path, **options)
    # The new line must not be glued to the remains of the old one.
    assert counted["run"] == 1
    assert lines(tmp_path) == before


def test_processes_share_the_trials_out(tmp_path: Path, counted: dict[str, Any]) -> None:
    class Some(Turns):
        """The turns that one of three processes happens to get."""

        def __next__(self) -> int:
            return 3 * super().__next__() + self.worker

    for worker in range(3):
        search(GRAPH, tmp_path, trials=2, runs=1, space=TINY, device=CPU, turns=Some(worker))
    assert counted["run"] == 4
    assert len({(line["variant"], line["trial"]) for line in lines(tmp_path)}) == 4
    assert len(list(tmp_path.glob("trials-*.jsonl"))) == 3


def test_no_trial_begins_after_the_time_is_up(tmp_path: Path, counted: dict[str, Any]) -> None:
    search(GRAPH, tmp_path, trials=2, runs=1, space=TINY, device=CPU, until=0.0)
    assert counted["run"] == 0
    assert lines(tmp_path) == []


def test_the_best_by_their_best_mean_are_confirmed(tmp_path: Path, counted: dict[str, Any]) -> None:
    scores = {
        ("full", 0): [[0.5, 0.5], [0.7, 0.7]],
        ("full", 1): [[0.9, 0.1], [0.6, 0.6]],  # a single lucky seed does not count
        ("full", 2): [[0.8, 0.8], [0.1, 0.1]],
        ("full", 3): [],
        ("plain", 5): [[0.2, 0.2]],
    }
    for (variant, number), outcomes in scores.items():
        append_trial(tmp_path, "trials", 0, trial(variant, number, outcomes, TINY.draw(variant, number, 0)))
    confirm(GRAPH, tmp_path, top=2, runs=1, device=CPU)
    assert [(line["variant"], line["trial"]) for line in lines(tmp_path, "confirmed")] == [
        ("full", 2),
        ("plain", 5),
        ("full", 0),
    ]
    for line in lines(tmp_path, "confirmed"):
        assert line["settings"] == config.to_mapping(TINY.draw(line["variant"], line["trial"], 0))
    assert counted["run"] == 3


def test_a_search_says_how_long_it_takes() -> None:
    steps = QUICK.steps / Settings().training.steps
    usual = plan_budget(3.0, 0.5, QUICK, None, None, 1, 1, 1)
    assert usual.expected == 60, "20 trainings"
    assert usual.search_seconds < usual.expected < usual.seconds, "the best are confirmed in any case"
    told = plan_budget(3.0, 0.5, QUICK, 4, None, 2, 2, 2)
    assert told.expected == pytest.approx(2 * (4 * 2 + told.top * told.runs) * (steps * 3.0 + 2 * 0.5) / 2)
    assert told.search_seconds == told.seconds == np.inf
    timed = plan_budget(3.0, 0.5, QUICK, None, 10, 1, 2, 1)
    assert (timed.trials, timed.seconds, timed.search_seconds) == (30, 600, pytest.approx(420))


def test_one_training_takes_time() -> None:
    training, look = time_one(without_test_labels(GRAPH), CPU, "validation")
    assert 0 < training < 60
    assert 0 < look < 60
