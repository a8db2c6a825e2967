"""Clusterings of perturbed copies: exact pieces, and evidence that is worth something without a label."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from tests.graphs import random_graph, small_graph

from nodewise.core import rng
from nodewise.core.progress import SilentProgress, Stage, shown_by
from nodewise.datasets.planted import block_model
from nodewise.encoders.features import Features
from nodewise.graph.graph import Graph
from nodewise.sampling import evidence
from nodewise.sampling.descriptions import vectors
from nodewise.sampling.evidence import consensus
from nodewise.sampling.kmeans import kmeans
from nodewise.views.topology import Topology

KEY = rng.key(0, "evidence")


def blobs(count: int = 200, groups: int = 5) -> torch.Tensor:
    generator = torch.Generator().manual_seed(2)
    centers = 2.5 * torch.randn(groups, 3, generator=generator)
    return centers[torch.arange(count) % groups] + torch.randn(count, 3, generator=generator)


@pytest.mark.parametrize("steps", [0, 1, 4, 25])
def test_kmeans_is_lloyds_algorithm_from_distinct_random_points(steps: int) -> None:
    points = blobs()
    start = points[rng.permutation(KEY, 200)[:6]]
    assert len({tuple(row) for row in start.tolist()}) == 6
    found = kmeans(points.unsqueeze(0), torch.tensor([6]), steps, torch.tensor([KEY]))[0]
    if steps == 0:
        expected = torch.cdist(points, start).argmin(1).numpy()
    else:
        lloyd = KMeans(6, init=start.numpy(), n_init=1, max_iter=steps, tol=0.0, algorithm="lloyd")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            expected = lloyd.fit(points.numpy()).predict(points.numpy())
    assert np.array_equal(found.numpy(), expected)
    assert len(set(found.tolist())) == 6


def test_kmeans_with_as_many_clusters_as_points_or_equal_points() -> None:
    key = torch.tensor([KEY])
    assert sorted(kmeans(blobs(7).unsqueeze(0), torch.tensor([7]), 3, key)[0].tolist()) == list(range(7))
    assert len(set(kmeans(torch.ones(1, 9, 3), torch.tensor([4]), 3, key)[0].tolist())) == 1


def test_sets_side_by_side_are_clustered_as_they_are_alone() -> None:
    sets = torch.stack([blobs(), blobs().flip(-1), 2 * blobs(groups=9)])
    numbers, keys = torch.tensor([3, 7, 5]), rng.fold(KEY, torch.arange(3))
    together = kmeans(sets, numbers, 6, keys)
    for place in range(3):
        some = slice(place, place + 1)
        assert torch.equal(together[some], kmeans(sets[some], numbers[some], 6, keys[some]))
        assert set(together[place].tolist()) == set(range(int(numbers[place])))


def test_each_clustering_has_its_own_range_of_numbers() -> None:
    graph = random_graph(60, 150, num_features=20, sparse=True)
    found = consensus(Features(graph), Topology.of(graph), torch.tensor([3]), 4)
    assert found.numbers.shape == (1, 60, 4)
    assert found.width == 4 * 24
    for number in range(4):
        used = set(found.numbers[0, :, number].tolist())
        assert used <= set(range(24 * number, 24 * (number + 1)))
        assert len(used) > 1


@pytest.mark.parametrize("sparse", [False, True])
def test_it_is_a_function_of_the_seed_and_a_stack_is_its_runs(sparse: bool) -> None:
    graph = random_graph(60, 150, num_features=20, sparse=sparse)
    features, topology = Features(graph), Topology.of(graph)
    stacked = consensus(features, topology, torch.tensor([3, 4]), 3)
    for place, seed in enumerate((3, 4)):
        alone = consensus(features, topology, torch.tensor([seed]), 3)
        assert torch.equal(stacked.numbers[place], alone.numbers[0])
        more = consensus(features, topology, torch.tensor([seed]), 4)
        assert torch.equal(more.numbers[..., :3], alone.numbers)
    assert not torch.equal(stacked.numbers[0], stacked.numbers[1])
    assert not torch.equal(stacked.numbers[0, :, 0], stacked.numbers[0, :, 1] - 24)


def test_projection_is_the_leading_part_of_a_singular_value_decomposition() -> None:
    graph = random_graph(90, 100, num_features=80, sparse=True, seed=1)
    features = Features(graph)
    kept = rng.uniform(rng.fold(KEY, 0), torch.arange(80)) < 0.5
    weighted = torch.as_tensor(graph.features.toarray()) * features.inverse_document_frequency() * kept
    rows = torch.nn.functional.normalize(weighted, dim=-1)
    found = evidence._principal(features, torch.tensor([KEY]))[0]
    # The columns that are left are fewer than 64, so distances are those of the whole.
    assert 25 < int(kept.sum()) < 55
    assert found.shape == (90, int(kept.sum()))
    assert torch.allclose(found @ found.T, rows @ rows.T, atol=1e-4)


@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_the_size_of_the_features_does_not_matter(scale: float) -> None:
    graph = random_graph(90, 100, num_features=80, sparse=True, seed=1)
    scaled = Graph(graph.indptr, graph.indices, graph.features * np.float32(scale), graph.ids)
    found, expected = (evidence._principal(Features(each), torch.tensor([KEY]))[0] for each in (scaled, graph))
    assert torch.allclose(found @ found.T, expected @ expected.T, atol=1e-4)


@pytest.mark.parametrize("sparse", [False, True])
def test_copies_side_by_side_are_those_made_one_by_one(sparse: bool) -> None:
    graph = random_graph(90, 300, num_features=80, sparse=sparse, seed=1)
    features, topology, keys = Features(graph), Topology.of(graph), rng.fold(KEY, torch.arange(4))
    together = evidence._principal(features, keys)
    for place in range(4):
        alone = evidence._principal(features, keys[place : place + 1])[0]
        assert torch.allclose(together[place] @ together[place].T, alone @ alone.T, atol=1e-4)
    clusters = evidence._cluster(features, topology, keys)
    alone = torch.cat([evidence._cluster(features, topology, key.unsqueeze(0)) for key in keys])
    assert (clusters == alone).double().mean() > 0.95  # rounding may send a node elsewhere


def test_how_many_copies_are_made_at_once_hangs_on_nodes_features_and_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    sparse, dense = (random_graph(200, edges, num_features=80, seed=1) for edges in (100, 20000))
    counts = []
    for graph in (sparse, dense):
        topology = Topology.of(graph)
        monkeypatch.setattr(evidence, "_ENTRIES_AT_ONCE", 10 * 200 * 64)
        counts.append(evidence._copies_at_once(Features(graph), topology))
        monkeypatch.setattr(evidence, "_ENTRIES_AT_ONCE", 10)
        assert evidence._copies_at_once(Features(graph), topology) == 1
    assert counts[0] == 10
    assert counts[1] == 10 * 200 * 64 // len(Topology.of(dense).indices) < 10


def test_a_basis_is_orthonormal_and_spans_what_it_was_made_of() -> None:
    generator = torch.Generator().manual_seed(1)
    vectors = torch.randn(2, 40, 6, generator=generator) * torch.logspace(-3, 3, 6)
    basis = evidence._orthonormal(vectors)
    assert torch.allclose(basis.mT @ basis, torch.eye(6).expand(2, 6, 6), atol=1e-5)
    rebuilt = basis @ (basis.mT @ vectors)
    assert ((rebuilt - vectors).norm(dim=1) / vectors.norm(dim=1)).max() < 1e-5
    assert evidence._orthonormal(torch.zeros(1, 5, 2)).isfinite().all()


def test_thinning_keeps_edges_whole_and_about_seven_in_ten() -> None:
    topology = Topology.of(random_graph(300, 3000, seed=2))
    keys = torch.tensor([KEY, KEY + 1])
    dense, second = (evidence._thinned(topology, key.unsqueeze(0)).to_dense() for key in keys)
    assert torch.equal(evidence._thinned(topology, keys).to_dense(), torch.block_diag(dense, second))
    assert not torch.equal(dense, second)
    assert torch.allclose(dense, dense.T)
    joined = dense.fill_diagonal_(0) > 0
    nodes = torch.arange(300)
    before = topology.has_edge(nodes.unsqueeze(-1), nodes)
    assert not (joined & ~before).any()
    assert abs(float(joined.sum() / before.sum()) - 0.7) < 0.03


def test_agreement_finds_nodes_of_a_planted_class() -> None:
    graph = block_model(300, num_classes=3, homophily=0.75, noise=0.8, num_features=300, average_degree=6, seed=0)
    found = consensus(Features(graph), Topology.of(graph), torch.tensor([0]), 8)
    described = found.dense()[0]
    one, other = torch.triu_indices(300, 300, offset=1)
    agreement = (described[one] * described[other]).sum(-1)
    same = torch.as_tensor(graph.labels)
    same = (same[one] == same[other]).double()
    top = agreement.argsort(descending=True)[: len(one) // 20]
    assert abs(float(same.mean()) - 1 / 3) < 0.01
    assert float(same[top].mean()) > 0.7
    # Not by naming neighbors: pairs without an edge are found as well.
    apart = ~Topology.of(graph).has_edge(one, other)
    assert float(same[top][apart[top]].mean()) > 0.7


def test_graphs_with_hardly_anything_in_them_are_described_without_nan() -> None:
    for graph in (random_graph(5, 3, num_features=1), small_graph()):
        found = consensus(Features(graph), Topology.of(graph), torch.tensor([0]), 3)
        described = found.dense()
        assert torch.allclose(described.norm(dim=-1), torch.ones(1, graph.num_nodes))


def test_of_very_many_nodes_a_part_says_where_the_clusters_are(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = block_model(
        400, num_classes=3, num_features=60, homophily=0.9, average_degree=12, words_per_node=15, seed=1
    )
    labels = torch.as_tensor(graph.labels)
    alike = labels.unsqueeze(0) == labels.unsqueeze(1)
    parts = Features(graph), Topology.of(graph), torch.tensor([0]), 6
    whole = vectors(consensus(*parts))[0]
    for module in ("nodewise.sampling.evidence", "nodewise.sampling.kmeans", "nodewise.encoders.directions"):
        monkeypatch.setattr(f"{module}.MOST_ROWS", 150)
    some = vectors(consensus(*parts))[0]
    for found in (whole, some):
        agreement = found @ found.T
        assert agreement[alike].mean() > 2 * agreement[~alike].mean()
    assert not torch.equal(whole, some)


def test_directions_are_cosines_of_smoothed_features_in_few_dimensions() -> None:
    graph = block_model(120, num_classes=3, num_features=60, average_degree=12, words_per_node=40, noise=0.1, seed=1)
    features, topology = Features(graph), Topology.of(graph)
    found = evidence.directions(features, topology, torch.tensor([0, 1]), 2)
    dense = features.times(torch.eye(60)).double().numpy()
    left, values, _ = np.linalg.svd(dense - dense.mean(0), full_matrices=False)
    adjacency = topology.normalized_adjacency().to_dense().double().numpy()
    start = smoothed = left[:, :2] * values[:2]
    for _ in range(10):
        smoothed = 0.9 * adjacency @ smoothed + 0.1 * start
    smoothed /= np.linalg.norm(smoothed, axis=1, keepdims=True)
    places = found.of(torch.arange(120).expand(2, -1))
    assert np.allclose((places[0] @ places[1].T).numpy(), smoothed @ smoothed.T, atol=1e-3)


def test_progress_counts_the_clusterings_of_all_seeds() -> None:
    graph = random_graph(40, 80)
    steps: list[tuple[str, int | None, int]] = []

    class Counted(SilentProgress):
        @contextmanager
        def stage(self, description: str, total: int | None = None) -> Iterator[Stage]:
            done: list[int] = []

            class Counts:
                def advance(self, steps: int = 1, **values: float) -> None:
                    done.append(steps)

            yield Counts()
            steps.append((description, total, sum(done)))

    with shown_by(Counted()):
        consensus(Features(graph), Topology.of(graph), torch.tensor([3, 4]), 3)
    assert ("evidence", 6, 6) in steps
