from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.reproduce.planted import GROUPS, SMALL, row, small_setup

from nodewise.core import config
from nodewise.reproduce.experiments import ablation
from nodewise.reproduce.results import Results


def test_rows_differ_by_their_switches_only() -> None:
    plain = config.override(SMALL, ["training.steps=1"])
    rows = ablation.variants(SMALL, plain)
    assert set(rows) == set(ablation.VARIANTS) - {ablation.SMOOTHED, ablation.PAPER}
    assert rows["full"] == SMALL
    assert rows["without all (tuned)"] == plain
    assert rows["untrained start"].training.steps == rows["random encoder"].training.steps == 0
    assert rows["untrained start"].encoder == SMALL.encoder
    assert rows["random encoder"].encoder == replace(SMALL.encoder, start="random")
    for name, switches in ablation.SWITCHES.items():
        sampling = rows[name].sampling
        assert (sampling.collision, sampling.dpp, sampling.weights) == switches
        assert replace(rows[name], sampling=SMALL.sampling) == SMALL


def test_every_trained_variant_has_an_oracle_pass_of_its_own(tmp_path: Path) -> None:
    tasks = ablation.plan(small_setup(tmp_path))
    assert [task.method for task in tasks if task.kind == "accuracy"] == list(ablation.VARIANTS)
    assert [task.method for task in tasks if task.kind == "oracle"] == [*ablation.SWITCHES, ablation.TUNED_PLAIN]
    assert not [task for task in ablation.plan(small_setup(tmp_path, oracle=False)) if task.kind == "oracle"]


def test_the_table_pairs_equal_seeds_and_shows_the_paper_beside(tmp_path: Path) -> None:
    setup = small_setup(tmp_path, methods=("full", "without all"))
    tasks = ablation.plan(setup)
    configs = {(task.kind, task.method): task.config for task in tasks}

    def cell(method: str, seed: int, **values: object) -> dict[str, str]:
        kind = str(values.get("kind", "accuracy"))
        return row(method=method, seed=seed, config=configs[kind, method], **values)

    rows = [cell("full", seed, test=0.70 + 0.01 * seed) for seed in range(3)]
    rows += [cell("without all", seed, test=0.69 + 0.01 * seed) for seed in (2, 1)]
    rows += [cell("full", 0, kind="oracle", oracle=0.75), row(method="full", seed=9, test=0.1, config="other")]
    (table,) = ablation.render(Results(tasks, rows), setup)
    text = table.markdown()
    assert "| 73.5 | +4.2 | 71.00 | 1.00 | 3 | -2.50 | – | +1.00 [+1.00, +1.00] (n=2) | – | gain | 75.00 |" in text
    assert "| without all | 69.3 | – | 70.50 | 0.71 | 2 | +1.20 | – | – | – | – | – |" in text
    assert "Oracle: the highest test accuracy" in text
    assert "- Oracle passes were made for 'full' only; a dash is a pass that was not made." in text


def test_the_note_on_the_oracle_says_where_there_are_passes(tmp_path: Path) -> None:
    setup = small_setup(tmp_path, datasets=("cora", "citeseer"))
    tasks = ablation.plan(setup)
    wanted = {("full", "cora"), ("full", "citeseer"), ("without all", "citeseer")}
    rows = [
        row(kind="oracle", method=task.method, dataset=task.dataset, config=task.config, oracle=0.5)
        for task in tasks
        if task.kind == "oracle" and (task.method, task.dataset) in wanted
    ]
    said = ablation.render(Results(tasks, rows), setup)[-1].markdown()
    assert "Oracle passes were made for 'full', 'without all' (Citeseer) only;" in said
    assert "No oracle pass was made;" in ablation.render(Results(tasks, []), setup)[-1].markdown()


def test_a_gain_on_test_nodes_alone_is_within_noise(tmp_path: Path) -> None:
    setup = small_setup(tmp_path, methods=("full", "without all"), oracle=False)
    tasks = ablation.plan(setup)
    higher = {"full": {"test": 0.02, "unseen": -0.02}, "without all": {"test": 0.0, "unseen": 0.0}}
    rows = [
        row(method=task.method, seed=seed, config=task.config, unseen_groups=GROUPS)
        | {column: str(0.7 + shift + 0.01 * seed) for column, shift in higher[task.method].items()}
        for task in tasks
        for seed in range(3)
    ]
    (table,) = ablation.render(Results(tasks, rows), setup)
    full = dict(zip(table.header, table.rows[0], strict=True))
    assert full["gain, test"].startswith("+2.00 [+2.00")
    assert full["gain, others"].startswith("-2.00 [-2.00")
    assert (full["others"], full["verdict"]) == ("69.00", "within noise")
    for each in rows:
        each["test_groups"] = ""
    (old,) = ablation.render(Results(tasks, rows), setup)
    assert old.rows[0][-2] == "seeds only", "rows of an earlier version know no nodes"


def test_the_literal_reading_is_measured_only_where_it_is_named(tmp_path: Path) -> None:
    def seeds(**changes: object) -> tuple[int, ...] | None:
        tasks = ablation.plan(small_setup(tmp_path, runs=50, **changes))
        (paper,) = (task for task in tasks if task.method == ablation.PAPER)
        assert paper.settings.training.steps == 2000
        return paper.seeds

    assert seeds() == ()
    assert seeds(methods=(ablation.PAPER,)) == (0, 1, 2)
