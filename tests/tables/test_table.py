"""A table becomes features: kinds are told from values, columns weigh equally, what was fitted is plain data."""

from __future__ import annotations

import json
import math
from collections import Counter
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from nodewise.core.errors import InputError
from nodewise.tables.kinds import format_overrides, parse_overrides, reading_of
from nodewise.tables.table import SPELLING, FittedTable, blurred, crowded, spread_out, unlike_units

RANDOM = np.random.default_rng(0)
ROWS = 300
NOTES = [
    "asked for larger shoes today",
    "returned a broken pedal twice",
    "wants seeds before spring",
    "likes red roses",
]


def mixed() -> dict[str, Any]:
    kinds = RANDOM.integers(4, size=ROWS)
    return {
        "age": pa.array([None if i % 10 == 0 else float(20 + i % 50) for i in range(ROWS)]),
        "revenue": pa.array([f"{value:.2f}".replace(".", ",") for value in np.exp(RANDOM.normal(5, 2, ROWS))]),
        "country": pa.array([("DE", "FR", "ES", "n/a")[kind] for kind in kinds]),
        "since": pa.array([f"{1 + i % 28:02d}.{1 + i % 12:02d}.{2015 + i % 8}" for i in range(ROWS)]),
        "paid": pa.array(["yes" if i % 3 else "no" for i in range(ROWS)]),
        "tags": pa.array(["|".join({"a", "bc"[i % 2], "def"[i % 3]}) for i in range(ROWS)]),
        "note": pa.array([f"{NOTES[kind]} {i % 40}" for i, kind in enumerate(kinds)]),
    }


def fitted(columns: dict[str, Any], overrides: str = "") -> FittedTable:
    return FittedTable.fit("t", columns, parse_overrides(overrides), {})


def dense(matrix: Any) -> np.ndarray:
    return matrix.toarray() if sp.issparse(matrix) else matrix


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "2.5", "", "-3e4"], "number"),
        (["1,5", "2.000,25", "3"], "number"),
        (["1,500", "12,000", "7"], "number"),
        (["€ 3", "4 %", "5"], "number"),
        (["6.2 kg", "7kg", "", "-1.5 kg"], "number"),
        (["1.200,50 EUR", "3 EUR"], "number"),
        (["CHF 12.50", "CHF 3"], "number"),
        (["21 °C", "-4 °C"], "number"),
        (["80 m²", "65.5 m²"], "number"),
        (["P1", "P2", "P2"], "category"),
        (["C-12", "C-13", "C-13"], "category"),
        (["01067 DE", "80331 DE", "80331 DE"], "category"),
        (["6.2 kg", "900 g", "7 kg", "900 g"], "category"),
        ([1, 2, None], "number"),
        ([True, None, False], "boolean"),
        (["yes", "No", "", "yes"], "boolean"),
        (["01067", "80331", "20095"], "category"),
        (["red", "blue", "red", None], "category"),
        (["2024-01-31", "2024-02-01", "NA"], "date"),
        (["31.01.2024", "01.02.2024 10:30"], "date"),
        (["2024-01-31T10:11:12.5Z", "2024-02-01"], "date"),
        ([date(2024, 1, 31), None, date(2024, 2, 1)], "date"),
        (["a|b", "b|c", "a", "c|a|b"] * 5, "tags"),
        (["['x', 'y']", "['y']", "['x', 'z']", "['z', 'y']"] * 5, "tags"),
        ([["x", "y"], [], None], "tags"),
        ([[1.0, 2.0], [3.0, 4.0], None], "vector"),
        ([f"please send it to number {i} of our street" for i in range(40)], "text"),
        (["same"] * 30, ""),
        ([None, ""], ""),
        ([f"user{i}@example.org" for i in range(50)], ""),
    ],
)
def test_the_kind_is_told_from_the_values(values: list[Any], kind: str) -> None:
    assert reading_of("t", "c", pa.array(values)).kind == kind


@pytest.mark.parametrize(
    ("values", "fragment"),
    [
        ([str(i) for i in range(90)] + ["x1", "x2", "x3", "x4"], "'x1', 'x2', 'x3'"),
        (["2024-01-31", "31.01.2024"] * 5, "'2024-01-31' and '31.01.2024'"),
        (["13/01/2024", "01/13/2024"] * 5, "several ways"),
        ([b"\x00"], "binary"),
        ([{"a": 1}], "struct"),
        ([[1.0], [1.0, 2.0]], "1, 2 numbers"),
        ([[{"a": 1}]], "lists of struct"),
    ],
)
def test_what_cannot_be_understood_is_named_with_what_to_write(values: list[Any], fragment: str) -> None:
    with pytest.raises(InputError) as refused:
        reading_of("t", "c", pa.array(values))
    assert refused.value.code == "bad-column"
    assert fragment in str(refused.value)
    assert "'c'" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_order_of_day_and_month_that_nothing_tells_is_said() -> None:
    reading = reading_of("t", "c", pa.array(["01/02/2024", "03/04/2024"]))
    assert reading.detail.style == "month-day-year"
    assert "c:day-first" in reading.warning
    assert reading_of("t", "c", pa.array(["01/02/2024"]), "day-first").detail.style == "day-month-year"


