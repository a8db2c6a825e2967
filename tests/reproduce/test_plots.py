"""Pictures: that they are drawn, of what is there, and say when they are no result."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.reproduce.planted import row, small_setup

from nodewise.reproduce.experiments import ablation, parameters, strategies
from nodewise.reproduce.experiments import separation as figure
from nodewise.reproduce.plots import _difference, _in_use, draw_maps, draw_parameters
from nodewise.reproduce.results import Results
from nodewise.reproduce.setup import Setup, Task


def filled(tasks: list[Task], **values: object) -> Results:
    cells = [(task, seed) for task in tasks for seed in range(3)]
    return Results(
        tasks,
        [
            row(
                kind=task.kind, dataset=task.dataset, method=task.method, seed=seed, config=task.config,
                **({"test": 0.7 + 0.01 * seed} | values),
            )
            for task, seed in cells
        ],
    )  # fmt: skip


def texts(paths: list[Path]) -> str:
    """Return the words of an SVG, after a look at its PNG's first bytes."""
    png, svg = paths
    assert png.read_bytes().startswith(b"\x89PNG")
    return svg.read_text()


@pytest.mark.parametrize("quick", [False, True])
def test_a_panel_for_each_parameter_and_a_line_for_each_data_set(tmp_path: Path, quick: bool) -> None:
    setup = small_setup(tmp_path, datasets=("cora", "citeseer"), quick=quick)
    drawn = texts(draw_parameters(filled(parameters.plan(setup)), setup, tmp_path / "out"))
    for word in ("batch size", "at equal passes", "α", "hops K", "Cora", "Citeseer", "none"):
        assert f">{word}<" in drawn
    assert ("QUICK, not a result" in drawn) == quick


def test_parameters_are_drawn_as_differences_from_the_value_in_use(tmp_path: Path) -> None:
    setup = small_setup(tmp_path, methods=("batch size", "hops K"))
    tasks = parameters.plan(setup)
    rows = [row(method=each.method, config=each.config, test=0.1 * i) for i, each in enumerate(tasks)]
    sweeps = {sweep.name: sweep for sweep in parameters.SWEEPS}
    for name in ("hops K", "batch size"):  # none of the batch sizes is that of the config
        assert _in_use(Results(tasks, rows), setup, sweeps[name], "citeseer") == "hops K = 1"
    others = Results(tasks[1:6], rows)
    assert _in_use(others, setup, sweeps["batch size"], "citeseer") == "batch size = 100", "nobody ran the value in use"
    assert _in_use(Results(tasks, []), setup, sweeps["hops K"], "citeseer") == "hops K = 1"
    scores = {tasks[0]: {0: 0.71, 1: 0.74, 2: 0.09}, tasks[1]: {0: 0.70, 1: 0.71}, tasks[2]: {1: 0.74}}
    some = Results(
        tasks,
        [
            row(method=task.method, config=task.config, seed=seed, test=test)
            for task, by_seed in scores.items()
            for seed, test in by_seed.items()
        ],
    )
    first, second, third = (task.method for task in scores)
    assert _difference(some, first, second, "citeseer") == pytest.approx((2.0, 12.706), abs=1e-3)
    assert _difference(some, third, second, "citeseer") == pytest.approx((3.0, 0.0))


def test_nothing_measured_is_still_a_picture(tmp_path: Path) -> None:
    setup = small_setup(tmp_path)
    assert "Citeseer" in texts(draw_parameters(Results(parameters.plan(setup), []), setup, tmp_path))


def test_maps_show_their_scores(tmp_path: Path) -> None:
    setup = small_setup(tmp_path, methods=("features", "nodewise"))
    generator = np.random.default_rng(0)
    places = generator.random((20, 2))
    lines = "".join(f"{x},{y},{i % 3}\n" for i, (x, y) in enumerate(places))
    (tmp_path / "map.csv").write_text("x,y,class\n" + lines)
    scores = {"silhouette": 0.12, "purity": 0.34, "map_silhouette": 0.56, "map_purity": 0.78, "map": "map.csv"}
    drawn = texts(draw_maps(filled(figure.plan(setup), **scores), setup, tmp_path))
    for word in ("raw features", "ours", "silhouette 0.12, kNN purity 0.34", "silhouette 0.56, kNN purity 0.78"):
        assert word in drawn
    for number in range(3):
        assert f">class {number}<" in drawn
    assert draw_maps(Results(figure.plan(setup), []), setup, tmp_path) == []


def test_gains_beside_the_papers(tmp_path: Path) -> None:
    setup = small_setup(tmp_path)
    drawn = texts(ablation.draw(filled(ablation.plan(setup), oracle=0.8), setup, tmp_path))
    for word in ("full", "with DPP", "printed", "test nodes", "Citeseer"):
        assert word in drawn
    assert "tuned" not in drawn
    drawn = texts(strategies.draw(filled(strategies.plan(setup)), setup, tmp_path))
    assert "quantile" in drawn
    assert "printed" not in drawn
    assert "test nodes" not in drawn, "one kind of point needs no legend"
    alone = Setup(datasets=("citeseer",), methods=("adaptive",))
    assert strategies.draw(Results(strategies.plan(alone), []), alone, tmp_path) == []
