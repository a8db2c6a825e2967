from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from nodewise.core.errors import InputError
from nodewise.core.folder import RunFolder


@dataclass(frozen=True)
class Settings:
    alpha: float = 0.9


def contents(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


@pytest.fixture
def earlier(tmp_path: Path) -> RunFolder:
    run = RunFolder(tmp_path / "run")
    run.path.mkdir()
    run.write_config(Settings(0.1))
    run.report.write_text("old page")
    return run


def test_every_path_lies_in_the_folder_under_its_listed_name(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    paths = [
        run.config,
        run.embeddings,
        run.weights,
        run.metrics,
        run.environment,
        run.labels,
        run.held_out,
        run.features,
        run.report,
    ]
    assert [path.name for path in paths] == list(RunFolder.NAMES)
    assert all(path.parent == tmp_path for path in paths)


class TestForeign:
    """What may be replaced: nothing, an empty folder, or a run that says it is ours."""

    def test_nothing_and_an_empty_folder_are_free(self, tmp_path: Path) -> None:
        RunFolder(tmp_path / "a" / "b").refuse_foreign()
        RunFolder(tmp_path).refuse_foreign()

    @pytest.mark.parametrize("names", [[name] for name in RunFolder.NAMES] + [[*RunFolder.NAMES], ["thesis.tex"]])
    def test_files_of_ones_own_are_not_a_run_whatever_their_names(self, tmp_path: Path, names: list[str]) -> None:
        for name in names:
            (tmp_path / name).write_text("{}")
        with pytest.raises(InputError) as refused:
            RunFolder(tmp_path).refuse_foreign()
        assert refused.value.code == "foreign-folder"

    def test_a_run_is_ours_with_notes_in_it(self, earlier: RunFolder) -> None:
        earlier.write_environment()
        (earlier.path / "notes.txt").write_text("mine")
        earlier.refuse_foreign()

    def test_a_run_from_before_there_was_a_format_is_ours(self, earlier: RunFolder) -> None:
        facts = {"versions": {"nodewise": "0.1.0"}, "embeddings": {"nodes": 3, "dimensions": 2}}
        earlier.environment.write_text(json.dumps(facts))
        with pytest.raises(InputError, match="not a run's"):
            earlier.refuse_foreign()
        earlier.embeddings.write_bytes(b"")
        earlier.refuse_foreign()

    @pytest.mark.parametrize(
        "content", ["{", "[]", '{"versions": "1"}', '{"versions": {"node": "20"}}', '"nodewise-run"']
    )
    def test_another_environment_is_not_ours(self, earlier: RunFolder, content: str) -> None:
        earlier.environment.write_text(content)
        earlier.embeddings.write_bytes(b"")
        assert not earlier.is_ours()

    def test_a_file_and_a_link_to_nowhere_are_refused(self, tmp_path: Path) -> None:
        (tmp_path / "run").write_text("")
        with pytest.raises(InputError, match="run: is a file; name a folder"):
            RunFolder(tmp_path / "run").refuse_foreign()
        (tmp_path / "link").symlink_to(tmp_path / "absent")
        with pytest.raises(InputError, match="link: is a link to nowhere; name a folder"):
            RunFolder(tmp_path / "link").refuse_foreign()


class TestOpen:
    def test_a_run_is_opened(self, earlier: RunFolder) -> None:
        assert RunFolder.open(str(earlier.path)) == earlier

    def test_a_missing_run_is_refused_with_the_remedy(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="no such run folder; make one with 'nodewise embed GRAPH -o"):
            RunFolder.open(tmp_path / "run")

    def test_any_other_folder_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="not a run folder: it has no config"):
            RunFolder.open(tmp_path)


class TestRecords:
    def test_metrics_come_back_in_order(self, tmp_path: Path) -> None:
        run = RunFolder(tmp_path)
        assert run.read_metrics() == []
        run.append_metrics({"step": 1, "loss": np.float32(0.5)})
        run.append_metrics({"step": 2, "loss": float("nan"), "note": "two\nlines"})
        assert run.read_metrics() == [
            {"step": 1, "loss": 0.5},
            {"step": 2, "loss": None, "note": "two\nlines"},
        ]
        assert len(run.metrics.read_text().splitlines()) == 2

    def test_a_line_cut_off_by_a_crash_is_left_out(self, tmp_path: Path) -> None:
        run = RunFolder(tmp_path)
        run.append_metrics({"step": 1})
        with run.metrics.open("a") as file:
            file.write('{"step": 2, "lo')
        assert run.read_metrics() == [{"step": 1}]

    def test_a_broken_line_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "metrics.jsonl").write_text('{"step": 1}\nnonsense\n')
        with pytest.raises(InputError, match=r"metrics\.jsonl, line 2: not JSON"):
            RunFolder(tmp_path).read_metrics()

    def test_the_environment_is_written_as_json(self, tmp_path: Path) -> None:
        run = RunFolder(tmp_path)
        assert run.read_environment() == {}
        run.write_environment(graph={"nodes": np.int64(5)})
        assert json.loads(run.environment.read_text())["versions"]["numpy"] == np.__version__
        assert run.read_environment()["graph"] == {"nodes": 5}

    def test_a_broken_environment_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "environment.json").write_text("{")
        with pytest.raises(InputError, match=r"environment\.json: not JSON"):
            RunFolder(tmp_path).read_environment()
