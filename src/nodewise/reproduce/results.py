"""The finished rows of a plan, looked up by row, data set and seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from nodewise.evaluation.evaluate import Summary
from nodewise.evaluation.paired import PairedDifference, paired_difference
from nodewise.reproduce.paper_values import ORACLE_NOTE
from nodewise.reproduce.provenance import Row
from nodewise.reproduce.setup import Task

_FRACTIONS = ("val", "test", "oracle")


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
        return {seed: scale * float(row[column]) for seed, row in sorted(cells.items()) if row[column] != ""}

    def summary(self, method: str, dataset: str, column: str = "test", kind: str = "accuracy") -> Summary | None:
        """Return mean, standard deviation and n; None where no seed is finished."""
        values = list(self.by_seed(method, dataset, column, kind).values())
        return Summary.of(values) if values else None

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
