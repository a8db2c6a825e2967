"""The rows of an evaluation: raw features, the untrained encoder, and the runs, all under one protocol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nodewise.cli.labels import KnownLabels
from nodewise.cli.runs import Runs, recorded_graph
from nodewise.core.progress import for_terminal
from nodewise.evaluation.evaluate import METRICS, Report, Summary, evaluate_embeddings
from nodewise.evaluation.inputs import Matrix
from nodewise.evaluation.links import link_prediction
from nodewise.graph.graph import Graph
from nodewise.methods.settings import Settings
from nodewise.methods.untrained import random_vectors
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
            settings = runs.settings or Settings()
            untrained = [random_vectors(graph, settings, seed, place) for seed in runs.seeds]
            rows.append(row("random encoder", untrained, runs.seeds))
        return [*rows, row(runs.name, runs.matrices, runs.seeds)]


def _crowded(graph: Graph) -> bool:
    """Tell whether there are too few pairs without an edge to compare edges with."""
    return graph.num_edges > 0.45 * graph.num_nodes * (graph.num_nodes - 1)


def _dataset(runs: Runs) -> str:
    return str(recorded_graph(runs.paths[0]).get("name", ""))
