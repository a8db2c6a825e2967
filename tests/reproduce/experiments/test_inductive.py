"""New nodes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.reproduce.planted import filled, small_setup

from nodewise.core.errors import InputError
from nodewise.reproduce.experiments import inductive, table2
from nodewise.reproduce.paper_values import OURS


def test_new_nodes_beside_the_usual_numbers(tmp_path: Path) -> None:
    setup = small_setup(tmp_path, methods=(OURS,))
    tasks = inductive.plan(setup)
    assert [task.kind for task in tasks] == ["accuracy", "inductive"]
    assert tasks[0].config == next(task for task in table2.plan(setup) if task.kind == "accuracy").config
    results = filled(tasks, lambda task, seed: {"test": 0.7 if task.kind == "accuracy" else 0.69})
    (table,) = inductive.render(results, setup)
    line = "| ours | 70.00 ± 0.00 (n=2) | 69.00 ± 0.00 (n=2) | – | – | -1.00 [-1.00, -1.00] (n=2) | – | loss |"
    assert line in table.markdown()


def test_only_inductive_methods_without_labels_meet_new_nodes(tmp_path: Path) -> None:
    for name in ("gcn", "deepwalk"):
        with pytest.raises(InputError, match=f"no row '{name}'"):
            inductive.plan(small_setup(tmp_path, methods=(name,)))