def test_a_stray_value_among_many_numbers_is_missing_and_said() -> None:
    column = pa.array([str(i % 7) for i in range(200)] + ["unknown"])
    reading = reading_of("t", "c", column)
    assert reading.kind == "number"
    assert "'unknown'" in reading.warning


class TestOverrides:
    def test_they_say_what_a_column_is(self) -> None:
        assert parse_overrides("a:number, b : Text,-c,d:e:category") == {
            "a": "number",
            "b": "text",
            "c": None,
            "d:e": "category",
        }
        given = {"a": "number", "b, c": None, "-d": "text"}
        assert parse_overrides(format_overrides(given)) == parse_overrides(given) == given

    @pytest.mark.parametrize(
        "given", ["a:number,-a", "a:number,a:text", "a:nonsense", "a", ":number", "{bad", "a:number,a:category"]
    )
    def test_contradictions_and_nonsense_are_refused(self, given: str) -> None:
        with pytest.raises(InputError) as refused:
            parse_overrides(given)
        assert refused.value.code == "bad-column"

    @pytest.mark.parametrize(
        ("values", "kind"), [(["x", "y"], "number"), (["x", "y"], "date"), (["x", "z"], "boolean")]
    )
    def test_what_nothing_in_the_column_fits_is_refused(self, values: list[str], kind: str) -> None:
        with pytest.raises(InputError, match=r"'x', '.'") as refused:
            reading_of("t", "c", pa.array(values), kind)
        assert refused.value.code == "bad-column"

    def test_a_million_names_are_left_out_and_no_categories(self) -> None:
        names = pa.array([f"n{i}" for i in range(150_000)])
        assert reading_of("t", "c", names).kind == ""
        with pytest.raises(InputError, match="150,000 different values") as refused:
            reading_of("t", "c", names, "category")
        assert refused.value.code == "bad-column"

    def test_a_column_of_codes_can_be_a_category(self) -> None:
        table = fitted({"c": pa.array([1, 2, 3, 1])}, "c:category")
        assert table.names == ("c=1", "c=2", "c=3")


