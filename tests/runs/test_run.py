"""A run knows what was done, and does whatever can be done with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
from pyarrow import csv
from tests.command_line import SMALL, Nodewise

import nodewise as nw
from nodewise import read_graph
from nodewise.core.errors import InputError
from nodewise.evaluation.evaluate import Report, Summary
from nodewise.evaluation.folds import corrected
from nodewise.graph.graph import Graph, Split
from nodewise.graph.ids import NodeIds
from nodewise.methods.node_embedder import NodeEmbedder
from nodewise.runs.evaluate import judged, noise_of
from nodewise.runs.run import Run

Embedded = Callable[..., Path]


def test_it_says_how_it_was_made(embedded: Embedded) -> None:
    run = Run(embedded("run", "--seed", 7))
    assert run.method is NodeEmbedder
    assert (run.seed, run.settings.training.steps, len(run.embeddings)) == (7, 2, 40)
    assert [record["step"] for record in run.metrics] == [0, 1]
    assert run.about["graph"]["nodes"] == 40
    assert repr(run) == f"Run({str(run.path)!r}: nodewise, 40 nodes, 16 dimensions)"


def test_its_graph_is_read_again_or_said_to_be_missing(embedded: Embedded) -> None:
    run = Run(embedded())
    assert run.graph().num_edges == 80
    Path("nodes.csv").unlink()
    with pytest.raises(InputError, match=r"run: the graph cannot be read: .*nodes\.csv: no such file"):
        run.graph()


def test_what_is_saved_in_python_knows_the_files_of_its_graph(ring: Path) -> None:
    graph = read_graph("edges.csv", features="nodes.csv", labels="labels.csv")
    run = NodeEmbedder(steps=2, batch_size=16, dimension=8, device="cpu").fit(graph).save("saved", graph)
    assert run.about["graph"]["sha256"]
    assert run.graph().ids == graph.ids
    assert [row.name for row in run.evaluate(split="random:5x10x10", repeats=2).rows[:3]] == [
        "raw features",
        "smoothed features",
        "random encoder",
    ]
    assert run.evaluate(split="random:5x10x10", repeats=2).rows[-1].scores["accuracy"].n == 2


def test_a_graph_that_was_not_read_is_of_no_file(ring: Path) -> None:
    graph = read_graph("edges.csv", features="nodes.csv")
    made = type(graph).from_edges(*np.nonzero(np.triu(np.ones((6, 6)), 1)), features=np.eye(6, dtype=np.float32))
    run = NodeEmbedder(steps=1, batch_size=4, dimension=4, device="cpu").fit(made).save("made", made)
    assert run.graph() is made  # while it is at hand
    assert [row.name for row in run.evaluate(labels={i: i % 2 for i in range(6)}, split="folds:3").rows][:3] == [
        "raw features",
        "smoothed features",
        "random encoder",
    ]
    with pytest.raises(InputError, match="does not say which graph it is of"):
        Run("made").graph()


def test_what_an_evaluation_left_out_is_in_what_it_shows(ring: Path) -> None:
    graph = read_graph("edges.csv", features="nodes.csv")
    run = NodeEmbedder(steps=1, batch_size=4, dimension=4, device="cpu").fit(graph).save("some", graph)
    labels = {node: i % 2 for i, node in enumerate(graph.ids) if i > 2}
    found = run.evaluate(labels=labels, split="folds:3")
    assert found.verdict in repr(found)
    assert f"3 of {graph.num_nodes} nodes have no label" in repr(found)
    assert f"3 of {graph.num_nodes} nodes have no label" in found._repr_html_()
    assert not any(name in repr(found) for name in ("Citeseer", "Cora"))


def test_labels_may_be_in_memory(embedded: Embedded) -> None:
    pd = pytest.importorskip("pandas")
    run, frame = Run(embedded()), pd.read_csv("labels.csv")
    key, name = frame.columns[:2]
    expected = run.evaluate(labels="labels.csv", split="folds:3").to_pandas()
    for given in (frame, frame.iloc[::-1], frame.set_index(key)[name], dict(zip(frame[key], frame[name], strict=True))):
        pd.testing.assert_frame_equal(run.evaluate(labels=given, split="folds:3").to_pandas(), expected)
    some = run.classify(labels=frame[:30])
    assert repr(some).startswith("Predictions(10 labels, about")
    assert some._repr_html_().count("<tr>") == 6
    assert run.report(labels=frame, attributes=frame).path.is_file()
    with pytest.raises(InputError, match=r"^the table of labels: ") as caught:
        run.evaluate(labels=frame.assign(**{key: "nobody"}).drop_duplicates(key))
    assert caught.value.code == "other-nodes"
    with pytest.raises(InputError, match="labels: list is no table"):
        run.evaluate(labels=[1, 2])


def test_an_interval_of_a_score_ends_where_scores_do() -> None:
    values = np.array([1.0, 1.0, 1.0, 0.7])
    row = Report("mine", "", "", (0,), (), {"accuracy": Summary.of(values)})
    fold = Split(np.arange(3), np.arange(0), np.arange(3, 5))
    assert corrected(values, fold).high > 1
    assert judged([row], fold).intervals["mine"].high == 1


def test_old_nodes_nearest_to_vectors_that_were_just_made(embedded: Embedded) -> None:
    run = Run(embedded())
    vectors = run.transform(run.graph())
    vectors.to_parquet("new.parquet")
    assert list(run.neighbors(new=vectors, k=2)) == list(run.neighbors(new="new.parquet", k=2))


def test_new_nodes_alone_are_embedded(embedded: Embedded) -> None:
    run = Run(embedded())
    with pytest.raises(InputError, match="there is nothing new to embed") as caught:
        run.transform(run.graph(), only="new", device="cpu")
    assert caught.value.code == "nothing-to-do"
    Path("edges.csv").write_text(Path("edges.csv").read_text() + "paper_0,paper_40\n")
    Path("nodes.csv").write_text(Path("nodes.csv").read_text() + "paper_40,1,2,3,4,5\n")
    grown = read_graph("edges.csv", features="nodes.csv")
    fresh = run.transform(grown, only="new", device="cpu")
    assert fresh.ids.to_list() == ["paper_40"]
    whole = run.transform(grown, device="cpu")
    assert np.allclose(whole.of(fresh.ids).vectors, fresh.vectors, atol=1e-5)
    with pytest.raises(InputError, match="exclude each other"):
        run.transform(grown, NodeIds(["paper_0"]), only="new")


@pytest.mark.parametrize("only", ["neww", "all", ["a"], [], 5])
def test_a_limit_that_is_none_is_refused_instead_of_embedding_all(embedded: Embedded, only: Any) -> None:
    run = Run(embedded())
    with pytest.raises(InputError, match=r"only must be 'new' or None") as told:
        run.transform(run.graph(), only=only, device="cpu")
    assert told.value.code == "bad-argument"


def test_unlabelled_nodes_are_classified(embedded: Embedded) -> None:
    Path("some.csv").write_text("id,label\n" + "".join(f"paper_{i},{'ab'[i // 20]}\n" for i in range(0, 40, 2)))
    found = Run(embedded()).classify("some.csv")
    assert (len(found), found.learned_from, sum(found.counts().values())) == (20, 20, 20)
    assert set(found.ids.to_list()) == {f"paper_{i}" for i in range(1, 40, 2)}
    assert ((found.probabilities >= 0.5) & (found.probabilities <= 1)).all()


def test_a_notebook_shows_its_page_once_there_is_one(embedded: Embedded) -> None:
    run = Run(embedded())
    assert "report() makes a page" in run._repr_html_()
    page = run.report(projection="pca")
    assert page.path == run.path / "report.html"
    assert "<iframe" in page._repr_html_()
    assert "<iframe" in run._repr_html_()


def test_a_folder_that_is_no_run(folder: Path) -> None:
    with pytest.raises(InputError, match="no such run folder") as caught:
        Run("nothing")
    assert caught.value.code == "not-a-run"


def test_measurements_color_the_page(ring: Path) -> None:
    Path("sizes.csv").write_text("id,size\n" + "".join(f"paper_{i},{i / 7:.3f}\n" for i in range(40)))
    graph = read_graph("edges.csv", features="nodes.csv")
    run = NodeEmbedder(steps=2, batch_size=16, dimension=8, device="cpu").fit(graph).save("sized", graph)
    assert "size" in run.report(labels="sizes.csv").path.read_text()


def test_small_graphs_train_on_one_thread_unless_more_are_asked_for(
    ring: Path, nodewise: Nodewise, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    learn = NodeEmbedder.fit

    def fit(self: NodeEmbedder, *arguments: Any, **options: Any) -> Any:
        seen.append(torch.get_num_threads())
        return learn(self, *arguments, **options)

    monkeypatch.setattr(NodeEmbedder, "fit", fit)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert nodewise("embed", "edges.csv", "-o", "small", *SMALL, "-q").code == 0
        assert torch.get_num_threads() == 2
        assert nodewise("embed", "edges.csv", "-o", "small", "--threads", 3, *SMALL, "-q").code == 0
    finally:
        torch.set_num_threads(before)
    assert seen == [1, 3]


def test_tables_in_memory_choose_neighbors_and_name_clusters(embedded: Embedded) -> None:
    run = Run(embedded())
    people = pa.table({"id": [f"paper_{i}" for i in range(40)], "country": ["DE", "FR"] * 20})
    csv.write_csv(people, "people.csv")
    for attributes in (people, "people.csv"):
        found = run.neighbors(["paper_0"], 5, where=["country=FR"], attributes=attributes)
        assert all(int(str(name).removeprefix("paper_")) % 2 for name in found.neighbors)
    by_table, by_file = (run.clusters(2, attributes=given) for given in (people, "people.csv"))
    assert by_table.names == by_file.names


def test_runs_are_judged_against_the_best_of_all_others() -> None:
    def row(name: str, mean: float) -> Report:
        return Report(name, "", "", (0,), (), {"accuracy": Summary.of(np.array([mean - 0.01, mean + 0.01]))})

    for order in ((0.5, 0.7), (0.7, 0.5)):
        rows = [row(f"plain {mean}", mean) for mean in order]
        assert "mine is worse than plain 0.7" in judged([*rows, row("mine", 0.6)], None, 1000).verdict
        assert "mine is better than plain 0.7" in judged([*rows, row("mine", 0.8)], None, 1000).verdict


def test_without_an_interval_a_small_difference_is_not_called_one() -> None:
    def row(name: str, mean: float) -> Report:
        return Report(name, "", "", (0,), (), {"accuracy": Summary.of([mean])})

    for gap in (0.004, -0.004):
        verdict = judged([row("plain", 0.7), row("mine", 0.7 + gap)], None, 1000).verdict
        assert verdict.startswith("mine cannot be told apart from plain, the best untrained baseline")
        assert f"{100 * gap:+.1f} points" in verdict
        assert "one run on one split has no interval, so this may be noise" in verdict
        told = judged([row("plain", 0.7), row("mine", 0.7 + gap)], None, 1_000_000).verdict
        assert f"mine is {'better' if gap > 0 else 'worse'} than plain" in told, "a million nodes tell them apart"
    assert noise_of(1000, 0.7, 0.7) == pytest.approx(0.0284, abs=1e-4)


def test_with_an_interval_what_it_does_not_exclude_is_not_significant() -> None:
    def row(name: str, *values: float) -> Report:
        return Report(name, "", "", (0,), (), {"accuracy": Summary.of(values)})

    fold = Split(np.arange(60), np.arange(60, 80), np.arange(80, 100))
    plain = row("plain", 0.70, 0.72, 0.68, 0.71, 0.69)
    close = row("mine", 0.71, 0.70, 0.70, 0.70, 0.70)
    assert "mine is not significantly better than plain" in judged([plain, close], fold).verdict
    worse = row("mine", 0.40, 0.42, 0.38, 0.41, 0.39)
    assert "mine is worse than plain, the best untrained baseline" in judged([plain, worse], fold).verdict


def test_a_graph_of_other_nodes_is_not_saved_with_the_vectors(tmp_path: Path) -> None:
    model = nw.methods["random"]()
    model.fit(Graph.from_edges([0, 1], [1, 2], num_nodes=3))
    with pytest.raises(InputError, match="has other nodes than") as error:
        model.save(tmp_path / "run", Graph.from_edges([0, 1, 2], [1, 2, 3], num_nodes=4))
    assert error.value.code == "other-nodes"
    assert not (tmp_path / "run").exists()
