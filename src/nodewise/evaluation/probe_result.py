"""What a linear probe gives: accuracies, and the words that must go with them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from nodewise.evaluation.presets import Preset
from nodewise.evaluation.selection import select_by_validation


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

    def with_best_weight_decay(self) -> ProbeResult:
        """Keep the one weight decay with the best mean validation accuracy over embeddings and restarts."""
        best = select_by_validation(np.moveaxis(self.val_accuracy, 2, 0))
        only = slice(best, best + 1)
        return replace(
            self,
            protocol=f"{self.protocol}; {self.weight_decays[best]:g} chosen by validation accuracy",
            weight_decays=self.weight_decays[only],
            val_accuracy=self.val_accuracy[..., only],
            test_accuracy=self.test_accuracy[..., only],
            steps=self.steps[..., only],
            predictions=tuple(classes[:, only] for classes in self.predictions),
            oracle=self.oracle and OracleCurves(self.oracle.val[:, :, only], self.oracle.test[:, :, only]),
        )
