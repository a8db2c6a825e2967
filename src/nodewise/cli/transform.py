"""`nodewise transform`: vectors for the nodes of a graph that was not seen in training."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nodewise.cli import common as cli
from nodewise.cli.groups import grouped
from nodewise.core.errors import InputError
from nodewise.core.progress import for_terminal
from nodewise.core.terminal import say
from nodewise.runs.outputs import check_file, refuse_inputs
from nodewise.runs.source import GraphSource, load_graph

if TYPE_CHECKING:
    from nodewise.graph.graph import Graph
    from nodewise.graph.ids import NodeIds
    from nodewise.runs.run import Run

Output = Annotated[
    Path,
    typer.Option("--output", "-o", metavar="FILE", help="Parquet file for the vectors, or a folder with --shards."),
]
Nodes = Annotated[
    Path | None, typer.Option("--nodes", metavar="FILE", help="Embed only the nodes whose ids the file holds.")
]
New = Annotated[bool, typer.Option("--new", help="Embed only the nodes that the run has no vectors for.")]
Shards = Annotated[
    bool,
    typer.Option("--shards", help="Write a folder of Parquet files, in bounded memory; a killed command resumes."),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    tries = cli.examples(
        "transform runs/mine tomorrow.csv --features tomorrow_nodes.parquet -o tomorrow.parquet",
        "transform runs/mine today.store --new -o new.parquet",
        "transform runs/mine graph.store --shards -o vectors  # add --new for new nodes only",
    )
    app.command(epilog=tries)(grouped(transform))


def transform(
    run: cli.RunName,
    graph: cli.GraphName,
    output: Output,
    features: cli.Features = None,
    nodes: Nodes = None,
    new: New = False,
    shards: Shards = False,
    device: cli.Device = "auto",
    edges: cli.EdgeColumns = cli.EDGES,
    tables: cli.TableColumns = cli.TABLES,
    data_dir: cli.DataDir = None,
    json: cli.Json = False,
    quiet: cli.Quiet = False,
) -> None:
    """Embed the nodes of a graph with a trained run's encoder.

    The graph may be one that training never saw; its nodes need the same features in the same order. With --nodes or
    --new the work is that of these nodes and what they see of the graph.
    """
    from nodewise.runs.run import Run
    from nodewise.training.team import joined, launched

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
    refuse_inputs(output, graph, features, nodes)
    if not shards:
        check_file(output, run=run)
    if not shards and output.suffix.lower() not in ("", ".parquet"):
        raise InputError(
            f"{output}: vectors are written as Parquet; let the name end in .parquet", code="unsupported-format"
        )
    if shards and not method.partial:
        raise InputError(f"{run}: {method.name} embeds a graph as a whole; leave out --shards")
    model = trained.model(device)
    if features is not None:
        _require_same_order(features, tables, trained)
    data = load_graph(
        GraphSource(graph, features, None, data_dir, edges, tables), quiet, verify=nodes is None and not new
    )
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
    if json:
        cli.print_json({"embeddings": str(output), **facts})
    else:
        speed = f", {facts['nodes_per_second']:,.0f} nodes a second" if shards else ""
        cli.print_line(f"{facts['nodes']:,} vectors of {facts['dimensions']} numbers are in {output}{speed}")


def _require_same_order(features: Path, tables: cli.TableColumns, run: Run) -> None:
    from nodewise.read.feature_table import feature_names, require_same_order

    known = run.about.get("graph", {}).get("feature_names", ())
    require_same_order(features, feature_names(features, tables.id_column), known)


def _wanted(nodes: Path | None, run: Run, graph: Graph, quiet: bool) -> NodeIds:
    """Return the ids in a file or, without one, those of the graph that the run has no vectors for."""
    from nodewise.core.messages import count
    from nodewise.vectors.embedding_files import read_parquet_ids

    if nodes is not None:
        if len(found := read_ids(nodes)) == 0:
            raise InputError(f"{nodes}: holds no ids; there is nothing to embed")
        return found
    fresh, seen = run.new_nodes(graph), read_parquet_ids(run.folder.embeddings)
    places = graph.ids.positions(seen)
    linked = int((graph.degrees[places[places >= 0]] > 0).sum())
    if linked < len(seen) / 2:
        few = f"only {linked:,} of the run's {count(len(seen), 'node')} have edges here"
        say(f"{few}; vectors of new nodes depend on them, so give old and new edges together", quiet)
    return fresh


def read_ids(path: Path) -> NodeIds:
    """Return the ids of a file: its column `id`, or its first one."""
    from nodewise.graph.ids import NodeIds
    from nodewise.read.columns import ID_NAMES, column_called
    from nodewise.read.formats import format_of, open_columns

    if (kind := format_of(path)) not in ("text", "parquet"):
        raise InputError(f"{path}: {kind} cannot hold ids; give text or Parquet")
    file = open_columns(path, kind, (ID_NAMES,))
    column = file.read([column_called(file, ID_NAMES) or 0]).keys
    return NodeIds(file.settle(column)[0], str(path), file.place)
