import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import f1_score

from nodewise.core.errors import InputError
from nodewise.evaluation.clustering import class_silhouette, cluster_scores
from nodewise.evaluation.evaluate import METRICS, ORACLE, Summary, evaluate_embeddings
from nodewise.evaluation.folds import deal_folds
from nodewise.evaluation.knn import knn_accuracy
from nodewise.evaluation.probe import linear_probe
from nodewise.graph.graph import Split
from nodewise.graph.splits import random_split

SPLIT = Split(np.arange(0, 40), np.arange(40, 60), np.arange(60, 110))
ONLY_ACCURACY = ("accuracy",)


def data(encoders: int = 3) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 3, 120)
    vectors = generator.normal(size=(3, 6))[labels] + 1.5 * generator.normal(size=(encoders, 120, 6))
    labels[110:] = -1
    return vectors, labels


def test_every_score_over_encoder_seeds() -> None:
    vectors, labels = data()
    report = evaluate_embeddings(vectors, labels, SPLIT, seed=2, dataset="cora", name="ours")
    assert tuple(report.scores) == METRICS
    assert report.encoder_seeds == (0, 1, 2)
    alone = [linear_probe(v, labels, SPLIT, seed=2 + s) for s, v in enumerate(vectors)]
    clusters = [cluster_scores(v, labels, seed=2) for v in vectors]
    expected = {
        "accuracy": [r.test_accuracy.item() for r in alone],
        "macro_f1": [f1_score(labels[SPLIT.test], r.predictions[0][0, 0], average="macro") for r in alone],
        "knn": [knn_accuracy(v, labels, SPLIT) for v in vectors],
        "nmi": [c.nmi for c in clusters],
        "ari": [c.ari for c in clusters],
        "silhouette": [class_silhouette(v, labels) for v in vectors],
    }
    for metric, values in expected.items():
        summary = report.scores[metric]
        assert summary.values == pytest.approx(values), metric
        assert summary.mean == pytest.approx(np.mean(values))
        assert summary.std == pytest.approx(np.std(values, ddof=1))
        assert summary.n == 3


def test_protocol_says_probe_split_and_spread() -> None:
    vectors, labels = data()
    report = evaluate_embeddings(vectors, labels, "public", public=SPLIT, dataset="citeseer", metrics=ONLY_ACCURACY)
    assert report.protocol == (
        "linear classifier (probe mvgrl): "
        "Adam 0.01, Xavier, weight decay 0.01 (that of Citeseer), 300 steps, last step; "
        "public split, 40/20/50 train/val/test nodes; mean and standard deviation over 3 encoder seeds"
    )


def test_probe_restarts_count_as_one_value() -> None:
    vectors, labels = data(1)
    report = evaluate_embeddings(vectors, labels, SPLIT, restarts=7, metrics=("accuracy", "macro_f1"))
    restarts = linear_probe(vectors, labels, SPLIT, restarts=7).test_accuracy
    assert len(np.unique(restarts)) > 1
    assert report.scores["accuracy"] == Summary(
        pytest.approx(restarts.mean()), None, 1, (pytest.approx(restarts.mean()),)
    )
    assert report.scores["macro_f1"].n == 1
    assert report.protocol.endswith("one encoder, one split, the mean of 7 probe restarts")
    convex = evaluate_embeddings(vectors, labels, SPLIT, probe="sklearn", restarts=7, metrics=ONLY_ACCURACY)
    assert convex.protocol.endswith("one encoder, one split")


def test_random_splits() -> None:
    vectors, labels = data(1)
    report = evaluate_embeddings(vectors[0], labels, "random:5x10x40", repeats=4, seed=3, metrics=("accuracy", "knn"))
    splits = [random_split(labels, 5, 10, 40, seed) for seed in (3, 4, 5, 6)]
    assert report.split_seeds == (3, 4, 5, 6)
    expected = [linear_probe(vectors[0], labels, split, seed=3).test_accuracy.item() for split in splits]
    assert report.scores["accuracy"].values == pytest.approx(expected)
    assert report.scores["knn"].values == pytest.approx([knn_accuracy(vectors[0], labels, split) for split in splits])
    assert report.scores["accuracy"].std == pytest.approx(np.std(expected, ddof=1))
    assert "random split, 5 training nodes per class, 15/10/40" in report.protocol
    assert "over 4 random splits" in report.protocol
    two = evaluate_embeddings(vectors[0], labels, "random:5x10x40", repeats=4, restarts=2, metrics=ONLY_ACCURACY)
    assert two.protocol.endswith("over 4 random splits, each the mean of 2 probe restarts")


