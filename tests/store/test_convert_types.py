"""Types of edges in files: read whole or converted in pieces, they are the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nodewise.core.errors import InputError
from nodewise.graph.graph import Graph
from nodewise.read.read import read_graph
from nodewise.store.convert import LEAST_MEMORY, Conversion, convert, write_store

ROWS = 400  # of which a conversion in the least memory reads some at a time


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(4)
    ends = draw.integers(0, 60, (2, ROWS))
    types = np.array(["buys", "likes", "", "knows"])[draw.integers(0, 4, ROWS)]
    types[: ROWS // 4] = "knows"  # so that batches number types in ways of their own
    weights = draw.integers(1, 9, ROWS)
    rows = "".join(f"n{s},n{t},{k},{w}\n" for s, t, k, w in zip(*ends, types, weights, strict=True))
    Path("edges.csv").write_text(f"source,target,type,weight\n{rows}")
    columns = {"source": [f"n{s}" for s in ends[0]], "target": [f"n{t}" for t in ends[1]]}
    pq.write_table(pa.table(columns | {"type": types.tolist(), "weight": weights}), "edges.parquet", row_group_size=50)
    Path("nodes.csv").write_text("id,x\n" + "".join(f"n{i},{i % 7}\n" for i in reversed(range(60))))
    return tmp_path


def same(one: Graph, other: Graph) -> bool:
    def arrays(graph: Graph) -> list[Any]:
        faces = list(graph.faces[:3]) if graph.faces is not None else []
        typed = [] if graph.typed is None else [*graph.typed[:3], graph.typed.weights]
        return [graph.indptr, graph.indices, graph.weights, *faces, *typed]

    pairs = zip(arrays(one), arrays(other), strict=True)
    names = [None if graph.typed is None else graph.typed.names for graph in (one, other)]
    return names[0] == names[1] and all(
        a is b is None if a is None or b is None else np.array_equal(a, b) for a, b in pairs
    )


@pytest.mark.parametrize("file", ["edges.csv", "edges.parquet"])
@pytest.mark.parametrize("features", [None, Path("nodes.csv")])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"edge_types": "buys,knows"},
        {"edge_types": "likes", "directed": True},
        {"unweighted": True},
        {"metapath": "buys,buys"},
    ],
)
def test_a_store_has_the_types_that_reading_finds(
    files: Path, file: str, features: Path | None, options: dict[str, Any]
) -> None:
    expected = read_graph(file, features=features, **options)
    convert(Conversion(Path(file), features, memory=LEAST_MEMORY, columns=tuple(options.items())), "graph.store")
    stored = read_graph("graph.store")
    assert same(stored, expected)
    assert (stored.typed is None) == ("metapath" in options)
    assert [note for note in stored.notes if "used: " in note] == [note for note in expected.notes if "used: " in note]
    expected.to_npz("graph.npz")
    assert same(read_graph("graph.npz"), expected)
    write_store(expected, "again.store")
    assert same(read_graph("again.store"), expected)


def test_types_of_a_store_are_chosen_when_it_is_read(files: Path) -> None:
    convert(Conversion(Path("edges.csv"), Path("nodes.csv")), "graph.store")
    Path("labels.csv").write_text("id,label\nn1,a\nn2,b\n")
    for options in ({"edge_types": "buys"}, {"metapath": "likes,buys"}):
        expected = read_graph("edges.csv", features="nodes.csv", **options)
        assert same(read_graph("graph.store", **options), expected)
        labeled = read_graph("graph.store", labels="labels.csv", **options)
        assert same(labeled, expected)
        assert labeled.num_classes == 2
    kept = read_graph("edges.csv", edge_types=["buys", "likes"]).origin
    assert kept is not None
    assert kept["edge_types"] == "buys,likes"


def test_a_column_of_another_name_and_one_that_is_none(files: Path) -> None:
    plain = read_graph("edges.csv")
    Path("edges.csv").write_text(Path("edges.csv").read_text().replace(",type,", ",how,"))
    assert read_graph("edges.csv").typed is None
    assert same(read_graph("edges.csv", type_column="how"), plain)
    assert same(read_graph("edges.csv", type_column="3"), plain)
    with pytest.raises(InputError, match="name two columns"):
        read_graph("edges.csv", type_column="source")
    rows = "".join(f"{i},{i + 1},t{i}\n" for i in range(1500))
    Path("many.csv").write_text(f"source,target,type\n{rows}")
    many = read_graph("many.csv")
    assert many.typed is None
    assert any("types of edges not used (" in note for note in many.notes)
    convert(Conversion(Path("many.csv"), memory=LEAST_MEMORY), "many.store")
    assert read_graph("many.store").typed is None
    for call in (
        lambda: read_graph("many.csv", type_column="type"),
        lambda: convert(Conversion(Path("many.csv"), columns=(("type_column", "type"),)), "refused.store"),
    ):
        with pytest.raises(InputError, match="1,500 different types"):
            call()
    pq.write_table(pa.table({"source": [1, 2], "target": [2, 3], "type": [0.5, 1.5]}), "odd.parquet")
    assert read_graph("odd.parquet").typed is None
    pq.write_table(pa.table({"source": [1, 2], "target": [2, 3], "type": [7, None]}), "numbers.parquet")
    assert read_graph("numbers.parquet").typed.counts() == {"7": 1}
    frame = pa.table({"source": [1, 2, 3], "target": [2, 3, 1], "type": ["a", "b", "b"]})
    assert read_graph(frame, edge_types="b").num_edges == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"edge_types": "bys"}, "did you mean 'buys'?"),
        ({"edge_types": "buys", "metapath": "buys,buys"}, "exclude each other"),
        ({"metapath": "buys,sells"}, "no edge is of type 'sells'"),
    ],
)
def test_nothing_is_left_of_what_was_refused(files: Path, options: dict[str, Any], said: str) -> None:
    before = sorted(files.iterdir())
    for call in (
        lambda: read_graph("edges.csv", **options),
        lambda: convert(Conversion(Path("edges.csv"), columns=tuple(options.items())), "refused.store"),
    ):
        with pytest.raises(InputError) as error:
            call()
        assert said in str(error.value)
    assert sorted(files.iterdir()) == before


def test_a_store_whose_types_are_no_types_is_refused(files: Path) -> None:
    graph = read_graph("edges.csv")
    assert graph.typed is not None
    for wrong in (
        graph.typed._replace(names=("one",)),
        graph.typed._replace(sources=graph.typed.sources + 60),
        graph.typed._replace(codes=graph.typed.codes[1:]),
        graph.typed._replace(targets=graph.typed.targets.astype(np.int64)),
    ):
        with pytest.raises(InputError, match="edges with types must be"):
            replace(graph, typed=wrong)
