import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score, silhouette_samples

from nodewise.evaluation.clustering import class_silhouette, cluster_scores


def data(spread: float = 0.8) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 3, 150)
    vectors = generator.normal(size=(3, 4))[labels] + spread * generator.normal(size=(150, 4))
    labels[140:] = -1
    return vectors, labels


def test_scores_are_scikit_learns_on_the_labeled_nodes() -> None:
    vectors, labels = data()
    known = labels >= 0
    found = KMeans(3, n_init=10, random_state=4).fit_predict(vectors[known])
    scores = cluster_scores(vectors, labels, seed=4)
    assert scores.nmi == pytest.approx(normalized_mutual_info_score(labels[known], found))
    assert scores.ari == pytest.approx(adjusted_rand_score(labels[known], found))
    assert 0 < scores.ari < 1
    assert class_silhouette(vectors, labels) == pytest.approx(silhouette_samples(vectors[known], labels[known]).mean())


def test_input_kinds_agree_and_the_seed_decides() -> None:
    vectors, labels = data()
    scores = cluster_scores(vectors, labels)
    assert cluster_scores(vectors, labels) == scores
    assert cluster_scores(torch.from_numpy(vectors), torch.from_numpy(labels)) == scores
    assert cluster_scores(sp.csr_matrix(vectors), labels).nmi == pytest.approx(scores.nmi)
    assert class_silhouette(sp.csr_matrix(vectors), labels) == pytest.approx(class_silhouette(vectors, labels))
    assert len({cluster_scores(vectors, labels, seed=seed, restarts=1).nmi for seed in range(10)}) > 1


def test_separate_classes_are_found() -> None:
    vectors, labels = data(spread=0.01)
    scores = cluster_scores(vectors, labels)
    assert scores.nmi == pytest.approx(1)
    assert scores.ari == pytest.approx(1)
    assert class_silhouette(vectors, labels) > 0.9


def test_sampled_silhouette_is_near_the_full_one() -> None:
    vectors, labels = data()
    full = class_silhouette(vectors, labels)
    sampled = [class_silhouette(vectors, labels, sample=70, seed=seed) for seed in range(20)]
    assert np.mean(sampled) == pytest.approx(full, abs=0.03)
    assert len(set(sampled)) == 20
    assert sampled[3] == class_silhouette(vectors, labels, sample=70, seed=3)


def test_fewer_distinct_vectors_than_classes_are_a_bad_score_and_no_warning() -> None:
    found = cluster_scores(np.ones((12, 2)), np.arange(12) % 3)
    assert found.nmi == pytest.approx(0)
