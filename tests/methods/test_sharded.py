"""Vectors in shards: those of memory bit for bit, and finished by a second call after a kill."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from tests.graphs import random_graph

from nodewise.core import config
from nodewise.core.errors import InputError
from nodewise.core.interrupt import Paused
from nodewise.core.progress import SilentProgress, Stage
from nodewise.encoders.features import Features
from nodewise.graph.graph import Graph
from nodewise.graph.ids import NodeIds
from nodewise.methods import layerwise, sharded
from nodewise.methods.embedding import embed_nodes
from nodewise.methods.settings import Settings
from nodewise.methods.sharded import Sharded, embed_to_shards
from nodewise.store.convert import write_store
from nodewise.store.open import open_store
from nodewise.vectors.shards import MANIFEST, read_shards
from nodewise.views.topology import Topology

SEEDS = torch.tensor([3])
PLAIN = ("encoder.kind=gcn", "embedding.propagation=4")


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layerwise, "ROWS", 16)


def settings(*changes: str) -> Settings:
    small = (*PLAIN, "encoder.dimension=6", "views.length=5", "embedding.walks=3")
    return config.override(Settings(), [*small, *changes])


def to_shards(graph: Graph, chosen: Settings, folder: Path, **options: object) -> Sharded:
    model = chosen.encoder.build(graph.num_features, SEEDS)
    return embed_to_shards(model, graph, chosen, SEEDS, folder, **options)  # type: ignore[arg-type]


def in_memory(graph: Graph, chosen: Settings) -> np.ndarray:
    model = chosen.encoder.build(graph.num_features, SEEDS)
    return embed_nodes(model, Features(graph), Topology.of(graph), chosen, SEEDS)[0].numpy()


@pytest.mark.parametrize(
    "changes",
    [
        (),
        ("encoder.kind=gcn", "encoder.layers=2", "embedding.length=0.5"),
        ("embedding.mode=walks",),
        ("encoder.kind=gin",),
        ("encoder.kind=smoothing", "encoder.teleports=[0.1, 0.5]"),
    ],
)
@pytest.mark.parametrize(("sparse", "directed"), [(False, False), (True, False), (False, True)])
def test_the_vectors_of_memory_bit_for_bit(
    tmp_path: Path, changes: tuple[str, ...], sparse: bool, directed: bool
) -> None:
    if directed and "encoder.teleports=[0.1, 0.5]" in changes:
        pytest.skip("where edges have directions there is room for one")
    graph, chosen = random_graph(50, 80, sparse=sparse, weighted=sparse, directed=directed, seed=1), settings(*changes)
    write_store(graph, tmp_path / "store")
    stored = open_store(tmp_path / "store")
    written = to_shards(stored, chosen, tmp_path / "vectors")
    assert written[:3] == (50, 6, 4)
    found = read_shards(tmp_path / "vectors")
    assert np.array_equal(found.vectors, in_memory(graph, chosen))
    assert np.array_equal(in_memory(stored, chosen), in_memory(graph, chosen))
    assert found.ids == graph.ids
    names = {path.name for path in (tmp_path / "vectors").iterdir()}
    assert names == {MANIFEST, *(f"part-00000{number}.parquet" for number in range(4))}
    whole = pq.read_table([tmp_path / "vectors" / name for name in sorted(names - {MANIFEST})])
    assert whole["id"].to_pylist() == graph.ids.to_list()


KILLED = """
import os, signal, sys
from pathlib import Path
from nodewise.methods import layerwise, sharded
from tests.methods.test_sharded import settings, to_shards
from nodewise.store.open import open_store

layerwise.ROWS = 16
home, name, count = (layerwise, "_rows", int(sys.argv[1]))
original, calls = getattr(home, name), []

def deadly(*arguments):
    calls.append(1)
    if len(calls) > count:
        os.kill(os.getpid(), signal.SIGKILL)
    return original(*arguments)

