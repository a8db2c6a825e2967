import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from nodewise.core.errors import InputError
from nodewise.evaluation import knn
from nodewise.evaluation.knn import knn_accuracy
from nodewise.graph.graph import Split

SPLIT = Split(np.arange(0, 50), np.arange(50, 60), np.arange(60, 110))


def data() -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 3, 120)
    vectors = generator.normal(size=(3, 6))[labels] + 1.2 * generator.normal(size=(120, 6))
    labels[110:] = -1
    return vectors, labels


@pytest.mark.parametrize("k", [1, 5, 10])
def test_against_scikit_learn(k: int) -> None:
    vectors, labels = data()
    model = KNeighborsClassifier(k, metric="cosine").fit(vectors[SPLIT.train], labels[SPLIT.train])
    assert knn_accuracy(vectors, labels, SPLIT, k=k) == model.score(vectors[SPLIT.test], labels[SPLIT.test])
    known = labels >= 0
    judged = cross_val_score(KNeighborsClassifier(k, metric="cosine"), vectors[known], labels[known], cv=LeaveOneOut())
    assert knn_accuracy(vectors, labels, k=k) == pytest.approx(judged.mean())


def test_chunks_and_kinds_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, labels = data()
    with_split, without = knn_accuracy(vectors, labels, SPLIT), knn_accuracy(vectors, labels)
    assert knn_accuracy(torch.from_numpy(vectors), labels, SPLIT) == with_split
    assert knn_accuracy(sp.csr_matrix(vectors), labels, SPLIT) == with_split
    frozen = Split(SPLIT.train.copy(), SPLIT.val, SPLIT.test.copy())
    frozen.train.setflags(write=False)
    frozen.test.setflags(write=False)
    assert knn_accuracy(torch.from_numpy(vectors), labels, frozen) == with_split
    monkeypatch.setattr(knn, "_SCORES_AT_ONCE", 350)
    assert knn_accuracy(vectors, labels, SPLIT) == with_split
    assert knn_accuracy(vectors, labels) == without


def test_length_does_not_matter_and_zero_is_allowed() -> None:
    vectors, labels = data()
    scaled = vectors * np.random.default_rng(1).uniform(0.1, 10, (120, 1))
    assert knn_accuracy(scaled, labels, SPLIT) == knn_accuracy(vectors, labels, SPLIT)
    vectors[SPLIT.test[0]] = 0
    assert 0 < knn_accuracy(vectors, labels, SPLIT) < 1


@pytest.mark.parametrize("k", [0, 51])
def test_impossible_k(k: int) -> None:
    with pytest.raises(InputError, match=f"k={k} neighbors .* 50 labeled nodes"):
        knn_accuracy(*data(), SPLIT, k=k)


def test_all_other_labeled_nodes_can_judge_but_not_the_node_itself() -> None:
    vectors, labels = data()
    assert 0 <= knn_accuracy(vectors, labels, k=109) <= 1
    with pytest.raises(InputError, match=r"k=110 neighbors .* 109 labeled nodes"):
        knn_accuracy(vectors, labels, k=110)
    assert 0 <= knn_accuracy(vectors, labels, SPLIT, k=50) <= 1


@pytest.mark.gpu
def test_gpu_agrees_with_cpu() -> None:
    vectors, labels = data()
    assert knn_accuracy(vectors, labels, SPLIT, device="cuda") == knn_accuracy(vectors, labels, SPLIT)
    assert knn_accuracy(torch.from_numpy(vectors).cuda(), labels, device="cuda") == knn_accuracy(vectors, labels)
