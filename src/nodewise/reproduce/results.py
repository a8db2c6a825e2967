"""The finished rows of a plan, looked up by row, data set and seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nodewise.evaluation.evaluate import Summary
from nodewise.evaluation.paired import (
    PairedDifference,
    crossed_difference,
    paired_difference,
    read_group_shares,
    verdict,
)
from nodewise.reproduce.paper_values import ORACLE_NOTE
from nodewise.reproduce.provenance import Row
from nodewise.reproduce.setup import Task

_FRACTIONS = ("val", "test", "unseen", "oracle", "few", "ten", "post_val", "post_test", "post_unseen", "own_test")

SEEDS_ONLY = "seeds only"
"""Said instead of a verdict where rows of an earlier version do not tell which nodes were answered rightly."""


@dataclass(frozen=True)
class Comparison:
    """A paired difference on the test nodes, and on the other unseen ones where there are some."""

    test: PairedDifference
    others: PairedDifference | None
    over_nodes: bool

    @property
    def verdict(self) -> str:
        """What may be said of it."""
        return verdict(self.test, self.others) if self.over_nodes else SEEDS_ONLY


class Results:
    """Rows that belong to the tasks of a plan; rows of another configuration are left out."""

    def __init__(self, tasks: Sequence[Task], rows: Iterable[Row]) -> None:
        wanted = {(task.kind, task.dataset, task.method, task.config) for task in tasks}
        self.tasks = tasks
        self.rows = [row for row in rows if (row["kind"], row["dataset"], row["method"], row["config"]) in wanted]
        self._cells: dict[tuple[str, str, str], dict[int, Row]] = {}
        for row in self.rows:
            self._cells.setdefault((row["kind"], row["method"], row["dataset"]), {})[int(row["seed"])] = row

    @property
    def datasets(self) -> list[str]:
        """The data sets of the plan, in its order."""
        return list(dict.fromkeys(task.dataset for task in self.tasks))

    @property
    def methods(self) -> list[str]:
        """The rows of the plan, in its order."""
        return list(dict.fromkeys(task.method for task in self.tasks))

    def by_seed(self, method: str, dataset: str, column: str = "test", kind: str = "accuracy") -> dict[int, float]:
        """Return a column of each finished seed; accuracies are in percent."""
        scale = 100.0 if column in _FRACTIONS else 1.0
        cells = self._cells.get((kind, method, dataset), {})
        return {seed: scale * float(row[column]) for seed, row in sorted(cells.items()) if row.get(column, "") != ""}

    def summary(self, method: str, dataset: str, column: str = "test", kind: str = "accuracy") -> Summary | None:
        """Return mean, standard deviation and n; None where no seed is finished."""
        values = list(self.by_seed(method, dataset, column, kind).values())
        return Summary.of(values) if values else None

    def cost(self, method: str, dataset: str, column: str) -> Summary | None:
        """Return a summary of seconds or memory, of rows from a GPU where there are some: a processor's are others."""
        cells = self._cells.get(("accuracy", method, dataset), {}).values()
        on_gpu = [row for row in cells if not row["device"].startswith("cpu")]
        values = [float(row[column]) for row in on_gpu or cells if row.get(column)]
        return Summary.of(values) if values else None

    def groups(self, method: str, dataset: str, column: str = "test", kind: str = "accuracy") -> dict[int, np.ndarray]:
        """Return the shares (G,) of right answers in groups of nodes, in percent, of each seed that has them."""
        cells, name = self._cells.get((kind, method, dataset), {}), f"{column}_groups"
        return {seed: 100 * read_group_shares(row[name]) for seed, row in sorted(cells.items()) if row.get(name)}

    def compare(
        self, ours: str, theirs: str, dataset: str, kind: str = "accuracy", against: str | None = None, prefix: str = ""
    ) -> Comparison | None:
        """Compare two rows, the second of kind `against`; None where fewer than two seeds are in both."""
        found: dict[str, PairedDifference | None] = {}
        over_nodes = True
        for column in (f"{prefix}test", f"{prefix}unseen"):
            found[column], known = self.difference(ours, theirs, dataset, column, kind, against)
            over_nodes &= known or found[column] is None
        test, others = found.values()
        return None if test is None else Comparison(test, others, over_nodes)

    def difference(
        self,
        ours: str,
        theirs: str,
        dataset: str,
        column: str,
        kind: str = "accuracy",
        against: str | None = None,
        *,
        without_seed: bool = False,
    ) -> tuple[PairedDifference | None, bool]:
        """Return the paired difference of one column, and whether its interval is over nodes too.

        With `without_seed`, a single value of theirs stands for all seeds: nothing of it was drawn.
        """
        against = against or kind
        first, second = self.by_seed(ours, dataset, column, kind), self.by_seed(theirs, dataset, column, against)
        mine, other = self.groups(ours, dataset, column, kind), self.groups(theirs, dataset, column, against)
        if without_seed and len(second) == 1:
            second = dict.fromkeys(first, *second.values())
            other = dict.fromkeys(first, *other.values()) if other else {}
        # Rows of an earlier version know no nodes; where enough of the others do, they are compared without them.
        shared = sorted(first.keys() & second.keys() & mine.keys() & other.keys())
        if len(shared) < 2 or len(mine[shared[0]]) < 2:
            return paired(first, second), False
        differences = np.stack([mine[seed] - other[seed] for seed in shared])
        exact = np.array([first[seed] - second[seed] for seed in shared])
        # Groups are rounded, and of nearly equal size: the mean of a seed is known better from its own column.
        return crossed_difference(differences + (exact - differences.mean(1))[:, None]), True

    def row(self, method: str, dataset: str, seed: int, kind: str) -> Row | None:
        """Return one cell's row, if it is finished."""
        return self._cells.get((kind, method, dataset), {}).get(seed)


def paired(ours: Mapping[int, float], theirs: Mapping[int, float]) -> PairedDifference | None:
    """Compare on the seeds that both have; None where there are fewer than two."""
    shared = sorted(ours.keys() & theirs.keys())
    if len(shared) < 2:
        return None
    return paired_difference({seed: ours[seed] for seed in shared}, {seed: theirs[seed] for seed in shared})


def oracle_notes(results: Results, titles: Mapping[str, str]) -> list[str]:
    """Return the notes; `titles` are the rows of the table as it calls them."""
    passes = []
    for row, title in titles.items():
        measured = [name for name in results.datasets if results.by_seed(row, name, "oracle", "oracle")]
        where = "" if measured == results.datasets else f" ({', '.join(name.capitalize() for name in measured)})"
        passes += [f"'{title}'{where}"] if measured else []
    made = f"Oracle passes were made for {', '.join(passes)} only" if passes else "No oracle pass was made"
    return [ORACLE_NOTE, f"{made}; a dash is a pass that was not made."]