class TestFeatures:
    def test_every_column_weighs_the_same(self) -> None:
        columns = mixed()
        table = fitted(columns)
        assert [column.kind for column in table.columns] == [
            "number",
            "number",
            "category",
            "date",
            "boolean",
            "tags",
            "text",
        ]
        for column in table.columns:
            block = dense(column.apply(columns[column.name]).matrix)
            assert np.square(block).sum(axis=1).mean() == pytest.approx(1, abs=0.06), column.name

    def test_rows_do_not_depend_on_what_else_is_asked_for(self) -> None:
        columns = mixed()
        table = fitted(columns)
        whole = dense(table.apply(columns, Counter()))
        some = {name: column.slice(100, 7) for name, column in columns.items()}
        assert np.array_equal(dense(table.apply(some, Counter())), whole[100:107])
        assert whole.shape == (ROWS, len(table.names))
        assert np.isfinite(whole).all()

    def test_it_is_plain_data(self) -> None:
        columns = mixed()
        table = fitted(columns)
        again = FittedTable.from_json(table.to_json(), "t")
        assert again == table
        same = again.apply(columns, Counter()), table.apply(columns, Counter())
        assert np.array_equal(dense(same[0]), dense(same[1]))

    def test_new_rows_may_hold_anything(self) -> None:
        table = fitted(mixed())
        new = {
            "age": pa.array(["17", "x", None]),
            "revenue": pa.array([1e30, -5.0, None]),
            "country": pa.array(["Brazil", "", "FR"]),
            "since": pa.array(["31.12.2199", "2024-01-01", ""]),
            "paid": pa.array([True, False, None]),
            "tags": pa.array(["new|a", "", None]),
            "note": pa.array(["completely unseen words", "\U0001f600", None]),
        }
        misread: Counter[str] = Counter()
        examples: dict[str, list[str]] = {}
        matrix = dense(table.apply(new, misread, examples))
        assert np.isfinite(matrix).all()
        assert np.abs(matrix).max() <= 5
        assert misread["age"] == 1
        assert misread["country"] == 1
        assert misread["since"] == 1
        assert examples == {"age": ["x"], "country": ["Brazil"], "since": ["2024-01-01"]}
        many = {name: pa.concat_arrays([column] * 2) for name, column in new.items()}
        many["country"] = pa.array(["Brazil", "Chile", "Peru", "Peru", "Cuba", None])
        more: dict[str, list[str]] = {}
        table.apply(many, Counter(), more)
        assert more["country"] == ["Brazil", "Chile", "Peru"], "each once, and three at most"
        assert np.array_equal(dense(table.missing_rows(2))[0], dense(table.missing_rows(1))[0])

    def test_numbers_of_like_units_stay_as_they_are(self) -> None:
        values = RANDOM.normal(size=50)
        columns = {"x": pa.array([None, *values]), "y": pa.array([*values, 2.0])}
        table = fitted(columns)
        assert not table.comparable
        matrix = table.apply(columns, Counter())
        assert np.array_equal(matrix[1:, 0], values.astype(np.float32))
        assert matrix[0, 0] == pytest.approx(values.mean(), abs=1e-6)

    def test_numbers_that_would_blur_are_scaled(self) -> None:
        seconds = 1_700_000_000 + 10 * np.arange(50)
        columns = {"at": pa.array([None, *seconds]), "x": pa.array(RANDOM.normal(size=51))}
        assert crowded(np.stack([seconds, 1e9 * np.arange(50), np.zeros(50)], 1)).tolist() == [0]
        assert blurred(seconds[:, None].astype(np.float64))
        assert not blurred(seconds[:, None] - 1.7e9)
        table = fitted(columns)
        assert table.comparable
        assert len(np.unique(table.apply(columns, Counter())[1:, 0])) == 50

    def test_heavy_tails_do_not_drown_the_rest(self) -> None:
        money = np.exp(RANDOM.normal(5, 3, 1000))
        columns = {"money": pa.array(money), "age": pa.array(RANDOM.normal(40, 10, 1000))}
        table = fitted(columns)
        matrix = table.apply(columns, Counter())
        assert table.comparable
        assert unlike_units(np.stack([money, money / 1e6], 1))
        assert np.corrcoef(matrix[:, 0], np.log(money))[0, 1] > 0.98
        assert np.allclose(matrix.std(0), 1, atol=0.02)

    def test_categories_as_slowly_computed(self) -> None:
        values = [f"c{min(int(RANDOM.geometric(0.05)), 300)}" for _ in range(2000)] + [f"rare{i}" for i in range(500)]
        column = pa.array(values)
        fit = fitted({"c": column}, "c:category").columns[0]
        often = Counter(values)
        frequent = sorted(v for v, n in sorted(often.items(), key=lambda p: (-p[1], p[0]))[:64] if n >= 0.005 * 2500)
        assert fit.names()[: len(frequent)] == [f"c={value}" for value in frequent]
        assert len(fit.names()) == len(frequent) + 32  # many are rare
        block = dense(fit.apply(column).matrix)
        assert (block.sum(axis=1) == 1).all()
        assert all(block[i, frequent.index(v)] == 1 for i, v in enumerate(values) if v in frequent)

    def test_text_as_slowly_computed(self) -> None:
        texts = ["Red shoes, red hats", "blue shoes", "green trees and red leaves", "blue sky", None]
        fit = fitted({"t": pa.array(texts)}, "t:text").columns[0]
        found = dense(fit.apply(pa.array(texts)).matrix)

        def grams(word: str) -> list[str]:
            marked = f"<{word}>"
            return [marked[i : i + 3] for i in range(len(marked) - 2)]

        split = [text.lower().replace(",", "").split() if text else [] for text in texts]
        for form, lists in (
            ("t: {}", split),
            ("t: ...{}...", [[gram for word in words for gram in grams(word)] for words in split]),
        ):
            present = Counter(unit for each in lists for unit in set(each))
            for row, each in enumerate(lists):
                weights = {
                    form.format(unit): (1 + math.log(times)) * (math.log(5 / (1 + present[unit])) + 1)
                    for unit, times in Counter(each).items()
                    if form.format(unit) in fit.names()
                }
                length = math.sqrt(sum(weight**2 for weight in weights.values()))
                shares = 1 + any(f"t: {word}" in fit.names() for word in split[row])  # of words and of letters
                for name, weight in weights.items():
                    expected = weight / length / math.sqrt(shares)
                    assert found[row, fit.names().index(name)] == pytest.approx(expected, rel=1e-5)
        assert not found[4, :-1].any()
        assert found[4, -1] == 1


def test_a_sample_is_spread_over_all_rows() -> None:
    tables = [pa.table({"i": np.arange(start, start + 97)}) for start in range(0, 97 * 50, 97)]
    sample, rows = spread_out(tables, 500)
    found = sample["i"].to_numpy()
    assert rows == 97 * 50
    assert 500 <= len(found) <= 1000
    assert len(set(np.diff(found))) == 1
    assert found[0] == 0
    assert found[-1] > 0.99 * rows - 10


