"""Products with the feature matrix: dense or sparse, on the device or row by row from the host, all alike."""

from pathlib import Path

import numpy as np
import pytest
import torch
from tests.graphs import random_graph

from nodewise.encoders import features as module
from nodewise.encoders.features import Features
from nodewise.graph.graph import Graph
from nodewise.store.convert import write_store
from nodewise.store.open import open_store

KINDS = [(sparse, streamed) for sparse in (False, True) for streamed in (False, True)]
NODES = torch.tensor([[[3, 3, 9], [0, 29, 3]], [[5, 9, 9], [1, 2, 28]]])


def build(sparse: bool, streamed: bool, monkeypatch: pytest.MonkeyPatch) -> tuple[Features, torch.Tensor]:
    """Features of 30 nodes and the same as one dense matrix; `streamed` makes 30 rows count as many."""
    graph = random_graph(30, 40, sparse=sparse, seed=3)
    if streamed:
        monkeypatch.setattr(module, "_CHUNK", 8)
    found = Features(graph)
    assert found.on_device is not streamed
    return found, torch.as_tensor(dense(graph))


def dense(graph: Graph) -> np.ndarray:
    matrix = graph.features
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def numbers(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(("sparse", "streamed"), KINDS)
def test_products_in_either_direction(sparse: bool, streamed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    found, matrix = build(sparse, streamed, monkeypatch)
    assert found.shape == matrix.shape == (30, 7)
    right, left = numbers(7, 4), numbers(30, 4)
    assert torch.allclose(found.product(right), matrix @ right, atol=1e-5)
    assert torch.allclose(found.transposed_product(left), matrix.T @ left, atol=1e-5)
    assert torch.allclose(found.times(right), matrix @ right, atol=1e-5)


@pytest.mark.parametrize(("sparse", "streamed"), KINDS)
@pytest.mark.parametrize("copies", [1, 5])
def test_each_run_has_its_own_nodes_and_weights(
    sparse: bool, streamed: bool, copies: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Five copies are more rows than the matrix has, which is then multiplied as a whole.
    found, matrix = build(sparse, streamed, monkeypatch)
    nodes = NODES.repeat(1, copies, 1)
    weight = numbers(2, 7, 4).requires_grad_()
    product = found.rows_times(nodes, weight)
    expected = torch.stack([matrix[nodes[run]] @ weight[run] for run in range(2)])
    assert product.shape == (2, 2 * copies, 3, 4)
    assert torch.allclose(product, expected, atol=1e-5)
    upstream = numbers(*product.shape)
    gradients = [torch.autograd.grad((one * upstream).sum(), weight)[0] for one in (product, expected)]
    assert torch.allclose(*gradients, atol=1e-5)


@pytest.mark.parametrize(("sparse", "streamed"), KINDS)
@pytest.mark.parametrize("runs", [1, 2])
@pytest.mark.parametrize("hidden", [False, True])
def test_means_of_rows_with_columns_hidden(
    sparse: bool, streamed: bool, runs: int, hidden: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, matrix = build(sparse, streamed, monkeypatch)
    nodes, weight = NODES[:runs], numbers(runs, 7, 4).requires_grad_()
    kept = numbers(runs, 7) > 0 if hidden else None
    means = found.mean_rows_times(nodes, weight, kept)
    seen = torch.ones(runs, 7) if kept is None else kept.float()
    expected = torch.stack([((matrix[nodes[run]] * seen[run]) @ weight[run]).mean(-2) for run in range(runs)])
    assert torch.allclose(means, expected, atol=1e-5)
    upstream = numbers(*means.shape)
    gradients = [torch.autograd.grad((one * upstream).sum(), weight)[0] for one in (means, expected)]
    assert torch.allclose(*gradients, atol=1e-5)


@pytest.mark.parametrize(("sparse", "streamed"), KINDS)
@pytest.mark.parametrize(("copies", "multiplied"), [(1, 8), (5, 30)])
def test_few_rows_of_many_are_multiplied_alone(
    sparse: bool, streamed: bool, copies: int, multiplied: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, _ = build(sparse, streamed, monkeypatch)
    sizes, times = [], module._times
    monkeypatch.setattr(module, "_times", lambda parts, weight: sizes.append(len(parts[0])) or times(parts, weight))
    found.rows_times(NODES.repeat(1, copies, 1), numbers(2, 7, 4))
    assert sizes == [8 if streamed else multiplied]


@pytest.mark.parametrize(("sparse", "streamed"), KINDS)
def test_rows(sparse: bool, streamed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    found, matrix = build(sparse, streamed, monkeypatch)
    assert torch.equal(found.rows(NODES[0, 1]), matrix[NODES[0, 1]])


@pytest.mark.parametrize("sparse", [False, True])
def test_document_frequencies_and_lengths_against_a_loop(sparse: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    found, matrix = build(sparse, False, monkeypatch)
    scale = numbers(7)
    for column, value in enumerate(found.inverse_document_frequency().tolist()):
        present = sum(float(matrix[row, column]) != 0 for row in range(30))
        assert np.isclose(value, np.log(31 / (1 + present)) + 1)
    for row, value in enumerate(found.row_norms(scale).tolist()):
        squares = sum((float(matrix[row, column]) * float(scale[column])) ** 2 for column in range(7))
        assert np.isclose(value, squares**0.5)


def test_sparse_products_stay_in_single_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    # Torch has no sparse products in half precision on a CPU, and mixed precision must not ask for one.
    found, matrix = build(True, False, monkeypatch)
    weight = numbers(2, 7, 4).requires_grad_()
    with torch.autocast("cpu", torch.bfloat16):
        product = found.rows_times(NODES, weight)
    product.sum().backward()
    assert product.dtype == torch.float32
    assert torch.allclose(product[0], matrix[NODES[0]] @ weight[0], atol=1e-5)
    assert torch.isfinite(weight.grad).all()


@pytest.mark.parametrize("streamed", [False, True])
def test_half_precision_on_the_disk_is_widened_where_it_is_read(
    tmp_path: Path, streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if streamed:
        monkeypatch.setattr(module, "_CHUNK", 8)
    graph = random_graph(30, 40, seed=3)
    write_store(graph, tmp_path / "store", half=True)
    found, matrix = Features(open_store(tmp_path / "store")), torch.as_tensor(dense(graph)).half().float()
    right, left, weight = numbers(7, 4), numbers(30, 4), numbers(2, 7, 4)
    assert torch.allclose(found.product(right), matrix @ right, atol=1e-5)
    assert torch.allclose(found.transposed_product(left), matrix.T @ left, atol=1e-5)
    assert torch.equal(found.rows(NODES[0, 1]), matrix[NODES[0, 1]])
    assert torch.allclose(found.rows_times(NODES, weight)[1], matrix[NODES[1]] @ weight[1], atol=1e-5)
    assert torch.allclose(found.row_norms(torch.ones(7)), matrix.norm(dim=1), atol=1e-5)


@pytest.mark.parametrize(("sparse", "streamed"), KINDS)
def test_a_block_of_rows(sparse: bool, streamed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    found, matrix = build(sparse, streamed, monkeypatch)
    right = numbers(7, 4)
    for start, end in ((0, 30), (0, 5), (11, 12), (25, 30)):
        assert torch.allclose(found.block_times(start, end, right), (matrix @ right)[start:end], atol=1e-6)


@pytest.mark.gpu
@pytest.mark.parametrize("sparse", [False, True])
def test_the_gpu_computes_the_same(sparse: bool) -> None:
    graph = random_graph(400, 40, num_features=7, sparse=sparse, seed=3)
    here, there = Features(graph), Features(graph, "cuda")
    scales, weight, nodes = numbers(7, 3), numbers(2, 7, 4), NODES
    pairs = (
        (here.inverse_document_frequency(), there.inverse_document_frequency()),
        (here.row_norms(scales), there.row_norms(scales.cuda())),
        (here.row_norms(scales[:, 0]), there.row_norms(scales[:, 0].cuda())),
        (here.rows_times(nodes, weight), there.rows_times(nodes.cuda(), weight.cuda())),
        (here.mean_rows_times(nodes, weight), there.mean_rows_times(nodes.cuda(), weight.cuda())),
    )
    for on_cpu, on_gpu in pairs:
        assert torch.allclose(on_cpu, on_gpu.cpu(), atol=1e-5)
