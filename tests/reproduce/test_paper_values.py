"""What the paper prints, against itself."""

from __future__ import annotations

import pytest

from nodewise.methods.estimator import METHODS
from nodewise.reproduce.paper_values import ABLATION, DATASETS, ELSEWHERE, NOTES, OURS, PLAIN, TABLE1, TABLE2, published


def test_its_tables_agree_with_each_other() -> None:
    assert tuple(TABLE1) == DATASETS
    assert TABLE2[OURS].accuracies == ABLATION["full"]
    assert TABLE2[PLAIN].accuracies == ABLATION["without all"]


def test_every_row_is_a_method_here_or_named_as_ours() -> None:
    assert {*TABLE2, *ELSEWHERE, *NOTES} <= {*METHODS, PLAIN}
    assert not set(TABLE2) & set(ELSEWHERE)


@pytest.mark.parametrize("row", [*TABLE2, *ELSEWHERE])
def test_published_values_are_percentages(row: str) -> None:
    assert all(20 < (published(row, name) or 0) < 90 for name in DATASETS)
    assert published(row, "karate") is None
