"""`nodewise embed`: train on a graph and leave a run folder with a vector for every node."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nodewise.cli.common import (
    EDGES,
    TABLES,
    Config,
    DataDir,
    Device,
    EdgeColumns,
    Features,
    GraphName,
    Json,
    Labels,
    Preset,
    Quiet,
    Seed,
    Set,
    TableColumns,
    Threads,
    examples,
    load_settings,
    print_json,
    print_line,
    say,
    use_threads,
)
from nodewise.cli.graphs import GraphSource, load_graph
from nodewise.cli.groups import grouped
from nodewise.cli.outputs import check_run
from nodewise.core.errors import InputError
from nodewise.core.folder import RunFolder
from nodewise.core.staging import staged
from nodewise.methods.catalogue import Card, find

if TYPE_CHECKING:
    from nodewise.graph.graph import Graph
    from nodewise.training.team import Alone

Output = Annotated[Path, typer.Option("--output", "-o", metavar="RUN", help="Folder to leave the run in.")]
Method = Annotated[
    str, typer.Option("--method", "-m", metavar="NAME", help="The method to train; 'nodewise methods' lists them.")
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on with the run where it was interrupted; the result is the same.")
]
CheckpointEvery = Annotated[
    float, typer.Option("--checkpoint-every", min=0, metavar="SECONDS", help="How often to save what was learnt.")
]
Deterministic = Annotated[
    bool, typer.Option("--deterministic", help="Choose algorithms that give the same bits each time, also on a GPU.")
]
AnyMemory = Annotated[bool, typer.Option("--any-memory", help="Start even if the memory there is looks too small.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    tries = examples(
        "embed citeseer -o runs/first",
        "embed edges.csv --features nodes.parquet -o runs/mine --seed 1",
        "embed citeseer -o runs/dgi --method dgi",
        "embed citeseer -o runs/first --resume",
        "embed edges.csv -o runs/plain --set sampling.dpp=false --set training.steps=50",
    )
    app.command(epilog=tries)(grouped(embed))


def embed(
    graph: GraphName,
    output: Output,
    features: Features = None,
    labels: Labels = None,
    method: Method = "nodewise",
    config: Config = None,
    preset: Preset = None,
    set: Set = None,
    seed: Seed = 0,
    device: Device = "auto",
    threads: Threads = None,
    resume: Resume = False,
    checkpoint_every: CheckpointEvery = 30.0,
    deterministic: Deterministic = False,
    any_memory: AnyMemory = False,
    edges: EdgeColumns = EDGES,
    tables: TableColumns = TABLES,
    data_dir: DataDir = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Learn a vector for every node, without labels.

    Labels, given or part of a data set, are never read by training; they are kept in the run for 'evaluate'.
    Interrupted by Ctrl-C or SIGTERM, training finishes its step and saves; the same command with --resume goes on.
    """
    card = find(method, with_labels=False)
    check_run(output, graph, features, labels, config)
    use_threads(threads)
    source = GraphSource(graph, features, labels, data_dir, edges, tables)
    estimator = card.load()
    settings = load_settings(config, preset, set, estimator=estimator, dataset=graph if source.is_data_set else "")
    if deterministic:
        from nodewise.training.device import be_deterministic

        be_deterministic()
    from nodewise.training.team import joined

    with joined(device) as (team, device):
        options = _training_options(card, resume, checkpoint_every, any_memory, quiet or team.rank > 0, team)
        if team.rank > 0:
            _assist(card, load_graph(source, quiet=True, verify=True), settings, seed, device, **options)
            return
        with staged(output) as run:
            data = load_graph(source, quiet, verify=True)
            finished = resume and not run.checkpoints() and _is_finished(RunFolder(output), card, settings, seed, data)
            if team.largest(int(finished)):
                say(f"{output} is finished already", quiet)
            else:
                if run.checkpoints() and not _goes_on(options):
                    say(f"{output}: replacing the interrupted run there; --resume would have gone on with it", quiet)
                elif RunFolder(output).environment.exists():
                    say(f"{output}: replacing the run there", quiet)
                train(
                    card, data, run, source=source, settings=settings, seed=seed, device=device, quiet=quiet, **options
                )
    summary = summarise(RunFolder(output))
    if json:
        print_json(summary)
    else:
        size = f"{summary['nodes']:,} vectors of {summary['dimensions']} numbers"
        print_line(f"{size} are in {summary['embeddings']}")


