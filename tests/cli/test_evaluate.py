from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.command_line import SMALL

from nodewise.graph.ids import NodeIds
from nodewise.vectors.embeddings import Embeddings

Nodewise = Callable[..., Any]

OPTIONS = ("--labels", "labels.csv", "--split", "random:5x10x20", "--probe", "sklearn")


@pytest.fixture
def vectors(folder: Path) -> Path:
    """Sixty vectors of two classes that a line separates, and their labels, in two files."""
    generator = np.random.default_rng(0)
    labels = np.arange(60) % 2
    points = generator.normal(size=(60, 3)) + 8 * labels[:, None]
    ids = [f"n{i}" for i in range(60)]
    Embeddings(NodeIds(ids), points.astype(np.float32)).to_parquet("vectors.parquet")
    rows = "".join(f"{node},{'odd' if label else 'even'}\n" for node, label in zip(ids, labels, strict=True))
    Path("labels.csv").write_text("id,label\n" + rows)
    return folder / "vectors.parquet"


def with_split(part: Callable[[int], str], labeled: Callable[[int], bool] = lambda _: True) -> None:
    """Write the labels again with a column `split`."""
    rows = (f"n{i},{i % 2 if labeled(i) else ''},{part(i)}\n" for i in range(60))
    Path("labels.csv").write_text("id,label,split\n" + "".join(rows))


def test_separable_classes_are_read_off(nodewise: Nodewise, vectors: Path) -> None:
    outcome = nodewise("evaluate", vectors, *OPTIONS, "--repeats", 3, "--json")
    assert outcome.code == 0, outcome.err
    report = json.loads(outcome.out)
    assert report["scores"]["accuracy"]["n"] == 3
    assert report["scores"]["accuracy"]["mean"] == 1
    assert "sklearn" in report["protocol"]


def test_the_table_has_scores_and_protocol(nodewise: Nodewise, vectors: Path) -> None:
    out = nodewise("evaluate", "vectors.parquet", *OPTIONS).out
    header, _, row = [line.split() for line in out.splitlines() if line][1:4]
    assert header == ["accuracy", "std", "n", "kNN", "NMI", "ARI", "silhouette", "macro-F1"]
    assert row[:4] == ["vectors.parquet", "100.00", "0.00", "10"]
    assert len(row) == len(header) + 1
    assert "over 10 random splits" in out


def test_there_is_no_public_split_of_ones_own_labels(refused: Callable[..., str], vectors: Path) -> None:
    assert "[no-split]" in refused("evaluate", vectors, "--labels", "labels.csv", "--split", "public", "-q")


def test_labels_without_a_split_are_dealt_into_folds(nodewise: Nodewise, vectors: Path) -> None:
    report = json.loads(nodewise("evaluate", vectors, "--labels", "labels.csv", "--json").out)
    assert "5 stratified folds, dealt 2 times" in report["protocol"]
    assert report["scores"]["accuracy"]["n"] == 10
    low, high = report["interval"]
    assert low <= report["scores"]["accuracy"]["mean"] <= high
    out = nodewise("evaluate", vectors, "--labels", "labels.csv", "--split", "folds:4", "--repeats", 1).out
    assert "95% interval" in out
    assert "4 stratified folds" in out
    assert nodewise("evaluate", vectors, "--labels", "labels.csv", "--split", "folds:2").code == 2


def test_measurements_get_a_regression(nodewise: Nodewise, refused: Callable[..., str], vectors: Path) -> None:
    Path("sizes.csv").write_text("id,size\n" + "".join(f"n{i},{(i % 2) + i / 1000}\n" for i in range(60)))
    report = json.loads(nodewise("evaluate", vectors, "--labels", "sizes.csv", "--json").out)
    assert report["scores"]["r2"]["mean"] > 0.8
    assert report["scores"]["mae"]["mean"] < 0.4
    assert "classes, not measurements" in refused("evaluate", vectors, "-l", "labels.csv", "--task", "regression")
    assert "measurements, not classes" in refused("classify", vectors, "-l", "sizes.csv", "-o", "guesses.csv")


