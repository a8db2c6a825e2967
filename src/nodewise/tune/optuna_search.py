"""The same search by Optuna: trials learn from those before (TPE), and what falls behind is ended early (pruning).

The study is a file of the search's folder that several processes may share and Optuna's own tools can read; trials are
also lines of `trials-*.jsonl` as everywhere, so what follows, the second look at the best, is the same.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from nodewise.core.errors import InputError
from nodewise.core.parallel import Turns
from nodewise.core.progress import Progress, SilentProgress
from nodewise.core.tracking import Board
from nodewise.graph.graph import Graph
from nodewise.tune.folder import append_trial
from nodewise.tune.search import FIRST_TUNING_SEED, Hopeless, Objective, log_trial, trial_line, without_test_labels
from nodewise.tune.space import VARIANTS, WIDE, Space

if TYPE_CHECKING:
    from optuna.study import Study
    from optuna.trial import Trial

JOURNAL = "optuna.journal"
_LOOKED_AT_FIRST = 5  # trials that are never ended early: there is nothing to compare them with


def studies(folder: Path, variants: Sequence[str], seed: int = 0, worker: int = 0) -> dict[str, Study]:
    """Open the study of every variant, making those that are not there."""
    try:
        import optuna
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend
    except ImportError:
        raise InputError(
            "--search optuna needs the package optuna, which is not installed: pip install 'nodewise[optuna]'",
            code="missing-package",
        ) from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    folder.mkdir(parents=True, exist_ok=True)
    storage = JournalStorage(JournalFileBackend(str(folder / JOURNAL)))
    found = {}
    for place, variant in enumerate(variants):
        # Processes that drew from one generator would all try the same first.
        sampler = optuna.samplers.TPESampler(seed=seed + 1009 * worker + place, constant_liar=True)
        pruner = optuna.pruners.MedianPruner(n_startup_trials=_LOOKED_AT_FIRST, n_warmup_steps=0)
        found[variant] = optuna.create_study(
            study_name=variant,
            storage=storage,
            sampler=sampler,
            pruner=pruner,
            direction="maximize",
            load_if_exists=True,
        )
    return found


def forget_unfinished(folder: Path, variants: Sequence[str]) -> None:
    """Give up the trials of processes that were killed, so that nobody waits for or learns from them."""
    from optuna.trial import TrialState

    for study in studies(folder, variants).values():
        for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
            study.tell(trial.number, state=TrialState.FAIL)


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
    board: Board | None = None,
) -> None:
    """Run as many trials as the studies in `folder` lack, the variants in turn; as `nodewise.tune.search.search`."""
    if objective != "links":
        graph = without_test_labels(graph)
    turns = turns or Turns()
    opened = studies(folder, variants, search_seed, turns.worker)
    jobs = [variant for number in range(trials) for variant in variants if number >= _finished(opened[variant])]
    seeds = [FIRST_TUNING_SEED + run for run in range(runs)]
    with (progress or SilentProgress()).stage("trials", len(jobs)) as bar:
        for turn in turns:
            if turn >= len(jobs) or time.time() > until:
                return
            variant = jobs[turn]
            trial = opened[variant].ask()
            settings = space.chosen(variant, _chooser(trial))
            line: dict[str, Any] = {"variant": variant, "trial": trial.number}
            line |= trial_line(graph, settings, seeds, device, objective, _Watcher(trial))
            append_trial(folder, "trials", turns.worker, line)
            _tell(opened[variant], trial, line["outcomes"], space.steps)
            if board is not None:
                log_trial(board, f"trials/{variant}-{trial.number:04d}", line)
            bar.advance()


def _finished(study: Study) -> int:
    from optuna.trial import TrialState

    return len(study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.PRUNED)))


def _chooser(trial: Trial) -> Any:
    def choose(name: str, values: Sequence[Any]) -> Any:
        # As texts, for values may be lists. One listed twice is one here: Optuna learns what does well.
        texts = tuple(dict.fromkeys(json.dumps(value) for value in values))
        return json.loads(trial.suggest_categorical(f"{name}: {', '.join(texts)}", texts))  # encoders may list others

    return choose


class _Watcher:
    """Reports every look to Optuna and ends what it thinks little of."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial

    def __call__(self, step: int, score: float) -> None:
        self._trial.report(score, step)
        if self._trial.should_prune():
            raise Hopeless


def _tell(study: Study, trial: Trial, outcomes: list[dict[str, Any]], steps: int) -> None:
    from optuna.trial import TrialState

    if not outcomes:  # it diverged
        study.tell(trial, state=TrialState.FAIL)
    elif max(outcome["training.steps"] for outcome in outcomes) < steps:
        study.tell(trial, state=TrialState.PRUNED)
    else:
        study.tell(trial, max(float(np.mean(outcome["scores"])) for outcome in outcomes))
