"""Sensitivity to parameters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.reproduce.planted import SMALL, filled, small_setup

from nodewise.core import config
from nodewise.reproduce.experiments import parameters
from nodewise.reproduce.results import Results
from nodewise.reproduce.setup import Task


def test_parameters_change_one_setting(tmp_path: Path) -> None:
    tasks = {task.method: task.settings for task in parameters.plan(small_setup(tmp_path))}
    assert tasks["batch size = 50"] == replace(SMALL, training=replace(SMALL.training, batch_size=50))
    assert tasks["walk length = 10"] == replace(SMALL, views=replace(SMALL.views, length=10))
    assert tasks["α = 0.99"].sampling.class_collision.alpha == 0.99
    assert tasks["DPP size = none"].sampling.diversity.size is None
    assert tasks["DPP size = 50"].sampling.diversity.size == 50
    assert tasks["hops K = 2"].sampling.class_collision.hops == 2
    assert tasks["temperature τ = 0.1"].loss.temperature == 0.1
    base = replace(SMALL, training=replace(SMALL.training, steps=20, batch_size=1000))
    (passes,) = (sweep for sweep in parameters.SWEEPS if sweep.name == parameters.BATCH_PASSES)
    assert [passes.settings(base, size).training.steps for size in (50, 1000, 2000)] == [400, 20, 10]


def test_the_size_of_a_draw_is_varied_where_there_is_a_draw(tmp_path: Path) -> None:
    setup = small_setup(tmp_path)
    off = config.override(SMALL, ["sampling.dpp=false"])
    (tmp_path / "citeseer.toml").write_text(config.to_toml(off))
    tasks = {task.method: task.settings for task in parameters.plan(setup)}
    assert all(tasks[f"DPP size = {size}"].sampling.dpp for size in ("none", 25, 400))
    assert not tasks["hops K = 2"].sampling.dpp
    (size,) = (sweep for sweep in parameters.SWEEPS if sweep.switch)
    assert parameters.current(setup, size, "citeseer") == "off"


def test_every_parameter_can_be_named_in_a_list_with_commas() -> None:
    assert not [sweep.name for sweep in parameters.SWEEPS if "," in sweep.name]


def test_parameters_have_a_table_each(tmp_path: Path) -> None:
    setup = small_setup(tmp_path, methods=("α", "DPP size"))
    tasks = parameters.plan(setup)
    assert dict(tasks[0].more) == {"parameter": "α", "value": "0.5"}
    alpha, size = parameters.render(filled(tasks, lambda task, seed: {"test": 0.5 + 0.1 * seed}), setup)
    assert "| 0.99 | 55.00 ± 7.07 (n=2) |" in alpha.markdown()
    assert "| none | 55.00 ± 7.07 (n=2) |" in size.markdown()
    assert "Value in the full method's config: Citeseer: none." in size.markdown()
    assert "drops dramatically when α is close to 1" in alpha.markdown()
    assert "The paper says" not in size.markdown()


def test_repetitions_of_the_value_in_use_say_what_differences_mean_nothing(tmp_path: Path) -> None:
    setup = small_setup(tmp_path, methods=("hops K", "DPP size"))
    tasks = parameters.plan(setup)
    assert parameters.rows_in_use(Results(tasks, []), setup, "citeseer") == ["hops K = 1", "DPP size = none"]

    def repeated(task: Task, seed: int) -> dict[str, Any]:
        return {"test": {"hops K = 1": 0.70, "DPP size = none": 0.71}.get(task.method, 0.9)}

    said = parameters.render(filled(tasks, repeated), setup)[-1].markdown()
    assert "their means range from 70.00 to 71.00 on Citeseer. Differences of that size mean nothing." in said
    equal = parameters.render(filled(tasks, lambda task, seed: {"test": 0.7}), setup)
    assert "mean nothing" not in equal[-1].markdown()