def test_encoders_and_splits_are_both_spread() -> None:
    vectors, labels = data(2)
    report = evaluate_embeddings(
        vectors, labels, "random:5x10x40", repeats=3, encoder_seeds=[8, 5], metrics=ONLY_ACCURACY
    )
    values = np.reshape(report.scores["accuracy"].values, (2, 3))
    for e, encoder in enumerate((8, 5)):
        for r in range(3):
            split = random_split(labels, 5, 10, 40, r)
            assert values[e, r] == pytest.approx(
                linear_probe(vectors[e], labels, split, seed=encoder).test_accuracy.item()
            )
    assert "over 2 encoder seeds x 3 random splits" in report.protocol
    assert report.by_seed() == pytest.approx({8: values[0].mean(), 5: values[1].mean()})


def test_an_encoder_scores_the_same_alone_and_in_company() -> None:
    vectors, labels = data()
    together = evaluate_embeddings(vectors, labels, SPLIT, encoder_seeds=[10, 11, 12], metrics=ONLY_ACCURACY)
    alone = evaluate_embeddings(vectors[1], labels, SPLIT, encoder_seeds=[11], metrics=ONLY_ACCURACY)
    assert alone.by_seed()[11] == together.by_seed()[11]


def test_oracle_comes_only_when_named() -> None:
    vectors, labels = data()
    plain = evaluate_embeddings(vectors, labels, SPLIT, metrics=ONLY_ACCURACY)
    report = evaluate_embeddings(vectors, labels, SPLIT, metrics=(ORACLE,))
    assert tuple(plain.scores) == ONLY_ACCURACY
    assert tuple(report.scores) == ("accuracy", ORACLE)
    assert report.scores["accuracy"] == plain.scores["accuracy"]
    assert report.scores[ORACLE].mean > report.scores["accuracy"].mean


def test_raw_features_go_the_same_way() -> None:
    vectors, labels = data(1)
    features = np.maximum(vectors[0], 0)
    dense = evaluate_embeddings(features, labels, SPLIT, name="raw features")
    sparse = evaluate_embeddings(sp.csr_matrix(features), labels, SPLIT, name="raw features")
    for metric in METRICS:
        assert sparse.scores[metric].mean == pytest.approx(dense.scores[metric].mean), metric


def test_json() -> None:
    vectors, labels = data(1)
    report = evaluate_embeddings(vectors, labels, SPLIT, metrics=("nmi",))
    row = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert set(row["scores"]) == {"accuracy", "nmi"}
    assert row["scores"]["accuracy"]["std"] is None
    assert row["protocol"] == report.protocol


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"split": "public", "dataset": "mine"}, "mine came without a split: ask for random ones"),
        ({"split": "publik"}, "unknown split 'publik'"),
        ({"split": "random:5x0x40"}, "no val nodes"),
        ({"repeats": 2}, "would all be the same"),
        ({"repeats": 0}, "at least 1, not 0"),
        ({"metrics": ("macro-f1",)}, "unknown metric 'macro-f1'; did you mean 'macro_f1'"),
        ({"probe": "gmae"}, "unknown probe preset"),
        ({"encoder_seeds": [1, 1, 2]}, "as many distinct encoder seeds"),
        ({"encoder_seeds": [1]}, "as many distinct encoder seeds"),
        ({"labels": np.zeros(120, dtype=np.int64)}, "only class 0"),
        ({"labels": np.repeat([0, 1], 50)}, "120 rows but there are 100 labels"),
    ],
)
def test_bad_arguments(arguments: dict[str, object], message: str) -> None:
    vectors, labels = data()
    with pytest.raises(InputError, match=message) as raised:
        evaluate_embeddings(**{"vectors": vectors, "labels": labels, "split": SPLIT, **arguments})
    assert "\n" not in str(raised.value)


def test_fewer_training_nodes_than_neighbors_all_vote() -> None:
    vectors, labels = data(1)
    few = Split(np.array([0, 1, 2, 3]), SPLIT.val, SPLIT.test)
    report = evaluate_embeddings(vectors, labels, few, k=5, metrics=("knn",))
    assert report.scores["knn"].mean == knn_accuracy(vectors[0], labels, few, k=4)


def test_folds() -> None:
    vectors, labels = data(1)
    known = np.flatnonzero(labels >= 0)
    for repeats in (1, 2):
        report = evaluate_embeddings(vectors[0], labels, "folds:5", repeats=repeats, seed=3, metrics=ONLY_ACCURACY)
        splits = deal_folds(known, labels[known], 5, repeats, 3)
        expected = [linear_probe(vectors[0], labels, split, seed=3).test_accuracy.item() for split in splits]
        assert report.scores["accuracy"].values == pytest.approx(expected)
        assert report.split_seeds == ()
        assert f"5 stratified folds{', dealt 2 times' if repeats == 2 else ''}" in report.protocol
        assert ("dealt" in report.protocol) == (repeats == 2)
        assert report.protocol.endswith(f"over {5 * repeats} folds")
