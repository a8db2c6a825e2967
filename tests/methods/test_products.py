from __future__ import annotations

import pytest
import torch
from torch_geometric.nn.models import GCN

from nodewise.datasets.planted import block_model
from nodewise.methods.augment import Thinning
from nodewise.methods.inputs import Inputs
from nodewise.methods.products import (
    Convolutions,
    DirectedProduct,
    FeatureLinear,
    FeatureProduct,
    drop,
    symmetric_product,
    unit_rows,
)


@pytest.fixture(scope="module")
def inputs() -> Inputs:
    return Inputs(block_model(60, num_classes=3, num_features=30, seed=1))


@pytest.mark.parametrize("symmetric", [True, False])
def test_a_product_and_its_gradient_are_those_of_dense_matrices(inputs: Inputs, symmetric: bool) -> None:
    torch.manual_seed(0)
    thinning, product = Thinning(inputs.topology), symmetric_product if symmetric else DirectedProduct()
    for _ in range(2):  # the second time with other entries left out
        matrix = inputs.adjacency if symmetric else thinning.adjacency(0.4)
        assert torch.equal(matrix.to_dense(), matrix.to_dense().T) == symmetric
        dense = torch.randn(60, 4).requires_grad_()
        twin = dense.detach().clone().requires_grad_()
        weights = torch.arange(240.0).view(60, 4)
        result = product(matrix, dense)
        torch.testing.assert_close(result, product(matrix, dense.detach()))
        (result * weights).sum().backward()
        (matrix.to_dense() @ twin * weights).sum().backward()
        assert dense.grad is not None
        torch.testing.assert_close(dense.grad, twin.grad)


def test_rows_of_length_one_dense_or_sparse(inputs: Inputs) -> None:
    torch.testing.assert_close(unit_rows(inputs.x).to_dense(), unit_rows(inputs.dense_x))
    torch.testing.assert_close(unit_rows(inputs.x).to_dense().norm(dim=1), torch.ones(60))


@pytest.mark.parametrize("rate", [0.0, 0.5])
def test_sparse_features_give_the_product_and_gradient_of_dense_ones(inputs: Inputs, rate: float) -> None:
    product = FeatureProduct()
    weight = torch.randn(5, 30, generator=torch.Generator().manual_seed(0)).requires_grad_()
    twin = weight.detach().clone().requires_grad_()
    for _ in range(2):  # the second time with other values in the same places
        x = drop(inputs.x, rate, True)
        assert (x.values() == 0).any() == (rate > 0)
        result, wanted = product(x, weight), x.to_dense() @ twin.t()
        torch.testing.assert_close(result, wanted)
        (result**2).sum().backward()
        (wanted**2).sum().backward()
        torch.testing.assert_close(weight.grad, twin.grad)


def test_a_second_matrix_is_not_taken_for_the_first(inputs: Inputs) -> None:
    product, weight = FeatureProduct(), torch.ones(2, 30, requires_grad=True)
    other = Inputs(block_model(50, num_classes=3, num_features=30, seed=2))
    for each in (inputs, other, inputs):
        weight.grad = None
        product(each.x, weight).sum().backward()
        assert weight.grad is not None
        torch.testing.assert_close(weight.grad[0], each.dense_x.sum(0))


def test_dense_features_pass_through(inputs: Inputs) -> None:
    layer = FeatureLinear(30, 4)
    torch.testing.assert_close(layer(inputs.dense_x), layer(inputs.x))


@pytest.mark.parametrize("jk", [None, "cat", "max", "lstm"])
def test_convolutions_equal_torch_geometrics_on_the_same_weights(inputs: Inputs, jk: str | None) -> None:
    torch.manual_seed(0)
    ours, theirs = Convolutions(30, 8, 3, 4, jk=jk), GCN(30, 8, 3, 4, jk=jk)
    theirs.load_state_dict(ours.state_dict())
    found, wanted = ours(inputs.x, inputs.adjacency), theirs(inputs.dense_x, inputs.edge_index)
    torch.testing.assert_close(found, wanted)
    (found**2).sum().backward()
    (wanted**2).sum().backward()
    for name, weight in theirs.named_parameters():
        torch.testing.assert_close(ours.get_parameter(name).grad, weight.grad)
