import numpy as np

from nodewise.evaluation.presets import OracleCurves, ProbeResult, get_preset


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


def test_oracle_takes_the_highest_test_accuracy() -> None:
    oracle = result(0).oracle
    assert oracle is not None
    for place in np.ndindex(2, 3, 4):
        assert oracle.max_test[place] == max(oracle.test[place].tolist())
