"""A shop of customers and products, from files or from frames: who is found, and who gets a label."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.command_line import Nodewise

import nodewise as nw
from nodewise.core.errors import InputError
from nodewise.runs.run import Run

pd = pytest.importorskip("pandas")

CUSTOMERS, PRODUCTS = [f"C{i}" for i in range(40)], [f"P{i}" for i in range(12)]
LABELS = {f"C{i}": ("student", "pensioner")[i % 2] for i in range(30)}


@pytest.fixture(autouse=True)
def _in_its_folder(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, "nodewise")


def edges(customers: int = 40) -> Any:
    pairs = [(f"C{i}", f"P{(2 * step + i) % 12}") for i in range(customers) for step in range(3)]
    return pd.DataFrame(pairs, columns=["source", "target"])


def nodes(customers: int = 40) -> Any:
    generator = np.random.default_rng(0)
    ids = [f"C{i}" for i in range(customers)]
    return pd.DataFrame(
        {
            "id": ids + PRODUCTS,
            "type": ["customer"] * customers + ["product"] * 12,
            "age": [20.5 + 40 * (i % 2) + i / 100 for i in range(customers)] + [None] * 12,
            "price": [None] * customers + generator.random(12).round(3).tolist(),
        }
    )


@pytest.fixture
def run() -> Run:
    graph = nw.read_graph(edges(), features=nodes())
    model = nw.NodeEmbedder(steps=2, batch_size=16, dimension=8, device="cpu").fit(graph)
    return Run(model.save("run", graph).path)


def test_a_run_of_frames_knows_the_kinds(run: Run, nodewise: Nodewise) -> None:
    found = run.neighbors("C1", k=4, kind="product")
    assert {node[0] for node, _ in found} == {"P"}
    outcome = nodewise("neighbors", "run", "-n", "C1", "-k", 4, "--kind", "product", "--json")
    assert [each["id"] for each in json.loads(outcome.out)["neighbors"]] == [node for node, _ in found]
    with pytest.raises(InputError, match="did you mean 'product'"):
        run.neighbors("C1", kind="productt")


def test_vectors_of_transform_know_them_too(run: Run, nodewise: Nodewise) -> None:
    edges(44).to_csv("edges.csv", index=False)
    nodes(44).to_csv("nodes.csv", index=False)
    graph = ("run", "edges.csv", "--features", "nodes.csv", "--device", "cpu", "--quiet")
    assert nodewise("transform", *graph, "-o", "all.parquet").code == 0
    outcome = nodewise("neighbors", "all.parquet", "-n", "C42", "--kind", "product", "-k", 3, "--json")
    assert all(each["id"] in PRODUCTS for each in json.loads(outcome.out)["neighbors"])
    assert nodewise("transform", *graph, "--new", "-o", "new.parquet").code == 0
    some = nw.Embeddings.from_parquet("new.parquet")
    assert some.kinds is not None
    assert some.kinds.which("customer", "").all()


def test_runs_that_keep_no_kinds_go_by_their_table(run: Run) -> None:
    plain = nw.Embeddings(run.embeddings.ids, run.embeddings.vectors)
    plain.to_parquet("plain.parquet")
    Path("plain.parquet").replace(run.folder.embeddings)  # which `to_parquet` itself refuses
    old = Run("run")
    with pytest.raises(InputError, match=r"--attributes FILE, or attributes= in Python") as told:
        old.neighbors("C1", kind="product")
    assert told.value.code == "missing-column"
    assert set(old.neighbors("C1", 3, kind="product", attributes=nodes()).neighbors.to_pylist()) <= set(PRODUCTS)
    assert len(old.classify(labels=LABELS)) == 22  # nothing says that products are no customers
    about = json.loads(run.folder.environment.read_text())
    nodes().to_csv("nodes.csv", index=False)
    about["graph"]["source"] = {"graph": "edges.csv", "features": str(Path("nodes.csv").resolve())}
    run.folder.environment.write_text(json.dumps(about))
    assert set(old.neighbors("C1", 3, kind="product").neighbors.to_pylist()) <= set(PRODUCTS)
    assert len(old.classify(labels=LABELS)) == 10


def test_only_kinds_that_have_labels_get_one(run: Run, nodewise: Nodewise) -> None:
    found = run.classify(labels=LABELS)
    assert found.ids.to_list() == CUSTOMERS[30:]
    assert [note for note in found.notes if "12 of type 'product'" in note]
    assert found.expected_accuracy is not None
    products = run.classify(labels=LABELS, kind="product")
    assert products.ids.to_list() == PRODUCTS
    assert products.expected_accuracy is None
    assert len(run.classify(labels=LABELS, kind=["product", "customer"])) == 22
    with pytest.raises(InputError, match="did you mean 'product'"):
        run.classify(labels=LABELS, kind="productt")
    with pytest.raises(InputError, match="every node of the types that are labeled") as told:
        run.classify(labels={node: place % 2 for place, node in enumerate(CUSTOMERS)})
    assert told.value.code == "nothing-to-do"
    pd.Series(LABELS, name="label").rename_axis("id").to_csv("labels.csv")
    outcome = nodewise("classify", "run", "--labels", "labels.csv", "-o", "found.csv")
    assert "left out, since no node of that type has a label: 12 of type 'product'" in outcome.err
    assert len(pd.read_csv("found.csv")) == 10
    assert nodewise("classify", "run", "--labels", "labels.csv", "--kind", "product", "-o", "found.csv").code == 0
    assert len(pd.read_csv("found.csv")) == 12


def test_a_method_that_learns_from_labels_leaves_other_kinds_out_too(nodewise: Nodewise) -> None:
    edges().to_csv("edges.csv", index=False)
    nodes().to_csv("nodes.csv", index=False)
    pd.Series(LABELS, name="label").rename_axis("id").to_csv("labels.csv")
    files = ("edges.csv", "--features", "nodes.csv", "--labels", "labels.csv", "-o", "found.csv")
    outcome = nodewise("classify", *files, "--method", "lp", "--device", "cpu")
    assert "12 of type 'product'" in outcome.err
    assert set(pd.read_csv("found.csv")["id"]) == set(CUSTOMERS[30:])


def test_new_nodes_are_classified(run: Run, nodewise: Nodewise) -> None:
    graph = nw.read_graph(edges(44), features=nodes(44), like=run)
    fresh = run.transform(graph, only="new", device="cpu")
    found = run.classify(labels=LABELS, new=graph)
    assert found.ids.to_list() == ["C40", "C41", "C42", "C43"]
    assert found.labels == ["student", "pensioner"] * 2
    assert found.expected_accuracy is not None
    assert run.classify(labels=LABELS, new=fresh).labels == found.labels
    everybody = run.classify(labels=LABELS, new=run.transform(graph, device="cpu"))
    assert set(everybody.ids.to_list()) == {f"C{i}" for i in range(30, 44)}
    fresh.to_parquet("new.parquet")
    pd.Series(LABELS, name="label").rename_axis("id").to_csv("labels.csv")
    outcome = nodewise("classify", "run", "--labels", "labels.csv", "--new", "new.parquet", "-o", "found.csv")
    assert outcome.code == 0, outcome.err
    assert pd.read_csv("found.csv")["label"].tolist() == found.labels
    with pytest.raises(InputError, match="every new node has a label"):
        run.classify(labels=LABELS | {f"C{i}": "student" for i in range(40, 44)}, new=fresh)
    narrow = nw.Embeddings(fresh.ids, fresh.vectors[:, :3])
    with pytest.raises(InputError, match="cannot be compared"):
        run.classify(labels=LABELS, new=narrow)


def test_new_nodes_may_be_of_one_kind_only(run: Run, nodewise: Nodewise) -> None:
    both, fresh = edges(44), nodes(44)
    both[both["source"].isin(["C40", "C41", "C42", "C43"])].to_csv("edges.csv", index=False)
    rows = fresh[fresh["id"].isin(["C40", "C41", "C42", "C43"])]
    rows.to_csv("nodes.csv", index=False)
    transform = ("transform", "run", "edges.csv", "--new", "--device", "cpu", "-o", "new.parquet")
    outcome = nodewise(*transform, "--features", "nodes.csv")
    assert outcome.code == 0, outcome.err
    assert "give old and new edges together" in outcome.err
    found = nw.Embeddings.from_parquet("new.parquet")
    assert found.kinds is not None
    assert (found.kinds.which("customer", "").all(), len(found)) == (True, 4)
    rows.drop(columns="type").to_csv("nodes.csv", index=False)
    outcome = nodewise(*transform, "--features", "nodes.csv")
    assert outcome.code == 2
    assert "give a table of all nodes, old and new, with its column 'type' [other-features]" in outcome.err


def test_one_kind_is_none_where_training_had_none() -> None:
    table = nodes().drop(columns="type")
    graph = nw.read_graph(edges(), features=table)
    model = nw.NodeEmbedder(steps=2, batch_size=16, dimension=8, device="cpu").fit(graph)
    same = nw.read_graph(edges(), features=table.assign(type="customer"), like=graph)
    assert np.allclose(model.transform(same).vectors, model.transform(graph).vectors, atol=1e-6)


def test_results_are_written_under_names_that_are_text(run: Run) -> None:
    run.classify(labels=LABELS).write("labels.csv")
    run.neighbors("C1").write("near.csv")
    run.clusters(2).write("clusters.parquet")
    assert [len(pd.read_csv(name)) for name in ("labels.csv", "near.csv")] == [10, 10]
    assert len(pd.read_parquet("clusters.parquet")) == 52


def test_one_node_and_several_give_one_kind_of_table(run: Run) -> None:
    one, of_kind, several = run.neighbors("C1", k=3), run.neighbors("C1", 3, kind="customer"), run.neighbors(["C1"], 3)
    assert type(one) is type(of_kind) is type(several)
    assert one == run.embeddings.neighbors("C1", 3)
    assert [node for node, _ in one] == [node for node, _ in of_kind] == [node for _, node, _ in several]
    assert one[0] == next(iter(one))
    assert one[:2] == list(one)[:2]
    assert [list(each.to_pandas().columns) for each in (one, several)] == [["node", "neighbor", "similarity"]] * 2
    assert repr(one).splitlines()[0].split() == ["neighbor", "similarity"]
    assert repr(one).count("\n") == 3
    assert "<td>C1</td>" in several._repr_html_()
    assert repr(run.neighbors(k=10)).endswith("and 500 more pairs")


def test_conditions_may_be_one_text_a_list_or_a_mapping(run: Run) -> None:
    table = pd.DataFrame({"id": CUSTOMERS, "city": ["Gent", "Brugge"] * 20})
    expected = run.neighbors("C1", 3, where=["city=Gent"], attributes=table)
    assert run.neighbors("C1", 3, where="city=Gent", attributes=table) == expected
    assert run.neighbors("C1", 3, where={"city": "Gent"}, attributes=table) == expected
    for where in ("city", {"": "Gent"}):
        with pytest.raises(InputError, match=r"^condition '") as told:
            run.neighbors("C1", where=where, attributes=table)
        assert "--" not in str(told.value)
    with pytest.raises(TypeError, match=r"Run\.neighbors\(\) got an unexpected keyword argument 'id'"):
        run.neighbors(id="C1")  # type: ignore[call-arg]


def test_the_earlier_name_of_what_was_learned_from_works_unseen(run: Run) -> None:
    found = run.classify(labels=LABELS)
    assert found.learnt_from == found.learned_from == 30
    assert "learnt_from" not in dir(found)
    assert not hasattr(found, "learned")


def test_what_is_missing_is_told_for_python_too(run: Run) -> None:
    with pytest.raises(InputError, match=r"labels= in Python") as told:
        run.evaluate()
    assert told.value.code == "no-labels"
