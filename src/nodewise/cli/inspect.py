"""`nodewise inspect`: what was understood of a graph, before anything is done with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from nodewise.cli import common as cli
from nodewise.core.errors import InputError
from nodewise.core.progress import duration
from nodewise.runs.source import load_graph

if TYPE_CHECKING:
    from nodewise.graph.graph import Graph

Verify = Annotated[bool, cli.option("Read all of a graph store and check its checksums.", panel=cli.INPUT)]

_MOST_SHOWN = 20
_MOST_CHOSEN = 100_000
"""Nodes of the largest graph for which the choices of the defaults are shown."""
_ELSEWHERE = {"name", "notes", "embedding_bytes", "embedding_seconds"}


@cli.command("inspect citeseer", "inspect edges.csv --features nodes.csv --labels labels.csv --json")
def inspect(
    *,
    graph: cli.GraphName,
    files: cli.LabeledFiles,
    verify: Verify = False,
    shown: cli.Shown,
    limits: cli.Limits,
) -> None:
    """Say what was understood of a graph.

    Also how much memory and time embedding it will need. Nothing is written. What reading changed or assumed is told
    on stderr.
    """
    import torch

    from nodewise.graph.statistics import describe, graph_bytes
    from nodewise.methods.settings import Settings
    from nodewise.store.layout import is_store
    from nodewise.training.estimate import estimate

    if verify and not is_store(Path(graph)):
        raise InputError(f"{graph}: not a graph store, so there are no checksums to verify; leave out --verify")
    data = load_graph(files.source(graph), shown.quiet, verify, retell=True)

    needs = estimate(data, Settings(), threads=torch.get_num_threads())
    taken = {"embedding_bytes": graph_bytes(data) + needs.bytes, "embedding_seconds": needs.seconds}
    facts = describe(data) | taken | _chosen(data) | _refusal(data)
    if shown.json:
        cli.print_json(facts | {"columns": None if data.table is None else data.table.describe()})
    else:
        cli.print_table(graph, (), _rows(facts))
        if data.table is not None:
            described = [row | {"kind": _kind(row["kind"], row["unit"])} for row in data.table.describe()]
            shown_columns = [tuple(row[name] for name in ("column", "kind", "becomes", "warning")) for row in described]
            cli.print_table("columns of the features", ("column", "kind", "becomes", "warning"), shown_columns)


def _kind(kind: str, unit: str) -> str:
    return f"{kind}, in {unit}" if unit else kind


def _chosen(graph: Graph) -> dict[str, Any]:
    """Return what the defaults would choose for a graph, and why; what would take long is left out."""
    import torch

    from nodewise.encoders.features import Features
    from nodewise.encoders.preparation import FeatureSettings, suited
    from nodewise.encoders.teleport import choose_teleport
    from nodewise.views.topology import Topology

    if graph.num_nodes > _MOST_CHOSEN or graph.structural or not graph.num_edges or not _finite(graph):
        return {}
    device, settings = torch.device("cpu"), FeatureSettings()
    words = {
        "tfidf": f"words: inverse document frequency to the power {settings.idf:g}, rows of length one",
        "standard": "numbers: columns standardized, rows of length one",
        "none": "as they are",
    }
    preparation = settings.fit(graph)
    choice = choose_teleport(Features(graph, device, preparation), Topology.of(graph, device))
    prepared = words["none"] if preparation is None else words[suited(graph)]
    if graph.table is not None and graph.table.comparable:
        prepared = "column by column, as below, rows of length one"
    return {"features_prepared": prepared, "teleport": f"{choice.teleport:g}: {choice.reason}"}


def _refusal(graph: Graph) -> dict[str, str]:
    """Return why `embed` would refuse the graph; nothing where it would not. Structural features are not computed."""
    from nodewise.methods.node_embedder import refuse_hopeless

    try:
        if not graph.structural:
            refuse_hopeless(graph)
    except InputError as error:
        return {"embed_refuses": str(error)}
    return {}


def _finite(graph: Graph) -> bool:
    import numpy as np

    features: Any = graph.features
    return bool(np.isfinite(features if isinstance(features, np.ndarray) else features.data).all())


def _rows(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the facts in words; the notes were told while reading."""
    for name, value in facts.items():
        if name not in _ELSEWHERE and value is not None and value != {}:
            yield name.replace("_", " "), _shown(value)
    memory, time = _size(facts["embedding_bytes"]), duration(facts["embedding_seconds"])
    yield "embedding needs", f"up to {memory} of memory and {time}"


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        parts = [f"{name}: {_shown(item)}" for name, item in islice(value.items(), _MOST_SHOWN)]
        return ", ".join(parts) + (", ..." if len(value) > _MOST_SHOWN else "")
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _size(number: float) -> str:
    return f"{number / 1e6:,.0f} MB" if number < 1e9 else f"{number / 1e9:,.1f} GB"
