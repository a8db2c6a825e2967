"""Small graphs that many tests share."""

import numpy as np
import scipy.sparse as sp
import torch
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from nodewise.graph.graph import Graph


def random_graph(
    num_nodes: int,
    num_edges: int,
    *,
    num_features: int = 7,
    sparse: bool = False,
    weighted: bool = False,
    directed: bool = False,
    seed: int = 0,
) -> Graph:
    """A uniformly random graph with random features; some nodes may be isolated. Weights differ by up to a thousand."""
    generator = np.random.default_rng(seed)
    ends = generator.integers(0, num_nodes, (2, num_edges))
    features = generator.random((num_nodes, num_features), dtype=np.float32)
    if sparse:
        features = sp.csr_matrix(features * (features > 0.6))
    weights = 10 ** generator.uniform(-1.5, 1.5, num_edges) if weighted else None
    return Graph.from_edges(
        ends[0], ends[1], weights=weights, directed=directed, num_nodes=num_nodes, features=features
    )


def small_graph(*, sparse: bool = False, weighted: bool = False) -> Graph:
    """Thirty nodes, about forty edges, at least one of them isolated."""
    graph = random_graph(30, 40, sparse=sparse, weighted=weighted, seed=3)
    assert (graph.degrees == 0).any()
    return graph


def walks_over_components(graph: Graph) -> Tensor:
    """For every node a "walk" (N, L) that sees its whole component, the node itself first and as padding."""
    _, component = connected_components(graph.adjacency())
    seen = [[node, *np.flatnonzero(component == component[node])] for node in range(graph.num_nodes)]
    longest = max(map(len, seen))
    return torch.tensor([nodes + [nodes[0]] * (longest - len(nodes)) for nodes in seen])
