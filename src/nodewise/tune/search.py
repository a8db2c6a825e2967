"""Search for settings, reading the labels of training and validation nodes at most.

Test labels are removed before anything else happens, so nothing that follows can depend on them. Tuning seeds
(1000 and up) are disjoint from the seeds that results are reported for (0 and up). Every trial is logged
(`tuning_log`); a search that was cut off resumes with the trials that are missing.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, Required, TypedDict, Unpack

import numpy as np
import torch

from nodewise.core import config
from nodewise.core.errors import InputError, NodewiseError
from nodewise.core.parallel import Turns
from nodewise.core.progress import Progress, SilentProgress
from nodewise.core.tracking import Board
from nodewise.evaluation.links import link_prediction
from nodewise.evaluation.probe import linear_probe
from nodewise.graph.fingerprint import fingerprint
from nodewise.graph.graph import Graph
from nodewise.graph.splits import redrawn_splits
from nodewise.methods.embedding import embed_nodes
from nodewise.methods.settings import Settings
from nodewise.training.loop import Callbacks, prepare, train
from nodewise.training.step import Learner
from nodewise.tune.folder import append_trial, read_trials
from nodewise.tune.space import EMBEDDINGS, LOOKS, VARIANTS, WIDE, Space

Objective = Literal["validation", "crossval", "links"]

FIRST_TUNING_SEED = 1000

REDRAWN = 5
"""Training sets that `crossval` draws."""


def without_test_labels(graph: Graph) -> Graph:
    """Return the graph with labels of training and validation nodes only.

    The probe wants a label for every test node: they all get the first class, so that their score says nothing.
    """
    if graph.labels is None or graph.split is None:
        raise InputError(
            f"{graph.name}: a search by validation accuracy needs labels and a split; try --objective links"
        )
    known = np.concatenate([graph.split.train, graph.split.val])
    labels = np.full_like(graph.labels, -1)
    labels[known] = graph.labels[known]
    labels[graph.split.test] = 0
    return replace(graph, labels=labels)


def content_of_graph(graph: Graph) -> str:
    """Return a number for all that a search depends on: edges, features, ids, the labels it may read and the split."""
    parts = () if graph.split is None else tuple(vars(graph.split).values())
    digest = hashlib.sha256(fingerprint(graph).encode())
    for array in (graph.labels, *parts):
        digest.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


class Hopeless(Exception):
    """A trial that whoever watches it does not want to see to its end."""


Watcher = Callable[[int, float], None]
"""Told at every look the step and the best score there; raises `Hopeless` to end the trial."""


def run_trial(
    graph: Graph,
    settings: Settings,
    seeds: list[int],
    device: torch.device,
    objective: Objective,
    watch: Watcher = lambda step, score: None,
) -> list[dict[str, Any]]:
    """Train the seeds at once and score every look and every way to embed: higher is better."""
    outcomes = []

    def look(step: int, learner: Learner) -> None:
        if step not in LOOKS:
            return
        stacks = []
        for propagation, length in EMBEDDINGS:
            chosen = replace(settings, embedding=replace(settings.embedding, propagation=propagation, length=length))
            stacks.append(embed_nodes(learner.encoder, learner.features, learner.topology, chosen, learner.seeds))
        scores = _scores(torch.cat(stacks), graph, seeds * len(stacks), objective, device)
        for (propagation, length), values in zip(EMBEDDINGS, scores.reshape(len(stacks), -1), strict=True):
            outcomes.append(
                {
                    "training.steps": step,
                    "embedding.propagation": propagation,
                    "embedding.length": "none" if length is None else length,
                    "scores": [round(float(value), 4) for value in values],
                }
            )
        watch(step, float(scores.reshape(len(stacks), -1).mean(-1).max()))

    with suppress(Hopeless):
        train(prepare(graph, settings, seeds, device), Callbacks(look=look))
    return outcomes


def _scores(
    vectors: torch.Tensor, graph: Graph, seeds: list[int], objective: Objective, device: torch.device
) -> np.ndarray:
    if objective == "links":
        return np.array([link_prediction(one.cpu().numpy(), graph, seed=0).auc for one in vectors])
    assert graph.labels is not None
    assert graph.split is not None
    splits = [graph.split]
    if objective == "crossval":
        splits = redrawn_splits(graph.split, graph.labels, REDRAWN)
    found = linear_probe(
        [one for one in vectors for _ in splits],
        graph.labels,
        splits * len(vectors),
        "mvgrl",
        dataset=graph.name,
        seed=[seed for seed in seeds for _ in splits],
        device=device,
    )
    return np.asarray(found.val_accuracy[:, 0, 0].reshape(len(vectors), -1).mean(-1))


def time_one(graph: Graph, device: torch.device, objective: Objective) -> tuple[float, float]:
    """Return the seconds of one training with the defaults, embedding included, and those of scoring one look at it."""
    began, settings = time.perf_counter(), Settings()
    learner = prepare(graph, settings, [FIRST_TUNING_SEED], device)
    train(learner)
    vectors = embed_nodes(learner.encoder, learner.features, learner.topology, settings, learner.seeds)
    trained = time.perf_counter()
    _scores(vectors.repeat(len(EMBEDDINGS), 1, 1), graph, [FIRST_TUNING_SEED] * len(EMBEDDINGS), objective, device)
    return trained - began, time.perf_counter() - trained


USUAL_TRAININGS, MOST_TRIALS = 20, 30
"""Unless trials or minutes are given, a search takes about as long as so many trainings, and has so many trials."""

_SEARCH_SHARE = 0.7  # of the time; the rest is kept for the second look at the best, without which nothing is chosen


@dataclass(frozen=True)
class Budget:
    """How much is tried, and for how long.

    Attributes:
        trials: settings to try, of each variant.
        top: how many of the best are run again.
        runs: with so many new seeds.
        search_seconds: no trial begins after this time.
        seconds: nothing begins after this time.
        expected: about how long all of it takes.
    """

    trials: int
    top: int
    runs: int
    search_seconds: float
    seconds: float
    expected: float


def plan_budget(
    one: float,
    look: float,
    space: Space,
    trials: int | None,
    minutes: float | None,
    variants: int,
    runs: int,
    workers: int,
) -> Budget:
    """Return the budget of a search where one training takes `one` second, and scoring a look at it `look`."""
    usual = minutes is None and trials is None
    limit = USUAL_TRAININGS * one if usual else math.inf if minutes is None else 60 * minutes
    number, top, again = trials or MOST_TRIALS, 2 if usual else 3, 2 if usual else 4 * runs
    each = one * space.steps / Settings().training.steps + look * sum(step <= space.steps for step in LOOKS)
    seconds = variants * (number * runs + top * again) * each / workers
    # What the usual search found is confirmed in any case.
    ends = math.inf if usual else limit
    return Budget(number, top, again, _SEARCH_SHARE * limit, ends, min(seconds, limit))


class Trial(NamedTuple):
    """Settings to try, who watches, and who is told what came of them."""

    variant: str
    number: int
    settings: Settings
    watch: Watcher = lambda step, score: None
    tell: Callable[[list[dict[str, Any]]], None] = lambda outcomes: None


class Stage(TypedDict, total=False):
    """What both stages of a search take.

    `turns` shares the trials out among processes side by side, each with a file of its own; `until` is the clock time
    after which no trial begins.
    """

    objective: Objective
    device: Required[torch.device]
    turns: Turns
    until: float
    progress: Progress
    board: Board | None


def search(
    graph: Graph,
    folder: Path,
    *,
    trials: int,
    space: Space = WIDE,
    runs: int = 2,
    search_seed: int = 0,
    variants: Sequence[str] = VARIANTS,
    by: str = "random",
    **stage: Unpack[Stage],
) -> None:
    """Run the trials that `folder` lacks, the variants in turn, and append each to `trials-*.jsonl`.

    They are drawn at random, or asked of Optuna (`by="optuna"`).
    """
    turns = stage.setdefault("turns", Turns())
    if by == "optuna":
        from nodewise.tune.optuna_search import asked

        jobs: list[Callable[[], Trial] | None] = [*asked(folder, space, trials, variants, search_seed, turns.worker)]
    else:
        wanted = [(variant, number) for number in range(trials) for variant in variants]
        drawn = {each: space.draw(*each, search_seed) for each in wanted}
        jobs = _unfinished(folder, "trials", drawn)
    _run_jobs(graph, folder, "trials", jobs, [FIRST_TUNING_SEED + run for run in range(runs)], **stage)


def confirm(
    graph: Graph,
    folder: Path,
    *,
    top: int = 5,
    runs: int = 8,
    variants: Sequence[str] = VARIANTS,
    **stage: Unpack[Stage],
) -> None:
    """Run each variant's best trials again with new tuning seeds, into `confirmed-*.jsonl`.

    The best of many noisy scores is partly luck; the choice is made among these.
    """
    ranked = []
    for place, variant in enumerate(variants):
        lines = [line for line in read_trials(folder, "trials") if line["variant"] == variant and line["outcomes"]]
        lines.sort(key=lambda line: (-max(np.mean(o["scores"]) for o in line["outcomes"]), line["trial"]))
        ranked += [(rank, place, line) for rank, line in enumerate(lines[:top])]
    # The best of every variant come first, so that none is left out where time ends.
    best = {
        (line["variant"], line["trial"]): config.from_mapping(Settings, line["settings"], "the search log")
        for _, _, line in sorted(ranked, key=lambda each: each[:2])
    }
    seeds = [FIRST_TUNING_SEED + 100 + run for run in range(runs)]
    _run_jobs(graph, folder, "confirmed", _unfinished(folder, "confirmed", best), seeds, **stage)


def _unfinished(
    folder: Path, stage: str, settings: dict[tuple[str, int], Settings]
) -> list[Callable[[], Trial] | None]:
    """Return the trials with None for those that are finished.

    Every process counts through the same list: what one has finished meanwhile is not another's turn anyway.
    """
    finished = {(line["variant"], line["trial"]) for line in read_trials(folder, stage)}
    return [None if each in finished else partial(Trial, *each, settings[each]) for each in settings]


def _run_jobs(
    graph: Graph,
    folder: Path,
    name: str,
    jobs: Sequence[Callable[[], Trial] | None],
    seeds: list[int],
    *,
    objective: Objective = "validation",
    device: torch.device,
    turns: Turns | None = None,
    until: float = math.inf,
    progress: Progress | None = None,
    board: Board | None = None,
) -> None:
    if objective != "links":
        graph = without_test_labels(graph)
    turns = turns or Turns()
    with (progress or SilentProgress()).stage(name, sum(job is not None for job in jobs)) as bar:
        for turn in turns:
            if turn >= len(jobs) or time.time() > until:
                return
            if (job := jobs[turn]) is None:
                continue
            variant, number, settings, watch, tell = job()
            began = time.time()
            try:
                outcomes = run_trial(graph, settings, seeds, device, objective, watch)
            except InputError:
                raise
            except NodewiseError:  # one that diverges has no outcomes and does not end the search
                outcomes = []
            line = {
                "variant": variant,
                "trial": number,
                "graph": graph.name,
                "objective": objective,
                "seeds": seeds,
                "settings": config.to_mapping(settings),
                "outcomes": outcomes,
                "seconds": round(time.time() - began, 2),
            }
            append_trial(folder, name, turns.worker, line)
            tell(outcomes)
            if board is not None:
                _log_trial(board, f"{name}/{variant}-{number:04d}", line)
            bar.advance()


def _log_trial(board: Board, name: str, line: dict[str, Any]) -> None:
    """Log a trial: at every look, the score of the best way to embed."""
    best: dict[int, float] = {}
    for outcome in line["outcomes"]:
        step = outcome["training.steps"]
        best[step] = max(best.get(step, -math.inf), float(np.mean(outcome["scores"])))
    board.log(name, line["settings"], ({"step": step, line["objective"]: score} for step, score in best.items()))
