"""A run knows what was done, and does whatever can be done with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from nodewise import read_graph
from nodewise.core.errors import InputError
from nodewise.graph.ids import NodeIds
from nodewise.methods.node_embedder import NodeEmbedder
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
    assert [row.name for row in run.evaluate(split="random:5x10x10", repeats=2).rows[:2]] == [
        "raw features",
        "random encoder",
    ]
    assert run.evaluate(split="random:5x10x10", repeats=2).rows[-1].scores["accuracy"].n == 2


def test_a_graph_that_was_not_read_is_of_no_file(ring: Path) -> None:
    graph = read_graph("edges.csv", features="nodes.csv")
    made = type(graph).from_edges(*np.nonzero(np.triu(np.ones((6, 6)), 1)), features=np.eye(6, dtype=np.float32))
    run = NodeEmbedder(steps=1, batch_size=4, dimension=4, device="cpu").fit(made).save("made", made)
    with pytest.raises(InputError, match="does not say which graph it is of"):
        run.graph()


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


def test_unlabelled_nodes_are_classified(embedded: Embedded) -> None:
    Path("some.csv").write_text("id,label\n" + "".join(f"paper_{i},{'ab'[i // 20]}\n" for i in range(0, 40, 2)))
    found = Run(embedded()).classify("some.csv")
    assert (len(found), found.learnt_from, sum(found.counts().values())) == (20, 20, 20)
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
