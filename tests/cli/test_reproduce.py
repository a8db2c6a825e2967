from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.command_line import Nodewise

from nodewise.core import config
from nodewise.methods.settings import Settings
from nodewise.reproduce.catalog import KINDS
from nodewise.reproduce.setup import reduced

OURS = ("--methods", "full,without all", "--runs", "1", "--device", "cpu", "--no-oracle", "--datasets", "citeseer")


@pytest.fixture
def configs(folder: Path) -> Path:
    """Small settings for Citeseer where the command looks for them unasked."""
    small = config.override(
        reduced(Settings()), ["encoder.dimension=8", "training.steps=1", "sampling.class_collision.clusterings=2"]
    )
    (folder / "configs" / "plain").mkdir(parents=True)
    for name in ("citeseer.toml", "plain/citeseer.toml"):
        (folder / "configs" / name).write_text(config.to_toml(small))
    return folder / "configs"


def test_the_ablation_of_the_bundled_graph(nodewise: Nodewise, configs: Path) -> None:
    first = nodewise("reproduce", "ablation", "-o", "out", *OURS)
    assert first.code == 0, first.err
    assert "| variant | printed |" in first.out
    assert "ablation: 0 of 2 cells are there; 2 to run" in first.err
    assert Path("out/ablation/ablation.tex").is_file()
    assert "not measured yet" in Path("out/claims.md").read_text()

    again = nodewise("reproduce", "ablation", "-o", "out", *OURS, "--json", "--quiet")
    assert (again.code, again.err) == (0, "")
    with Path("out/ablation/rows.csv").open(newline="") as file:
        assert json.loads(again.out) == list(csv.DictReader(file))

    more = nodewise("reproduce", "ablation", "-o", "out", *OURS[:2], *OURS[4:], "--only-tables", "--runs", "3")
    assert more.code == 0
    assert "ablation: 4 cells are not measured yet" in more.err
    assert more.out == first.out


def test_the_data_sets_need_no_training(nodewise: Nodewise, configs: Path) -> None:
    outcome = nodewise("reproduce", "datasets", "--datasets", "citeseer", "-o", "out")
    assert outcome.code == 0, outcome.err
    assert "| Citeseer | 3,327 | 3,327 | 4,552 | 4,732 |" in outcome.out
    assert Path("out/datasets/datasets.csv").is_file()


def test_without_configs_the_defaults_are_used_and_it_says_so(nodewise: Nodewise) -> None:
    outcome = nodewise("reproduce", "ablation", "-o", "out", "--minutes", "0", "--datasets", "citeseer")
    assert outcome.code == 0, outcome.err
    assert "runs with its default settings" in outcome.err
    for given in (("datasets",), ("table2", "--methods", "lp", "--minutes", "0")):
        other = nodewise("reproduce", *given, "-o", "out", "--datasets", "citeseer")
        assert other.code == 0, other.err
        assert "default settings" not in other.err, "our method does not run"


def test_tables_are_not_emptied_by_other_settings_or_for_want_of_rows(
    nodewise: Nodewise, configs: Path, refused: Callable[..., str]
) -> None:
    assert nodewise("reproduce", "ablation", "-o", "out", *OURS).code == 0
    before = Path("out/ablation/ablation.md").read_bytes()
    again = ("--only-tables", "--datasets", "citeseer", "--device", "cpu")
    assert "no rows of ablation" in refused("reproduce", "ablation", "-o", "elsewhere", *again)
    assert not Path("elsewhere").exists()
    configs.rename("moved")
    said = refused("reproduce", "ablation", "-o", "out", *again)
    assert "rows are of other settings" in said
    assert Path("out/ablation/ablation.md").read_bytes() == before
    assert nodewise("reproduce", "ablation", "-o", "out", *OURS, *again[:1], "--configs", "moved").code == 0
    assert Path("out/ablation/ablation.md").read_bytes() == before


