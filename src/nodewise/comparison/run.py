"""Fill the cells that a comparison lacks, side by side and in any number of goes.

A cell is a strategy on a graph with a seed. Seeds are trained in stacks of a fixed division, and the rows of a stack
are written at once, so a comparison that was killed resumes with the stacks it would have had and ends with the same
rows.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import os
import tempfile
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nodewise.comparison.cells import CURVES, Bench, Protocol, Row, is_cell, is_row
from nodewise.comparison.entries import DIAGNOSES, PLAIN, Entry, about_name, entries
from nodewise.comparison.judge import Comparison
from nodewise.core.errors import InputError, NodewiseError, did_you_mean, require_type, require_whole
from nodewise.core.files import atomic_write, content_of, locked_append, to_json, write_all
from nodewise.core.interrupt import resumable
from nodewise.core.keywords import with_keywords
from nodewise.core.lock import LOCK, FolderLock
from nodewise.core.messages import first_line
from nodewise.core.parallel import Turns, run_shares
from nodewise.core.progress import Progress, for_terminal
from nodewise.core.rng import checked_seed
from nodewise.core.terminal import say
from nodewise.core.tracking import Board
from nodewise.datasets.planted import block_model
from nodewise.evaluation.budgets import BUDGETS, Budget, budget_splits
from nodewise.graph.fingerprint import fingerprint
from nodewise.graph.graph import Graph
from nodewise.methods.settings import Settings
from nodewise.report.page import write_page
from nodewise.runs.labels import KnownLabels
from nodewise.runs.source import GraphSource, load_graph
from nodewise.sampling.strategy import Strategy
from nodewise.training.device import choose_device

ROWS, FAILURES, TABLE, RESULT, RANKS, PAGE = (
    "rows.jsonl",
    "failures.jsonl",
    "compare.md",
    "compare.json",
    "ranks.svg",
    "compare.html",
)
KEPT = f"{ROWS}.gz"
"""Rows of earlier goes, compressed to be kept; read as well, never written."""
_STACK_ON_GPU = 10


def compare(
    strategies: Iterable[Strategy | str] | Strategy | str,
    on: Sequence[Graph | GraphSource | str] | Graph | GraphSource | str,
    seeds: Iterable[int] = range(5),
    *,
    output: str | Path | None = None,
    budgets: Sequence[Budget] = ("few", "10%"),
    looks: int = 6,
    workers: int = 1,
    stack: int | None = None,
    minutes: float | None = None,
    settings: Settings | None = None,
    data_dir: str | Path | None = None,
    device: str = "auto",
    quiet: bool = True,
    board: Board | None = None,
    **changes: Any,
) -> Comparison:
    """Train the node embedder with each strategy on equal graphs, seeds and splits, and compare with all negatives.

    Args:
        strategies: names, with settings as in ``hard@concentration=2``, `module:Class`, `file.py:Class`, or objects;
            all negatives of the batch, `all`, come first, whether named or not.
        on: graphs with labels, or names of data sets. Labels are read by scores and measures only.
        seeds: encoder seeds, the same for all.
        output: a folder of its own for rows, tables and the page; the same call resumes one that was cut off.
        budgets: of labels, see `nodewise.evaluation.budgets`.
        looks: at the negatives, evenly from before the first step to after the last.
        workers: processes side by side.
        stack: seeds trained at once; by default 10 on a GPU, else 1.
        minutes: begin no cell after this time.
        settings: of the node embedder, the same for all but the strategy.
        data_dir: where the files of data sets are.
        device: `cpu`, `cuda` or `auto`.
        quiet: no progress.
        board: where else the looks at every cell are logged.
        changes: further settings by their names, such as `steps=80`.
    """
    strategies = [strategies] if isinstance(strategies, str | Strategy) else strategies
    on = [on] if isinstance(on, str | Graph | GraphSource) else on
    require_type("strategies", strategies, Iterable, "a list of names or objects")
    require_type("on", on, Sequence, "a list of graphs, or of names of data sets")
    require_type("seeds", seeds, Iterable, "a list of whole numbers, such as range(5)")
    require_type("output", output, str | os.PathLike | None, "the name of a folder")
    require_type("budgets", budgets, list | tuple, "a list of budgets, such as ['few']")
    for budget in budgets:
        if budget not in BUDGETS:
            known = did_you_mean(str(budget), BUDGETS)
            raise InputError(f"budgets: {budget!r:.60} is no budget of labels{known}", code="bad-argument")
    if not budgets:
        raise InputError("a comparison needs at least one budget of labels", code="nothing-to-compare")
    require_whole("workers", workers)
    require_type("looks", looks, Integral, "a whole number")
    require_type("stack", stack, Integral | None, "a whole number")
    require_type("minutes", minutes, Real | None, "a number")
    require_type("settings", settings, Settings | None, "Settings of the node embedder")
    base = with_keywords(settings or Settings(), changes, "compare") if changes else settings or Settings()
    rows, chosen = entries(strategies, base), [checked_seed(seed) for seed in dict.fromkeys(seeds)]
    if not on or not chosen:
        raise InputError("a comparison needs at least one graph and one seed", code="nothing-to-compare")
    sources = _by_name([_named(each, data_dir) for each in on])
    graphs = {name: _with_labels(name, _load(source), budgets) for name, source in sources.items()}
    place = choose_device(device)
    for entry in rows:
        if entry.code:
            _try_out(entry)
    protocol = Protocol(tuple(budgets), max(2, looks))
    prints = {name: _fingerprint(graph) for name, graph in graphs.items()}
    configs = {
        (entry.label, name): entry.config(each, str(protocol)) for entry in rows for name, each in prints.items()
    }
    with _folder(output) as folder:
        # In one process graphs are at hand; others load their own.
        until = math.inf if minutes is None else time.time() + 60 * minutes
        grid = Grid(folder, rows, graphs if workers == 1 else sources, configs, protocol, place, until, board)
        jobs = grid.missing(chosen, stack or (_STACK_ON_GPU if place.type == "cuda" else 1))
        total, left = len(rows) * len(graphs) * len(chosen), sum(len(job.seeds) for job in jobs)
        if left < total:
            say(f"{total - left:,} of {total:,} cells are there; {left:,} to run", quiet)
        if jobs:
            with nullcontext() if output is None else resumable(folder):
                run_shares(partial(grid.work, jobs, chosen), min(workers, len(jobs)), for_terminal(quiet))
        kept = grid.rows(chosen)
        failures = [
            line for line in read_rows(folder / FAILURES, _is_failure) if _key(line) not in {_key(row) for row in kept}
        ]
        if not kept and not failures:
            raise InputError(
                f"nothing was measured within {minutes:g} minutes; give more with --minutes", code="nothing-to-compare"
            )
        if not kept:
            raise NodewiseError(f"nothing was measured: {failures[0]['error']}")
        found = Comparison(
            tuple(kept),
            tuple(entry.label for entry in rows),
            tuple(graphs),
            tuple(budgets),
            about={entry.label: entry.about for entry in rows},
            missing=total - len(kept),
            failures=tuple(failures),
        )
        if output is not None:
            write_result(found, folder)
    return found


def _by_name(named: Sequence[tuple[str, Graph | GraphSource]]) -> dict[str, Graph | GraphSource]:
    """Return the graphs by their names; two of one name would be taken for each other."""
    found: dict[str, Graph | GraphSource] = {}
    for name, source in named:
        known = found.setdefault(name, source)
        if known is not source and (isinstance(source, Graph) or known != source):
            raise InputError(
                f"two graphs to compare on are called {name!r}; give one another name, by dataclasses.replace(graph, "
                "name='other'), or that of its file",
                code="bad-argument",
            )
    return found


def read_comparison(folder: str | Path) -> Comparison:
    """Return the comparison that the rows of a folder hold; of a cell measured under several settings, the last."""
    kept: dict[tuple[str, str, int], Row] = {}
    for name in (KEPT, ROWS):
        kept |= {(row["graph"], row["strategy"], row["seed"]): row for row in read_rows(Path(folder) / name)}
    if not kept:
        raise InputError(f"{folder}: holds no rows of a comparison", code="nothing-to-compare")
    rows = tuple(kept.values())
    budgets = tuple(name for name in rows[0]["accuracy"] if all(name in row["accuracy"] for row in rows))
    if not budgets:
        raise InputError(f"{folder}: its rows have no budget of labels in common", code="nothing-to-compare")
    if not any(row["strategy"] == PLAIN for row in rows):
        raise InputError(f"{folder}: no row is of '{PLAIN}', which all are compared with", code="nothing-to-compare")
    strategies = tuple(dict.fromkeys(row["strategy"] for row in sorted(rows, key=_place)))
    graphs = tuple(dict.fromkeys(row["graph"] for row in rows))
    seeds = {row["seed"] for row in rows}
    return Comparison(
        rows,
        strategies,
        graphs,
        budgets,
        about={name: about_name(name) for name in strategies},
        missing=len(strategies) * len(graphs) * len(seeds) - len(rows),
    )


def _place(row: Row) -> tuple[bool, bool, str]:
    """`all` first and diagnoses last, else by name."""
    name = row["strategy"]
    return name != PLAIN, name.partition("@")[0] in DIAGNOSES, name


def write_result(found: Comparison, folder: Path) -> None:
    """Write the tables, the picture of ranks and the page beside the rows."""
    texts = {TABLE: found.markdown(), RESULT: to_json(found.to_dict(), indent=1) + "\n"}
    if (ranks := found.ranks()) is not None:
        texts[RANKS] = ranks.svg()
    for name, text in texts.items():
        with atomic_write(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8")
    if ranks is None:
        (folder / RANKS).unlink(missing_ok=True)  # of more graphs than there are rows of now
    write_page(found.page(), folder / PAGE, "compare")


@dataclass(frozen=True)
class Job:
    """Some seeds of a strategy on a graph, trained at once, whose rows are written together."""

    entry: int
    graph: str
    seeds: tuple[int, ...]


@dataclass(frozen=True)
class Grid:
    """Where cells are measured and written."""

    folder: Path
    entries: tuple[Entry, ...]
    graphs: dict[str, Any]
    configs: dict[tuple[str, str], str]
    protocol: Protocol
    device: torch.device
    until: float = math.inf
    board: Board | None = None

    def rows(self, seeds: Sequence[int]) -> list[Row]:
        """Return the finished rows of this comparison, in the order of strategies, graphs and seeds."""
        found = {_key(row): row for name in (KEPT, ROWS) for row in read_rows(self.folder / name)}
        keys = (
            (name, entry.label, self.configs[entry.label, name], seed)
            for name in self.graphs
            for entry in self.entries
            for seed in seeds
        )
        return [found[key] for key in keys if key in found]

    def missing(self, seeds: Sequence[int], stack: int) -> list[Job]:
        """Return the jobs whose rows are not all there: the first seeds of everything before the last of anything."""
        there = {_key(row) for row in self.rows(seeds)}
        jobs = []
        for start in range(0, len(seeds), stack):
            some = tuple(seeds[start : start + stack])
            for name in self.graphs:
                for number, entry in enumerate(self.entries):
                    config = self.configs[entry.label, name]
                    if any((name, entry.label, config, seed) not in there for seed in some):
                        jobs.append(Job(number, name, some))
        return jobs

    def work(self, jobs: list[Job], seeds: list[int], *, turns: Turns, progress: Progress) -> None:
        """Measure the jobs whose turn it is."""
        bench, loaded = Bench(self.protocol, self.device), dict[str, Graph]()
        with progress.stage("comparing", sum(len(job.seeds) for job in jobs)) as bar:
            for turn in turns:
                if turn >= len(jobs) or time.time() >= self.until:
                    return
                job = jobs[turn]
                if job.graph not in loaded:
                    loaded = {job.graph: _load(self.graphs[job.graph])}
                self._measure(job, loaded[job.graph], bench, seeds)
                bar.advance(len(job.seeds))

    def _measure(self, job: Job, graph: Graph, bench: Bench, seeds: list[int]) -> None:
        entry = self.entries[job.entry]
        cell = {"graph": job.graph, "strategy": entry.label, "config": self.configs[entry.label, job.graph]}
        followed = len(set(job.seeds) & set(seeds[:CURVES]))
        try:
            found = bench.measure(graph, entry.settings_for(graph, self.device), job.seeds, followed)
        except Exception as error:  # one strategy out of memory must not cost the others their night
            reason = " ".join(f"{error}".split())[:300] or type(error).__name__
            _append(self.folder / FAILURES, [cell | {"seed": seed, "error": reason} for seed in job.seeds])
            return
        rows = [cell | {"seed": seed} | row for seed, row in zip(job.seeds, found, strict=True)]
        _append(self.folder / ROWS, rows)
        for row in rows if self.board is not None else ():
            self._log(row)

    def _log(self, row: Row) -> None:
        assert self.board is not None
        final = {budget: sum(scores) / len(scores) for budget, scores in row["accuracy"].items()}
        names, columns = row["looks"].keys(), row["looks"].values()
        looks = [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]
        looks[-1] |= final
        about = {name: row[name] for name in ("strategy", "graph", "seed", "config")}
        self.board.log(f"{row['strategy']}/{row['graph']}/{row['seed']}", about, looks)


def read_rows(path: Path, is_one: Callable[[Any], bool] = is_row) -> list[Row]:
    """Return the whole lines of a file of rows, of each cell the first."""
    if not path.exists():
        return []
    found: dict[Any, Row] = {}
    data = content_of(path)
    try:
        data = gzip.decompress(data) if path.suffix == ".gz" else data
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: cannot be unpacked: {first_line(error)}", code="damaged-file") from None
    whole, _, _ = data.rpartition(b"\n")  # a last line may have been cut off
    for number, line in enumerate(whole.split(b"\n") if whole else (), start=1):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not is_one(row):
            raise InputError(f"{path}, line {number}: not a row of a comparison; remove the line", code="damaged-file")
        found.setdefault(_key(row), row)
    return list(found.values())


def _is_failure(row: Any) -> bool:
    return is_cell(row) and isinstance(row.get("error"), str)


def _holds_rows(folder: Path) -> bool:
    first = b'{"graph"'
    if (rows := folder / ROWS).is_file():
        with rows.open("rb") as plain:
            return plain.read(len(first)) == first
    if (kept := folder / KEPT).is_file():
        with suppress(EOFError, zlib.error, gzip.BadGzipFile), gzip.open(kept) as compressed:
            return compressed.read(len(first)) == first
    return False


def _append(path: Path, rows: list[Row]) -> None:
    with locked_append(path) as (descriptor, _):
        write_all(descriptor, "".join(to_json(row) + "\n" for row in rows).encode())


def _key(row: Row) -> tuple[str, str, str, int]:
    return row["graph"], row["strategy"], row["config"], int(row["seed"])


@contextmanager
def _folder(output: str | Path | None) -> Iterator[Path]:
    """Yield the folder of the comparison, ours alone meanwhile; without one, a folder that goes when we do."""
    if output is None:
        with tempfile.TemporaryDirectory() as name:
            yield Path(name)
        return
    folder = Path(output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Only rows of ours say that the rest is ours too; a comparison that was stopped before its first has none.
        foreign = [] if _holds_rows(folder) else sorted({entry.name for entry in folder.iterdir()} - {LOCK, FAILURES})
    except OSError as error:
        raise InputError(
            f"{folder}: cannot be the folder of a comparison: {error.strerror}", code="cannot-write"
        ) from None
    if foreign:
        raise InputError(
            f"{folder}: holds files that are not a comparison's, such as {foreign[0]}; name a new or empty folder",
            code="foreign-folder",
        )
    with FolderLock(folder, what="this comparison"):
        yield folder


def _named(given: Graph | GraphSource | str, data_dir: str | Path | None) -> tuple[str, Graph | GraphSource]:
    if isinstance(given, Graph):
        return given.name, given
    if isinstance(given, str):
        given = GraphSource(given, data_dir=None if data_dir is None else Path(data_dir))
    require_type("a graph to compare on", given, GraphSource, "a Graph, or the name of a data set or file")
    return (given.graph if given.is_data_set else Path(given.graph).stem), given


def _load(source: Graph | GraphSource) -> Graph:
    return source if isinstance(source, Graph) else load_graph(source, quiet=True)


def _with_labels(name: str, graph: Graph, budgets: Sequence[Budget]) -> Graph:
    """Refuse a graph that cannot be scored before anything is measured."""
    if graph.labels is None:
        raise InputError(f"{name} has no labels to compare strategies by; give them with --labels", code="no-labels")
    KnownLabels.of(graph).require_classes("strategies are compared by classes")
    for budget in budgets:
        budget_splits(graph.labels, budget, 1)
    return graph


def _fingerprint(graph: Graph) -> str:
    return fingerprint(graph) + hashlib.sha256(np.ascontiguousarray(graph.labels).data).hexdigest()


def _try_out(entry: Entry) -> None:
    """Have a strategy of the user's own choose once, so that what is wrong with it is said in the first second."""
    graph = block_model(60, num_classes=2, num_features=8, words_per_node=3, seed=0)
    short = replace(entry.settings.training, steps=2, batch_size=30)
    Bench(Protocol(("few",), 2), torch.device("cpu")).measure(graph, replace(entry.settings, training=short), [0, 1])
