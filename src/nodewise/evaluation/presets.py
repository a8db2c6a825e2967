"""The linear-probe settings published methods are scored with, under their names.

| preset   | optimizer                  | weight decay          | steps | taken                |
|----------|----------------------------|-----------------------|-------|----------------------|
| dgi      | Adam 0.01                  | 0                     | 100   | last step            |
| mvgrl    | Adam 0.01                  | 0, on Citeseer 0.01   | 300   | last step            |
| graphmae | Adam 0.01                  | 1e-4, on Citeseer 0.01| 300   | best validation step |
| cca      | Adam 0.01                  | 1e-4, on Citeseer 0.01| 2000  | first best validation step |
| sklearn  | lbfgs logistic regression  | C = 1                 | 100   | -                    |
| sugrl    | Adam 0.01                  | 0.005 / 0.05 / 0.01, else 0 | 100, Pubmed and others 200 | last step |
| graphacl | Adam 0.01, on Cora 0.001   | 1e-5 / 0.01 / 1e-4, else 1e-3 | 1000 | best validation step |
| maskgae  | Adam 0.01                  | 1e-3, on Citeseer 0.1, on Photo 5e-3 | 100 | first best validation step |
| homogcl  | Adam 0.01, on Photo 0.001  | 1e-4 | 500, Cora 1000, Photo 5000 | last step |
| sp-gcl   | Adam 0.0005                | 1e-5 | 1500 | first best validation step |
| afgrl    | Adam 0.01                  | 1e-5                  | 100   | last step            |
| ggd      | Adam 0.01                  | 0                     | 100, Citeseer 80, Pubmed 250 | last step |
| grace    | liblinear, one against all | C by cross-validation, rows of length one | 100 | - |

Three weight decays are those on Cora, Citeseer and Pubmed.

`mvgrl` is the headline. All Adam presets start from Xavier-uniform weights and zero biases.
"Best validation step" is the last of the steps with the highest validation accuracy, "first best" the first of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from nodewise.core.errors import InputError, did_you_mean, require_type

Taken = Literal["last step", "best validation step", "first best validation step"]


@dataclass(frozen=True)
class Preset:
    """A named linear probe; `weight_decay_on` lists the data sets that get another weight decay."""

    name: str
    steps: int
    taken: Taken = "last step"
    weight_decay: float = 0.0
    weight_decay_on: tuple[tuple[str, float], ...] = ()
    learning_rate: float = 0.01
    solver: Literal["adam", "lbfgs", "liblinear"] = "adam"
    steps_on: tuple[tuple[str, int], ...] = ()
    learning_rate_on: tuple[tuple[str, float], ...] = ()

    def on(self, dataset: str) -> Preset:
        """Return the preset with the steps and the learning rate for a graph of this name."""
        steps = dict(self.steps_on).get(dataset.casefold(), self.steps)
        rate = dict(self.learning_rate_on).get(dataset.casefold(), self.learning_rate)
        return replace(self, steps=steps, learning_rate=rate)

    def weight_decay_for(self, dataset: str) -> float:
        """Return the weight decay for a graph of this name; the general one for unlisted names."""
        return dict(self.weight_decay_on).get(dataset.casefold(), self.weight_decay)

    def protocol(self, dataset: str, weight_decays: tuple[float, ...] | None = None) -> str:
        """Say in one line how a score came about; saved with every score."""
        if self.solver == "lbfgs":
            how = f"scikit-learn logistic regression, lbfgs, C=1, at most {self.steps} iterations"
        elif self.solver == "liblinear":
            how = "rows of length one, scikit-learn's liblinear, C of 2^-10 to 2^9 by cross-validation"
        else:
            decay = self._decay_in_words(dataset, weight_decays)
            how = f"Adam {self.learning_rate:g}, Xavier, weight decay {decay}, {self.steps} steps, {self.taken}"
        return f"linear classifier (probe {self.name}): {how}"

    def _decay_in_words(self, dataset: str, given: tuple[float, ...] | None) -> str:
        if given is not None:
            return " or ".join(f"{value:g}" for value in given) + ", set by hand"
        own = dataset.casefold() in dict(self.weight_decay_on)
        return f"{self.weight_decay_for(dataset):g}" + f" (that of {dataset.capitalize()})" * own


_CITESEER = (("citeseer", 0.01),)
_BEST: Taken = "best validation step"
_FIRST: Taken = "first best validation step"


def _three(*values: float) -> tuple[tuple[str, float], ...]:
    return tuple(zip(("cora", "citeseer", "pubmed"), values, strict=True))


PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset("dgi", 100),
        Preset("mvgrl", 300, weight_decay_on=_CITESEER),
        Preset("graphmae", 300, _BEST, 1e-4, _CITESEER),
        Preset("cca", 2000, _FIRST, 1e-4, _CITESEER),
        Preset("sklearn", 100, solver="lbfgs"),
        Preset("sugrl", 200, weight_decay_on=_three(0.005, 0.05, 0.01), steps_on=(("cora", 100), ("citeseer", 100))),
        Preset("graphacl", 1000, _BEST, 1e-3, _three(1e-5, 0.01, 1e-4), learning_rate_on=(("cora", 1e-3),)),
        Preset("maskgae", 100, _FIRST, 1e-3, (("citeseer", 0.1), ("amazon-photo", 5e-3))),
        Preset(
            "homogcl",
            500,
            weight_decay=1e-4,
            steps_on=(("cora", 1000), ("amazon-photo", 5000)),
            learning_rate_on=(("amazon-photo", 1e-3),),
        ),
        Preset("sp-gcl", 1500, _FIRST, 1e-5, learning_rate=5e-4),
        Preset("afgrl", 100, weight_decay=1e-5),
        Preset("ggd", 100, steps_on=(("citeseer", 80), ("pubmed", 250))),
        Preset("grace", 100, solver="liblinear"),
    )
}


def get_preset(name: str | Preset) -> Preset:
    """Look a preset up by name; a `Preset` of one's own passes through."""
    if isinstance(name, Preset):
        return name
    require_type("probe", name, str, "the name of a preset")
    if name in PRESETS:
        return PRESETS[name]
    raise InputError(f"unknown probe preset {name!r}{did_you_mean(name, PRESETS)}")


@dataclass(frozen=True)
class OracleCurves:
    """Accuracy after every probe step, (S, R, W, steps). For the oracle column; chooses nothing else."""

    val: np.ndarray
    test: np.ndarray

    @property
    def max_test(self) -> np.ndarray:
        """The highest test accuracy over steps, (S, R, W): what choosing by test labels would print."""
        return np.asarray(self.test.max(-1))


@dataclass(frozen=True)
class ProbeResult:
    """Scores of S embeddings, R restarts, W weight decays.

    Attributes:
        preset: the settings in use.
        protocol: the same in words, to be saved with the scores.
        weight_decays: the W weight decays.
        val_accuracy: (S, R, W).
        test_accuracy: (S, R, W).
        steps: (S, R, W), the step (from 1) each classifier was taken at.
        predictions: for each of the S embeddings, the classes (R, W, n) given to its n test nodes.
        oracle: curves of the oracle pass, if one was asked for.
    """

    preset: Preset
    protocol: str
    weight_decays: tuple[float, ...]
    val_accuracy: np.ndarray
    test_accuracy: np.ndarray
    steps: np.ndarray
    predictions: tuple[np.ndarray, ...]
    oracle: OracleCurves | None = None
