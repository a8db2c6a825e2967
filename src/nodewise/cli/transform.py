"""`nodewise transform`: vectors for the nodes of a graph that was not seen in training."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from nodewise.cli import common as cli
from nodewise.core.errors import InputError
from nodewise.core.files import refuse_inputs
from nodewise.core.progress import for_terminal
from nodewise.core.terminal import say
from nodewise.runs.outputs import check_file
from nodewise.runs.source import load_graph, read_ids

if TYPE_CHECKING:
    from nodewise.graph.graph import Graph
    from nodewise.graph.ids import NodeIds
    from nodewise.runs.run import Run


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Whose vectors are wanted, and where."""

    panel = cli.OUTPUT

    output: Annotated[Path, cli.option("Parquet file for the vectors, or a folder with --shards.", "FILE", "-o")]
    nodes: Annotated[Path | None, cli.option("Embed only the nodes whose ids the file holds.", "FILE")] = None
    new: Annotated[bool, cli.option("Embed only the nodes that the run has no vectors for.")] = False
    shards: Annotated[
        bool, cli.option("Write a folder of Parquet files, in bounded memory; a killed command resumes.")
    ] = False


@cli.command(
    "transform runs/mine tomorrow.csv --features tomorrow_nodes.parquet -o tomorrow.parquet",
    "transform runs/mine today.store --new -o new.parquet",
    "transform runs/mine graph.store --shards -o vectors  # add --new for new nodes only",
)
def transform(
    *,
    run: cli.RunName,
    graph: cli.GraphName,
    wanted: Wanted,
    shown: cli.Shown,
    files: cli.Files,
    device: cli.Device = "auto",
    limits: cli.Limits,
) -> None:
    """Embed the nodes of a graph with a trained run's encoder.

    The graph may be one that training never saw; its nodes need the same features: columns of a table
    by their names, others in the same order. With --nodes or --new the work is that of
    these nodes and what they see of the graph.
    """
    from nodewise.runs.run import Run
    from nodewise.training.team import joined, launched

    output, nodes, new, shards, quiet = wanted.output, wanted.nodes, wanted.new, wanted.shards, shown.quiet
    trained = Run(run)
    method = trained.method
    if not method.inductive:
        raise InputError(
            f"{run}: {method.name} has vectors for the nodes it was trained on only; train it again",
            code="not-inductive",
        )
    if nodes is not None and new:
        raise InputError("--nodes and --new exclude each other; give one of them")
    if launched() and not shards:
        raise InputError("several processes can only embed into shards; add --shards, or start it without torchrun")
    refuse_inputs(output, graph, files.features, nodes)
    if not shards:
        check_file(output, run=run)
    if not shards and output.suffix.lower() not in ("", ".parquet"):
        raise InputError(
            f"{output}: vectors are written as Parquet; let the name end in .parquet", code="unsupported-format"
        )
    if shards and not method.partial:
        raise InputError(f"{run}: {method.name} embeds a graph as a whole; leave out --shards")
    model = trained.model(device)
    source = files.source(graph)
    known = trained.about.get("graph", {}).get("source", {})
    as_trained = {name: known[name] for name in ("directed", "edge_types", "metapath") if known.get(name)}
    source = replace(source, edges=replace(source.edges, **as_trained))
    data = load_graph(source, quiet, verify=nodes is None and not new, like=trained)
    if files.features is not None and trained.table is None:
        _require_same_order(files.features, files.tables, trained, data.ids)
    some = _wanted(nodes, trained, data, quiet) if nodes is not None or new else None
    if shards:
        with joined(device) as (team, model.device):
            silent = quiet or team.rank > 0
            told = partial(say, quiet=silent)
            facts = model.transform_to_shards(data, output, for_terminal(silent), team, some, told)._asdict()
        if team.rank > 0:
            return
    else:
        embeddings = model.transform(data, some, for_terminal(quiet))
        embeddings.to_parquet(output)
        facts = dict(zip(("nodes", "dimensions"), embeddings.vectors.shape, strict=True))
    speed = f", {facts['nodes_per_second']:,.0f} nodes per second" if shards else ""
    line = f"{facts['nodes']:,} vectors of {facts['dimensions']} numbers are in {output}{speed}"
    shown.tell({"embeddings": str(output), **facts}, line)


def _require_same_order(features: Path, tables: cli.FeatureColumns, run: Run, nodes: NodeIds) -> None:
    from nodewise.read.feature_table import feature_names, require_same_order

    known = run.about.get("graph", {}).get("feature_names", ())
    require_same_order(features, feature_names(features, tables.id_column, nodes=nodes), known)


def _wanted(nodes: Path | None, run: Run, graph: Graph, quiet: bool) -> NodeIds:
    """Return the ids in a file or, without one, those of the graph that the run has no vectors for."""
    from nodewise.core.messages import count
    from nodewise.vectors.embedding_files import read_parquet_ids

    if nodes is not None:
        return read_ids(nodes, graph.ids)
    fresh, seen = run.new_nodes(graph), read_parquet_ids(run.folder.embeddings)
    places = graph.ids.positions(seen)
    linked = int((graph.degrees[places[places >= 0]] > 0).sum())
    if linked < len(seen) / 2:
        few = f"only {linked:,} of the run's {count(len(seen), 'node')} have edges here"
        say(f"{few}; vectors of new nodes depend on them, so give old and new edges together", quiet)
    return fresh
