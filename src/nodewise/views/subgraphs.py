"""Subgraphs induced by walks, padded to one shape (Definition 1 and Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from nodewise.views import native
from nodewise.views.topology import Topology, faces_of


@dataclass(frozen=True)
class Subgraphs:
    """A batch of induced subgraphs, each padded to L node slots; slot 0 is the node the walk started from.

    Attributes:
        nodes: int64 (..., B, L); padded slots repeat the center.
        mask: bool (..., B, L), True for real nodes.
        adjacency: float32 (..., B, L, L), the normalized D^-1/2 (A_s + I) D^-1/2 of each subgraph, with weights as
            `nodewise.views.topology` says and L of the whole graph; padded rows and columns are zero.
        faces: where edges have directions, the same of both faces of every slot, float32 (..., B, 2L, 2L).
        weighted: where edges have weights, the adjacency before it is normalized.
    """

    nodes: Tensor
    mask: Tensor
    adjacency: Tensor
    faces: Tensor | None = None
    weighted: Tensor | None = None

    @property
    def mixing(self) -> Tensor:
        """What mixes the rows of neighbors (`topology.mixed`)."""
        return self.adjacency if self.faces is None else self.faces


def distinct_nodes(walks: Tensor) -> tuple[Tensor, Tensor]:
    """Return the distinct nodes of each walk, the start first, and the mask of real slots.

    Two sorts of L numbers replace a set per walk: the first brings repeats together, the second moves what
    is left to the front, ascending.
    """
    center, others = walks[..., :1], walks[..., 1:]
    beyond = torch.iinfo(torch.int64).max
    ordered = torch.where(others == center, beyond, others).sort(-1).values
    repeated = torch.zeros_like(ordered, dtype=torch.bool)
    repeated[..., 1:] = ordered[..., 1:] == ordered[..., :-1]
    ordered = torch.where(repeated, beyond, ordered).sort(-1).values
    mask = torch.cat([torch.ones_like(center, dtype=torch.bool), ordered != beyond], dim=-1)
    return torch.where(mask, torch.cat([center, ordered], dim=-1), center), mask


def induced_edges(topology: Topology, nodes: Tensor, mask: Tensor) -> Tensor:
    """Return the weights of all edges between the nodes of a subgraph, walked or not: float32 (..., L, L)."""
    slots = nodes.shape[-1]
    rows, columns = torch.triu_indices(slots, slots, offset=1, device=nodes.device)
    joined = topology.edge_weights(nodes[..., rows], nodes[..., columns]) * (mask[..., rows] & mask[..., columns])
    edges = joined.new_zeros((*nodes.shape, slots))
    edges[..., rows, columns] = joined
    edges[..., columns, rows] = joined
    return edges


def normalize(with_loops: Tensor) -> Tensor:
    """Return D^-1/2 (A_s + I) D^-1/2 with the sums D of the rows of A_s + I, which is zero on padding: (..., L, L)."""
    total = with_loops.sum(-1)
    scale = torch.where(total > 0, total, 1.0).rsqrt()
    return with_loops * scale.unsqueeze(-1) * scale.unsqueeze(-2)


def induced_subgraphs(topology: Topology, walks: Tensor) -> Subgraphs:
    """Build the padded, normalized subgraph of each walk; walks (..., B, L) as from `random_walks`."""
    if native.worthwhile(topology.device, walks[..., 0].numel()):
        from nodewise.views.compiled import induce

        nodes, mask, adjacency = induce(topology, walks)
        weighted = None if topology.weights is None else adjacency
        adjacency = adjacency if weighted is None else normalize(weighted)
        return Subgraphs(nodes, mask, adjacency, _faces(topology, nodes, mask), weighted)
    return subgraphs_in_torch(topology, walks)


def subgraphs_in_torch(topology: Topology, walks: Tensor) -> Subgraphs:
    """Look up every pair of nodes of all walks at once, on any device."""
    nodes, mask = distinct_nodes(walks)
    edges = _with_loops(topology, nodes, mask)
    weighted = None if topology.weights is None else edges
    return Subgraphs(nodes, mask, normalize(edges), _faces(topology, nodes, mask), weighted)


def _with_loops(topology: Topology, nodes: Tensor, mask: Tensor) -> Tensor:
    loops = mask.to(torch.float32) if topology.weights is None else mask * topology.loops[nodes]
    return induced_edges(topology, nodes, mask) + torch.diag_embed(loops)


def _faces(topology: Topology, nodes: Tensor, mask: Tensor) -> Tensor | None:
    if topology.faces is None:
        return None
    return normalize(_with_loops(topology.faces, faces_of(nodes), mask.repeat_interleave(2, -1)))
