"""Passes over a graph in chunks are the encoder over the whole graph, wherever the buffers are."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
import torch
from tests.graphs import random_graph

from nodewise.core import config
from nodewise.encoders.features import Features
from nodewise.encoders.gcn import GCN, smooth
from nodewise.methods import layerwise
from nodewise.methods.layerwise import Buffers, FileBuffers, MemoryBuffers, chunks, hops, places, program, run_passes
from nodewise.methods.settings import Settings
from nodewise.store.convert import write_store
from nodewise.store.open import open_store
from nodewise.views.topology import Topology

SETTINGS = [
    ("encoder.kind=gcn", "encoder.layers=1", "embedding.propagation=0"),
    ("encoder.kind=gcn", "encoder.layers=1", "embedding.propagation=4"),
    ("encoder.kind=gcn", "encoder.layers=3", "encoder.final_activation=true", "embedding.propagation=1"),
    (
        "encoder.kind=gcn",
        "encoder.layers=2",
        "encoder.propagation=3",
        "encoder.teleport=0.3",
        "embedding.propagation=2",
    ),
]


def settings(*changes: str) -> Settings:
    return config.override(Settings(), ["encoder.dimension=6", "embedding.teleport=0.2", *changes])


def encoder(chosen: Settings) -> GCN:
    found = chosen.encoder.build(7, torch.tensor([3]))
    assert isinstance(found, GCN)
    return found


def whole(chosen: Settings, features: Features, topology: Topology) -> torch.Tensor:
    vectors = encoder(chosen).graph(features, topology)[0]
    return smooth(topology.normalized_adjacency(), vectors, chosen.embedding.propagation, chosen.embedding.teleport)


def in_chunks(chosen: Settings, features: Features, topology: Topology, buffers: Buffers) -> torch.Tensor:
    parts = list(run_passes(program(encoder(chosen), 0, chosen), features, topology, buffers))
    assert [start for start, _ in parts] == [start for start, _ in chunks(topology.num_nodes)]
    return torch.cat([rows for _, rows in parts])


@pytest.mark.parametrize("changes", SETTINGS)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("rows", [7, 1 << 16])
def test_the_same_vectors_from_memory_files_and_a_store(
    tmp_path: Path, changes: tuple[str, ...], sparse: bool, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layerwise, "ROWS", rows)
    chosen, graph = settings(*changes), random_graph(50, 80, sparse=sparse, seed=1)
    write_store(graph, tmp_path / "store")
    stored = open_store(tmp_path / "store")
    expected = in_chunks(chosen, Features(graph), Topology.of(graph), MemoryBuffers(50, torch.device("cpu")))
    for one in (graph, stored):
        files = FileBuffers(50, tmp_path)
        assert torch.equal(in_chunks(chosen, Features(one), Topology.of(one), files), expected)
        files.close()
    assert torch.allclose(expected, whole(chosen, Features(graph), Topology.of(graph)), atol=1e-6)


def test_no_buffer_is_written_while_it_is_needed() -> None:
    chosen = settings(*SETTINGS[3])
    passes = program(encoder(chosen), 0, chosen)
    dealt = places(passes)
    assert len(passes) == 2 * 2 + 3 + 2
    assert hops(passes) == 2 + 3 + 2
    assert dealt[0].source is None
    assert dealt[-1].target == "result"
    for before, after in pairwise(dealt):
        assert after.source == before.target
        assert after.target not in (after.source, after.origin)
    # The origin of a smoothing stays the same until the next one begins.
    assert dealt[4].origin == dealt[5].origin == dealt[6].origin == dealt[3].target
    assert dealt[7].origin == dealt[8].origin == dealt[6].target


def test_steps_are_told_of_and_rows_that_are_done_left_out() -> None:
    chosen, graph = settings("encoder.kind=gcn", "embedding.propagation=1"), random_graph(20, 30)
    buffers, told = MemoryBuffers(20, torch.device("cpu")), []

    def step(name: str, rows: int, work: object) -> None:
        told.append((name, rows))
        work()  # type: ignore[operator]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layerwise, "ROWS", 8)
        passes = program(encoder(chosen), 0, chosen)
        found = run_passes(passes, Features(graph), Topology.of(graph), buffers, step, done={0, 16})
        assert [(start, len(rows)) for start, rows in found] == [(8, 8)]
    assert told == [
        (f"pass {number} row {start}", rows) for number in (0, 1) for start, rows in ((0, 8), (8, 8), (16, 4))
    ]