def test_a_log_says_how_far_it_is(nodewise: Nodewise, configs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nodewise.core.progress._SECONDS_BETWEEN_LINES", 0.0)
    assert "nodewise: ablation: 1 of 2, " in nodewise("reproduce", "ablation", "-o", "out", *OURS).err
    quiet = nodewise("reproduce", "ablation", "-o", "again", *OURS, "--quiet")
    assert (quiet.code, quiet.err) == (0, "")


def test_data_sets_out_of_reach_are_left_out(nodewise: Nodewise, monkeypatch: pytest.MonkeyPatch) -> None:
    def offline(*given: object, **named: object) -> None:
        raise OSError("no network")

    monkeypatch.setattr("urllib.request.urlopen", offline)
    some = nodewise("reproduce", "datasets", "-o", "out")
    assert some.code == 0, some.err
    assert "| Citeseer | 3,327 |" in some.out
    assert "left out: Cora, Pubmed." in some.out
    assert "nodewise: cora is left out: cannot download" in some.err
    Path("out/datasets/datasets.md").write_text("all three")
    again = nodewise("reproduce", "datasets", "-o", "out", "--only-tables")
    assert (again.code, again.out) == (0, "all three"), again.err
    none = nodewise("reproduce", "datasets", "-o", "none", "--datasets", "cora")
    assert none.code == 2
    assert not Path("none/datasets").exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("ablatoin",), "did you mean 'ablation'"),
        (("ablation", "--datasets", "citseer"), "did you mean 'citeseer'"),
        (("ablation", "--datasets", ","), "a list of names is empty"),
        (("ablation", "--methods", "ful"), "did you mean 'full'"),
        (("table2", "--methods", "nodewize"), "did you mean 'nodewise'"),
        (("all", "--methods", "full"), "run 'all' without it"),
        (("ablation", "--configs", "nowhere"), "nowhere/cora.toml: no such file"),
        (("ablation", "--device", "abacus"), "'abacus' cannot be used"),
    ],
)
def test_what_cannot_be_run(given: tuple[str, ...], said: str, refused: Callable[..., str], configs: Path) -> None:
    for name in ("cora", "pubmed"):
        for part in ("", "plain/"):
            (configs / f"{part}{name}.toml").write_text((configs / "citeseer.toml").read_text())
    assert said in refused("reproduce", *given, "-o", "out", "--quiet")


def test_failed_cells_end_the_command_as_our_fault(
    nodewise: Nodewise, configs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: object) -> None:
        raise RuntimeError("no memory left")

    monkeypatch.setitem(KINDS, "accuracy", fail)
    outcome = nodewise("reproduce", "ablation", "-o", "out", *OURS)
    assert outcome.code == 1
    assert "2 cells failed, such as full on citeseer in ablation: RuntimeError: no memory left" in outcome.err
    assert Path("out/ablation/ablation.md").is_file()


@pytest.mark.slow
def test_everything_quickly(nodewise: Nodewise) -> None:
    outcome = nodewise("reproduce", "all", "--quick", "-o", "out", "--device", "cpu")
    assert outcome.code == 0, outcome.err
    for name in ("datasets", "table2", "ablation", "parameters", "figure", "strategies", "inductive"):
        assert Path(f"out/{name}/{name}.md").is_file()
    assert "QUICK" in Path("out/claims.md").read_text()


@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed"])
def test_the_committed_configs_can_be_read(name: str) -> None:
    root = Path(__file__).resolve().parents[2] / "configs"
    for path in (root / f"{name}.toml", root / "plain" / f"{name}.toml"):
        assert config.load_toml(Settings, path).training.steps > 0
    assert config.load_toml(Settings, root / f"{name}.toml").sampling.collision
    assert not config.load_toml(Settings, root / "plain" / f"{name}.toml").sampling.collision


@pytest.mark.parametrize(
    "name",
    ["out/claims.md", "out/claims.tex", "out/datasets/datasets.md", "out/datasets/datasets.csv", "out/datasets/a.txt"],
)
def test_files_of_the_users_own_are_not_replaced(refused: Callable[..., str], folder: Path, name: str) -> None:
    (folder / name).parent.mkdir(parents=True)
    (folder / name).write_text("years of work")
    assert "foreign-folder" in refused("reproduce", "datasets", "-o", "out", "--datasets", "citeseer")
    assert (folder / name).read_text() == "years of work"


@pytest.mark.parametrize("output", ["mine.txt", "mine.txt/below"])
def test_a_file_is_no_folder_for_results(refused: Callable[..., str], folder: Path, output: str) -> None:
    Path("mine.txt").write_text("mine")
    said = refused("reproduce", "table2", "--datasets", "citeseer", "-o", output)
    assert said == "nodewise: error: mine.txt: is no folder, which the results need; name another [cannot-write]\n"
