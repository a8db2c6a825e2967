import numpy as np
import pytest

from nodewise.evaluation.presets import get_preset
from nodewise.evaluation.probe_result import OracleCurves, ProbeResult


def result(best: int) -> ProbeResult:
    """2 embeddings, 3 restarts, 4 weight decays; test accuracy peaks at another one than validation."""
    generator = np.random.default_rng(0)
    val = generator.uniform(0.4, 0.5, (2, 3, 4))
    val[:, :, best] += 0.2
    test = generator.uniform(0.4, 0.5, (2, 3, 4))
    test[:, :, (best + 1) % 4] += 0.4
    return ProbeResult(
        preset=get_preset("mvgrl"),
        protocol="protocol",
        weight_decays=(0.0, 0.1, 0.2, 0.3),
        val_accuracy=val,
        test_accuracy=test,
        steps=generator.integers(1, 300, (2, 3, 4)),
        predictions=tuple(generator.integers(0, 3, (2, 3, 4, 9))),
        oracle=OracleCurves(generator.random((2, 3, 4, 7)), generator.random((2, 3, 4, 7))),
    )


@pytest.mark.parametrize("best", range(4))
def test_best_weight_decay_is_that_of_validation_in_every_field(best: int) -> None:
    full = result(best)
    chosen = full.with_best_weight_decay()
    assert chosen.weight_decays == (full.weight_decays[best],)
    assert chosen.protocol == f"protocol; {full.weight_decays[best]:g} chosen by validation accuracy"
    for field in ("val_accuracy", "test_accuracy", "steps"):
        assert np.array_equal(getattr(chosen, field), getattr(full, field)[:, :, [best]])
    for one, all_decays in zip(chosen.predictions, full.predictions, strict=True):
        assert np.array_equal(one, all_decays[:, [best]])
    assert chosen.oracle is not None
    assert full.oracle is not None
    assert np.array_equal(chosen.oracle.test, full.oracle.test[:, :, [best]])
    assert np.array_equal(chosen.oracle.val, full.oracle.val[:, :, [best]])


def test_oracle_takes_the_highest_test_accuracy() -> None:
    oracle = result(0).oracle
    assert oracle is not None
    for place in np.ndindex(2, 3, 4):
        assert oracle.max_test[place] == max(oracle.test[place].tolist())
