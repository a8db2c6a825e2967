"""The K-hop neighborhood N_K(i) = {j : d(i, j) <= K} (Section 3.2): the first members of S_i+.

A random batch holds few of a node's neighbors (almost none on a large graph), so two things are needed: which
candidates of the batch are near a query, exactly; and some near nodes for every query, wherever they are.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.views.topology import Topology
from nodewise.views.walks import random_walks


def sample_neighbors(topology: Topology, nodes: Tensor, hops: int, count: int, key: int | Tensor) -> Tensor:
    """Draw `count` members of N_K(i), with replacement, for each node; int64 (..., B) -> (..., B, count).

    Each is the end of a walk of 1..K steps, so it is within K hops. A node without neighbors yields itself.
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


def _balls(topology: Topology, centers: Tensor, radius: int) -> tuple[Tensor, Tensor]:
    """Return the pairs (position of the center, node within `radius` of it), each once."""
    owner = torch.arange(len(centers), device=centers.device)
    nodes = centers
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


def mixup(members: Tensor, count: int, key: int | Tensor, owners: Tensor) -> Tensor:
    """Return `count` combinations λ a + (1 - λ) b of two members each, λ uniform on [0, 1].

    Differs from the paper: it names mixup without a law; λ ~ Beta(1, 1), the neutral member of mixup's family.

    Args:
        members: (S, B, P, r).
        count: number T of new points per set.
        key: the draw's name, int or (S, 1).
        owners: int64 (S, B), the node each set belongs to.

    Returns:
        (S, B, T, r).
    """
    first, second, share = _draw(members.shape[-2], count, key, owners)
    wide = (*owners.shape, count, members.shape[-1])
    one, other = (members.gather(-2, place.unsqueeze(-1).expand(wide)) for place in (first, second))
    share = share.unsqueeze(-1)
    return share * one + (1 - share) * other


def mixup_shares(members: int, count: int, key: int | Tensor, owners: Tensor) -> Tensor:
    """Return what each of those combinations has of each of P members: (S, B, T, P), rows that sum to 1."""
    first, second, share = (drawn.unsqueeze(-1) for drawn in _draw(members, count, key, owners))
    place = torch.arange(members, device=owners.device)
    return share * (place == first) + (1 - share) * (place == second)


def _draw(members: int, count: int, key: int | Tensor, owners: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the places of the first and of the second member and the share of the first, each (S, B, T)."""
    stream = rng.fold(key, owners).unsqueeze(-1)
    slots = torch.arange(count, device=owners.device)
    first, second = (rng.below(members, rng.fold(stream, lane), slots) for lane in (0, 1))
    return first, second, rng.uniform(rng.fold(stream, 2), slots)
