from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.report.conftest import make_subject
from tests.report.test_packing import unpacked

from nodewise.core.files import to_json
from nodewise.graph.graph import Split
from nodewise.report import contents as module
from nodewise.report.cluster_names import name_clusters
from nodewise.report.columns import guessed
from nodewise.report.contents import contents
from nodewise.report.neighbors import clusters
from nodewise.report.subject import Subject
from nodewise.vectors.kinds import NodeKinds
from nodewise.vectors.search import unit_rows


def columns(found: dict[str, Any]) -> dict[str, Any]:
    return {column["name"]: column for column in found["columns"]}


def test_everything_is_json_and_in_the_order_of_the_nodes(subject: Subject) -> None:
    found = contents(subject, "pca")
    json.loads(to_json(found))
    assert unpacked(found["ids"]) == [str(name) for name in subject.embeddings.ids]
    assert unpacked(found["points"]).shape == (120,)
    label = columns(found)["label"]
    np.testing.assert_array_equal(unpacked(label["values"]), subject.labels)
    assert unpacked(label["names"]) == ["<i>first</i>", "second", "third"]
    np.testing.assert_array_equal(unpacked(columns(found)["degree"]["values"]), np.full(60, 2))
    assert dict(found["facts"]) == {"nodes": "60", "edges": "60", "features": "8", "dimensions": "8", "classes": "3"}
    assert found["projection"] == "PCA"


def test_scores_are_those_of_the_confusion_matrix(subject: Subject) -> None:
    from sklearn.metrics import precision_recall_fscore_support

    found = contents(subject, "pca")
    predicted = unpacked(columns(found)["predicted label"]["values"])
    scores = found["classes"]
    precision, recall, f1, support = precision_recall_fscore_support(subject.labels, predicted, zero_division=0)
    for name, expected in (("precision", precision), ("recall", recall), ("f1", f1), ("support", support)):
        np.testing.assert_allclose(scores[name], expected, err_msg=name)
    assert scores["accuracy"] == pytest.approx((predicted == subject.labels).mean())
    assert scores["macro_f1"] == pytest.approx(f1.mean())


def test_nodes_of_a_type_without_labels_get_none_predicted(subject: Subject) -> None:
    codes = np.repeat([0, 1, -1, 0], 15)[np.random.default_rng(0).permutation(60)]
    kinds = NodeKinds(codes, ("customer", "product"))
    labels = np.where(codes == 0, subject.labels, -1)
    found = contents(replace(subject, embeddings=replace(subject.embeddings, kinds=kinds), labels=labels), "pca")
    predicted = unpacked(columns(found)["predicted label"]["values"])
    np.testing.assert_array_equal(predicted == 255, codes == 1)  # who is of no known type may be a customer
    assert "No label is predicted where no node of that type has one: 15 of type 'product'." in found["notes"]


def test_only_the_test_nodes_of_a_split_are_scored(subject: Subject) -> None:
    order = np.random.default_rng(0).permutation(60)
    split = Split(np.sort(order[:30]), np.sort(order[30:40]), np.sort(order[40:]))
    found = contents(make_subject(split=split), "pca")
    assert found["classes"]["counted"] == "20 nodes"
    prediction = columns(found)["prediction right?"]
    assert unpacked(prediction["names"]) == ["wrong", "right", "used for fitting"]
    values = unpacked(prediction["values"])
    np.testing.assert_array_equal(np.flatnonzero(values == 2), split.train)
    assert found["classes"]["accuracy"] == pytest.approx((values[split.test] == 1).mean())


def test_nodes_without_a_label_have_a_prediction_but_no_outcome(subject: Subject) -> None:
    labels = np.where(np.arange(60) % 7 == 0, -1, subject.labels)
    found = columns(contents(make_subject(labels=labels), "pca"))
    predicted, outcome = (found[name] for name in ("predicted label", "prediction right?"))
    assert (unpacked(predicted["values"]) < 3).all()
    assert "without a label" in predicted["note"]
    np.testing.assert_array_equal(unpacked(outcome["values"]) == 255, labels < 0)
    assert outcome["unknown"] == "no label to compare"


def test_the_only_member_of_a_class_is_neither_right_nor_wrong(subject: Subject) -> None:
    labels = np.where(np.arange(60) == 7, 3, subject.labels)
    found = columns(contents(make_subject(labels=labels, class_names=("a", "b", "c", "hermit")), "pca"))
    np.testing.assert_array_equal(unpacked(found["prediction right?"]["values"]) == 255, labels == 3)


def test_the_cosines_of_close_neighbors_keep_six_decimals() -> None:
    generator = np.random.default_rng(0)
    vectors = np.where(np.arange(8) == 0, 300, generator.normal(size=(60, 8))).astype("f4")
    embeddings = replace(make_subject().embeddings, vectors=vectors)
    for lists in ("neighbours", "adjacent"):
        found = contents(make_subject(embeddings=embeddings), "pca")[lists]
        nodes, angles = (unpacked(found[name]).reshape(60, -1) for name in ("nodes", "angles"))
        unit = vectors / np.linalg.norm(vectors.astype("f8"), axis=1, keepdims=True)
        exact = (unit[:, None] * unit[nodes]).sum(-1)
        np.testing.assert_allclose(np.cos(angles / 65535 * np.pi)[nodes >= 0], exact[nodes >= 0], rtol=0, atol=5e-7)


