import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.manifold import TSNE

from nodewise.core.errors import InputError
from nodewise.evaluation.clustering import project


def groups(nodes: int = 60, dims: int = 20) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    labels = np.arange(nodes) % 2
    return (8 * labels[:, None] + generator.normal(size=(nodes, dims))).astype(np.float32), labels


def test_pca_keeps_the_leading_directions() -> None:
    vectors, _ = groups()
    places = project(vectors, "pca")
    assert places.shape == (60, 2)
    assert places.dtype == np.float32
    values = np.linalg.svd(vectors - vectors.mean(0), compute_uv=False)
    assert np.allclose(np.linalg.norm(places, axis=0), values[:2], rtol=1e-4)
    assert np.allclose(project(torch.from_numpy(vectors), "pca"), places)
    assert np.allclose(np.abs(project(sp.csr_matrix(vectors), "pca")), np.abs(places), atol=1e-3)


@pytest.mark.parametrize("nodes", [5, 60])
def test_tsne_keeps_groups_apart_and_repeats(nodes: int) -> None:
    vectors, labels = groups(nodes)
    places = project(vectors, seed=3)
    assert places.shape == (nodes, 2)
    assert np.array_equal(project(vectors, seed=3), places)
    if nodes == 60:
        gaps = np.linalg.norm(places[:, None] - places, axis=-1) + np.diag([np.inf] * nodes)
        assert (labels[gaps.argmin(1)] == labels).all()


def test_too_little_to_draw() -> None:
    with pytest.raises(InputError, match="at least 4 nodes and 2 dimensions, not 3 and 5"):
        project(np.ones((3, 5)))
    with pytest.raises(InputError, match="not 8 and 1"):
        project(np.ones((8, 1)))
    with pytest.raises(InputError, match="NaN"):
        project(np.full((8, 2), np.nan))


@pytest.mark.parametrize(("nodes", "dims", "kept"), [(70, 60, 50), (70, 20, 20), (30, 60, 30)])
def test_tsne_is_given_the_leading_fifty_directions_and_neighborhoods_that_fit(
    nodes: int, dims: int, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = []

    def fit_transform(self: TSNE, rows: np.ndarray) -> np.ndarray:
        given.append((rows.shape, self.perplexity, self.random_state))
        return rows[:, :2]

    monkeypatch.setattr(TSNE, "fit_transform", fit_transform)
    project(groups(nodes, dims)[0], seed=4)
    project(groups(nodes, dims)[0], seed=4, perplexity=5.0)
    assert given == [((nodes, kept), min(30, (nodes - 1) / 3), 4), ((nodes, kept), 5, 4)]


def test_four_nodes_in_two_dimensions_are_enough() -> None:
    assert project(groups(4, 2)[0]).shape == (4, 2)
    with pytest.raises(InputError, match="vectors that differ"):
        project(np.ones((8, 2)))
