import numpy as np
import pytest

from nodewise.core.errors import InputError
from nodewise.vectors import embeddings as nearest
from nodewise.vectors.embeddings import highest, similarities


def slow_similarity(a: list[float], b: list[float], metric: str) -> float:
    if metric == "euclidean":
        return -(sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) ** 0.5)
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    if metric == "dot":
        return dot
    lengths = sum(x * x for x in a) ** 0.5 * sum(y * y for y in b) ** 0.5
    return dot / lengths if lengths else 0.0


@pytest.mark.parametrize("metric", ["cosine", "dot", "euclidean"])
def test_similarities_match_the_loop_across_blocks(metric: nearest.Metric, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "_ROWS_AT_ONCE", 7)
    vectors = np.random.default_rng(0).normal(size=(30, 5)).astype(np.float32)
    vectors[4] = 0
    for query in (0, 4):
        expected = [slow_similarity(row, vectors[query].tolist(), metric) for row in vectors.tolist()]
        np.testing.assert_allclose(similarities(vectors, vectors[query], metric), expected, rtol=1e-12, atol=1e-12)


def test_huge_vectors_do_not_overflow() -> None:
    vectors = np.full((2, 8), 3e38, np.float32)
    np.testing.assert_allclose(similarities(vectors, vectors[0], "cosine"), [1, 1])


def test_an_unknown_metric_is_refused_with_a_suggestion() -> None:
    with pytest.raises(InputError, match="unknown metric 'cosinus'; did you mean 'cosine'"):
        similarities(np.ones((1, 1), np.float32), np.ones(1, np.float32), "cosinus")  # type: ignore[arg-type]


def test_highest_matches_a_full_sort() -> None:
    scores = np.random.default_rng(1).integers(0, 5, size=200).astype(float)
    expected = sorted(range(200), key=lambda i: (-scores[i], i))
    for k in (0, 1, 50, 200, 300):
        assert highest(scores, k).tolist() == expected[:k]