setattr(home, name, deadly)
to_shards(open_store(Path("store")), settings(), Path("vectors"))
"""
CHUNKS, PASSES = 4, 6  # 50 nodes, 16 at a time; a product, a layer and four smoothing steps


ROOT = Path(__file__).parents[2]


def kill_after(count: int, folder: Path) -> None:
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(count)],
        cwd=folder,
        env={"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL


def interrupt_after(count: int, folder: Path) -> None:
    calls, rows = [], layerwise._rows

    def interrupted(*arguments: Any) -> torch.Tensor:
        calls.append(1)
        if len(calls) > count:
            raise KeyboardInterrupt
        return rows(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layerwise, "_rows", interrupted)
        with pytest.raises(Paused if count else KeyboardInterrupt):
            to_shards(open_store(folder / "store"), settings(), folder / "vectors")


@pytest.mark.parametrize(
    ("stop", "count"),
    [(kill_after, 9), (interrupt_after, 0), (interrupt_after, 2), (interrupt_after, 19), (interrupt_after, 22)],
)
def test_a_killed_embedding_goes_on(
    tmp_path: Path, stop: Callable[[int, Path], None], count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = random_graph(50, 80, seed=1)
    write_store(graph, tmp_path / "store")
    stop(count, tmp_path)
    assert not (tmp_path / "vectors").exists()
    computed, rows = [], layerwise._rows
    monkeypatch.setattr(layerwise, "_rows", lambda *a: computed.append(1) or rows(*a))
    written = to_shards(open_store(tmp_path / "store"), settings(), tmp_path / "vectors")
    assert len(computed) == CHUNKS * PASSES - count
    assert written.nodes == 50
    assert np.array_equal(read_shards(tmp_path / "vectors").vectors, in_memory(graph, settings()))
    assert {path.name for path in tmp_path.iterdir()} == {"store", "vectors"}


def test_other_settings_do_not_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(50, 80, seed=1)
    with monkeypatch.context() as patch:
        patch.setattr(sharded, "write_shard", lambda *a: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(Paused, match="the same command resumes"):
            to_shards(graph, settings(), tmp_path / "vectors")
    to_shards(graph, settings("embedding.teleport=0.5"), tmp_path / "vectors")
    expected = in_memory(graph, settings("embedding.teleport=0.5"))
    assert np.array_equal(read_shards(tmp_path / "vectors").vectors, expected)


@pytest.mark.parametrize("changes", [(), ("embedding.mode=walks",)])
def test_some_nodes_in_any_order_and_after_a_stop(
    tmp_path: Path, changes: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, chosen = random_graph(50, 80, seed=1), settings(*changes)
    places = np.random.default_rng(0).permutation(50)[:40]
    some, written, counting = NodeIds(places), [], Counting()
    write = sharded.write_shard

    def interrupted(*arguments: Any) -> dict[str, Any]:
        written.append(arguments[1])
        if len(written) == 2:
            raise KeyboardInterrupt
        return write(*arguments)

    monkeypatch.setattr(sharded, "write_shard", interrupted)
    with pytest.raises(Paused):
        to_shards(graph, chosen, tmp_path / "vectors", nodes=some)
    assert to_shards(graph, chosen, tmp_path / "vectors", nodes=some, progress=counting)[:3] == (40, 6, 3)
    assert written == [0, 1, 1, 2]
    assert counting.total == counting.steps == 40
    found = read_shards(tmp_path / "vectors")
    assert found.ids.to_list() == places.tolist()
    np.testing.assert_allclose(found.vectors, in_memory(graph, chosen)[places], atol=1e-6)


def test_other_nodes_do_not_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, write = random_graph(50, 80, seed=1), sharded.write_shard
    with monkeypatch.context() as patch:
        patch.setattr(
            sharded, "write_shard", lambda *a: write(*a) if a[1] == 0 else (_ for _ in ()).throw(KeyboardInterrupt)
        )
        with pytest.raises(Paused):
            to_shards(graph, settings(), tmp_path / "vectors", nodes=NodeIds(range(40)))
    to_shards(graph, settings(), tmp_path / "vectors", nodes=NodeIds(range(10, 50)))
    np.testing.assert_allclose(read_shards(tmp_path / "vectors").vectors, in_memory(graph, settings())[10:], atol=1e-6)


class Counting(SilentProgress):
    def __init__(self) -> None:
        self.total, self.steps, self.values = 0, 0, {}

    @contextmanager
    def stage(self, description: str, total: int | None = None) -> Iterator[Stage]:
        self.total = total or 0
        yield self

    def advance(self, steps: int = 1, **values: float) -> None:
        self.steps += steps
        self.values = values


def test_progress_ends_where_it_should_and_tells_the_speed(tmp_path: Path) -> None:
    counting = Counting()
    written = to_shards(random_graph(50, 80), settings(), tmp_path / "vectors", progress=counting)
    assert counting.total == counting.steps == 50 * PASSES
    assert counting.values["nodes/s"] > 0
    assert written.nodes_per_second == pytest.approx(50 / written.seconds, rel=0.5)


@pytest.mark.parametrize(("changes", "passes"), [((), PASSES), (("embedding.mode=walks",), 1)])
def test_progress_of_an_embedding_in_memory(changes: tuple[str, ...], passes: int) -> None:
    graph, chosen, counting = random_graph(50, 80), settings(*changes), Counting()
    model = chosen.encoder.build(graph.num_features, SEEDS)
    embed_nodes(model, Features(graph), Topology.of(graph), chosen, SEEDS, counting)
    assert counting.total == counting.steps == 50 * passes


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(InputError, match="is not a folder of vectors in shards"):
        to_shards(random_graph(50, 80), settings(), tmp_path)


def test_vectors_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    chosen, graph = settings(), random_graph(50, 80)
    model = chosen.encoder.build(7, SEEDS)
    model.weights_of(0)[0].fill_(float("nan"))
    with pytest.raises(InputError, match="not finite"):
        embed_to_shards(model, graph, chosen, SEEDS, tmp_path / "vectors")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", ["shard", "manifest", "version"])
def test_damaged_shards_are_refused(tmp_path: Path, damage: str) -> None:
    folder = tmp_path / "vectors"
    to_shards(random_graph(50, 80), settings(), folder)
    if damage == "shard":
        (folder / "part-000002.parquet").write_bytes(b"PAR1")
    elif damage == "manifest":
        (folder / MANIFEST).write_text("{}")
    else:
        facts = json.loads((folder / MANIFEST).read_text())
        (folder / MANIFEST).write_text(json.dumps(facts | {"version": 9}))
    with pytest.raises(InputError, match={"shard": "part-000002"}.get(damage, MANIFEST)):
        read_shards(folder)
