"""Values of columns, written in whatever way."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from nodewise.tables import values
from nodewise.tables.kinds import reading_of
from nodewise.tables.values import DATE_STYLES, DateForm, seconds


@pytest.mark.parametrize("style", DATE_STYLES)
def test_days_that_no_month_has_are_none(style: str) -> None:
    days = [(2023, 2, 29), (2024, 2, 29), (2022, 4, 31), (2022, 3, 1), (2022, 12, 31)]
    for form in DATE_STYLES[style]:
        names = {2: "Feb", 3: "Mar", 4: "Apr", 12: "Dec"}
        told = [
            form.replace("%Y", str(y)).replace("%m", f"{m:02}").replace("%d", f"{d:02}").replace("%b", names[m])
            for y, m, d in days
        ]
        known = np.isfinite(seconds(pa.array(told), DateForm(style, form)))
        assert known.tolist() == [False, True, False, True, True], form


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (["1\u202f234,50", "2\u00a0345,60", "4"], [1234.5, 2345.6, 4]),
        (["(1,234.50)", "2,345.60", "(12.00)"], [-1234.5, 2345.6, -12]),
        (["100-", "200", "300-"], [-100, 200, -300]),
        (["\u2212100", "200", "\u22123"], [-100, 200, -3]),
        (["10%", "20%", "0.3"], [10, 20, 0.3]),
    ],
)
def test_other_ways_to_write_numbers(written: list[str], meant: list[float]) -> None:
    text = pa.array(written)
    kind, form, warning = reading_of("t.csv", "m", text)
    assert kind == "number"
    assert values.numbers(text, form.style).tolist() == meant
    assert ("%" in warning) == ("10%" in written)


@pytest.mark.parametrize(
    "cell", ["52, 13", "(52, 13)", "5'11", "1 0 1", "12 30", "52 31 12", "3, 5", "5€30", "1 234'567", "1, 234", "0 123"]
)
def test_several_numbers_in_a_cell_are_no_number(cell: str) -> None:
    for style in values.NUMBER_STYLES:
        assert np.isnan(values.numbers(pa.array([cell]), style)).all()
    assert reading_of("t.csv", "m", pa.array([cell.replace("5", str(each)) for each in range(5)])).kind != "number"


@pytest.mark.parametrize(
    ("cell", "style", "meant"),
    [
        ("1 234 567", "point", 1234567),
        ("1'234'567", "point", 1234567),
        ("1'234.50", "point", 1234.5),
        ("€ 1 234,50", "comma", 1234.5),
        ("(1 234)", "point", -1234),
        ("- 5 %", "point", -5),
    ],
)
def test_a_blank_or_an_apostrophe_may_part_thousands(cell: str, style: str, meant: float) -> None:
    assert values.numbers(pa.array([cell]), style).tolist() == [meant]


def test_several_currencies_are_no_one_number() -> None:
    text = pa.array(["€10", "$20", "€30", "£4", "€50", "$60", "€70", "$80"])
    found = reading_of("t.csv", "m", text)
    assert found.kind == "category"
    assert "several units ('€', '$', '£')" in found.warning
    told = reading_of("t.csv", "m", text, "number")
    assert told.detail.unit == "€"
    assert "4 values no number" in told.warning
