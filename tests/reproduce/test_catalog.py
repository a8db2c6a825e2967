"""What all experiments have in common: each plan and its tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.reproduce.planted import small_setup

from nodewise.core.errors import InputError
from nodewise.reproduce.catalog import EXPERIMENTS
from nodewise.reproduce.paper_values import DATASETS
from nodewise.reproduce.results import Results
from nodewise.reproduce.setup import Setup


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_no_cell_of_a_plan_is_there_twice(name: str, tmp_path: Path) -> None:
    for quick in (False, True):
        tasks = EXPERIMENTS[name].plan(small_setup(tmp_path, datasets=DATASETS, quick=quick))
        keys = [task.key(0) for task in tasks]
        assert tasks
        assert len(set(keys)) == len(keys)
        assert {task.dataset for task in tasks} == set(DATASETS)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_unknown_rows_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no row 'nonesuch'"):
        EXPERIMENTS[name].plan(small_setup(tmp_path, methods=("nonesuch",)))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_without_rows_still_has_tables(name: str, tmp_path: Path) -> None:
    experiment, setup = EXPERIMENTS[name], small_setup(tmp_path)
    for table in experiment.render(Results(experiment.plan(setup), []), setup):
        assert all(len(line) == len(table.header) for line in table.rows)
        assert "nan" not in table.markdown()


def test_the_defaults_run_the_papers_number_of_seeds() -> None:
    assert (EXPERIMENTS["table2"].runs, EXPERIMENTS["ablation"].runs) == (20, 50)
    assert Setup().datasets == DATASETS
