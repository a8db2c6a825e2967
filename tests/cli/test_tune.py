"""A search through the command line, each trial cut down to two steps of a small network."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodewise.core.config import load_toml, override
from nodewise.core.lock import FolderLock
from nodewise.methods.settings import Settings
from nodewise.tune import search as tune
from nodewise.tune.folder import read_trials
from nodewise.tune.space import Space

Nodewise = Callable[..., Any]
Refused = Callable[..., str]

FILES = ("edges.csv", "--features", "nodes.csv")
QUICK = ("--trials", 2, "--runs", 1, "--quiet")


@pytest.fixture(autouse=True)
def _small_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    draw_large, confirm = Space.draw, tune.confirm

    def draw(self: Space, variant: str, number: int, search_seed: int) -> Settings:
        small = ("encoder.dimension=8", "training.steps=2", "views.length=4", "sampling.class_collision.clusterings=2")
        return override(draw_large(self, variant, number, search_seed), small)

    def confirm_some(*arguments: Any, **options: Any) -> None:
        confirm(*arguments, **options | {"top": 1, "runs": 2})

    monkeypatch.setattr(tune, "LOOKS", (2,))
    monkeypatch.setattr(Space, "draw", draw)
    monkeypatch.setattr(tune, "confirm", confirm_some)


@pytest.fixture
def labels(ring: Path) -> Callable[[Sequence[int]], None]:
    """Write labels and a split: 8 training, 12 validation and 20 test nodes, the last with classes as given."""

    def write(test: Sequence[int]) -> None:
        parts = ["train"] * 8 + ["val"] * 12 + ["test"] * 20
        classes = [*(i % 2 for i in range(20)), *test]
        rows = (f"paper_{i},{classes[i]},{parts[i]}\n" for i in range(40))
        Path("split.csv").write_text("id,label,split\n" + "".join(rows))

    write([i % 2 for i in range(20)])
    return write


def lines(folder: str, stage: str) -> list[dict[str, Any]]:
    found = read_trials(Path(folder), stage)
    return [{name: value for name, value in line.items() if name != "seconds"} for line in found]


def test_one_search_at_a_time(nodewise: Nodewise, refused: Refused, ring: Path) -> None:
    search = ("tune", *FILES, "--objective", "links", "--variants", "plain", "-o", "tuned", *QUICK)
    assert nodewise(*search).code == 0
    with FolderLock(Path("tuned")):
        assert f"tuned: process {os.getpid()} on" in refused(*search)
    assert nodewise(*search).code == 0


def test_the_best_settings_of_both_variants_are_written(nodewise: Nodewise, labels: object) -> None:
    options = ("--labels", "split.csv", "--variants", "full,plain", *QUICK)
    outcome = nodewise("tune", *FILES, *options, "-o", "tuned", "--json")
    assert (outcome.code, outcome.err) == (0, ""), outcome.err
    report = json.loads(outcome.out)
    assert set(report["best"]) == {"full", "plain"}
    assert report["best"]["full"]["trials"] == 2
    assert len(lines("tuned", "trials")) == 4
    assert len(lines("tuned", "confirmed")) == 2
    plain = load_toml(Settings, "tuned/best-plain.toml").sampling
    assert (plain.collision, plain.dpp, plain.weights) == (False, False, False)
    used = nodewise("embed", *FILES, "--config", "tuned/best-full.toml", "-o", "run", "--quiet")
    assert used.code == 0, used.err


def test_test_labels_change_nothing(nodewise: Nodewise, labels: Callable[[Sequence[int]], None]) -> None:
    options = ("--labels", "split.csv", "--variants", "full", *QUICK)
    nodewise("tune", *FILES, *options, "-o", "first")
    labels(np.random.default_rng(0).permutation(20) % 2)
    nodewise("tune", *FILES, *options, "-o", "second")
    assert lines("first", "trials") == lines("second", "trials") != []
    assert Path("first/best-full.toml").read_text() == Path("second/best-full.toml").read_text()


def test_the_same_command_goes_on(nodewise: Nodewise, ring: Path) -> None:
    options = (*FILES, "--objective", "links", "--variants", "plain", "--runs", 1, "--quiet", "-o", "tuned")
    assert nodewise("tune", *options, "--trials", 1).code == 0
    first = lines("tuned", "trials")
    outcome = nodewise("tune", *options, "--trials", 3)
    assert outcome.code == 0, outcome.err
    assert lines("tuned", "trials")[:1] == first
    assert [line["trial"] for line in lines("tuned", "trials")] == [0, 1, 2]
    assert "AUC of the graph's own edges" in outcome.out


def test_another_search_needs_another_folder(nodewise: Nodewise, refused: Refused, ring: Path) -> None:
    options = (*FILES, "--objective", "links", "--variants", "plain", *QUICK, "-o", "tuned")
    nodewise("tune", *options)
    assert "holds a search with seed 0, not 1" in refused("tune", *options, "--seed", 1)


def test_no_time_no_best_but_no_error(nodewise: Nodewise, ring: Path) -> None:
    outcome = nodewise("tune", *FILES, "--objective", "links", "-o", "tuned", "--minutes", 0, "--json")
    assert outcome.code == 0
    assert json.loads(outcome.out)["best"] == {}
    assert "no full trial was confirmed in time; the same command resumes from here" in outcome.err


def test_a_random_split_of_ones_own_labels(nodewise: Nodewise, ring: Path) -> None:
    options = ("--labels", "labels.csv", "--split", "random:4x10x10", "--variants", "plain", *QUICK)
    outcome = nodewise("tune", *FILES, *options, "-o", "tuned", "--json")
    assert outcome.code == 0, outcome.err
    assert 0 <= json.loads(outcome.out)["best"]["plain"]["score"] <= 1


class TestBadInput:
    def test_labels_without_a_split(self, refused: Refused, ring: Path) -> None:
        message = refused("tune", *FILES, "--labels", "labels.csv", "-o", "tuned", *QUICK)
        assert "--split random:20x500x1000" in message
        assert "--objective links" in message

    def test_no_labels(self, refused: Refused, ring: Path) -> None:
        message = refused("tune", *FILES, "-o", "tuned", *QUICK)
        assert "--labels" in message
        assert "--objective links" in message

    def test_unknown_names(self, refused: Refused, ring: Path) -> None:
        assert "did you mean 'links'?" in refused("tune", *FILES, "-o", "tuned", "--objective", "link")
        assert "did you mean 'plain'?" in refused("tune", *FILES, "-o", "tuned", "--variants", "full,plai")
        assert "did you mean 'narrow'?" in refused("tune", *FILES, "-o", "tuned", "--space", "narow")

    def test_a_folder_of_other_things(self, refused: Refused, ring: Path) -> None:
        message = refused("tune", *FILES, "--objective", "links", "-o", ring, *QUICK)
        assert "not a search's" in message

    def test_one_class_among_the_training_nodes(self, refused: Refused, ring: Path) -> None:
        rows = (f"paper_{i},{int(i > 9)},{('train', 'val', 'test', 'test')[i // 10]}\n" for i in range(40))
        Path("split.csv").write_text("id,label,split\n" + "".join(rows))
        message = refused("tune", *FILES, "--labels", "split.csv", "-o", "tuned", *QUICK)
        assert "training nodes are of one class" in message


def test_optuna_is_asked_for_by_name_and_its_folder_is_its_own(
    nodewise: Nodewise, refused: Refused, labels: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("optuna")
    choose = Space.chosen

    def small(self: Space, variant: str, chooser: Any) -> Settings:
        return override(choose(self, variant, chooser), ("encoder.dimension=8", "training.steps=2", "views.length=4"))

    monkeypatch.setattr(Space, "chosen", small)
    plan = ("tune", *FILES, "--labels", "split.csv", "-o", "tuned", "--variants", "plain", *QUICK)
    assert nodewise(*plan, "--search", "optuna").code == 0
    assert Path("tuned/optuna.journal").exists()
    assert Path("tuned/best-plain.toml").exists()
    assert "a search with search 'optuna', not None" in refused(*plan)
    assert "unknown search 'optune'" in refused(*plan, "--search", "optune")


def test_a_missing_optuna_is_told(refused: Refused, labels: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    monkeypatch.setitem(sys.modules, "optuna.trial", None)
    message = refused("tune", *FILES, "--labels", "split.csv", "-o", "tuned", "--search", "optuna", *QUICK)
    assert "[missing-package]" in message


def test_a_foreign_folder_is_refused_before_anything_is_estimated(nodewise: Nodewise, ring: Path) -> None:
    Path("mine").mkdir()
    Path("mine/notes.txt").write_text("mine")
    outcome = nodewise("tune", *FILES, "--objective", "links", "-o", "mine", *QUICK[:-1])
    assert outcome.code == 2
    assert outcome.err.endswith("[foreign-folder]\n")
    assert "one training takes" not in outcome.err
