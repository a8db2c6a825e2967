"""Run an experiment as far as it lacks cells, and write its tables, pictures and the checklist of claims."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from nodewise.core.errors import InputError
from nodewise.core.files import atomic_write
from nodewise.core.lock import FolderLock
from nodewise.core.progress import Progress, SilentProgress
from nodewise.graph.graph import Graph
from nodewise.reproduce import claims
from nodewise.reproduce.catalog import EXPERIMENTS, Experiment
from nodewise.reproduce.experiments import datasets
from nodewise.reproduce.grid import Grid, Job, remaining_failures
from nodewise.reproduce.paper_values import OURS
from nodewise.reproduce.provenance import Row, key_of
from nodewise.reproduce.results import Results
from nodewise.reproduce.setup import CHOICE, QUICK_DATASETS, QUICK_WORDS, Setup, Task
from nodewise.reproduce.tables import Table, noted, write_tables


@dataclass(frozen=True)
class Outcome:
    """What an experiment left: its rows, its tables as Markdown, cells still missing and those that failed."""

    rows: list[Row]
    markdown: str
    missing: int
    failures: list[Row]


@dataclass(frozen=True)
class Runner:
    """Where and how experiments are run.

    Attributes:
        output: the folder of all results.
        load: returns a graph by its name; picklable.
        device: where to compute.
        stack: seeds of our own method trained at once.
        workers: processes side by side.
        until: clock time after which no cell is begun.
        progress: who watches.
        say: told in words what is there and what is to be done.
    """

    output: Path
    load: Callable[[str], Graph]
    device: torch.device
    stack: int = 1
    workers: int = 1
    until: float = math.inf
    progress: Progress = SilentProgress()  # noqa: RUF009  # it has no state
    say: Callable[[str], None] = lambda message: None

    def run(self, experiment: Experiment, setup: Setup, *, measure: bool = True) -> Outcome:
        """Fill the cells that are missing, unless only tables are wanted, and write what the rows show."""
        tasks, ledger = experiment.plan(setup), experiment.ledger(self.output)
        grid = Grid(experiment.name, ledger, self.load, self.device, self.stack, self.until)
        if measure:
            folder = experiment.folder(self.output)
            folder.mkdir(parents=True, exist_ok=True)
            # A second process would measure the same cells once more.
            with FolderLock(folder, what="this experiment"):
                ledger.upgrade()
                copies = grid.borrow(tasks, setup.seeds, self._rows_of_others(experiment))
                ledger.append(copies)
                jobs = grid.missing(tasks, setup.seeds)
                self.say(f"{experiment.name}: {self._state(tasks, setup, jobs, copies)}")
                # Post-processing is chosen before anything is scored with it.
                grid.run([job for job in jobs if job.task.kind == CHOICE], self.workers, self.progress)
                rest = grid.missing(grid.choices([task for task in tasks if task.kind != CHOICE]), setup.seeds)
                grid.run(
                    [job for job in rest if job.task.post or not job.task.equal_terms], self.workers, self.progress
                )
                ledger.append(grid.borrow(tasks, setup.seeds, ()))
        results = self.results(experiment, setup)
        folder, warning = experiment.folder(self.output), QUICK_WORDS if setup.quick else ""
        shown = experiment.render(results, setup)
        if experiment.configured and any(task.estimator == OURS for task in tasks):
            shown = noted(shown, (setup.said(),))
        markdown = write_tables(folder, experiment.name, experiment.title, shown, warning)
        experiment.draw(results, setup, folder)
        left = sum(len(job.seeds) for job in grid.missing(tasks, setup.seeds))
        planned = {task.key(seed) for task in tasks for seed in task.wanted(setup.seeds)}
        failures = [row for row in remaining_failures(ledger) if key_of(row) in planned]
        return Outcome(results.rows, markdown, left, failures)

    def results(self, experiment: Experiment, setup: Setup) -> Results:
        """Return what the folder's rows show of an experiment, those included that it shares with others."""
        tasks, ledger = experiment.plan(setup), experiment.ledger(self.output)
        grid = Grid(experiment.name, ledger, self.load, self.device)
        shared = grid.borrow(tasks, setup.seeds, self._rows_of_others(experiment), whole=False)
        return Results(tasks, [*ledger.read(), *shared])

    def refuse_to_empty(self, planned: Mapping[str, Sequence[Task]]) -> None:
        """Refuse to make tables again of rows that are not there, or whose settings of our method are all others.

        `planned` are the tasks of experiments, by name.
        """
        rows = {name: EXPERIMENTS[name].ledger(self.output).read() for name in planned}
        if rows and not any(rows.values()):
            raise InputError(f"{self.output}: there are no rows of {' or '.join(planned)} to make tables of")
        for name, tasks in planned.items():
            ours = {(task.kind, task.dataset, task.method): task.config for task in tasks if task.estimator == OURS}
            found = [(row, ours.get((row["kind"], row["dataset"], row["method"]))) for row in rows[name]]
            same = [row["config"] == config for row, config in found if config is not None]
            if same and not any(same):
                raise InputError(
                    f"{self.output / name}: our method's rows are of other settings than these, so its tables would "
                    "lose them; --configs names the folder of theirs, and without one they are the defaults"
                )

    def run_datasets(self, setup: Setup, *, keep: bool = False) -> tuple[str, list[Row]]:
        """Write Table 1 as the data sets are read; return it as Markdown, and its rows.

        A data set that cannot be read, such as one to be downloaded where there is no network, is left out of the
        table, which says so; it is an error if there is no other. To `keep` is to leave a table that is there then.
        """
        graphs, reasons = [], dict[str, InputError]()
        for name in setup.datasets:
            try:
                graphs.append(self.load(name))
            except InputError as error:
                reasons[name] = error
        if not graphs:
            raise next(iter(reasons.values()))
        for name, reason in reasons.items():
            self.say(f"{name} is left out: {reason}")
        folder = self.output / "datasets"
        there, rows = folder / "datasets.md", folder / "datasets.csv"
        if keep and reasons and there.is_file() and rows.is_file():
            self.say("so Table 1 stays as it is")
            with rows.open(encoding="utf-8", newline="") as file:
                return there.read_text(encoding="utf-8"), list(csv.DictReader(file))
        tables = datasets.render(graphs, left_out=tuple(reasons))
        markdown = write_tables(folder, "datasets", "Table 1: the data sets", tables)
        return markdown, _write_csv(rows, tables[0])

    def check_claims(self, setup: Setup) -> str:
        """Answer the paper's claims from all rows in the folder; return the checklist as Markdown."""
        found = {}
        for name, experiment in EXPERIMENTS.items():
            planned = QUICK_DATASETS if setup.quick else experiment.datasets
            known = tuple(each for each in planned if _has_settings(setup, each))
            # More seeds count where the experiment's own rows have them, but are not borrowed from others, so that
            # claims rest on what its tables show.
            whole = replace(setup, methods=None, datasets=known, oracle=False, runs=experiment.runs)
            found[name] = self.results(experiment, whole)
        tables = noted(claims.render(claims.check(found)), (setup.said(),))
        warning = QUICK_WORDS if setup.quick else ""
        return write_tables(self.output, "claims", "The paper's claims, checked", tables, warning)

    def _rows_of_others(self, experiment: Experiment) -> Iterator[Row]:
        for other in EXPERIMENTS.values():
            if other.name != experiment.name:
                yield from other.ledger(self.output).read()

    def _state(self, tasks: Sequence[Task], setup: Setup, jobs: Sequence[Job], copies: Sequence[Row]) -> str:
        cells = {(task.cell, seed) for task in tasks for seed in task.wanted(setup.seeds)}
        left = {(job.task.cell, seed) for job in jobs for seed in job.seeds}
        # Several rows may be copies of one cell, and one that a row still lacks something of is run all the same.
        borrowed = {((row["kind"], row["dataset"], row["config"]), int(row["seed"])) for row in copies} - left
        copied = f", {len(borrowed)} of them copied from equal ones" if borrowed else ""
        return f"{len(cells) - len(left)} of {len(cells)} cells are there{copied}; {len(left)} to run"


def _has_settings(setup: Setup, dataset: str) -> bool:
    return setup.configs is None or all((setup.configs / f"{part}{dataset}.toml").is_file() for part in ("", "plain/"))


def _write_csv(path: Path, table: Table) -> list[Row]:
    """Write the numbers of a table whose columns "printed" follow those they belong to; return its rows."""
    names = [f"{table.header[i - 1]} printed" if name == "printed" else name for i, name in enumerate(table.header)]
    rows = [dict(zip(names, (cell.replace(",", "") for cell in row), strict=True)) for row in table.rows]
    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return rows
