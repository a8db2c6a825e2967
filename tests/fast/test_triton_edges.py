"""Edges found on a GPU are the edges."""

import pytest
from tests.triton_process import run

COMPARISON = """
import sys, torch
from nodewise.views.topology import Topology
from nodewise.fast.triton_edges import edges_on_gpu
from tests.graphs import random_graph
device = sys.argv[1]
for graph in (random_graph(60, 150, seed=1), random_graph(300, 3000, seed=2)):
    topology = Topology.of(graph, device)
    nodes = torch.arange(graph.num_nodes, device=device)
    expected = topology.edges_in_torch(nodes.unsqueeze(-1), nodes)
    assert expected.any()
    for kind in (torch.int32, torch.int64):
        pairs = nodes.unsqueeze(-1), nodes
        found = edges_on_gpu(topology.indptr, topology.indices.to(kind), *pairs, topology.longest_search)
        assert torch.equal(found, expected)
print("equal")
"""


def test_the_kernel_equals_its_twin_when_interpreted() -> None:
    pytest.importorskip("triton")
    assert run(COMPARISON, "cpu") == "equal\n"


@pytest.mark.gpu
def test_the_kernel_equals_its_twin_on_cuda() -> None:
    pytest.importorskip("triton")
    assert run(COMPARISON, "cuda") == "equal\n"
