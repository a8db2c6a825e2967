"""Calls from Python that once ended in another library's words, or were taken for something else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import scipy.sparse as sp
import torch
from tests.graphs import small_graph

import nodewise as nw
from nodewise.core.errors import InputError

ENDS = ([0, 1, 2], [1, 2, 3])


@pytest.mark.parametrize("index", [None, pd.MultiIndex.from_tuples([("a", "b"), ("b", "c"), ("c", "a")])])
def test_a_single_column_is_no_table_of_edges(index: pd.MultiIndex | None) -> None:
    with pytest.raises(InputError) as refused:
        nw.read_graph(pd.Series([1.0, 2.0, 3.0], index=index))
    assert refused.value.code == "bad-argument"


def test_columns_in_runs_are_read() -> None:
    ids = pc.run_end_encode(pa.array(["a", "a", "b"]))
    graph = nw.read_graph(pa.table({"source": ids, "target": pa.array(["b", "c", "c"])}), labels={"a": 1, "b": 2})
    assert list(graph.ids) == ["a", "b", "c"]
    assert graph.num_edges == 3


@pytest.mark.parametrize(
    "form", [lambda x: x.bfloat16().requires_grad_(), lambda x: x.to_sparse(), lambda x: x.to_sparse_csr()]
)
@pytest.mark.filterwarnings("ignore:Sparse CSR")
def test_tensors_of_any_form_are_features(form) -> None:
    given = torch.arange(8.0).view(4, 2)
    graph = nw.Graph.from_edges(*ENDS, features=form(given))
    kept = graph.features
    np.testing.assert_array_equal(kept.toarray() if sp.issparse(kept) else kept, given)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"features": np.ma.array(np.ones((4, 1)), mask=[[0], [1], [0], [0]])}, "bad-argument"),
        ({"weights": np.ma.array([1.0, 77.0, 1.0], mask=[0, 1, 0])}, "bad-argument"),
        ({"weights": [1 + 2j, 1, 1]}, "bad-weight"),
    ],
)
def test_what_numpy_would_drop_silently_is_refused(given: dict[str, Any], code: str) -> None:
    with pytest.raises(InputError) as refused:
        nw.Graph.from_edges(*ENDS, **given)
    assert refused.value.code == code


def test_features_too_small_for_single_precision_are_refused() -> None:
    graph = nw.Graph.from_edges(*ENDS, features=np.full((4, 2), 1e-40))
    with pytest.raises(InputError, match="too small for single precision"):
        nw.NodeEmbedder(device="cpu").fit(graph)


def test_directions_of_other_libraries_graphs_are_kept() -> None:
    networkx, igraph = pytest.importorskip("networkx"), pytest.importorskip("igraph")
    ends = [(0, 1), (1, 0), (1, 2), (2, 3)]
    given = [
        networkx.DiGraph(ends),
        igraph.Graph(ends, directed=True),
        sp.coo_matrix((np.ones(4), np.transpose(ends)), shape=(4, 4)),
    ]
    for each in given:
        graph = nw.read_graph(each, directed=True)
        assert graph.directed
        assert graph.num_edges == 4


def test_two_graphs_of_one_name_are_not_taken_for_each_other() -> None:
    graphs = [nw.Graph.from_edges(*ENDS, labels=["x", "y", "x", "y"]) for _ in range(2)]
    with pytest.raises(InputError, match="two graphs to compare on are called 'graph'"):
        nw.compare(["hard"], on=graphs, seeds=[0])


def test_results_are_not_written_over_the_files_of_a_run(tmp_path: Path) -> None:
    graph = small_graph()
    run = nw.NodeEmbedder(steps=1, batch_size=8, dimension=4, device="cpu").fit(graph).save(tmp_path / "run", graph)
    before = {path.name: path.read_bytes() for path in run.path.iterdir() if path.is_file()}
    vectors, nearest = run.embeddings, run.neighbors(graph.ids[0], k=2)
    for name in ("config.toml", "labels.parquet", "embeddings.parquet"):  # a run without labels may get some
        for write in (vectors.to_csv, vectors.to_parquet, vectors.to_word2vec):
            with pytest.raises(InputError) as refused:
                write(run.path / name)
            assert refused.value.code == "overwrites-input"
    for writer in (vectors, nearest):
        with pytest.raises(InputError) as refused:
            writer.write(run.path / "embeddings.parquet")
        assert refused.value.code == "overwrites-input"
    assert {path.name: path.read_bytes() for path in run.path.iterdir() if path.is_file()} == before
    vectors.to_csv(run.path / "mine.csv")


def test_arguments_of_other_types_are_told_in_one_sentence(tmp_path: Path) -> None:
    graph = small_graph()
    run = nw.NodeEmbedder(steps=1, batch_size=8, dimension=4, device="cpu").fit(graph).save(tmp_path / "run", graph)
    igraph = pytest.importorskip("igraph")
    for wrong in (
        lambda: run.new_nodes(None),  # type: ignore[arg-type]
        lambda: run.embeddings.to_csv(3),  # type: ignore[arg-type]
        lambda: nw.Graph.from_networkx(igraph.Graph.Ring(5)),
    ):
        with pytest.raises(InputError):
            wrong()


@pytest.mark.parametrize("name", ["gae", "vgae", "maskgae"])
def test_graphs_with_few_pairs_without_an_edge(name: str) -> None:
    complete = nw.Graph.from_edges([0, 0, 1], [1, 2, 2], features=np.eye(3))
    with pytest.raises(InputError) as refused:
        nw.methods[name](epochs=3, device="cpu").fit(complete)
    assert refused.value.code == "no-non-edges"
    path = nw.Graph.from_edges([0, 1], [1, 2], features=np.eye(3))  # a draw often finds no pair here
    assert np.isfinite(nw.methods[name](epochs=30, device="cpu").fit(path).embeddings_.vectors).all()
