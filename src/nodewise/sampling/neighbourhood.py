"""The K-hop neighbourhood N_K(i) = {j : d(i, j) <= K} (Section 3.2): the first members of S_i+.

A random batch holds few of a node's neighbours (almost none on a large graph), so two things are needed: which
candidates of the batch are near a query, exactly; and some near nodes for every query, wherever they are.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.views.topology import Topology
from nodewise.views.walks import random_walks


def sample_neighbours(topology: Topology, nodes: Tensor, hops: int, count: int, key: int | Tensor) -> Tensor:
    """Draw `count` members of N_K(i), with replacement, for each node; int64 (..., B) -> (..., B, count).

    Each is the end of a walk of 1..K steps, so it is within K hops. A node without neighbours yields itself.
    """
    drawn = []
    for number in range(count):
        stream = rng.fold(key, number)
        walks = random_walks(topology, nodes, hops, stream)
        length = 1 + rng.below(hops, rng.fold(stream, nodes), torch.zeros_like(nodes))
        drawn.append(walks.gather(-1, length.unsqueeze(-1)).squeeze(-1))
    return torch.stack(drawn, dim=-1)


def near_pairs(topology: Topology, queries: Tensor, keys: Tensor, hops: int) -> Tensor:
    """Return bool (S, B, M): d(query, key) <= K, a node itself included.

    For K = 1 on a GPU every pair is looked up, which keeps shapes static. Otherwise two balls meet in the middle:
    d(i, j) <= K exactly if the ball of radius ceil(K/2) around i meets the ball of radius floor(K/2) around j. So hubs
    are expanded half as often, and nothing of size N x N is formed.
    """
    if hops == 1 and topology.device.type == "cuda":
        left, right = queries.unsqueeze(-1), keys.unsqueeze(-2)
        return topology.has_edge(left, right) | (left == right)
    return torch.stack([_near(topology, left, right, hops) for left, right in zip(queries, keys, strict=True)])


def _near(topology: Topology, queries: Tensor, keys: Tensor, hops: int) -> Tensor:
    left_owner, left_nodes = _balls(topology, queries, (hops + 1) // 2)
    right_owner, right_nodes = _balls(topology, keys, hops // 2)
    members, place = torch.unique(torch.cat([left_nodes, right_nodes]), return_inverse=True)
    size = (len(members), len(queries)), (len(members), len(keys))
    left = _incidence(place[: len(left_nodes)], left_owner, size[0])
    right = _incidence(place[len(left_nodes) :], right_owner, size[1])
    meetings: Tensor = torch.sparse.mm(left.t(), right).to_dense()
    return meetings > 0


def _incidence(rows: Tensor, columns: Tensor, size: tuple[int, int]) -> Tensor:
    ones = torch.ones(len(rows), device=rows.device)
    return torch.sparse_coo_tensor(torch.stack([rows, columns]), ones, size, check_invariants=False).coalesce()


def _balls(topology: Topology, centres: Tensor, radius: int) -> tuple[Tensor, Tensor]:
    """Return the pairs (position of the centre, node within `radius` of it), each once."""
    owner = torch.arange(len(centres), device=centres.device)
    nodes = centres
    for _ in range(radius):
        degree = topology.degrees[nodes]
        source = torch.repeat_interleave(torch.arange(len(nodes), device=nodes.device), degree)
        first = degree.cumsum(0) - degree
        offset = torch.arange(len(source), device=nodes.device) - first[source]
        reached = topology.indices[topology.indptr[nodes[source]] + offset]
        pairs = torch.cat([owner * topology.num_nodes + nodes, owner[source] * topology.num_nodes + reached])
        pairs = torch.unique(pairs)
        owner, nodes = pairs // topology.num_nodes, pairs % topology.num_nodes
    return owner, nodes