@pytest.mark.parametrize(
    "damage",
    [
        lambda facts: facts.update(version=2),
        lambda facts: facts.pop("columns"),
        lambda facts: facts.update(columns=[]),
        lambda facts: facts["columns"].append(facts["columns"][0]),
        lambda facts: facts["columns"][0].update(kind="pickle"),
        lambda facts: facts["columns"][0].update(center="x"),
        lambda facts: facts["columns"][0].update(center=float("nan")),
        lambda facts: facts["columns"][0].update(style="x"),
        lambda facts: facts["columns"][2].update(buckets=10**9),
        lambda facts: facts["columns"][3].update(cycles=["eon"]),
        lambda facts: facts["columns"][6].update(word_weights=[1.0]),
        lambda facts: facts.update(left_out={"a": 1}),
    ],
)
def test_damaged_data_is_refused(damage: Any) -> None:
    facts = json.loads(fitted(mixed()).to_json())
    damage(facts)
    with pytest.raises(InputError) as refused:
        FittedTable.from_json(json.dumps(facts), "run/features.json")
    assert refused.value.code == "damaged-file"


def test_features_of_one_value_are_known_to_be() -> None:
    table = fitted(mixed())
    found = dict(zip(table.names, table.origins.tolist(), strict=True))
    assert found["country=DE"] == found["country=FR"] != found["age"]
    assert found["age is missing"] == found["country is missing"] == -1
    assert len({number for name, number in found.items() if name.startswith("note:")}) == 1


def test_words_stand_for_themselves_where_there_is_nothing_else() -> None:
    table = fitted({"note": mixed()["note"]})
    found = dict(zip(table.names, table.origins.tolist(), strict=True))
    words = [number for name, number in found.items() if name.startswith("note: ") and "..." not in name]
    assert len(set(words)) == len(words) > 2
    assert {number for name, number in found.items() if "..." in name} == {SPELLING}


class TestUnits:
    MASSES = pa.array(["6.2 kg", "7kg", None, "5 kg"] * 10)

    def test_one_unit_is_read_kept_and_said(self) -> None:
        table = fitted({"mass": self.MASSES})
        (row,) = table.describe()
        assert (row["kind"], row["unit"], row["warning"]) == ("number", "kg", "")
        again = FittedTable.from_json(table.to_json(), "f")
        numbers = {"mass": pa.array([6.2, 7.0, None, 5.0] * 10)}
        plain = dense(fitted(numbers).apply(numbers, Counter()))
        for each in (table, again):
            assert np.allclose(dense(each.apply({"mass": self.MASSES}, Counter())), plain)

    def test_new_rows_may_leave_the_unit_out_but_not_have_another(self) -> None:
        table, misread, examples = fitted({"mass": self.MASSES}), Counter[str](), dict[str, list[str]]()
        found = dense(table.apply({"mass": pa.array(["6 kg", "6", "900 g", "6kg", ""])}, misread, examples))
        assert found[0, 0] == found[1, 0] == found[3, 0]
        assert (misread["mass"], examples) == (1, {"mass": ["900 g"]})
        assert dense(table.apply({"mass": pa.array([6.0])}, Counter()))[0, 0] == found[0, 0]

    def test_several_units_are_no_numbers_and_said(self) -> None:
        column = pa.array(["6.2 kg", "900 g", "7 kg", "900 g", "7 kg"])
        reading = reading_of("t", "mass", column)
        assert reading.kind == "category"
        assert "numbers in several units ('kg', 'g')" in reading.warning
        told = reading_of("t", "mass", column, "number")
        assert (told.kind, told.detail.unit) == ("number", "kg")
        assert "2 values no number, such as '900 g': taken for missing" in told.warning
        assert reading_of("t", "street", pa.array(["12 Main", "14 Oak"])).warning == "", "names, not units"

    def test_zeros_and_ones_with_a_unit_are_no_yes_and_no(self) -> None:
        table = fitted({"mass": pa.array(["0 kg", "1 kg"] * 10), "color": pa.array(["red", "blue"] * 10)})
        assert [column.kind for column in table.columns] == ["number", "category"]

    def test_what_was_fitted_before_units_is_read(self) -> None:
        facts = json.loads(fitted({"age": pa.array([3.5, 4.0])}).to_json())
        del facts["columns"][0]["unit"]
        assert FittedTable.from_json(json.dumps(facts), "f").columns[0].to_dict()["unit"] == ""
        facts["columns"][0]["unit"] = "(k+)+"
        with pytest.raises(InputError):
            FittedTable.from_json(json.dumps(facts), "f")