def test_clusters_are_as_many_as_classes_or_as_the_vectors_suggest(subject: Subject) -> None:
    assert columns(contents(subject, "pca"))["cluster"]["note"] == "k-means, k = 3, as many as classes."
    unlabeled = contents(make_subject(labels=None, class_names=()), "pca")
    assert columns(unlabeled)["cluster"]["note"] == "k-means, k = 3, chosen by silhouette."
    assert unlabeled["labelled"] is False


def test_clusters_are_those_of_the_command_with_its_numbers_and_names(subject: Subject) -> None:
    # Lengths differ widely; what counts is the direction, and the third group is told by its first feature.
    vectors = (subject.embeddings.vectors * np.linspace(0.1, 9, 60)[:, None]).astype("f4")
    features = np.where(subject.labels[:, None] == 2, [5.0, 0.0], [0.0, 0.0]).astype("f4")
    graph = replace(subject.graph, features=features)
    environment = {"graph": {"feature_names": ["age", "size"]}}
    changes = {"embeddings": replace(subject.embeddings, vectors=vectors), "graph": graph, "environment": environment}
    found = columns(contents(make_subject(**changes), "pca"))["cluster"]
    numbers = clusters(unit_rows(vectors), 3)
    np.testing.assert_array_equal(unpacked(found["values"]), numbers)
    assert unpacked(found["names"]) == ["0", "1", "2"]
    expected = name_clusters(numbers, graph, ("age", "size"), ())
    assert "high age" in expected
    assert list(found["meanings"]) == list(expected)
    unnamed = columns(contents(make_subject(**changes | {"environment": {}}), "pca"))["cluster"]
    assert list(unnamed["meanings"]) == []


def test_labels_that_cannot_be_predicted_are_still_shown() -> None:
    found = contents(make_subject(labels=np.zeros(60, np.int64)), "pca")
    assert found["classes"] is None
    assert "label" in columns(found)
    assert any("not predicted: two classes" in note for note in found["notes"])


def test_of_too_many_nodes_a_sample_is_shown_and_said(subject: Subject) -> None:
    found = contents(subject, "pca", most_shown=25)
    assert found["nodes"] == 25
    names = unpacked(found["ids"])
    everyone = [str(name) for name in subject.embeddings.ids]
    rows = [everyone.index(name) for name in names]
    assert rows == sorted(set(rows))
    np.testing.assert_array_equal(unpacked(columns(found)["label"]["values"]), subject.labels[rows])
    assert any("a random sample, 25 of 60 nodes" in note for note in found["notes"])
    # Neighbors in the graph are positions in the sample; their degree is that of the whole graph.
    linked = unpacked(found["adjacent"]["nodes"]).reshape(25, -1)
    graph = subject.graph
    for place, row in enumerate(rows):
        near = {rows[other] for other in linked[place] if other >= 0}
        assert near == set(graph.indices[graph.indptr[row] : graph.indptr[row + 1]]) & set(rows)
    np.testing.assert_array_equal(unpacked(found["degrees"]), 2)


def test_what_is_left_out_for_size_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MANY", 10)
    monkeypatch.setattr(module, "_MOST_TEXT", 30)
    story = guessed("story", [f"once upon a time {i}" for i in range(60)])
    found = contents(make_subject(attributes=(story,)), "pca")
    assert found["neighbours"]["k"] == 5
    assert "story" not in columns(found)
    assert any("'story' was left out" in note for note in found["notes"])
    assert any("end after 5" in note for note in found["notes"])


def test_without_a_graph_there_are_no_graph_neighbors() -> None:
    found = contents(make_subject(graph=None), "pca")
    assert found["adjacent"] is found["degrees"] is None
    assert "degree" not in columns(found)


def test_the_same_seed_gives_the_same_page(subject: Subject) -> None:
    assert to_json(contents(subject, "pca", seed=1)) == to_json(contents(subject, "pca", seed=1))


@pytest.mark.parametrize("value", [0.0, 1.0, 3e38])
def test_vectors_that_are_all_the_same_make_a_page_that_says_so(value: float) -> None:
    embeddings = replace(make_subject().embeddings, vectors=np.full((60, 8), value, "f4"))
    found = contents(make_subject(embeddings=embeddings))
    assert [warning[:28] for warning in found["warnings"]] == ["All 60 vectors are the same,"]
    assert len(np.unique(unpacked(found["points"]).reshape(-1, 2), axis=0)) == 60


def test_the_size_of_vectors_does_not_matter() -> None:
    embeddings = make_subject().embeddings
    pages = []
    for size in (1.0, 2.0**120, 2.0**-100):
        vectors = (embeddings.vectors * np.float32(size)).astype("f4")
        pages.append(contents(make_subject(embeddings=replace(embeddings, vectors=vectors)), "tsne"))
    assert to_json(pages[1]) == to_json(pages[2])
    for part in ("neighbours", "adjacent", "warnings", "notes"):
        assert pages[0][part] == pages[1][part], part
    for page in pages:
        assert page["classes"]["accuracy"] > 0.9
