from __future__ import annotations

from datetime import UTC, datetime

import pytest

from nodewise.report.columns import looks_like_a_date, seconds_of_dates


def seconds(year: int, month: int, day: int) -> float:
    return datetime(year, month, day, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    "texts",
    [
        ["1967-07-22", "2001-02-03"],
        ["1967/07/22", "2001/2/3"],
        ["22/07/1967", "03/02/2001"],
        ["22.7.1967", "3.2.2001"],
        ["22-07-1967", "03-02-2001"],
        ["07/22/1967", "02/03/2001"],
    ],
)
def test_dates_in_an_order_that_can_be_told(texts: list[str]) -> None:
    assert seconds_of_dates(texts) == [seconds(1967, 7, 22), seconds(2001, 2, 3)]


@pytest.mark.parametrize(
    "texts",
    [
        ["01/02/1970", "03/04/1970"],  # no number above 12: either may be the day
        ["22/07/1967", "07/22/1967"],  # both orders
        ["22/07/1967", "30/02/1967"],  # no such day
        ["22/07/67"],
        ["22/07/1967 10:30"],
        ["1967-07-22", "22/07/1967"],
    ],
)
def test_dates_that_cannot_be_told_still_look_like_dates(texts: list[str]) -> None:
    assert seconds_of_dates(texts) is None
    assert all(map(looks_like_a_date, texts))


@pytest.mark.parametrize("text", ["", "soon", "1.2.3", "10.0.0.1", "22/07-1967", "1967", "22/07", "555-12-1234"])
def test_what_is_no_date(text: str) -> None:
    assert seconds_of_dates([text]) is None
    assert not looks_like_a_date(text)


def test_no_dates() -> None:
    assert seconds_of_dates([]) is None
