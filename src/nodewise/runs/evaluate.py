"""How good vectors are: raw features, the untrained encoder, and the runs, all under one protocol."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

from nodewise.core.config import Unloaded
from nodewise.core.errors import InputError
from nodewise.core.messages import html_table, text_table
from nodewise.core.progress import for_terminal
from nodewise.core.terminal import say
from nodewise.evaluation.evaluate import METRICS, ORACLE, Report, Summary, evaluate_embeddings
from nodewise.evaluation.inputs import Matrix
from nodewise.evaluation.links import link_prediction
from nodewise.evaluation.presets import get_preset
from nodewise.graph.graph import Graph
from nodewise.methods.settings import Settings
from nodewise.methods.untrained import random_vectors
from nodewise.runs.labels import KnownLabels, labels_for
from nodewise.runs.source import TABLES, GraphSource, TableColumns
from nodewise.runs.together import Runs, find_graph, read_runs, recorded_graph
from nodewise.training.device import choose_device

_RANDOM_SPLITS = 10
_LINKS = "link_auc"
SCORES = (*METRICS, _LINKS)


@dataclass(frozen=True)
class Protocol:
    """How to score.

    Attributes:
        probe: preset of the linear probe.
        split: the labels' own, "public", or random ones.
        repeats: number of random splits.
        seed: of probes and random splits.
        metrics: of SCORES, and the oracle column if asked for by name.
    """

    probe: str
    split: str
    repeats: int | None
    seed: int
    metrics: tuple[str, ...]


@dataclass(frozen=True)
class Evaluation:
    """The rows of an evaluation: the last is the runs', those before are what they are compared with."""

    rows: tuple[Report, ...]

    TITLES = {  # noqa: RUF012  # not a field: it has no annotation
        "knn": "kNN",
        "nmi": "NMI",
        "ari": "ARI",
        "silhouette": "silhouette",
        "macro_f1": "macro-F1",
        "link_auc": "link AUC",
        "oracle_accuracy": "oracle: max test",
    }

    @property
    def accuracy(self) -> float:
        """The mean test accuracy of the runs, a fraction."""
        return self.rows[-1].scores["accuracy"].mean

    def to_dict(self) -> dict[str, Any]:
        """Return the row of the runs, with the rows it is compared with inside; scores are fractions."""
        return {**self.rows[-1].to_dict(), "comparison": [row.to_dict() for row in self.rows[:-1]]}

    def table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return column titles and one row of cells a report, in percent."""
        columns = {metric: title for metric, title in self.TITLES.items() if metric in self.rows[-1].scores}
        header = ("", "accuracy", "std", "n", *columns.values())
        return header, [tuple(self._cells(row, columns)) for row in self.rows]

    @staticmethod
    def _cells(row: Report, columns: dict[str, str]) -> Iterator[str]:
        accuracy = row.scores["accuracy"]
        yield row.name
        yield f"{100 * accuracy.mean:.2f}"
        yield f"{100 * accuracy.std:.2f}" if accuracy.std is not None else "-"
        yield str(accuracy.n)
        for metric in columns:
            yield f"{100 * row.scores[metric].mean:.2f}" if metric in row.scores else "-"

    def __repr__(self) -> str:
        return f"{text_table(*self.table())}\n{self.rows[-1].protocol}"

    def _repr_html_(self) -> str:
        return f"{html_table(*self.table())}<p>{escape(self.rows[-1].protocol)}</p>"


def score_rows(
    runs: Runs, graph: Graph | None, known: KnownLabels, protocol: Protocol, *, device: str, quiet: bool
) -> list[Report]:
    """Score the runs and, where the graph is known, what they are compared with; the runs come last."""
    place = choose_device(device)
    dataset = graph.name if graph is not None else _dataset(runs)
    with for_terminal(quiet).stage("evaluating", 1 if graph is None else 3) as bar:

        def row(name: str, matrices: Sequence[Matrix], seeds: Sequence[int]) -> Report:
            report = evaluate_embeddings(
                matrices,
                known.labels,
                protocol.split,
                public=known.split,
                probe=protocol.probe,
                repeats=protocol.repeats or (1 if protocol.split == "public" else _RANDOM_SPLITS),
                seed=protocol.seed,
                encoder_seeds=seeds,
                metrics=[metric for metric in protocol.metrics if metric != _LINKS],
                name=name,
                dataset=dataset,
                device=place,
            )
            if graph is not None and _LINKS in protocol.metrics and not _crowded(graph):
                areas = [link_prediction(matrix, graph, seed=protocol.seed).auc for matrix in matrices]
                report = replace(report, scores=report.scores | {_LINKS: Summary.of(areas)})
            bar.advance()
            return report

        rows = []
        if graph is not None:
            rows.append(row(f"{'structural' if graph.structural else 'raw'} features", [graph.features], [0]))
            settings = runs.settings if isinstance(runs.settings, Settings) else Settings()
            if isinstance(settings.encoder, Unloaded):
                say(f"no comparison with a random encoder: {settings.encoder.name} is not loaded", quiet)
            else:
                untrained = [random_vectors(graph, settings, seed, place) for seed in runs.seeds]
                rows.append(row("random encoder", untrained, runs.seeds))
        return [*rows, row(runs.name, runs.matrices, runs.seeds)]


def _crowded(graph: Graph) -> bool:
    """Tell whether there are too few pairs without an edge to compare edges with."""
    return graph.num_edges > 0.45 * graph.num_nodes * (graph.num_nodes - 1)


def _dataset(runs: Runs) -> str:
    return str(recorded_graph(runs.paths[0]).get("name", ""))


def evaluate(
    paths: Sequence[Path],
    source: GraphSource | None = None,
    *,
    labels_file: Path | None = None,
    probe: str = "mvgrl",
    split: str = "public",
    repeats: int | None = None,
    seed: int = 0,
    metrics: tuple[str, ...] | None = None,
    oracle: bool = False,
    device: str = "auto",
    tables: TableColumns = TABLES,
    data_dir: Path | None = None,
    quiet: bool = True,
) -> Evaluation:
    """Evaluate run folders or files of vectors, of one or several seeds, beside what they are compared with."""
    get_preset(probe)  # a misspelt name is told before anything takes time
    runs = read_runs(paths)
    graph, missing = find_graph(runs, source, data_dir, quiet)
    if graph is not None:
        runs = runs.in_order_of(graph.ids) or runs
    known = labels_for(runs.ids, paths[0], labels_file, tables=tables, graph=graph)
    known.require_scorable()
    if split == "public" and known.split is None:
        raise InputError(
            f"{known.source}: the labels came without a split; draw random ones, such as --split random:20x500x1000",
            code="no-split",
        )
    protocol = Protocol(probe, split, repeats, seed, (metrics or SCORES) + (ORACLE,) * oracle)
    reports = score_rows(runs, graph, known, protocol, device=device, quiet=quiet)
    # Told last, since an error is told in one line and alone.
    if unlabelled := int((known.labels < 0).sum()):
        say(f"{unlabelled:,} of {len(known.labels):,} nodes have no label and are left out of the scores", quiet)
    if missing:
        say(f"no comparison with raw features and a random encoder: {missing}; name it with --graph GRAPH", quiet)
    return Evaluation(tuple(reports))
