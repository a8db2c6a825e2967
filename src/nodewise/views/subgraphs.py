"""Subgraphs induced by walks, padded to one shape (Definition 1 and Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from nodewise.views import native
from nodewise.views.topology import Topology


@dataclass(frozen=True)
class Subgraphs:
    """A batch of induced subgraphs, each padded to L node slots; slot 0 is the node the walk started from.

    Attributes:
        nodes: int64 (..., B, L); padded slots repeat the centre.
        mask: bool (..., B, L), True for real nodes.
        adjacency: float32 (..., B, L, L), the normalised D^-1/2 (A_s + I) D^-1/2 of each subgraph; padded rows
            and columns are zero.
    """

    nodes: Tensor
    mask: Tensor
    adjacency: Tensor


def distinct_nodes(walks: Tensor) -> tuple[Tensor, Tensor]:
    """Return the distinct nodes of each walk, the start first, and the mask of real slots.

    Two sorts of L numbers replace a set per walk: the first brings repeats together, the second moves what
    is left to the front, ascending.
    """
    centre, others = walks[..., :1], walks[..., 1:]
    beyond = torch.iinfo(torch.int64).max
    ordered = torch.where(others == centre, beyond, others).sort(-1).values
    repeated = torch.zeros_like(ordered, dtype=torch.bool)
    repeated[..., 1:] = ordered[..., 1:] == ordered[..., :-1]
    ordered = torch.where(repeated, beyond, ordered).sort(-1).values
    mask = torch.cat([torch.ones_like(centre, dtype=torch.bool), ordered != beyond], dim=-1)
    return torch.where(mask, torch.cat([centre, ordered], dim=-1), centre), mask


def induced_edges(topology: Topology, nodes: Tensor, mask: Tensor) -> Tensor:
    """Return bool (..., L, L): every edge of the graph between the nodes of a subgraph, walked or not."""
    slots = nodes.shape[-1]
    rows, columns = torch.triu_indices(slots, slots, offset=1, device=nodes.device)
    joined = topology.has_edge(nodes[..., rows], nodes[..., columns]) & mask[..., rows] & mask[..., columns]
    edges = nodes.new_zeros((*nodes.shape, slots), dtype=torch.bool)
    edges[..., rows, columns] = joined
    edges[..., columns, rows] = joined
    return edges


def normalise(edges: Tensor, mask: Tensor) -> Tensor:
    """Return D^-1/2 (A_s + I) D^-1/2 with the degrees of the subgraph, zero on padding; float32 (..., L, L)."""
    with_loops = edges.to(torch.float32) + torch.diag_embed(mask.to(torch.float32))
    scale = with_loops.sum(-1).clamp_(min=1).rsqrt()
    return with_loops * scale.unsqueeze(-1) * scale.unsqueeze(-2)


def induced_subgraphs(topology: Topology, walks: Tensor) -> Subgraphs:
    """Build the padded, normalised subgraph of each walk; walks (..., B, L) as from `random_walks`."""
    if native.worthwhile(topology.device, walks[..., 0].numel()):
        from nodewise.views.compiled import induce

        return Subgraphs(*induce(topology, walks))
    return subgraphs_in_torch(topology, walks)


def subgraphs_in_torch(topology: Topology, walks: Tensor) -> Subgraphs:
    """Look up every pair of nodes of all walks at once, on any device."""
    nodes, mask = distinct_nodes(walks)
    return Subgraphs(nodes, mask, normalise(induced_edges(topology, nodes, mask), mask))
