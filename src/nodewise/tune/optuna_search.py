"""The same search by Optuna: trials learn from those before (TPE), and what falls behind is ended early (pruning).

The study is a file of the search's folder that several processes may share and Optuna's own tools can read; trials are
also lines of `trials-*.jsonl` as everywhere, so what follows, the second look at the best, is the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nodewise.core.errors import InputError
from nodewise.tune.search import Hopeless, Trial
from nodewise.tune.space import Space

if TYPE_CHECKING:
    from optuna.study import Study
    from optuna.trial import Trial as Asked

JOURNAL = "optuna.journal"
_LOOKED_AT_FIRST = 5  # trials that are never ended early: there is nothing to compare them with


def require_optuna() -> None:
    """Refuse to search where optuna is not installed."""
    try:
        import optuna
    except ImportError:
        raise InputError(
            "--search optuna needs the package optuna, which is not installed: pip install 'nodewise[optuna]'",
            code="missing-package",
        ) from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)


def studies(folder: Path, variants: Sequence[str], seed: int = 0, worker: int = 0) -> dict[str, Study]:
    """Open the study of every variant, making those that are not there."""
    require_optuna()
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

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


def asked(
    folder: Path, space: Space, trials: int, variants: Sequence[str], seed: int, worker: int
) -> list[Callable[[], Trial]]:
    """Return as many trials as the studies in `folder` lack, the variants in turn; each is asked for when it begins."""
    opened = studies(folder, variants, seed, worker)
    lacking = [variant for number in range(trials) for variant in variants if number >= _finished(opened[variant])]
    return [partial(_ask, opened[variant], space) for variant in lacking]


def _ask(study: Study, space: Space) -> Trial:
    trial, variant = study.ask(), study.study_name
    settings = space.chosen(variant, _chooser(trial))
    return Trial(variant, trial.number, settings, _Watcher(trial), partial(_tell, study, trial, space.steps))


def _finished(study: Study) -> int:
    from optuna.trial import TrialState

    return len(study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.PRUNED)))


def _chooser(trial: Asked) -> Any:
    def choose(name: str, values: Sequence[Any]) -> Any:
        # As texts, for values may be lists. One listed twice is one here: Optuna learns what does well.
        texts = tuple(dict.fromkeys(json.dumps(value) for value in values))
        return json.loads(trial.suggest_categorical(f"{name}: {', '.join(texts)}", texts))  # encoders may list others

    return choose


class _Watcher:
    """Reports every look to Optuna and ends what it thinks little of."""

    def __init__(self, trial: Asked) -> None:
        self._trial = trial

    def __call__(self, step: int, score: float) -> None:
        self._trial.report(score, step)
        if self._trial.should_prune():
            raise Hopeless


def _tell(study: Study, trial: Asked, steps: int, outcomes: list[dict[str, Any]]) -> None:
    from optuna.trial import TrialState

    if not outcomes:  # it diverged
        study.tell(trial, state=TrialState.FAIL)
    elif max(outcome["training.steps"] for outcome in outcomes) < steps:
        study.tell(trial, state=TrialState.PRUNED)
    else:
        study.tell(trial, max(float(np.mean(outcome["scores"])) for outcome in outcomes))
