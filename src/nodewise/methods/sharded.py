"""Embed a graph of any size into Parquet shards, in bounded memory, resuming after a kill where it was.

Private memory holds one chunk of rows; what lies between two passes is in files beside the shards, and the graph
itself may be a store. Shards are the chunks of `embed_nodes`, so the vectors are the same bit for bit.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from nodewise.core.config import to_mapping
from nodewise.core.errors import InputError
from nodewise.core.progress import Progress, SilentProgress, Stage
from nodewise.core.staging import Say, Staging, refuse_foreign, staged
from nodewise.core.version import __version__
from nodewise.encoders.encoder import Encoder
from nodewise.encoders.features import Features
from nodewise.encoders.preparation import Preparation
from nodewise.graph.fingerprint import fingerprint
from nodewise.graph.graph import Graph
from nodewise.graph.ids import NodeIds
from nodewise.methods import layerwise
from nodewise.methods.embedding import embed_nodes, embedded_rows, in_chunks, number_of_passes
from nodewise.methods.incremental import embed_some, places_of
from nodewise.methods.layerwise import FileBuffers, Step, chunks
from nodewise.methods.settings import Settings
from nodewise.training.shared_checkpoints import require_same
from nodewise.training.team import Alone, losses_in_words
from nodewise.vectors.shards import FORMAT, MANIFEST, Shard, is_own_file, shard_name, write_manifest, write_shard
from nodewise.views.topology import Topology

_BOOT = Path("/proc/sys/kernel/random/boot_id")


class Sharded(NamedTuple):
    """What was written, and how fast this call did its part of it."""

    nodes: int
    dimensions: int
    shards: int
    seconds: float
    nodes_per_second: float


def embed_to_shards(
    encoder: Encoder,
    graph: Graph,
    settings: Settings,
    seeds: Tensor,
    folder: Path,
    progress: Progress | None = None,
    team: Alone | None = None,
    nodes: NodeIds | None = None,
    say: Say = lambda message: None,
    preparation: Preparation | None = None,
    mark: str | None = None,
) -> Sharded:
    """Embed every node with the first run's encoder; called again in the same way, it does only what is left.

    The processes of a team, each of which calls this, write shards in turn. With `nodes`, only those are embedded,
    from what each shard's nodes see of the graph. `say` is told whether work is gone on with or begun again;
    `mark` is that of the model.
    """
    refuse_foreign(folder, MANIFEST, FORMAT, is_own_file, "a folder of vectors in shards")
    topology, features = Topology.of(graph, seeds.device), Features(graph, seeds.device, preparation)
    width = settings.encoder.dimension
    ids, team = graph.ids if nodes is None else nodes, team or Alone()
    wanted = None if nodes is None else places_of(nodes, graph).to(seeds.device)
    passes = number_of_passes(encoder, topology, settings) if wanted is None else 1
    starts = [start for start, _ in chunks(len(ids))]
    rounds = [[f"pass {number} row {start}" for start in starts] for number in range(passes - 1)]
    rounds.append([f"shard {start}" for start in starts])
    bars = progress or SilentProgress()
    with (
        shared_staging(team, folder, _task(encoder, graph, wanted, settings, seeds), rounds, say) as staging,
        closing(FileBuffers(graph.num_nodes, staging.path)) as buffers,
        bars.stage("embedding", passes * len(ids)) as bar,
    ):
        meter = _Meter(bar, passes)

        def step(name: str, rows: int, work: Callable[[], object]) -> None:
            fresh = not staging.has(name)
            staging.step(name, work)
            meter.advance(rows, fresh)

        done = {start for start, name in zip(starts, rounds[-1], strict=True) if not staging.wants(name)}
        parts = _rows(encoder, features, topology, settings, seeds, wanted, buffers, step, done)
        part = next(parts, None)  # a process without shards of its own takes part in the passes too
        for number, (start, end) in enumerate(chunks(len(ids))):
            if part is None or part[0] != start:
                step(f"shard {start}", end - start, lambda: None)
                continue
            vectors = part[1].cpu().numpy()
            step(f"shard {start}", end - start, partial(write_shard, staging.path, number, ids, start, vectors))
            part = next(parts, None)
        if team.rank == 0:
            write_manifest(staging.path, [Shard(**staging.result(name)) for name in rounds[-1]], width, mark)
            names = {MANIFEST, *(shard_name(number) for number in range(len(starts)))}
            staging.finish(folder, lambda name: name in names)
    return Sharded(len(ids), width, len(starts), meter.seconds, meter.rate)


class _Meter:
    """Nodes per second over all passes, of the work that this process did itself."""

    def __init__(self, bar: Stage, passes: int) -> None:
        self._bar, self._passes, self._begun, self._fresh = bar, passes, time.perf_counter(), 0

    @property
    def seconds(self) -> float:
        """Time since the beginning."""
        return time.perf_counter() - self._begun

    @property
    def rate(self) -> float:
        """Nodes embedded per second; a node that has gone through half of the passes counts half."""
        return self._fresh / self._passes / max(self.seconds, 1e-9)

    def advance(self, nodes: int, fresh: bool) -> None:
        """Count nodes that went through a pass, now or before a kill."""
        self._fresh += nodes if fresh else 0
        self._bar.advance(nodes, **{"nodes/s": self.rate})


def _rows(
    encoder: Encoder,
    features: Features,
    topology: Topology,
    settings: Settings,
    seeds: Tensor,
    wanted: Tensor | None,
    buffers: FileBuffers,
    step: Step,
    done: Container[int],
) -> Iterator[tuple[int, Tensor]]:
    """Yield the vectors of the nodes (n,) that are wanted, or of all, a shard at a time, but for those in `done`."""
    if wanted is not None:
        for start, end in chunks(len(wanted)):
            if start not in done:
                yield start, embed_some(encoder, features, topology, settings, seeds, wanted[start:end])
        return
    if in_chunks(encoder, topology, settings):
        yield from embedded_rows(encoder, features, topology, settings, seeds, 0, buffers, step, done)
        return
    vectors = embed_nodes(encoder, features, topology, settings, seeds)[0]
    yield from ((start, vectors[start:end]) for start, end in chunks(topology.num_nodes) if start not in done)


def _task(encoder: Encoder, graph: Graph, wanted: Tensor | None, settings: Settings, seeds: Tensor) -> dict[str, Any]:
    """Return what decides the vectors, and the boot: files between passes are not forced to the disk."""
    weights = hashlib.blake2b(digest_size=32)
    for weight in encoder.weights_of(0):
        weights.update(weight.detach().cpu().contiguous().numpy().tobytes())
    return {
        "nodewise": __version__,
        "torch": torch.__version__,
        "graph": fingerprint(graph),
        "nodes": "all" if wanted is None else hashlib.blake2b(wanted.cpu().numpy().tobytes()).hexdigest(),
        "weights": weights.hexdigest(),
        "settings": to_mapping(settings),
        "seed": int(seeds[0]),
        "rows": layerwise.ROWS,
        "boot": _BOOT.read_text() if _BOOT.exists() else "",
    }


class SharedStaging:
    """The hidden folder of the work, and who does which step of it.

    Args:
        team: the processes.
        staging: rank 0's folder and journal; None on other ranks.
        rounds: the names of the steps, round by round; every process calls `step` for all of them in this order.
    """

    def __init__(self, team: Alone, staging: Staging | None, rounds: Sequence[Sequence[str]]) -> None:
        self._team, self._staging = team, staging
        self._chunk = {name: chunk for names in rounds for chunk, name in enumerate(names)}
        self._chunks = max(map(len, rounds))
        self._fresh: dict[str, Any] = {}
        about: list[Any] = []
        if staging is not None:
            about = [str(staging.path), {name: staging.step(name, dict) for name in self._chunk if staging.has(name)}]
        path, self._known = json.loads(team.texts(json.dumps(about))[0])
        self.path = Path(path)
        if team.largest(int(not self.path.is_dir())):
            raise InputError(f"{self.path}: not there on every machine; give a folder that all processes share")

    def has(self, name: str) -> bool:
        """Tell whether a step is done."""
        return name in self._known

    def wants(self, name: str) -> bool:
        """Tell whether a step is still to be done, and by this process."""
        return not self.has(name) and self._chunk[name] % self._team.size == self._team.rank

    def step(self, name: str, work: Callable[[], Any]) -> None:
        """Do the work of a step if it is this process's and not done."""
        if self.wants(name):
            self._fresh[name] = work()
        if (self._chunk[name] + 1) % self._team.size == 0 or self._chunk[name] == self._chunks - 1:
            self._tell()

    def result(self, name: str) -> Any:
        """Return what a step left, whoever did it."""
        return self._known[name]

    def finish(self, target: Path, keep: Callable[[str], bool]) -> None:
        """Give the folder its name; rank 0 does it."""
        if self._staging is not None:
            self._staging.finish(target, keep)

    def _tell(self) -> None:
        for fresh in map(json.loads, self._team.texts(json.dumps(self._fresh))):
            self._known |= fresh
            if self._staging is not None:
                for name in fresh:
                    self._staging.step(name, partial(fresh.get, name))
        self._fresh = {}


@contextmanager
def shared_staging(
    team: Alone, target: Path, task: Mapping[str, Any], rounds: Sequence[Sequence[str]], say: Say = lambda message: None
) -> Iterator[SharedStaging]:
    """Yield the staging folder of `target`, kept by rank 0; processes with another task are refused."""
    if team.size > 1:
        require_same(team, {name: value for name, value in task.items() if name != "boot"})
    own = staged(target, task, "these vectors", durable=False, say=say) if team.rank == 0 else nullcontext()
    with own as staging, losses_in_words():
        yield SharedStaging(team, staging, rounds)
