"""`nodewise tune`: search for the settings that suit a graph, never reading a test label."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from nodewise.cli import common as cli
from nodewise.core.errors import InputError, did_you_mean
from nodewise.core.interrupt import resumable
from nodewise.core.progress import for_terminal
from nodewise.core.terminal import say
from nodewise.runs.source import load_graph
from nodewise.tune.folder import CHOSEN_BY, CONTENT, begun_before, claimed, write_best

if TYPE_CHECKING:
    from nodewise.graph.graph import Graph


@dataclass(frozen=True)
class Search:
    """What to search, and by what to judge."""

    panel = "Search"

    trials: Annotated[
        int | None,
        cli.option("How many settings to try; if not given, as many as the time of 20 trainings allows.", "N", min=1),
    ] = None
    runs: Annotated[int, cli.option("Encoder seeds of each trial.", "R", min=1)] = 1
    objective: Annotated[
        str,
        cli.option(
            "What is best: validation (accuracy), crossval (accuracy over several training sets), or links "
            "(hidden edges that are found again; reads no labels).",
            "NAME",
        ),
    ] = "validation"
    split: Annotated[
        str | None, cli.option("How labels are split, such as random:20x500x1000; public if not given.", "SPLIT")
    ] = None
    variants: Annotated[str, cli.option("full (the method), plain (its loss alone), or both.", "NAMES")] = "full"
    space: Annotated[
        str, cli.option("quick: the usual encoder, 80 steps; narrow: 320 steps; wide: others too.", "NAME")
    ] = "quick"
    minutes: Annotated[float | None, cli.option("Begin no trial after this time.", "M", min=0)] = None
    search: Annotated[
        str, cli.option("random, or optuna: later trials learn from earlier ones, and poor ones end early.", "NAME")
    ] = "random"
    seed: Annotated[int, cli.seed_option("Another seed tries other settings.", "Search")] = 0


Workers = Annotated[int, cli.option("Processes side by side.", "W", min=1, panel=cli.SPEED)]


@cli.command(
    "tune citeseer -o tuned",
    "tune citeseer -o tuned --space narrow --runs 2 --variants full,plain --minutes 60",
    "tune edges.csv --features nodes.csv -o tuned --objective links --minutes 30",
    "embed citeseer --config tuned/best-full.toml -o runs/best",
)
def tune(
    *,
    graph: cli.GraphName,
    output: cli.FolderOutput,
    shown: cli.Shown,
    logged: cli.Logged,
    files: cli.LabeledFiles,
    plan: Search,
    workers: Workers = 1,
    speed: cli.Speed,
    limits: cli.Limits,
) -> None:
    """Search for settings that suit a graph.

    What is best is judged by validation accuracy, by training sets drawn again among training and validation nodes, or
    without any label; test labels are removed first. Random settings are tried, the best run again with new seeds, and
    the best of those written to best-full.toml (best-plain.toml). It takes about as long as 20 trainings, unless
    --trials or --minutes say otherwise. The same command continues a search that was cut off; more --trials extend it.
    """
    objective, seed, quiet = plan.objective, plan.seed, shown.quiet
    if objective not in CHOSEN_BY:
        raise InputError(f"unknown objective {objective!r}{did_you_mean(objective, CHOSEN_BY)}")
    if plan.search not in ("random", "optuna"):
        raise InputError(f"unknown search {plan.search!r}{did_you_mean(plan.search, ('random', 'optuna'))}")
    if objective == "links" and plan.split is not None:
        raise InputError("--split is of labels, which --objective links does not read; leave it out", code="usage")
    split = plan.split or "public"
    chosen = _known(plan.variants, plan.space)
    cli.use_threads(speed.threads)
    began = time.time()
    data = load_graph(files.source(graph), quiet)
    data = _visible(data, objective, split, seed)

    from nodewise.core.parallel import run_shares
    from nodewise.training.device import choose_device
    from nodewise.tune.optuna_search import forget_unfinished, require_optuna
    from nodewise.tune.search import confirm, content_of_graph, plan_budget, search, time_one
    from nodewise.tune.space import SPACES

    if plan.search == "optuna":
        require_optuna()
    identity = {
        "graph": data.name,
        "nodes": data.num_nodes,
        "edges": data.num_edges,
        CONTENT: content_of_graph(data),
        "objective": objective,
        "split": split if objective != "links" else None,
        "runs": plan.runs,
        "space": plan.space,
        "seed": seed,
        "search": None if plan.search == "random" else plan.search,
    }
    begun_before(output, identity)  # told now rather than after the time was estimated
    common: dict[str, Any] = {"objective": objective, "variants": chosen, "device": choose_device(speed.device)}
    common["board"] = logged.board(output)
    space = SPACES[plan.space]
    one, look = time_one(data, common["device"], common["objective"])
    budget = plan_budget(one, look, space, plan.trials, plan.minutes, len(chosen), plan.runs, workers)
    say(
        f"one training takes {one:.0f} s here, the search about {max(budget.expected / 60, 0.1):.1f} minutes; "
        "--minutes and --trials change it",
        quiet,
    )
    stages = (
        partial(
            search,
            data,
            output,
            trials=budget.trials,
            space=space,
            runs=plan.runs,
            search_seed=seed,
            by=plan.search,
            until=began + budget.search_seconds,
        ),
        partial(confirm, data, output, top=budget.top, runs=budget.runs, until=began + budget.seconds),
    )
    with claimed(output, identity), resumable(output):
        if plan.search == "optuna":
            forget_unfinished(output, chosen)
        for stage in stages:
            run_shares(partial(stage, **common), workers, for_terminal(quiet))
        best = {variant: write_best(output, variant, data.name, objective) for variant in chosen}
    for variant in chosen:
        if best[variant] is None:
            say(f"no {variant} trial was confirmed in time; the same command resumes from here", quiet)
    found = {variant: outcome for variant, outcome in best.items() if outcome is not None}
    if shown.json:
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
    from nodewise.runs.labels import KnownLabels, unlabeled
    from nodewise.tune.search import without_test_labels

    if objective == "links":
        return unlabeled(graph)
    if graph.labels is None:
        raise InputError(
            f"{graph.name} has no labels; give them with --labels, or search with --objective links", code="no-labels"
        )
    KnownLabels.of(graph).require_classes("search with --objective links")
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
