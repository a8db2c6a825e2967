"""Leading directions are those of a full singular value decomposition, whatever part of the features is asked for."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from nodewise.encoders.directions import leading_directions
from nodewise.encoders.features import Features
from nodewise.graph.graph import Graph

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
