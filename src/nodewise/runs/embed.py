"""Train a method on a graph and leave a run: staged, resumable, by one process or several."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nodewise.core.errors import InputError
from nodewise.core.folder import RunFolder
from nodewise.core.progress import duration, for_terminal
from nodewise.core.registry import name_in_files
from nodewise.core.staging import staged_run
from nodewise.core.terminal import say
from nodewise.core.tracking import Board
from nodewise.graph.fingerprint import fingerprint
from nodewise.graph.graph import Graph
from nodewise.methods.estimator import Embedder
from nodewise.runs.held_out import hold_out_edges, write_held_out
from nodewise.runs.labels import unlabeled
from nodewise.runs.run import Run, refuse_another_run, write_run
from nodewise.runs.source import GraphSource, load_graph
from nodewise.training.checkpoint import CheckpointPlan, difference, identity
from nodewise.training.estimate import estimate
from nodewise.training.team import Alone, joined, restarted

_SMALL = 1000
"""Nodes of a graph whose steps are too short to be shared out."""
_LONG = 60.0  # seconds that are told beforehand


@dataclass(frozen=True)
class EmbedPlan:
    """How a training is watched over.

    Attributes:
        resume: resume where an interrupted run stopped.
        checkpoint_every: seconds between checkpoints.
        check_memory: refuse beforehand what will not fit.
        threads: CPU threads that were asked for; None to choose by the size of the graph.
        hold_out_edges: share of the edges that training does not see, kept in the run to be predicted.
        quiet: no progress and no notes on stderr.
        board: where else records go.
        overwrite: replace a finished run, whatever it is of.
    """

    resume: bool = False
    checkpoint_every: float = 30.0
    check_memory: bool = True
    quiet: bool = True
    hold_out_edges: float | None = None
    threads: int | None = None
    board: Board | None = None
    overwrite: bool = False


def embed(model: Embedder, source: GraphSource, output: str | Path, plan: EmbedPlan | None = None) -> Run | None:
    """Train a method on a graph and leave the run in a folder; None in processes that only assist."""
    plan, output = plan or EmbedPlan(), Path(output)
    with joined(model.device) as (team, model.device):
        quiet = plan.quiet or team.rank > 0
        options = _options(model, plan, quiet, team)
        if team.rank > 0:
            graph, _, _ = _load(source, plan, model.seed, quiet=True)
            if not team.largest(0):  # the first process knows whether the run is finished already
                model.fit(unlabeled(graph), **options)
            return None
        with staged_run(output) as folder:
            graph, held_out, whole = _load(source, plan, model.seed, plan.quiet)
            if not (plan.overwrite or plan.resume):
                refuse_another_run(RunFolder(output), model, graph, whole, "--overwrite")
            if plan.resume:
                _refuse_to_lose(output, folder, model)
            finished = plan.resume and not folder.checkpoints() and _is_finished(RunFolder(output), model, graph, whole)
            if team.largest(int(finished)):
                say(f"{output} is finished already", quiet)
            else:
                _say_what_is_replaced(output, folder, options["checkpoints"], quiet)
                with _few_threads(graph, plan):
                    train(model, graph, folder, source, whole, quiet=quiet, **options)
                if held_out is not None:
                    write_held_out(folder, graph.ids, held_out)
    return Run(output)


@contextmanager
def _few_threads(graph: Graph, plan: EmbedPlan) -> Iterator[None]:
    """Train a small graph on one thread: several would only wait for each other, longest on a busy machine."""
    before = torch.get_num_threads()
    if plan.threads is None and graph.num_nodes <= _SMALL:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _load(source: GraphSource, plan: EmbedPlan, seed: int, quiet: bool) -> tuple[Graph, np.ndarray | None, str | None]:
    """Return the graph that training sees, the edges that it does not, and the fingerprint of both together."""
    graph = load_graph(source, quiet, verify=True)
    if plan.hold_out_edges is None:
        return graph, None, None
    return *hold_out_edges(graph, plan.hold_out_edges, seed), fingerprint(graph)


def train(
    model: Embedder,
    graph: Graph,
    folder: RunFolder,
    source: GraphSource,
    whole: str | None,
    *,
    quiet: bool,
    **options: Any,
) -> None:
    """Train a method on a graph without its labels and leave everything in the folder of a run.

    `whole` is that of `write_run`; `options` are further arguments of the method's `fit`.
    """
    if model.resumable:  # the other methods train on the whole graph, or not at all
        _say_if_few_are_visited(graph.num_nodes, model.settings.training, quiet)
        _say_if_it_takes_long(graph, model, quiet)
    for doubt in model.doubts_about(graph):
        say(doubt, quiet)
    if source.features is not None and "X" not in model.uses:
        say(f"{model.name} learns from the edges alone: the features are not used", quiet)
    folder.clear(keep_checkpoints=model.resumable and options.get("checkpoints") is not None)
    model.fit(unlabeled(graph), run=folder, progress=for_terminal(quiet), **options)
    for doubt in model.doubts():
        say(f"warning: {doubt}", quiet)
    write_run(folder, model, graph, source, whole)


def _options(model: Embedder, plan: EmbedPlan, quiet: bool, team: Alone) -> dict[str, Any]:
    checkpoints = None
    if model.resumable:
        resume = plan.resume or restarted()
        checkpoints = CheckpointPlan(plan.checkpoint_every, resume, lambda message: say(message, quiet))
    elif plan.resume:
        say(f"{model.name} saves no checkpoints: starting at the beginning", quiet)
    callbacks = [plan.board.run()] if plan.board is not None and team.rank == 0 else []
    return {"checkpoints": checkpoints, "check_memory": plan.check_memory, "team": team, "callbacks": callbacks}


def _refuse_to_lose(output: Path, folder: RunFolder, model: Embedder) -> None:
    """Refuse to resume by a method that cannot what another had begun, which would be thrown away."""
    if folder.checkpoints() and not model.resumable:
        raise InputError(
            f"{output}: the interrupted run there is of another method, which {model.name} cannot resume; "
            "to replace it, leave out --resume",
            code="other-settings",
        )


def _say_what_is_replaced(output: Path, folder: RunFolder, checkpoints: CheckpointPlan | None, quiet: bool) -> None:
    if folder.checkpoints() and not (checkpoints is not None and checkpoints.resume):
        say(f"{output}: replacing the interrupted run there; --resume would have resumed it", quiet)
    elif RunFolder(output).environment.exists():
        say(f"{output}: replacing the run there", quiet)


def _is_finished(run: RunFolder, model: Embedder, graph: Graph, whole: str | None) -> bool:
    """Return whether the run there is the one asked for; another one is not to be replaced by resuming."""
    if not run.config.is_file() or not run.embeddings.is_file():
        return False
    # Leaving out --resume would not replace a run of another graph or method either.
    refuse_another_run(run, model, graph, whole, "--overwrite instead of --resume")
    about, name = run.read_environment(), name_in_files(type(model))
    earlier = {key: about.get(key) for key in ("method", "seed")} | {"graph": about.get("graph", {}).get("sha256")}
    if earlier["method"] == name:  # another method's settings are of another kind
        earlier = identity(name, run.read_config(model.settings_class), model.seed, graph) | earlier
    if changed := difference(earlier, identity(name, model.settings, model.seed, graph)):
        raise InputError(
            f"{run.path}: the finished run there has {changed}; to replace it, leave out --resume",
            code="other-settings",
        )
    run.refuse_changed()
    return True


def _say_if_it_takes_long(graph: Graph, model: Embedder, quiet: bool) -> None:
    """Tell what a training will take at most, where that is worth waiting for with something else."""
    needs = estimate(graph, model.settings, threads=torch.get_num_threads())
    if needs.seconds > _LONG and model.device != "cuda":
        say(f"this takes up to {duration(needs.seconds)} and {needs.bytes / 1e9:.1f} GB of memory on a CPU", quiet)


def _say_if_few_are_visited(nodes: int, training: Any, quiet: bool) -> None:
    """Tell that training ends before it has seen most nodes, which on a large graph is often enough."""
    visits, batch = training.steps * training.batch_size, training.batch_size
    if visits < nodes / 2:
        whole = f"--set training.steps={-(-nodes // batch)} is one pass over all"
        say(f"{training.steps} steps of {batch} nodes visit {visits / nodes:.1%} of the nodes; {whole}", quiet)
