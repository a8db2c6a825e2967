import math

import pytest
import torch

from nodewise.sampling.weigh.similarity import log_weights


@pytest.mark.parametrize("form", ["clamped", "softplus"])
def test_against_the_formula(form: str) -> None:
    generator = torch.Generator().manual_seed(0)
    dots = torch.randn(2, 3, 7, generator=generator, dtype=torch.float64) * 3
    negatives = torch.rand(2, 3, 7, generator=generator) < 0.6
    found = log_weights(dots, negatives, 0.7, form)  # type: ignore[arg-type]
    for run in range(2):
        for i in range(3):
            raw = {}
            for j in range(7):
                if negatives[run, i, j]:
                    ratio = float(dots[run, i, j]) / 0.7
                    raw[j] = max(math.log1p(math.exp(ratio)) if form == "softplus" else ratio, 1e-6)
            mean = sum(raw.values()) / max(len(raw), 1)
            for j, weight in raw.items():
                assert math.isclose(float(found[run, i, j]), math.log(weight / mean), abs_tol=1e-9)
            chosen = found[run, i][negatives[run, i]].exp()
            assert math.isclose(float(chosen.mean()), 1.0, rel_tol=1e-9)


def test_closer_negatives_weigh_more() -> None:
    weights = log_weights(torch.tensor([[[-2.0, 0.5, 3.0]]]), torch.ones(1, 1, 3, dtype=torch.bool), 1.0)
    assert weights[0, 0].tolist() == sorted(weights[0, 0].tolist())


def test_no_negatives_and_no_positive_product_stay_finite() -> None:
    dots = -torch.ones(1, 2, 3)
    none = torch.zeros(1, 2, 3, dtype=torch.bool)
    for form in ("clamped", "softplus"):
        assert torch.isfinite(log_weights(dots, none, 1.0, form)).all()  # type: ignore[arg-type]
        assert torch.isfinite(log_weights(dots, ~none, 1.0, form)).all()  # type: ignore[arg-type]
