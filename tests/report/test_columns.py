from __future__ import annotations

import numpy as np
import pytest

from nodewise.report.columns import MOST_CATEGORIES, categories, distinct_names, guessed, numbers


def test_numbers_that_are_not_finite_are_unknown() -> None:
    column = numbers("x", [1.5, np.inf, np.nan, 1e300])
    assert column.values.dtype == np.float32
    np.testing.assert_array_equal(np.isnan(column.values), [False, True, True, True])


def test_numbers_with_gaps_are_numbers() -> None:
    column = guessed("age", ["1.5", "", None, "-2"])
    assert column.kind == "number"
    np.testing.assert_array_equal(column.values, np.array([1.5, np.nan, np.nan, -2], np.float32))


def test_few_whole_numbers_are_categories_in_their_order() -> None:
    column = guessed("year", ["10", "9", "10", None])
    assert (column.kind, column.names) == ("category", ("9", "10"))
    np.testing.assert_array_equal(column.values, [1, 0, 1, -1])


def test_many_whole_numbers_are_numbers() -> None:
    assert guessed("count", list(range(100))).kind == "number"


def test_words_are_categories_and_too_many_are_text() -> None:
    assert guessed("city", ["b", "a", "b"]).names == ("a", "b")
    assert guessed("title", [f"t{i}" for i in range(MOST_CATEGORIES)]).kind == "category"
    assert guessed("title", [f"t{i}" for i in range(MOST_CATEGORIES + 1)]).kind == "text"


@pytest.mark.parametrize("values", [[], [None, None], ["", None]])
def test_a_column_of_nothing(values: list[object]) -> None:
    column = guessed("empty", values)
    assert (column.kind, column.names) == ("category", ())
    assert (column.values == -1).all()


def test_taking_nodes_keeps_the_rest() -> None:
    column = categories("label", np.array([0, 1, -1]), ["a", 7]).take(np.array([2, 1]))
    assert column.names == ("a", "7")
    np.testing.assert_array_equal(column.values, [-1, 1])


def test_equal_names_are_told_apart() -> None:
    columns = distinct_names([numbers(name, [0.0]) for name in ("a", "b", "a", "a")])
    assert [column.name for column in columns] == ["a", "b", "a (2)", "a (3)"]
