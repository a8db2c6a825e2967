"""Tables in memory become features as files do."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import nodewise as nw
from nodewise.core.errors import InputError
from nodewise.read.frames import FrameColumns, is_frame

COLUMNS = {
    "id": ["a", "b", "c", "d"],
    "age": [31.0, None, 45.0, 60.0],
    "city": ["Rome", "Oslo", "Rome", None],
    "paid": [True, False, None, True],
}
EDGES = "source,target\na,b\nb,c\nc,d\n"


@pytest.fixture
def edges(tmp_path: Path) -> Path:
    (tmp_path / "edges.csv").write_text(EDGES)
    return tmp_path / "edges.csv"


def pandas_frame(**changes: Any) -> Any:
    return pytest.importorskip("pandas").DataFrame(COLUMNS | changes)


def polars_frame() -> Any:
    return pytest.importorskip("polars").DataFrame(COLUMNS)


@pytest.mark.parametrize("frame", [lambda: pa.table(COLUMNS), pandas_frame, polars_frame], ids=["arrow", "pd", "pl"])
def test_a_frame_is_read_as_its_file_is(frame: Any, edges: Path) -> None:
    import pyarrow.csv

    pyarrow.csv.write_csv(pa.table(COLUMNS), edges.with_name("nodes.csv"))
    from_file = nw.read_graph(edges, features=edges.with_name("nodes.csv"), columns="-paid")
    graph = nw.read_graph(edges, features=frame(), columns={"paid": None})
    assert graph.table is not None
    assert graph.table.names == ("age", "age is missing", "city=Oslo", "city=Rome", "city is missing")
    assert graph.ids.to_list() == from_file.ids.to_list()
    assert np.array_equal(graph.features, from_file.features)
    assert graph.origin is None  # it cannot be read again


def test_the_index_of_pandas_names_the_nodes(edges: Path) -> None:
    frame = pandas_frame().set_index("id")
    graph = nw.read_graph(edges, features=frame[["age", "city"]])
    assert graph.ids.to_list() == ["a", "b", "c", "d"]
    frame.index.name = None
    assert nw.read_graph(edges, features=frame).ids.to_list() == ["a", "b", "c", "d"]


def test_rows_in_the_order_of_the_nodes() -> None:
    frame = pa.table({"kind": ["x", "y", "x", "y"], "size": [1.0, 2.0, 3.0, None]})
    graph = nw.Graph.from_edges([0, 1, 2], [1, 2, 3], features=frame, columns="size:number")
    assert graph.table is not None
    assert graph.features.shape == (4, 4)
    numbers = pa.table({"x": [1.0, 2.0, 3.0, 4.0], "y": [4.0, 3.0, 2.0, 1.0]})
    plain = nw.Graph.from_edges([0, 1, 2], [1, 2, 3], features=numbers)
    assert plain.table is None
    assert np.array_equal(plain.features, np.array([[1, 4], [2, 3], [3, 2], [4, 1]], np.float32))


def test_new_rows_are_prepared_as_those_of_training(edges: Path) -> None:
    graph = nw.read_graph(edges, features=pa.table(COLUMNS))
    model = nw.NodeEmbedder(steps=2, dimension=8).fit(graph)
    new = pa.table({"id": ["a", "e"], "age": [31.0, 99.0], "city": ["Rome", "Lima"], "paid": [True, None]})
    (edges.with_name("new.csv")).write_text("source,target\na,e\n")
    with pytest.raises(InputError) as refused:
        model.transform(nw.read_graph(edges.with_name("new.csv"), features=new))
    assert refused.value.code == "other-features"
    fresh = nw.read_graph(edges.with_name("new.csv"), features=new, like=graph)
    assert fresh.table == graph.table
    assert np.array_equal(fresh.features[0], graph.features[0])
    assert model.transform(fresh).vectors.shape == (2, 8)


def test_a_graph_in_one_file_keeps_what_became_of_the_columns(edges: Path, tmp_path: Path) -> None:
    graph = nw.read_graph(edges, features=pa.table(COLUMNS))
    graph.to_npz(tmp_path / "graph.npz")
    again = nw.Graph.from_npz(tmp_path / "graph.npz")
    assert again.table == graph.table
    assert np.array_equal(again.features, graph.features)


def test_what_is_no_frame() -> None:
    assert not any(map(is_frame, (None, "nodes.csv", Path("x"), np.ones((2, 2)), [[1, 2]])))
    with pytest.raises(InputError, match="'x'"):
        FrameColumns.of(pa.table([[1], [2]], names=["x", "x"]))


def test_a_frame_that_was_filtered_is_not_keyed_by_its_row_numbers() -> None:
    pd = pytest.importorskip("pandas")
    edges = pd.DataFrame({"from": ["x", "a", "b", "c"], "to": ["y", "b", "c", "d"]})[1:]
    labels = pd.DataFrame({"who": ["x", "b", "c"], "kind": ["n", "k", "m"]})[1:]
    graph = nw.read_graph(edges, features=pandas_frame(), labels=labels)
    assert (list(graph.ids), graph.num_edges) == (["a", "b", "c", "d"], 3)
    assert graph.labels is not None
    assert graph.labels.tolist() == [-1, 0, 1, -1]
    keyed = labels.set_index("who")
    assert nw.read_graph(edges, features=pandas_frame(), labels=keyed).labels.tolist() == [-1, 0, 1, -1]


def test_categories_lists_and_lazy_frames_of_polars_are_what_they_hold() -> None:
    pl = pytest.importorskip("polars")
    ids, tags = list("abcd"), [["u", "v"], ["v"], ["u"], ["v"]]
    ends = {"source": pl.Series(ids[:3], dtype=pl.Categorical), "target": pl.Series(ids[1:], dtype=pl.Enum(ids))}
    names, colors = pl.Series(ids, dtype=pl.Categorical), pl.Series(list("xyxy"), dtype=pl.Enum(["x", "y"]))
    rows = {"id": names, "color": colors, "tags": tags, "kinds": pl.Series(tags, dtype=pl.List(pl.Categorical))}
    labels = pl.DataFrame({"id": names, "label": pl.Series(list("pqqp"), dtype=pl.Categorical)})
    plain = {"id": ids, "color": list("xyxy"), "tags": tags, "kinds": tags}
    expected = nw.read_graph(pa.table({"source": ids[:3], "target": ids[1:]}), features=pa.table(plain))
    for lazy in (False, True):
        frames = [pl.DataFrame(ends), pl.DataFrame(rows), labels]
        edges, features, classes = (frame.lazy() for frame in frames) if lazy else frames
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            graph = nw.read_graph(edges, features=features, labels=classes)
        assert graph.ids.to_list() == ids
        assert graph.class_names == ("p", "q")
        assert np.array_equal(graph.features, expected.features)


def test_a_type_that_arrow_does_not_know_is_named_with_its_column(edges: Path) -> None:
    pl = pytest.importorskip("polars")
    frame = polars_frame().with_columns(pl.Series("big", [1, 2, 3, 4], dtype=pl.Int128))
    with pytest.raises(InputError, match="the column 'big' is of type Int128, which cannot be read"):
        nw.read_graph(edges, features=frame)


def test_labels_may_be_a_series_or_a_mapping_and_features_a_series(edges: Path) -> None:
    pd = pytest.importorskip("pandas")
    known = {"d": "y", "a": "x", "b": "y"}
    age = pd.Series([3.0, 1.0, 2.0, 5.0], index=list("dabc"), name="age")
    for labels in (known, pd.Series(known), pd.Series(known, name="class"), pd.Series(known).astype("category")):
        graph = nw.read_graph(edges, features=age, labels=labels)
        assert graph.labels is not None
        assert dict(zip(graph.ids, graph.labels.tolist(), strict=True)) == {"d": 1, "a": 0, "b": 1, "c": -1}
        assert graph.class_names == ("x", "y")
        assert graph.features.shape == (4, 1)
    with pytest.raises(InputError, match="ids of one type and labels of one type"):
        nw.read_graph(edges, labels={"a": "x", 2: "y"})
    with pytest.raises(InputError, match="labels must be the name of a file, a table, or a mapping"):
        nw.read_graph(edges, labels=["x", "y", "x", "y"])


def _ring(count: int = 8) -> Any:
    nodes = np.arange(count)
    return pytest.importorskip("pandas").DataFrame({"source": nodes, "target": np.roll(nodes, 1)})


@pytest.mark.parametrize("turned", ["sliced", "sorted", "named"])
def test_an_index_that_is_a_range_names_nodes_as_any_other_does(turned: str) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": np.arange(8.0)}, index=pd.RangeIndex(8, name="id" if turned == "named" else None))
    given = frame[::-1] if turned != "sorted" else frame.sort_values("x", ascending=False)
    graph = nw.read_graph(_ring(), features=given, labels=pd.Series(list("abcdefgh"))[::-1])
    assert graph.labels is not None
    assert list(graph.ids) == graph.features[:, 0].tolist() == graph.labels.tolist() == list(range(7, -1, -1))
    with pytest.raises(InputError) as refused:
        nw.read_graph(_ring(), features=pd.DataFrame({"x": np.arange(20.0)}).iloc[10:18])
    assert refused.value.code == "other-nodes"


@pytest.mark.parametrize("told", [{}, {"id_column": "node"}], ids=["named like ids", "named by the user"])
def test_an_index_beside_ids_only_counts_rows(told: dict[str, Any]) -> None:
    pd = pytest.importorskip("pandas")
    for rows in (slice(3, 11), [10, 5, 4, 3, 6, 7, 8, 9]):
        frame = pd.DataFrame({"x": np.arange(11.0), "node": [99, 98, 97, *range(8)]}).iloc[rows]
        graph = nw.read_graph(_ring(), features=frame, **told)
        assert graph.features.shape == (8, 1)
        assert (graph.features[:, 0] - 3).tolist() == list(graph.ids)
    named = frame.assign(node=[f"n{node}" for node in frame.node])
    texts = nw.read_graph(_ring().map(lambda node: f"n{node}"), features=named)
    assert texts.features.shape == (8, 1)
    turned = _ring().rename(columns={"source": "u", "target": "v"}).rename_axis("id")[::-1]
    assert nw.read_graph(turned).num_edges == 8


def test_rows_that_are_called_something_are_of_the_nodes_called_so() -> None:
    pd = pytest.importorskip("pandas")
    edges, ids, back = _ring(), [f"n{i}" for i in range(8)], np.arange(8.0)[::-1]
    column = pd.DataFrame({"id": ids[::-1], "x": back})
    for features in (column, column.set_index("id"), column.set_index("id").rename_axis("customer"), pa.table(column)):
        graph = nw.Graph.from_edges(edges.source, edges.target, ids=ids, features=features)
        assert graph.features[:, 0].tolist() == list(range(8))
    numbered = pd.DataFrame({"x": np.arange(8.0)})
    assert nw.Graph.from_edges(edges.source, edges.target, features=numbered[::-1]).features[:, 0].tolist() == [
        *range(8)
    ]
    in_order = nw.Graph.from_edges(edges.source, edges.target, features=column)
    assert in_order.features[:, 0].tolist() == back.tolist()
    assert in_order.notes == ("the table of features: rows in the order of the nodes; 'id' is not used",)
    for frame, given in (
        (numbered[::-1], ids),
        (numbered.set_index(numbered.index + 10), None),
        (column, ids[::-2] * 2),
    ):
        with pytest.raises(InputError) as refused:
            nw.Graph.from_edges(edges.source, edges.target, ids=given, features=frame)
        assert refused.value.code in ("other-nodes", "other-id-type", "duplicate-id")


def test_a_series_of_labels_or_kinds_is_of_the_nodes_in_its_index() -> None:
    pd = pytest.importorskip("pandas")
    edges, ids = _ring(4), list("wxyz")
    turned = pd.Series(["a", "b", "a", "a"])[::-1]
    graph = nw.Graph.from_edges(edges.source, edges.target, labels=turned, kinds=turned)
    assert graph.labels is not None
    assert graph.kinds is not None
    assert graph.labels.tolist() == graph.kinds.tolist() == [0, 1, 0, 0]
    some = pd.Series([1, 0], index=["z", "x"])
    known = nw.Graph.from_edges(edges.source, edges.target, ids=ids, labels=some, class_names=["p", "q"])
    assert known.labels is not None
    assert known.labels.tolist() == [-1, 0, -1, 1]
    for labels in (turned, pd.Series(["a"], index=["v"])):
        with pytest.raises(InputError, match=r"labels: .*reset_index"):
            nw.Graph.from_edges(edges.source, edges.target, ids=ids, labels=labels)


def test_a_mapping_of_labels_or_kinds_is_of_the_ids_that_are_its_keys() -> None:
    edges, ids = ([0, 1, 2], [1, 2, 3]), ["c", "a", "d", "b"]
    graph = nw.Graph.from_edges(*edges, ids=ids, labels={"a": "A", "b": "B", "c": "C"}, kinds={"d": "x", "c": "y"})
    assert graph.labels is not None
    assert [None if code < 0 else graph.class_names[code] for code in graph.labels] == ["C", "A", None, "B"]
    assert graph.kinds is not None
    assert graph.kinds.tolist() == [1, -1, 0, -1]
    placed = nw.Graph.from_edges(*edges, labels={3: 1, 0: 0}, class_names=["p", "q"])
    assert placed.labels is not None
    assert placed.labels.tolist() == [0, -1, -1, 1]
    for labels, code in (({"z": "A"}, "other-nodes"), ({0: "A"}, "other-id-type")):
        with pytest.raises(InputError) as caught:
            nw.Graph.from_edges(*edges, ids=ids, labels=labels)
        assert caught.value.code == code


def test_a_series_of_polars_is_in_the_order_of_the_nodes() -> None:
    pl = pytest.importorskip("polars")
    graph = nw.Graph.from_edges([0, 1], [1, 2], labels=pl.Series(["b", None, "a"]), kinds=pl.Series([1, 2, 1]))
    assert graph.labels is not None
    assert graph.labels.tolist() == [1, -1, 0]
    assert graph.kind_names == (1, 2)
