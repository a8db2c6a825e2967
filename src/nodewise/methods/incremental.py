"""Vectors for some nodes of a graph, computed from what they see and nothing else.

A vector depends on the nodes at most h hops away, with h the number of layers and smoothing steps. From the nodes
asked for, the sets that each pass has to know are found outwards, S_h = the nodes, S_{t-1} = S_t and its neighbors;
then the passes are carried out inwards, each for its own set.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nodewise.core.errors import InputError
from nodewise.encoders.encoder import Encoder, Pass
from nodewise.encoders.features import Features
from nodewise.graph.graph import Graph
from nodewise.graph.ids import NodeIds
from nodewise.methods.embedding import embed_by_walks, embed_nodes
from nodewise.methods.layerwise import hops, program
from nodewise.methods.postprocess import of_length
from nodewise.methods.settings import Settings
from nodewise.views.topology import Topology, mixed


def places_of(nodes: NodeIds, graph: Graph) -> Tensor:
    """Return where in the graph the nodes are, int64 (n,)."""
    places = graph.ids.positions(nodes)
    if (places < 0).any():
        missing = nodes[int((places < 0).argmax())]
        raise InputError(f"{graph.name}: no node {missing!r}; ask for nodes that are in the graph", code="unknown-node")
    return torch.from_numpy(places)


@torch.no_grad()
def embed_some(
    encoder: Encoder, features: Features, topology: Topology, settings: Settings, seeds: Tensor, nodes: Tensor
) -> Tensor:
    """Embed nodes (n,) with the first run's encoder: (n, d), what `embed_nodes` gives them.

    An encoder that has no passes embeds the whole graph for it.
    """
    if settings.embedding.mode == "walks":
        return embed_by_walks(encoder, features, topology, settings, seeds, nodes)[0]
    passes = program(encoder, 0, settings, topology.faces is not None)
    if passes is None:
        return embed_nodes(encoder, features, topology, settings, seeds)[0][nodes]
    vectors = _run(passes, features, topology, reached(topology, nodes, hops(passes)))
    wanted = torch.searchsorted(torch.unique(nodes), nodes)
    vectors = vectors[wanted]
    return of_length(encoder.finish(vectors), settings.embedding.length)


def reached(topology: Topology, nodes: Tensor, hops: int) -> list[Tensor]:
    """Return the distinct nodes within 0, 1, ..., `hops` hops, ascending."""
    balls = [torch.unique(nodes)]
    for _ in range(hops):
        around, _ = topology.neighbors(balls[-1])
        balls.append(torch.unique(torch.cat([balls[-1], around])))
    return balls


def _run(passes: list[Pass], features: Features, topology: Topology, balls: list[Tensor]) -> Tensor:
    known, rows = balls.pop(), torch.empty(0)
    origin = origin_nodes = None
    for number, one in enumerate(passes):
        if one.origin:
            origin, origin_nodes = rows, known
        if one.weight is not None:
            rows = one.combine(
                features.rows_times(known.unsqueeze(0), one.weight.unsqueeze(0))[0]
                if number == 0
                else rows @ one.weight,
                None,
            )
            continue
        wanted = balls.pop()
        around = mixed(topology.mixing_rows(wanted, among=known), rows)
        anchor = None
        if one.teleport is not None and origin is not None and origin_nodes is not None:
            anchor = origin[torch.searchsorted(origin_nodes, wanted)]
        rows, known = one.combine(around, anchor), wanted
    return rows
