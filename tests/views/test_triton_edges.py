"""Edges found on a GPU are the edges."""

import os
import subprocess
import sys

import pytest

COMPARISON = """
import sys, torch
from nodewise.views.topology import Topology
from nodewise.views.triton_edges import edges_on_gpu
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


def run(device: str, interpreted: str) -> str:
    # Triton decides when it is imported whether it compiles or interprets: hence a process of its own.
    command = [sys.executable, "-W", "ignore", "-c", COMPARISON, device]
    environment = os.environ | {"TRITON_INTERPRET": interpreted}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    return done.stdout + done.stderr[-2000:]


def test_the_kernel_equals_its_twin_when_interpreted() -> None:
    pytest.importorskip("triton")
    assert run("cpu", "1") == "equal\n"


@pytest.mark.gpu
def test_the_kernel_equals_its_twin_on_cuda() -> None:
    pytest.importorskip("triton")
    assert run("cuda", "0") == "equal\n"
