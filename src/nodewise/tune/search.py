"""Search for settings, reading the labels of training and validation nodes at most.

Test labels are removed before anything else happens, so nothing that follows can depend on them. Tuning seeds
(1000 and up) are disjoint from the seeds that results are reported for (0 and up). Every trial is logged
(`tuning_log`); a search that was cut off goes on with the trials that are missing.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from nodewise.core import config
from nodewise.core.errors import InputError, NodewiseError
from nodewise.core.parallel import Turns
from nodewise.core.progress import Progress, SilentProgress
from nodewise.evaluation.links import link_prediction
from nodewise.evaluation.probe import linear_probe
from nodewise.graph.graph import Graph, Split
from nodewise.methods.embedding import embed_nodes
from nodewise.methods.settings import Settings
from nodewise.training.loop import Callbacks, prepare, train
from nodewise.training.step import Learner
from nodewise.tune.folder import open_log, read_trials, write_trial
from nodewise.tune.space import EMBEDDINGS, LOOKS, VARIANTS, WIDE, Space

Objective = Literal["validation", "crossval", "links"]

FIRST_TUNING_SEED = 1000

REDRAWN = 10
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


def run_trial(
    graph: Graph, settings: Settings, seeds: list[int], device: torch.device, objective: Objective
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

    train(prepare(graph, settings, seeds, device), Callbacks(look=look))
    return outcomes


def _outcomes(
    graph: Graph, settings: Settings, seeds: list[int], device: torch.device, objective: Objective
) -> list[dict[str, Any]]:
    """Run a trial; one that diverges has no outcomes and does not end the search."""
    try:
        return run_trial(graph, settings, seeds, device, objective)
    except InputError:
        raise
    except NodewiseError:
        return []


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


def search(
    graph: Graph,
    folder: Path,
    *,
    trials: int,
    space: Space = WIDE,
    runs: int = 2,
    objective: Objective = "validation",
    search_seed: int = 0,
    variants: Sequence[str] = VARIANTS,
    device: torch.device,
    turns: Turns | None = None,
    until: float = math.inf,
    progress: Progress | None = None,
) -> None:
    """Run the trials that `folder` lacks, the variants in turn, and append each to `trials-*.jsonl`.

    `turns` shares the trials out among processes side by side, each with a file of its own; `until` is the clock time
    after which no trial begins.
    """
    jobs = {
        (variant, number): space.draw(variant, number, search_seed) for number in range(trials) for variant in variants
    }
    seeds = [FIRST_TUNING_SEED + run for run in range(runs)]
    _run_jobs(graph, folder, "trials", jobs, seeds, objective, device, turns or Turns(), until, progress)


def confirm(
    graph: Graph,
    folder: Path,
    *,
    top: int = 5,
    runs: int = 8,
    objective: Objective = "validation",
    variants: Sequence[str] = VARIANTS,
    device: torch.device,
    turns: Turns | None = None,
    until: float = math.inf,
    progress: Progress | None = None,
) -> None:
    """Run each variant's best trials again with new tuning seeds, into `confirmed-*.jsonl`.

    The best of many noisy scores is partly luck; the choice is made among these.
    """
    jobs = {}
    for variant in variants:
        lines = [line for line in read_trials(folder, "trials") if line["variant"] == variant and line["outcomes"]]
        lines.sort(key=lambda line: (-max(np.mean(o["scores"]) for o in line["outcomes"]), line["trial"]))
        for line in lines[:top]:
            jobs[variant, line["trial"]] = config.from_mapping(Settings, line["settings"], "the search log")
    seeds = [FIRST_TUNING_SEED + 100 + run for run in range(runs)]
    _run_jobs(graph, folder, "confirmed", jobs, seeds, objective, device, turns or Turns(), until, progress)


def _run_jobs(
    graph: Graph,
    folder: Path,
    stage: str,
    jobs: dict[tuple[str, int], Settings],
    seeds: list[int],
    objective: Objective,
    device: torch.device,
    turns: Turns,
    until: float,
    progress: Progress | None,
) -> None:
    if objective != "links":
        graph = without_test_labels(graph)
    # Every process counts through the same list: what one has finished meanwhile is not another's turn anyway.
    every = list(jobs)
    finished = {(line["variant"], line["trial"]) for line in read_trials(folder, stage)}
    with (
        open_log(folder, stage, turns.worker) as file,
        (progress or SilentProgress()).stage(stage, len(set(every) - finished)) as bar,
    ):
        for turn in turns:
            if turn >= len(every) or time.time() > until:
                return
            variant, number = every[turn]
            if (variant, number) in finished:
                continue
            began, settings = time.time(), jobs[variant, number]
            line = {
                "variant": variant,
                "trial": number,
                "graph": graph.name,
                "objective": objective,
                "seeds": seeds,
                "settings": config.to_mapping(settings),
                "outcomes": _outcomes(graph, settings, seeds, device, objective),
                "seconds": round(time.time() - began, 2),
            }
            write_trial(file, line)
            bar.advance()


def redrawn_splits(split: Split, labels: np.ndarray, number: int, seed: int = 0) -> list[Split]:
    """Return `number` splits of the same training and validation nodes: functions of the seed, equal sizes."""
    pool = np.concatenate([split.train, split.val])
    wanted = np.bincount(labels[split.train], minlength=labels[pool].max() + 1)
    generator = np.random.default_rng(seed)
    drawn = []
    for _ in range(number):
        shuffled = generator.permutation(pool)
        # The place of a node among those of its class, in shuffled order.
        order = np.argsort(labels[shuffled], kind="stable")
        of_class = labels[shuffled][order]
        rank = np.arange(len(pool)) - np.searchsorted(of_class, of_class)
        chosen = shuffled[order][rank < wanted[of_class]]
        drawn.append(Split(train=np.sort(chosen), val=np.setdiff1d(pool, chosen), test=split.test))
    return drawn
