"""Runs that are evaluated together: encoders that differ in nothing but their seed, and the graph they are of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nodewise.core.errors import InputError
from nodewise.core.folder import RunFolder
from nodewise.core.messages import count
from nodewise.core.registry import FileText
from nodewise.graph.graph import Graph
from nodewise.graph.ids import NodeIds
from nodewise.runs.source import GraphSource, load_graph
from nodewise.vectors.embedding_files import READERS, read_parquet_ids
from nodewise.vectors.embeddings import Embeddings, read_embeddings
from nodewise.vectors.shards import has_shards, read_shards

if TYPE_CHECKING:
    from nodewise.methods.estimator import Embedder


@dataclass(frozen=True)
class Runs:
    """One matrix of vectors per encoder seed, all of the same nodes in the same order.

    Attributes:
        paths: the run folders, or files or shards of vectors.
        ids: the nodes.
        matrices: float32 (N, d) each.
        seeds: one per matrix, all different.
        settings: of every run, whatever its method; None for files and shards, which do not say.
    """

    paths: tuple[Path, ...]
    ids: NodeIds
    matrices: tuple[np.ndarray, ...]
    seeds: tuple[int, ...]
    settings: Any

    @property
    def name(self) -> str:
        """What to call them in a table."""
        return str(self.paths[0]) if len(self.paths) == 1 else count(len(self.paths), "run")

    def in_order_of(self, ids: NodeIds) -> Runs | None:
        """Return the same vectors in another order of the nodes; None if the nodes are not the same."""
        if ids == self.ids:
            return self
        rows = self.ids.positions(ids) if ids.kind == self.ids.kind else np.empty(0, np.int64)
        if len(rows) != len(self.ids) or (rows < 0).any():
            return None
        return replace(self, ids=ids, matrices=tuple(matrix[rows] for matrix in self.matrices))


def read_runs(paths: Sequence[Path]) -> Runs:
    """Read the vectors of run folders or files, refusing what has no meaningful mean."""
    first, *others = [
        Runs((path,), vectors.ids, (vectors.vectors,), (_seed(path),), _settings(path))
        for path, vectors in ((path, read_vectors(path)) for path in paths)
    ]
    together = [first]
    for other in others:
        aligned = other.in_order_of(first.ids)
        if aligned is None:
            raise InputError(
                f"{other.name} is of other nodes than {first.name}; evaluate them one by one", code="other-nodes"
            )
        if (other.settings is None) != (first.settings is None):
            silent, one = (other, first) if other.settings is None else (first, other)
            raise InputError(
                f"{silent.name} does not say its settings, so it is no seed of {one.name}; evaluate them one by one",
                code="other-settings",
            )
        if other.settings != first.settings:
            raise InputError(
                f"{other.name} was made with other settings than {first.name}; evaluate them one by one, "
                "since a mean is over encoder seeds only",
                code="other-settings",
            )
        together.append(aligned)
    # Files do not say their seeds; -1 stands for that, and the vectors are numbered instead.
    seeds = [run.seeds[0] for run in together]
    seeds = list(range(len(seeds))) if min(seeds) < 0 else seeds
    for place, seed in enumerate(seeds):
        if seed in seeds[:place]:
            twin, name = together[seeds.index(seed)].name, together[place].name
            raise InputError(
                f"{name} has the same seed, {seed}, as {twin}; make it with another --seed", code="same-seed"
            )
    return Runs(tuple(paths), first.ids, tuple(run.matrices[0] for run in together), tuple(seeds), first.settings)


def read_run_without_vectors(path: Path) -> Runs:
    """Read what a run folder says of its nodes, for a run whose vectors are too many to hold."""
    ids = read_parquet_ids(RunFolder(path).embeddings)
    _require_as_written(RunFolder(path), nodes=len(ids))
    return Runs((path,), ids, (), (_seed(path),), _settings(path))


def find_graph(
    runs: Runs, given: GraphSource | Graph | None, data_dir: Path | None, quiet: bool
) -> tuple[Graph | None, str]:
    """Return the graph the runs are of, and if there is none, why.

    It is the one given, or the one the runs remember if it is still there.
    """
    if given is not None:
        graph = given if isinstance(given, Graph) else load_graph(given, quiet, verify=True)
        if runs.in_order_of(graph.ids) is None:
            name = given.name if isinstance(given, Graph) else given.graph
            raise InputError(
                f"{name} has other nodes than {runs.name}; give the graph it was made from", code="other-nodes"
            )
        return graph, ""
    record = recorded_graph(runs.paths[0]).get("source")
    if record is None:
        return None, f"{runs.name} does not say which graph it is of"
    if not _is_source(record):
        return None, f"what {runs.name} says about its graph is damaged"
    try:
        graph = load_graph(GraphSource.recorded(record, data_dir), quiet=True, verify=True)
    except InputError as error:
        return None, str(error)
    if runs.in_order_of(graph.ids) is None:
        return None, f"{record['graph']} has changed since {runs.name} was made"
    return graph, ""


def recorded_graph(path: Path) -> dict[str, Any]:
    """Return what a run says about its graph; nothing if it says nothing."""
    found: dict[str, Any] = RunFolder(path).read_environment().get("graph", {})
    return found


def recorded_files(path: Path) -> list[Path]:
    """Return the files that a run says it was made from; none if it does not say."""
    try:
        source = recorded_graph(path).get("source", {})
    except InputError:
        return []
    return [Path(source[name]) for name in ("graph", "features", "labels") if _is_source(source) and name in source]


def _is_source(record: Any) -> bool:
    """Tell whether a record, which anybody may have written, is one of `GraphSource.record`."""
    if not isinstance(record, dict) or not isinstance(record.get("graph"), str):
        return False
    flags = ("header", "unweighted", "directed", "strict")
    return all(isinstance(value, bool if name in flags else str) for name, value in record.items())


def _seed(path: Path) -> int:
    return int(RunFolder(path).read_environment().get("seed", -1))


def _settings(path: Path) -> Any:
    if not path.is_dir() or has_shards(path):
        return None
    from nodewise.methods.estimator import METHODS

    if METHODS.is_own(str(RunFolder(path).read_environment().get("method", ""))):
        return None  # somebody's own method, whose code is not loaded for a look at its vectors
    return RunFolder(path).read_config(method_of(path).settings_class)


def method_of(path: Path) -> type[Embedder]:
    """Return the method that made a run."""
    from nodewise.methods.estimator import METHODS  # brings torch, which a look at vectors does not need

    name = RunFolder(path).read_environment().get("method", "nodewise")
    if not isinstance(name, str):
        raise InputError(
            f"{RunFolder(path).environment}: 'method' should be a name; make the run again", code="damaged-run"
        )
    found: type[Embedder] = METHODS.find(FileText(name), with_labels=False)
    return found


def read_vectors(run_or_file: Path) -> Embeddings:
    """Return the embeddings of a run folder, of a folder of shards, or of a file."""
    if has_shards(run_or_file):
        return read_shards(run_or_file)
    meant_as_file = not run_or_file.exists() and run_or_file.name.lower().endswith(tuple(READERS))
    if not meant_as_file and not run_or_file.is_file():
        run = RunFolder.open(run_or_file)
        found = read_embeddings(run.embeddings)
        _require_as_written(run, nodes=len(found), dimensions=found.num_dimensions)
        mark = run.read_environment().get("mark")
        if None not in (mark, found.mark) and found.mark != mark:
            raise InputError(f"{run.embeddings}: the vectors of another run; make this one again", code="damaged-run")
        return found
    return read_embeddings(run_or_file)


def _require_as_written(run: RunFolder, **found: int) -> None:
    """Refuse vectors that are not those the run was left with: another file put in the place of its own."""
    written = run.read_environment().get("embeddings", {})
    for name, number in found.items():
        if written.get(name, number) != number:
            raise InputError(
                f"{run.embeddings}: {number:,} {name} where {run.environment.name} says {written[name]:,}; these are "
                "not the vectors of this run, so make it again",
                code="damaged-run",
            )
