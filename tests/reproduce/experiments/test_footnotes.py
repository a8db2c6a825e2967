"""Other methods with one setting changed."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.reproduce.planted import filled, small_setup

from nodewise.reproduce.experiments import footnotes, table2
from nodewise.reproduce.experiments.footnotes import READINGS
from nodewise.reproduce.paper_values import NOTES


def test_a_reading_stands_beside_the_row_of_table2(tmp_path: Path) -> None:
    setup = small_setup(tmp_path, methods=("lp",), oracle=False)
    tasks = footnotes.plan(setup)
    assert [task.method for task in tasks] == ["lp", "lp: 10 steps", "lp: masses of classes as they come"]
    (usual,) = table2.plan(setup)
    assert usual.cell == tasks[0].cell  # so its rows are borrowed
    assert len({task.config for task in tasks}) == 3
    results = filled(tasks, lambda task, seed: {"val": 0.5, "test": 0.6 if task.method == "lp" else 0.57})
    (table,) = footnotes.render(results, setup)
    assert "| LP | as in Table 2 | 45.3 | 50.00 | 60.00 ± 0.00 (n=2) | – | – | – | – |" in table.markdown()
    assert "| LP | 10 steps | 45.3 | 50.00 | 57.00 ± 0.00 (n=2) | – | -3.00 [-3.00, -3.00] (n=2) | – | loss |" in (
        table.markdown()
    )


def test_readings_change_what_they_say(tmp_path: Path) -> None:
    assert len({each.row for each in READINGS}) == len(READINGS)
    setup = small_setup(tmp_path, datasets=("cora", "citeseer", "pubmed"))
    tasks = {(task.method, task.dataset): task.settings for task in footnotes.plan(setup)}
    for each in READINGS:
        for dataset in each.datasets:
            own, usual = tasks[each.row, dataset], tasks[each.method, dataset]
            assert own != usual
            assert {name: getattr(own, name) for name in each.changes} == dict(each.changes)


@pytest.mark.parametrize("method", sorted({each.method for each in READINGS}))
def test_each_is_named_by_a_note_of_table2(method: str) -> None:
    assert "footnotes" in NOTES[method]
