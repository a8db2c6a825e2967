import json
import statistics

import pytest

from nodewise.evaluation.evaluate import Report, Summary

VALUES = [0.5, 0.7, 0.6, 0.9, 0.8, 0.55]


def test_sample_standard_deviation() -> None:
    summary = Summary.of(VALUES)
    assert summary.mean == pytest.approx(statistics.mean(VALUES))
    assert summary.std == pytest.approx(statistics.stdev(VALUES))
    assert (summary.n, summary.values) == (6, tuple(VALUES))


def test_one_value_has_no_spread() -> None:
    assert Summary.of([0.5]) == Summary(0.5, None, 1, (0.5,))


def test_seeds_and_json() -> None:
    report = Report("ours", "cora", "words", (4, 9), (0, 1, 2), {"accuracy": Summary.of(VALUES)})
    assert report.by_seed() == pytest.approx({4: 0.6, 9: 0.75})
    row = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert row["encoder_seeds"] == [4, 9]
    assert row["scores"]["accuracy"]["values"] == VALUES
