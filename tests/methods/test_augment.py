import torch
from tests.graphs import small_graph

from nodewise.methods import augment
from nodewise.methods.augment import drop_columns
from nodewise.methods.inputs import Inputs


def test_whole_columns_are_hidden_at_the_rate_dense_and_sparse_alike() -> None:
    x = torch.arange(1.0, 4001.0).view(2, 2000)
    torch.manual_seed(0)
    dense = drop_columns(x, 0.3)
    torch.manual_seed(0)
    sparse = drop_columns(x.to_sparse_csr(), 0.3)
    assert torch.equal(sparse.to_dense(), dense)
    hidden = dense == 0
    assert torch.equal(hidden[0], hidden[1])
    assert torch.equal(dense[~hidden], x[~hidden])
    assert 0.25 < hidden[0].float().mean() < 0.35
    assert torch.equal(drop_columns(x, 0.0), x)


def test_edges_are_read_off_an_adjacency() -> None:
    inputs = Inputs(small_graph())
    assert torch.equal(augment.edges_of(inputs.adjacency), inputs.edge_index)
