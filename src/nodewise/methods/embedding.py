"""From a trained encoder to a vector for every node."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from contextlib import closing

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.core.progress import Progress, SilentProgress
from nodewise.encoders.encoder import Encoder
from nodewise.encoders.features import Features
from nodewise.methods.layerwise import Buffers, Step, at_once, choose_buffers, chunks, program, run_passes
from nodewise.methods.postprocess import of_length, smooth_in_place
from nodewise.methods.settings import Settings
from nodewise.views.topology import Topology

_CHUNK = 4096


@torch.no_grad()
def embed_nodes(
    encoder: Encoder,
    features: Features,
    topology: Topology,
    settings: Settings,
    seeds: Tensor,
    progress: Progress | None = None,
) -> Tensor:
    """Embed every node with each run's encoder: (S, N, d) float32; very large matrices lie in temporary files."""
    if not in_chunks(encoder, topology, settings):
        return _embed_whole(encoder, features, topology, settings)
    if settings.embedding.mode == "walks" and len(seeds) > 1:  # runs walk together
        nodes = torch.arange(topology.num_nodes, device=topology.device)
        return embed_by_walks(encoder, features, topology, settings, seeds, nodes)
    runs, total = [], len(seeds) * number_of_passes(encoder, topology, settings) * topology.num_nodes
    with (progress or SilentProgress()).stage("embedding", total) as bar:

        def step(name: str, rows: int, work: Callable[[], None]) -> None:
            work()
            bar.advance(rows)

        for run in range(len(seeds)):
            buffers = choose_buffers(topology.num_nodes, settings.encoder.dimension, topology.device)
            with closing(buffers):
                for start, rows in embedded_rows(encoder, features, topology, settings, seeds, run, buffers, step):
                    buffers.write("result", start, rows)
                    bar.advance(len(rows))
                runs.append(buffers.read("result"))
    return runs[0].unsqueeze(0) if len(runs) == 1 else torch.stack(runs)


def in_chunks(encoder: Encoder, topology: Topology, settings: Settings) -> bool:
    """Tell whether nodes are embedded some at a time.

    A GPU takes a whole graph at once, and so does an encoder that has no passes.
    """
    layered = topology.device.type == "cpu" and encoder.passes(0) is not None
    return settings.embedding.mode == "walks" or layered


def number_of_passes(encoder: Encoder, topology: Topology, settings: Settings) -> int:
    """Return how often a node is touched until its vector is known."""
    directed = topology.faces is not None
    passes = program(encoder, 0, settings, directed) if settings.embedding.mode == "graph" else None
    return 1 if passes is None else len(passes)


@torch.no_grad()
def embedded_rows(
    encoder: Encoder,
    features: Features,
    topology: Topology,
    settings: Settings,
    seeds: Tensor,
    run: int,
    buffers: Buffers,
    step: Step = at_once,
    done: Container[int] = (),
) -> Iterator[tuple[int, Tensor]]:
    """Yield one run's vectors some nodes at a time: the first node's position, and (n, d).

    `buffers` keep what lies between two passes over the graph, `step` is told of every chunk of them, and chunks whose
    first node is in `done` are left out.
    """
    chosen = settings.embedding
    passes = program(encoder, run, settings, topology.faces is not None) if chosen.mode == "graph" else None
    if passes is not None:
        for start, rows in run_passes(passes, features, topology, buffers, step, done):
            yield start, of_length(encoder.finish(rows), chosen.length)
    else:
        for start, end in chunks(topology.num_nodes):
            if start in done:
                continue
            nodes = torch.arange(start, end, device=topology.device)
            yield start, embed_by_walks(encoder, features, topology, settings, seeds, nodes)[run]


@torch.no_grad()
def embed_by_walks(
    encoder: Encoder, features: Features, topology: Topology, settings: Settings, seeds: Tensor, nodes: Tensor
) -> Tensor:
    """Embed some nodes (n,) by the mean readout of their walks, which needs nothing but the walks: (S, n, d)."""
    parts = []
    for start in range(0, len(nodes), _CHUNK):
        part = nodes[start : start + _CHUNK]
        starts = part.expand(len(seeds), -1)
        total = torch.zeros((), device=topology.device)
        for number in range(settings.embedding.walks):
            key = rng.key(seeds, "walk.embedding", number).unsqueeze(-1)
            total = total + encoder.views(features, topology, starts, settings.views, key)
        parts.append(total / settings.embedding.walks)
    vectors = torch.cat(parts, dim=1)
    return of_length(vectors, settings.embedding.length)


def _embed_whole(encoder: Encoder, features: Features, topology: Topology, settings: Settings) -> Tensor:
    chosen, vectors = settings.embedding, encoder.graph(features, topology)
    if chosen.propagation:
        smooth_in_place(vectors, topology, chosen.propagation, chosen.teleport)
    return of_length(encoder.finish(vectors), chosen.length)