def _training_options(
    card: Card, resume: bool, every: float, any_memory: bool, quiet: bool, team: Alone
) -> dict[str, Any]:
    """Return what only methods with checkpoints understand."""
    from nodewise.training.checkpoint import CheckpointPlan
    from nodewise.training.team import restarted

    if getattr(card.load(), "resumable", False):
        plan = CheckpointPlan(every, resume or restarted(), lambda message: say(message, quiet))
        return {"checkpoints": plan, "check_memory": not any_memory, "team": team}
    if team.size > 1:
        raise InputError(f"{card.name} trains in a single process; start it without torchrun")
    if resume:
        say(f"{card.name} saves no checkpoints: starting at the beginning", quiet)
    return {}


def _goes_on(options: dict[str, Any]) -> bool:
    return "checkpoints" in options and options["checkpoints"].resume


def _assist(card: Card, graph: Graph, settings: Any, seed: int, device: str, team: Alone, **options: Any) -> None:
    """Take part in a training whose run folder is another process's."""
    from nodewise.cli.labels import unlabelled

    if not team.largest(0):  # the other one knows whether the run is finished already
        card.load()(settings=settings, seed=seed, device=device).fit(unlabelled(graph), team=team, **options)


def _is_finished(run: RunFolder, card: Card, settings: Any, seed: int, graph: Graph) -> bool:
    """Return whether the run there is the one asked for; another one is not to be replaced by resuming."""
    from nodewise.training.identity import difference, identity

    if not run.config.is_file() or not run.embeddings.is_file():
        return False
    about = run.read_environment()
    earlier = {name: about.get(name) for name in ("method", "seed")} | {"graph": about.get("graph", {}).get("sha256")}
    if earlier["method"] == card.name:  # another method's settings are of another kind
        earlier = identity(card.name, run.read_config(type(settings)), seed, graph) | earlier
    if changed := difference(earlier, identity(card.name, settings, seed, graph)):
        raise InputError(f"{run.path}: the finished run there has {changed}; to replace it, leave out --resume")
    return True


def train(
    card: Card,
    graph: Graph,
    run: RunFolder,
    *,
    source: GraphSource,
    settings: Any,
    seed: int,
    device: str,
    quiet: bool,
    **options: Any,
) -> None:
    """Train a method on a graph without its labels and leave everything in the run folder.

    `options` are further arguments of the method's `fit`.
    """
    from nodewise.cli.labels import unlabelled, write_labels
    from nodewise.core.progress import for_terminal
    from nodewise.graph.fingerprint import fingerprint

    if "checkpoints" in options:  # the methods without them train on the whole graph, or not at all
        _say_if_few_are_visited(graph.num_nodes, settings.training, quiet)
    run.clear(keep_checkpoints="checkpoints" in options)
    model = card.load()(settings=settings, seed=seed, device=device)
    model.fit(unlabelled(graph), run=run, progress=for_terminal(quiet), **options)
    _say_if_few_had_negatives(run, quiet)
    model.write(run)
    nodes, dimensions = model.embeddings_.vectors.shape
    run.write_environment(
        method=card.name,
        seed=seed,
        graph={
            "name": graph.name,
            "nodes": graph.num_nodes,
            "edges": graph.num_edges,
            "features": graph.num_features,
            "sha256": fingerprint(graph),
            "feature_names": source.feature_names(),
            "source": source.record(),
        },
        embeddings={"nodes": nodes, "dimensions": dimensions},
    )
    if graph.labels is not None:
        write_labels(graph, run.labels)


def _say_if_few_are_visited(nodes: int, training: Any, quiet: bool) -> None:
    """Tell that training ends before it has seen most nodes, which on a large graph is often enough."""
    visits, batch = training.steps * training.batch_size, training.batch_size
    if visits < nodes / 2:
        whole = f"--set training.steps={-(-nodes // batch)} is one pass over all"
        say(f"{training.steps} steps of {batch} nodes visit {visits / nodes:.1%} of the nodes; {whole}", quiet)


def _say_if_few_had_negatives(run: RunFolder, quiet: bool) -> None:
    """Tell that training had next to nothing to learn from, which neither the loss nor the vectors show."""
    empty = [record["empty"] for record in run.read_metrics() if record.get("empty") is not None]
    if empty and (share := sum(empty) / len(empty)) > 0.95:
        say(f"{share:.0%} of the queries had no negatives, so training learnt next to nothing; see sampling.*", quiet)


def summarise(run: RunFolder) -> dict[str, Any]:
    """Return where the vectors of a run are and how many there are."""
    return {"run": str(run.path), "embeddings": str(run.embeddings), **run.read_environment()["embeddings"]}
