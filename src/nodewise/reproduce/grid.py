"""Fill the cells of a plan that its ledger lacks, side by side and in any number of goes.

A cell is (kind, row, data set, seed) under one configuration. Its row is written as soon as it is measured, so a run
that was killed resumes where it was. A cell that another row or experiment has measured already is copied, not run
again: on a GPU a repetition would differ by rounding, which training amplifies.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import torch

from nodewise.core.files import atomic_write
from nodewise.core.parallel import Turns, run_shares
from nodewise.core.progress import Progress
from nodewise.graph.graph import Graph
from nodewise.methods.postprocess import GRID
from nodewise.reproduce.catalog import KINDS
from nodewise.reproduce.measure import stackable
from nodewise.reproduce.provenance import Key, Ledger, Row, fullness, key_of, provenance
from nodewise.reproduce.setup import CHOICE, Cell, Task


@dataclass(frozen=True)
class Job:
    """Some seeds of a task that are measured together and whose rows are written together."""

    task: Task
    seeds: tuple[int, ...]


@dataclass(frozen=True)
class Grid:
    """Where an experiment's cells are measured and written.

    Attributes:
        title: what the bar says.
        ledger: the experiment's rows.
        load: returns a graph by its name; picklable.
        device: where to compute.
        stack: seeds of our own method trained at once.
        until: clock time after which no job begins.
    """

    title: str
    ledger: Ledger
    load: Callable[[str], Graph]
    device: torch.device
    stack: int = 1
    until: float = math.inf

    def missing(self, tasks: Sequence[Task], seeds: Sequence[int]) -> list[Job]:
        """Return the jobs whose rows are not there: all rows get their first seeds before any gets its last.

        Rows that share a cell have one job, that of the first; `borrow` copies its outcome to the others.
        """
        rows = {key_of(row): row for row in self.ledger.read()}
        jobs, cells = [], set[tuple[Cell, int]]()
        for task in tasks:
            lacking = [
                seed for seed in task.wanted(seeds) if not _there(task, seed, rows) and (task.cell, seed) not in cells
            ]
            cells |= {(task.cell, seed) for seed in lacking}
            size = self.stack if stackable(task) else 1
            jobs += [Job(task, tuple(lacking[start : start + size])) for start in range(0, len(lacking), size)]
        return sorted(jobs, key=lambda job: job.seeds[0] // max(self.stack, 1))

    def borrow(
        self, tasks: Sequence[Task], seeds: Sequence[int], others: Iterable[Row], *, whole: bool = True
    ) -> list[Row]:
        """Return copies of the rows of equal cells, from this ledger or others, that the plan's rows lack.

        Unless they are to be `whole`, rows of earlier versions are better than none.
        """
        rows = self.ledger.read()
        finished, own, theirs = {key_of(row): row for row in rows}, _by_cell(rows), _by_cell(others)
        copied = []
        for task in tasks:
            for seed in task.wanted(seeds):
                if _there(task, seed, finished):
                    continue
                at = task.cell, seed
                found = [row for row in (own.get(at), theirs.get(at)) if row is not None]
                row = next((row for row in found if task.is_whole(row)), None)
                if row is None and not whole and task.key(seed) not in finished:
                    row = next(iter(found), None)
                if row is None:
                    continue
                common = {name: row[name] for name in self.ledger.columns if name in row}
                copied.append(common | dict(task.more) | {"method": task.method})
        return copied

    def choices(self, tasks: Sequence[Task]) -> list[Task]:
        """Return the tasks, those on equal terms with the post-processing that was chosen for them."""
        scores = dict[Cell, list[list[float]]]()
        for row in self.ledger.read():
            if row["kind"] == CHOICE:
                scores.setdefault((row["kind"], row["dataset"], row["config"]), []).append(
                    [float(score) for score in row["post"].split()]
                )
        found = []
        for task in tasks:
            own = scores.get(replace(task, kind=CHOICE).cell) if task.equal_terms else None
            found.append(task if own is None else replace(task, post=GRID[int(np.mean(own, 0).argmax())]))
        return found

    def run(self, jobs: Sequence[Job], workers: int, progress: Progress) -> None:
        """Measure the jobs in so many processes."""
        if jobs:
            run_shares(partial(self.work, list(jobs)), min(workers, len(jobs)), progress)

    def work(self, jobs: list[Job], *, turns: Turns, progress: Progress) -> None:
        """Measure the jobs whose turn it is."""
        graphs = dict[str, Graph]()
        with progress.stage(self.title, sum(len(job.seeds) for job in jobs)) as bar:
            for turn in turns:
                if turn >= len(jobs) or time.time() > self.until:
                    return
                job = jobs[turn]
                name = job.task.dataset
                if name not in graphs:
                    graphs[name] = self.load(name)
                self._measure(job, graphs[name])
                bar.advance(len(job.seeds))

    def _measure(self, job: Job, graph: Graph) -> None:
        task = job.task
        try:
            found = KINDS[task.kind](task, graph, job.seeds, self.device)
        except Exception as error:  # one method out of memory must not cost the others their night
            self._note_failure(job, error)
            return
        rows, about = [], provenance(self.device)
        for seed, measured in zip(job.seeds, found, strict=True):
            for name, text in measured.pop("files", {}).items():
                path = self.ledger.path.parent / name
                path.parent.mkdir(parents=True, exist_ok=True)
                with atomic_write(path) as temporary:
                    temporary.write_text(text, encoding="utf-8")
            cell = {"kind": task.kind, "dataset": task.dataset, "method": task.method, "seed": seed}
            rows.append(cell | measured | about | dict(task.more) | {"config": task.config})
        self.ledger.append(rows)

    def _note_failure(self, job: Job, error: Exception) -> None:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        failures = Ledger(failures_of(self.ledger.path), ("error",))
        failures.append(
            {"kind": job.task.kind, "dataset": job.task.dataset, "method": job.task.method, "seed": seed}
            | provenance(self.device)
            | {"config": job.task.config, "error": reason}
            for seed in job.seeds
        )


def _there(task: Task, seed: int, rows: Mapping[Key, Row]) -> bool:
    row = rows.get(task.key(seed))
    return row is not None and task.is_whole(row)


def _by_cell(rows: Iterable[Row]) -> dict[tuple[Cell, int], Row]:
    found = dict[tuple[Cell, int], Row]()
    for row in sorted(rows, key=fullness):
        found[(row["kind"], row["dataset"], row["config"]), int(row["seed"])] = row  # the fullest comes last
    return found


def remaining_failures(ledger: Ledger) -> list[Row]:
    """Return the failures of cells that have not been measured since."""
    finished = {key_of(row) for row in ledger.read()}
    failed = Ledger(failures_of(ledger.path), ("error",)).read()
    return [row for row in failed if key_of(row) not in finished]


def failures_of(path: Path) -> Path:
    """Return the file of the cells that could not be measured, beside the rows of those that could."""
    return path.with_name("failures.csv")
