import inspect

import numpy as np
import pytest

from nodewise.core.errors import InputError
from nodewise.evaluation.selection import select_by_validation


def test_best_mean_wins() -> None:
    table = np.random.default_rng(0).random((6, 5, 3))
    means = [np.mean([table[i, s, r] for s in range(5) for r in range(3)]) for i in range(6)]
    assert select_by_validation(table) == means.index(max(means))
    assert select_by_validation([0.1, 0.7, 0.4]) == 1


def test_first_of_equals_wins() -> None:
    assert select_by_validation([[0.5, 0.7], [0.6, 0.6], [0.1, 0.2]]) == 0


def test_a_diverged_setting_never_wins() -> None:
    assert select_by_validation([[0.9, np.nan], [0.2, 0.2]]) == 1
    with pytest.raises(InputError, match="none can be chosen"):
        select_by_validation([[np.nan], [np.nan]])
    with pytest.raises(InputError, match="no setting"):
        select_by_validation([])


def test_there_is_no_way_in_for_test_accuracies() -> None:
    assert list(inspect.signature(select_by_validation).parameters) == ["accuracies"]