@pytest.mark.parametrize("probe", ["sklearn", "dgi", "mvgrl", "graphmae", "cca", "grace", "sugrl"])
def test_every_probe_works_on_a_given_split(nodewise: Nodewise, vectors: Path, probe: str) -> None:
    with_split(lambda i: ("train", "val", "test")[i // 20])
    report = json.loads(nodewise("evaluate", vectors, "-l", "labels.csv", "--probe", probe, "--json").out)
    assert report["protocol"].startswith(f"linear classifier (probe {probe}): ")
    assert "public split, 20/20/20" in report["protocol"]
    assert report["scores"]["accuracy"]["mean"] > 0.9


def test_seeds_name_the_random_splits(nodewise: Nodewise, vectors: Path) -> None:
    def splits(*options: object) -> list[int]:
        found: list[int] = json.loads(nodewise("evaluate", vectors, *OPTIONS, *options, "--json").out)["split_seeds"]
        return found

    assert splits("--repeats", 2) == [0, 1]
    assert splits("--repeats", 2, "--seed", 5) == [5, 6]


def test_the_oracle_is_a_column_of_its_own(nodewise: Nodewise, vectors: Path) -> None:
    with_split(lambda i: ("train", "val", "test")[i // 20])
    plain = json.loads(nodewise("evaluate", vectors, "-l", "labels.csv", "--json").out)
    asked = json.loads(nodewise("evaluate", vectors, "-l", "labels.csv", "--oracle", "--json").out)
    assert "oracle_accuracy" not in plain["scores"]
    assert asked["scores"].pop("oracle_accuracy")["mean"] >= asked["scores"]["accuracy"]["mean"]
    assert asked["scores"] == plain["scores"]
    assert "not comparable" in nodewise("evaluate", vectors, "-l", "labels.csv", "--oracle").out


class TestRuns:
    """Runs, which know their graph."""

    SPLIT = ("--split", "random:5x10x10", "--repeats", 2, "--probe", "sklearn", "--json")

    def test_raw_features_and_a_random_encoder_come_along(
        self, nodewise: Nodewise, embedded: Callable[..., Path]
    ) -> None:
        outcome = nodewise("evaluate", embedded(), *self.SPLIT)
        assert (outcome.code, outcome.err) == (0, ""), outcome.err
        report = json.loads(outcome.out)
        assert [row["name"] for row in report["comparison"]] == ["raw features", "smoothed features", "random encoder"]
        assert "the best untrained baseline" in report["verdict"]
        for row in (report, *report["comparison"]):
            assert 0 <= row["scores"]["link_auc"]["mean"] <= 1
            assert row["protocol"] == report["protocol"]
        scores = [row["scores"]["accuracy"]["values"] for row in (report, *report["comparison"])]
        assert scores[0] != scores[1] != scores[2]

    def test_the_random_encoder_is_the_untrained_run(self, nodewise: Nodewise, embedded: Callable[..., Path]) -> None:
        # An untrained GCN has random weights and is its own random encoder: every score of the two rows must agree.
        run = embedded("untrained", "--set", "encoder.kind=gcn", "--set", "training.steps=0", "--seed", 4)
        report = json.loads(nodewise("evaluate", run, *self.SPLIT).out)
        assert report["comparison"][2]["scores"] == report["scores"]

    def test_the_mean_is_over_runs(self, nodewise: Nodewise, embedded: Callable[..., Path]) -> None:
        runs = [embedded(f"seed{seed}", "--seed", seed) for seed in (2, 5)]
        together = json.loads(nodewise("evaluate", *runs, *self.SPLIT).out)
        assert together["encoder_seeds"] == together["comparison"][2]["encoder_seeds"] == [2, 5]
        alone = [json.loads(nodewise("evaluate", run, *self.SPLIT).out)["scores"]["accuracy"] for run in runs]
        assert together["scores"]["accuracy"]["values"] == alone[0]["values"] + alone[1]["values"]
        assert together["scores"]["accuracy"]["n"] == 4
        assert "2 encoder seeds x 2 random splits" in together["protocol"]

    def test_the_table_says_what_training_saw(self, nodewise: Nodewise, embedded: Callable[..., Path]) -> None:
        out = nodewise("evaluate", embedded(), *self.SPLIT[:-1]).out
        assert "link AUC" in out
        assert "link AUC on training edges, so optimistic" in out

    def test_without_its_graph_a_run_is_still_scored(self, nodewise: Nodewise, embedded: Callable[..., Path]) -> None:
        run = embedded()
        Path("edges.csv").rename("moved.csv")
        outcome = nodewise("evaluate", run, *self.SPLIT)
        assert outcome.code == 0
        assert outcome.err.count("\n") == 1
        assert "--graph GRAPH" in outcome.err
        assert json.loads(outcome.out)["comparison"] == []
        named = ("--graph", "moved.csv", "--features", "nodes.csv")
        assert len(json.loads(nodewise("evaluate", run, *self.SPLIT, *named).out)["comparison"]) == 3
        assert nodewise("evaluate", run, *self.SPLIT, "-q").err == ""

    def test_features_belong_to_a_graph(self, refused: Callable[..., str], embedded: Callable[..., Path]) -> None:
        assert "--graph GRAPH" in refused("evaluate", embedded(), *self.SPLIT, "--features", "nodes.csv")

    def test_structural_features_are_called_that(self, nodewise: Nodewise, ring: Path) -> None:
        nodewise("embed", "edges.csv", "--labels", "labels.csv", "-o", "run", *SMALL)
        report = json.loads(nodewise("evaluate", "run", *self.SPLIT).out)
        assert report["comparison"][0]["name"] == "structural features"

    def test_vectors_with_a_data_sets_name_get_its_labels_and_split(self, nodewise: Nodewise) -> None:
        generator = np.random.default_rng(0)
        shuffled = generator.permutation(3327)
        Embeddings(NodeIds(shuffled), generator.random((3327, 2), np.float32)).to_parquet("vectors.parquet")
        outcome = nodewise("evaluate", "vectors.parquet", "--graph", "citeseer", "--probe", "dgi", "--json")
        report = json.loads(outcome.out)
        assert report["dataset"] == "citeseer"
        assert "public split, 120/500/1000" in report["protocol"]
        assert report["comparison"][0]["scores"]["accuracy"]["mean"] > 0.45
        assert report["scores"]["accuracy"]["mean"] < 0.35


class TestBadInput:
    def labels(self, refused: Callable[..., str], rows: str, *options: object) -> str:
        Path("mine.csv").write_text(rows)
        return refused("evaluate", "vectors.parquet", "--labels", "mine.csv", "--split", "random:1x1x1", "-q", *options)

    def test_an_unknown_probe(self, refused: Callable[..., str], vectors: Path) -> None:
        assert "did you mean 'dgi'?" in refused("evaluate", vectors, *OPTIONS[:-2], "--probe", "dig")

    def test_an_oracle_without_steps(self, refused: Callable[..., str], vectors: Path) -> None:
        assert "'sklearn' preset has no steps" in refused("evaluate", vectors, *OPTIONS, "--oracle", "-q")

    def test_repeats_of_the_public_split(self, refused: Callable[..., str], vectors: Path) -> None:
        with_split(lambda i: ("train", "val", "test")[i // 20])
        message = refused("evaluate", vectors, "--labels", "labels.csv", "--repeats", 3, "-q")
        assert "3 repeats of one given split" in message

    def test_one_class(self, refused: Callable[..., str], vectors: Path) -> None:
        message = self.labels(refused, "id,label\nn1,red\nn2,red\n")
        assert "mine.csv: only the class 'red'; at least two classes are needed" in message

    def test_no_class(self, refused: Callable[..., str], vectors: Path) -> None:
        assert "mine.csv: no label at all" in self.labels(refused, "id,label\nn1,\nn2,\n")

    def test_a_class_with_one_member(self, refused: Callable[..., str], nodewise: Nodewise, vectors: Path) -> None:
        lines = "id,label\n" + "".join(f"n{i},{'red' if i % 2 else 'green'}\n" for i in range(10)) + "n12,blue\n"
        assert "the class 'blue' has one member, node 'n12'" in self.labels(refused, lines, "--strict")
        outcome = nodewise("evaluate", vectors, "-l", "mine.csv", "--json")
        assert "a class of one member is left out of the scores, such as 'blue'" in outcome.err

    def test_labels_of_another_type(self, refused: Callable[..., str], vectors: Path) -> None:
        message = self.labels(refused, "id,label\n1,red\n2,blue\n")
        assert all(word in message for word in ("mine.csv", "integer", "string"))

    def test_labels_for_other_nodes(self, refused: Callable[..., str], nodewise: Nodewise, vectors: Path) -> None:
        lines = Path("labels.csv").read_text() + "m2,blue\n"
        assert "[other-nodes]" in self.labels(refused, lines, "--strict")
        assert "[other-nodes]" in self.labels(refused, "id,label\nm1,red\nm2,blue\n")  # not a single one is known
        Path("mine.csv").write_text(lines)
        outcome = nodewise("evaluate", vectors, "-l", "mine.csv", *OPTIONS[2:])
        assert outcome.code == 0
        assert "mine.csv: 1 label of a node without a vector left out, such as 'm2' (line" in outcome.err

    def test_a_column_of_labels_can_be_named(
        self, nodewise: Nodewise, refused: Callable[..., str], vectors: Path
    ) -> None:
        text = (
            Path("labels.csv")
            .read_text()
            .replace("id,label", "who,kind,size")
            .replace("\n", ",0\n")
            .replace(",0", "", 1)
        )
        assert "which column holds the labels" in self.labels(refused, text)
        columns = ("--id-column", "who", "--label-column", "kind")
        outcome = nodewise("evaluate", vectors, "-l", "mine.csv", *OPTIONS[2:], *columns, "--json")
        assert json.loads(outcome.out)["scores"]["accuracy"]["mean"] == 1

    def test_too_few_labels_for_the_split(self, refused: Callable[..., str], vectors: Path) -> None:
        message = refused("evaluate", vectors, "-l", "labels.csv", "--split", "random:20x500x1000", "-q")
        assert "ask for fewer" in message

    def test_an_unlabeled_node_in_the_split(self, refused: Callable[..., str], vectors: Path) -> None:
        with_split(lambda i: ("train", "val", "test")[i // 20], labeled=lambda i: i != 45)
        message = refused("evaluate", vectors, "-l", "labels.csv", "-q")
        assert "1 node of the test part of the split without a label, such as 'n45'" in message

    def test_an_unknown_part_of_the_split(self, refused: Callable[..., str], vectors: Path) -> None:
        with_split(lambda i: ("train", "val", "tset")[i // 20])
        assert "labels.csv, line 42: 'tset'" in refused("evaluate", vectors, "-l", "labels.csv", "-q")

    def test_a_split_with_an_empty_part(self, refused: Callable[..., str], vectors: Path) -> None:
        with_split(lambda i: ("train", "test", "test")[i // 20])
        assert "no val nodes" in refused("evaluate", vectors, "-l", "labels.csv", "-q")

    @pytest.mark.parametrize("value", ["nan", "inf"])
    def test_vectors_that_are_no_numbers(self, refused: Callable[..., str], vectors: Path, value: str) -> None:
        Path("mine.csv").write_text(f"id,x,y\nn1,1,2\nn2,{value},4\n")
        message = refused("evaluate", "mine.csv", *OPTIONS)
        assert "mine.csv" in message
        assert "n2" in message or "line 3" in message

    def test_a_part_of_the_nodes_is_enough_and_said(self, nodewise: Nodewise, vectors: Path) -> None:
        lines = Path("labels.csv").read_text().splitlines(keepends=True)
        Path("labels.csv").write_text("".join(lines[:41]))
        outcome = nodewise("evaluate", vectors, *OPTIONS[:2], "--split", "random:5x10x10", "--json")
        assert outcome.code == 0, outcome.err
        assert "20 of 60 nodes have no label and are left out" in outcome.err


def test_shards_are_evaluated_as_the_run_they_are_of(nodewise: Nodewise, embedded: Callable[..., Path]) -> None:
    run = embedded("run")
    files = ("edges.csv", "--features", "nodes.csv", "--quiet")
    assert nodewise("transform", run, *files, "--shards", "-o", "vectors").code == 0
    options = ("--labels", "labels.csv", "--split", "random:3x5x10", "--probe", "sklearn", "--json", "--quiet")
    found, expected = (json.loads(nodewise("evaluate", path, *options).out) for path in ("vectors", run))
    assert found["scores"]["accuracy"] == expected["scores"]["accuracy"]


def test_measurements_that_are_all_equal(embedded: Callable[..., Path], refused: Callable[..., str]) -> None:
    embedded()
    Path("same.csv").write_text("id,value\n" + "".join(f"paper_{i},2.5\n" for i in range(40)))
    said = refused("evaluate", "run", "--labels", "same.csv", "-q")
    assert "same.csv: all values are equal, 2.5" in said
    assert said.endswith("[too-few-labels]\n")
