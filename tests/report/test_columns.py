from __future__ import annotations

import numpy as np
import pytest

from nodewise.report.columns import MOST_COLORED, categories, distinct_names, guessed, numbers


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


def test_words_are_categories_and_those_that_hardly_come_twice_are_text() -> None:
    assert guessed("city", ["b", "a", "b"]).names == ("a", "b")
    assert guessed("title", [f"t{i}" for i in range(MOST_COLORED)]).kind == "category"
    assert guessed("title", [f"t{i}" for i in range(MOST_COLORED + 1)]).kind == "text"
    assert guessed("title", [f"t{i // 2}" for i in range(1000)]).kind == "category"
    assert guessed("title", [f"t{i // 2}" for i in range(1000)] + ["one more"]).kind == "text"


def test_only_the_most_frequent_of_many_categories_have_their_own_color() -> None:
    assert guessed("city", [f"c{i % 20:02}" for i in range(100)]).colored is None
    values = [f"c{i % 30:02}" for i in range(100)] + ["c29", "c29"]
    column = guessed("city", values)
    assert column.colored == MOST_COLORED - 1
    assert column.names[:2] == ("c29", "c00")
    assert [column.names[code] for code in column.values] == values


def test_iso_dates_are_numbers() -> None:
    column = guessed("joined", ["2020-02-29", None, "1969-12-31", "2020-02-29T12:00:00+02:00", "2020-02-29 10:00"])
    assert (column.kind, column.dates) == ("number", True)
    np.testing.assert_array_equal(column.values, [1582934400, np.nan, -86400, 1582970400, 1582970400])


@pytest.mark.parametrize("odd", ["2020-02-30", "soon", "2020-02-28 or so", "1"])
def test_dates_with_something_else_among_them_are_not(odd: str) -> None:
    column = guessed("joined", ["2020-02-29", odd])
    assert (column.kind, set(column.names)) == ("category", {"2020-02-29", odd})


def test_decimal_commas_are_numbers() -> None:
    column = guessed("height", ["1,25", "-0,5", None, "3"])
    assert column.kind == "number"
    np.testing.assert_array_equal(column.values, np.array([1.25, -0.5, np.nan, 3], np.float32))
    assert guessed("grade", ["10,0", "9,0", "10,0"]).names == ("9,0", "10,0")


@pytest.mark.parametrize("odd", ["1.5", "1,2,3", "a", ","])
def test_commas_with_something_else_among_them_are_no_numbers(odd: str) -> None:
    column = guessed("height", ["1,25", odd])
    assert (column.kind, column.note) == ("category", "")


def test_numbers_are_read_as_features_were_made_of_them() -> None:
    amounts = ["€ 1,258.97", "€ 12.50", None, "n/a", "€ 900.00"]
    assert guessed("amount", amounts).kind == "category"
    column = guessed("amount", amounts, "thousands")
    assert column.kind == "number"
    np.testing.assert_array_equal(column.values, np.array([1258.97, 12.5, np.nan, np.nan, 900], np.float32))
    assert guessed("stars", ["3", "4", "3"], "point").names == ("3", "4")  # few whole numbers stay categories
    assert guessed("empty", [None, ""], "point").names == ()


def test_commas_that_may_part_thousands_are_said() -> None:
    column = guessed("salary", ["1,250", "900", "12,000"])
    assert column.kind == "category"
    assert column.note.startswith("Numbers whose comma may stand before thousands or decimals are colored as")


def test_dates_whose_order_nobody_can_tell_are_said() -> None:
    assert guessed("born", ["22/07/1967", "01/02/1970"]).dates
    few = guessed("born", ["01/02/1970", "02/01/1970"])
    assert (few.kind, few.note) == (
        "category",
        "Dates that are not ISO are colored as categories, not in their order.",
    )
    many = guessed("born", [f"01/02/{year}" for year in range(1950, 1990)])
    assert (many.kind, many.note) == ("text", "Dates that are not ISO are shown, not colored.")


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
