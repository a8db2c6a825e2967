"""`nodewise tune`: search for the settings that suit a graph, never reading a test label."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nodewise.cli import common as cli
from nodewise.cli.groups import grouped
from nodewise.core.errors import InputError, did_you_mean
from nodewise.core.progress import for_terminal
from nodewise.core.terminal import say
from nodewise.runs.source import GraphSource, load_graph
from nodewise.tune.folder import CHOSEN_BY, claimed, write_best

if TYPE_CHECKING:
    from nodewise.graph.graph import Graph

Output = Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder of the search; may be resumed.")]
Trials = Annotated[int, typer.Option("--trials", min=1, metavar="N", help="Settings to try, of each variant.")]
RunsOption = Annotated[int, typer.Option("--runs", min=1, metavar="R", help="Encoder seeds of each trial.")]
ObjectiveName = Annotated[
    str,
    typer.Option(
        "--objective",
        metavar="NAME",
        help="validation (accuracy), crossval (training sets drawn again), or links, which reads no labels.",
    ),
]
SplitOption = Annotated[
    str, typer.Option("--split", metavar="SPLIT", help="Split of one's own labels, such as random:20x500x1000.")
]
Variants = Annotated[
    str, typer.Option("--variants", metavar="NAMES", help="full (the method), plain (its loss alone), or both.")
]
SpaceName = Annotated[
    str, typer.Option("--space", metavar="NAME", help="wide, or narrow: what did well on citation graphs.")
]
Workers = Annotated[int, typer.Option("--workers", min=1, metavar="W", help="Processes side by side.")]
Minutes = Annotated[float | None, typer.Option("--minutes", min=0, metavar="M", help="Begin no trial after this time.")]
SearchSeed = Annotated[
    int, typer.Option("--seed", min=0, max=cli.MOST_SEED, metavar="S", help="Another seed tries other settings.")
]

# The last part of the time is kept for the second look at the best trials, without which nothing is chosen.
_SEARCH_SHARE = 0.75


def register(app: typer.Typer) -> None:
    """Add the command."""
    tries = cli.examples(
        "tune citeseer -o tuned --trials 50",
        "tune edges.csv --features nodes.csv -o tuned --objective links --minutes 30",
        "embed citeseer --config tuned/best-full.toml -o runs/best",
    )
    app.command(epilog=tries)(grouped(tune))


def tune(
    graph: cli.GraphName,
    output: Output,
    features: cli.Features = None,
    labels: cli.Labels = None,
    trials: Trials = 30,
    runs: RunsOption = 2,
    objective: ObjectiveName = "validation",
    split: SplitOption = "public",
    variants: Variants = "full,plain",
    space: SpaceName = "wide",
    workers: Workers = 1,
    minutes: Minutes = None,
    seed: SearchSeed = 0,
    device: cli.Device = "auto",
    threads: cli.Threads = None,
    edges: cli.EdgeColumns = cli.EDGES,
    tables: cli.TableColumns = cli.TABLES,
    data_dir: cli.DataDir = None,
    json: cli.Json = False,
    quiet: cli.Quiet = False,
) -> None:
    """Search for settings that suit a graph.

    What is best is judged by validation accuracy, by training sets drawn again among training and validation nodes, or
    without any label; test labels are removed first. Random settings are tried, the best run again with new seeds, and
    the best of those written to best-full.toml and best-plain.toml. The same command continues a search that was cut
    off; more --trials extend it.
    """
    if objective not in CHOSEN_BY:
        raise InputError(f"unknown objective {objective!r}{did_you_mean(objective, CHOSEN_BY)}")
    chosen = _known(variants, space)
    cli.use_threads(threads)
    began = time.time()
    data = load_graph(GraphSource(graph, features, labels, data_dir, edges, tables), quiet)
    data = _visible(data, objective, split, seed)

    from nodewise.core.parallel import run_shares
    from nodewise.training.device import choose_device
    from nodewise.tune.search import confirm, search
    from nodewise.tune.space import SPACES

    identity = {
        "graph": data.name,
        "nodes": data.num_nodes,
        "edges": data.num_edges,
        "objective": objective,
        "split": split if objective != "links" else None,
        "runs": runs,
        "space": space,
        "seed": seed,
    }
    common: dict[str, Any] = {"objective": objective, "variants": chosen, "device": choose_device(device)}
    limit = math.inf if minutes is None else 60 * minutes
    stages = (
        partial(
            search,
            data,
            output,
            trials=trials,
            space=SPACES[space],
            runs=runs,
            search_seed=seed,
            until=began + _SEARCH_SHARE * limit,
        ),
        partial(confirm, data, output, until=began + limit),
    )
    with claimed(output, identity):
        for stage in stages:
            run_shares(partial(stage, **common), workers, for_terminal(quiet))
        best = {variant: write_best(output, variant, data.name, objective) for variant in chosen}
    for variant in chosen:
        if best[variant] is None:
            say(f"no {variant} trial was confirmed in time; the same command resumes from here", quiet)
    found = {variant: outcome for variant, outcome in best.items() if outcome is not None}
    if json:
        cli.print_json({"folder": str(output), "objective": objective, "best": found})
    elif found:
        rows = [(name, f"{100 * each['score']:.2f}", str(each["trials"]), each["file"]) for name, each in found.items()]
        cli.print_table(f"{data.name}, by {CHOSEN_BY[objective]}", ("variant", "%", "trials", "settings"), rows)


def _known(variants: str, space: str) -> tuple[str, ...]:
    """Return the variants asked for, having looked whether these and the space exist."""
    from nodewise.tune.space import SPACES, VARIANTS

    if space not in SPACES:
        raise InputError(f"unknown space {space!r}{did_you_mean(space, SPACES)}")
    names = tuple(dict.fromkeys(name.strip() for name in variants.split(",")))
    for name in names:
        if name not in VARIANTS:
            raise InputError(f"--variants: unknown variant {name!r}{did_you_mean(name, VARIANTS)}")
    return names


def _visible(graph: Graph, objective: str, split: str, seed: int) -> Graph:
    """Return the graph with the labels that the search may read: none at all, or none of test nodes."""
    from nodewise.evaluation.inputs import check_labels, check_split
    from nodewise.graph.splits import choose_split, parse_split
    from nodewise.runs.labels import unlabelled
    from nodewise.tune.search import without_test_labels

    if objective == "links":
        return unlabelled(graph)
    if graph.labels is None:
        raise InputError(
            f"{graph.name} has no labels; give them with --labels, or search with --objective links", code="no-labels"
        )
    drawn = parse_split(split)
    if drawn is None and graph.split is None:
        raise InputError(
            f"{graph.name}: the labels came without a split; draw one with --split random:20x500x1000, or search with "
            "--objective links",
            code="no-split",
        )
    visible = without_test_labels(replace(graph, split=choose_split(graph, drawn, seed)))
    assert visible.split is not None
    assert visible.labels is not None
    check_split(visible.split, check_labels(visible.labels)[0])  # told now rather than after the first training
    return visible
