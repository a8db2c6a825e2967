"""Leading directions are those of a full singular value decomposition, whatever part of the features is asked for."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import scale

from nodewise.encoders import directions as module
from nodewise.encoders.directions import directions_by_kind, fair_shares, leading_directions
from nodewise.encoders.features import Features
from nodewise.graph.graph import Graph
from nodewise.methods.node_embedder import NodeEmbedder

NODES, COLUMNS, COUNT = 90, 40, 6


def fading(*, sparse: bool) -> np.ndarray:
    """Features whose singular values fall off; without a few entries where `sparse`, and one row of zeros."""
    generator = np.random.default_rng(0)
    left, _ = np.linalg.qr(generator.normal(size=(NODES, COLUMNS)))
    right, _ = np.linalg.qr(generator.normal(size=(COLUMNS, COLUMNS)))
    found = left * 10 * 0.6 ** np.arange(COLUMNS) @ right.T + 0.4
    if sparse:
        found[generator.random(found.shape) < 0.1] = 0
    found[17] = 0
    return found.astype(np.float32)


def features(matrix: np.ndarray, *, sparse: bool = False) -> Features:
    ends = np.arange(len(matrix))
    stored = sp.csr_matrix(matrix) if sparse else matrix
    return Features(Graph.from_edges(ends, (ends + 1) % len(matrix), features=stored))


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("part", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_they_are_those_of_numpy(sparse: bool, part: bool, centered: bool) -> None:
    matrix = fading(sparse=sparse)
    wanted = matrix.astype(np.float64)
    columns = np.random.default_rng(1).random(COLUMNS) < 0.6 if part else None
    if columns is not None:
        wanted[:, ~columns] = 0
        lengths = np.linalg.norm(wanted, axis=1, keepdims=True)
        wanted = np.divide(wanted, lengths, out=np.zeros_like(wanted), where=lengths > 0)
    if centered:
        wanted -= wanted.mean(0)
    left, values, right = np.linalg.svd(wanted, full_matrices=False)
    directions, projected = leading_directions(
        features(matrix, sparse=sparse),
        COUNT,
        columns=None if columns is None else torch.from_numpy(columns),
        centered=centered,
    )
    assert directions.shape == (COLUMNS, COUNT)
    assert projected.shape == (NODES, COUNT)
    found = directions.double().numpy()
    np.testing.assert_allclose(found.T @ found, np.eye(COUNT), atol=1e-5)
    # Each up to its sign, strongest first.
    np.testing.assert_allclose(np.abs(right[:COUNT] @ found), np.eye(COUNT), atol=2e-3)
    signs = np.sign(np.diag(right[:COUNT] @ found))
    expected = left[:, :COUNT] * values[:COUNT] * signs
    np.testing.assert_allclose(projected.double().numpy(), expected, atol=2e-3 * values[0])
    if columns is not None:
        assert not found[~columns].any(), "columns that were not asked for have no part in them"


def test_there_are_no_more_than_the_rank() -> None:
    generator = np.random.default_rng(0)
    matrix = (generator.normal(size=(NODES, 3)) @ generator.normal(size=(3, COLUMNS))).astype(np.float32)
    directions, projected = leading_directions(features(matrix), COUNT)
    assert directions.shape == (COLUMNS, 3)
    np.testing.assert_allclose(projected @ directions.T, matrix, atol=1e-4)


def test_of_nothing_there_are_none() -> None:
    directions, projected = leading_directions(features(np.zeros((NODES, COLUMNS), np.float32)), COUNT)
    assert directions.shape == (COLUMNS, 0)
    assert projected.shape == (NODES, 0)


@pytest.mark.parametrize(("rows", "columns"), [(4, 30), (30, 4)])
def test_more_may_be_asked_for_than_there_are_rows_or_columns(rows: int, columns: int) -> None:
    matrix = np.random.default_rng(0).normal(size=(rows, columns)).astype(np.float32)
    directions, projected = leading_directions(features(matrix), 20)
    assert directions.shape == (columns, 4)
    np.testing.assert_allclose(projected @ projected.T, matrix @ matrix.T, atol=1e-3)


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("part", [False, True])
def test_of_very_many_nodes_they_come_from_a_part_and_all_are_projected(
    part: bool, centered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    matrix = np.tile(fading(sparse=False), (3, 1))
    columns = torch.arange(COLUMNS) % 3 > 0 if part else None
    monkeypatch.setattr("nodewise.encoders.directions.MOST_ROWS", 240)
    directions, projected = leading_directions(features(matrix), COUNT, columns=columns, centered=centered)
    wanted = torch.from_numpy(matrix) * (1 if columns is None else columns)
    if part:
        wanted = torch.nn.functional.normalize(wanted, dim=-1)
    expected = wanted @ directions
    assert torch.allclose(projected, expected - expected.mean(0) if centered else expected, atol=1e-4)
    # 240 of the 270 rows are enough to find what three copies of the rows have in common.
    whole = np.linalg.svd((wanted - wanted.mean(0) if centered else wanted).numpy(), full_matrices=False)[2][:3]
    assert np.linalg.norm(whole @ directions.numpy(), axis=1).min() > 0.98


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("most", [20, 1 << 16])
def test_every_kind_has_its_own(sparse: bool, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ROWS", most)  # a random part of the nodes, or all
    matrix, ends = 3 * fading(sparse=sparse), np.arange(NODES)
    few = np.flatnonzero(ends % 9 == 4)
    matrix[few] = 0
    matrix[few, :4] = np.random.default_rng(2).normal(size=(len(few), 4)) / 100  # short rows of few columns
    kinds = np.where(np.isin(ends, few), "few", "many").tolist()
    stored = sp.csr_matrix(matrix) if sparse else matrix
    graph = Graph.from_edges(ends, (ends + 1) % NODES, features=stored, kinds=kinds)
    found = directions_by_kind(Features(graph), 10).double().numpy()
    assert found.shape == (2 * COLUMNS, 10)
    np.testing.assert_allclose(found.T @ found, np.eye(10), atol=1e-5)
    own, others = found[:COLUMNS, :4], found[COLUMNS:, 4:]
    assert np.count_nonzero(found) == np.count_nonzero(own) + np.count_nonzero(others)
    np.testing.assert_allclose(matrix[few] @ own @ own.T, matrix[few], atol=1e-6)  # nothing of theirs is lost
    if most > NODES:
        right = np.linalg.svd(np.delete(matrix, few, 0).astype(np.float64))[2][:6]
        np.testing.assert_allclose(np.abs(right @ others), np.eye(6), atol=5e-3)


def test_shares_are_fair() -> None:
    assert fair_shares([200, 5, 40], 64) == [30, 5, 29]
    assert fair_shares([3, 0, 2], 64) == [3, 0, 2]
    assert fair_shares([9, 9, 9], 2) == [0, 1, 1]
    assert sum(fair_shares([100, 100, 100], 64)) == 64


def test_a_few_products_keep_their_classes_beside_many_customers() -> None:
    """As many coordinates as customers can fill: without a start of their own, products would have none."""
    draw = np.random.default_rng(0)
    classes, matrix = draw.integers(0, 3, 60), np.zeros((2060, 40), np.float32)
    matrix[:2000] = draw.normal(size=(2000, 40))
    matrix[2000:, :5] = 3 * draw.normal(size=(3, 5))[classes] + draw.normal(size=(60, 5))
    sources, targets = np.repeat(np.arange(2000), 3), 2000 + draw.integers(0, 60, 6000)
    kinds = ["customer"] * 2000 + ["product"] * 60
    graph = Graph.from_edges(sources, targets, features=matrix, kinds=kinds)
    model = NodeEmbedder(steps=1, dimension=16, feature_mask=0.3, device="cpu").fit(graph)
    probe = LogisticRegression(max_iter=500)
    scores = [
        cross_val_score(probe, scale(rows.astype(np.float64)), classes, cv=4).mean()
        for rows in (model.embeddings_.vectors[2000:], matrix[2000:, :5])
    ]
    assert scores[0] > scores[1] - 0.05 > 0.8
