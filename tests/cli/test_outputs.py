"""Nothing of the user's is lost: what commands refuse to write over, and how they print what files hold."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.command_line import SMALL, python

import nodewise as package
from nodewise.core.errors import InputError
from nodewise.core.folder import RunFolder
from nodewise.methods.node_embedder import NodeEmbedder
from nodewise.methods.settings import Settings
from nodewise.read.read import read_graph

Nodewise = Callable[..., Any]
Refused = Callable[..., str]
Embedded = Callable[..., Path]

HOSTILE = "\x1b]0;title\x07\nnodewise: error: fake"


class TestRuns:
    @pytest.mark.parametrize("name", RunFolder.NAMES)
    def test_a_file_named_like_a_runs_is_the_users(self, name: str, ring: Path, refused: Refused) -> None:
        Path("mine").mkdir()
        Path("mine", name).write_text("years of work")
        assert "mine: holds files that are not a run's" in refused("embed", "edges.csv", "-o", "mine", *SMALL)

    def test_the_folder_of_the_inputs(self, ring: Path, nodewise: Nodewise, refused: Refused) -> None:
        assert nodewise("config", "--init", "config.toml").code == 0
        for name in ("labels.parquet", "report.html", "metrics.jsonl"):
            Path(name).write_text("mine")
        refused("embed", "edges.csv", "--config", "config.toml", "-o", ".", *SMALL)

    def test_an_input_in_the_run_is_not_replaced(self, embedded: Embedded, refused: Refused) -> None:
        embedded()
        for given in (("--labels", "run/labels.parquet"), ("--config", "run/config.toml")):
            assert "is one of the inputs" in refused("embed", "edges.csv", *given, "-o", "run", *SMALL)
        Path("run", "metrics.jsonl").write_text(Path("edges.csv").read_text())
        assert "is one of the inputs" in refused("embed", "run/metrics.jsonl", "-o", "run", *SMALL)

    def test_a_run_is_replaced_and_notes_in_it_stay(self, embedded: Embedded) -> None:
        run = embedded()
        (run / "notes.txt").write_text("mine")
        embedded("run", "--seed", 1)
        assert RunFolder(run).read_environment()["seed"] == 1
        assert (run / "notes.txt").read_text() == "mine"

    def test_a_run_from_before_there_was_a_mark_opens_and_is_replaced(
        self, embedded: Embedded, nodewise: Nodewise
    ) -> None:
        run = RunFolder(embedded())
        about = run.read_environment()
        del about["format"], about["version"]
        run.environment.write_text(json.dumps(about))
        assert nodewise("neighbors", "run", "--node", "paper_3").code == 0
        embedded("run", "--seed", 1)
        assert run.read_environment()["format"] == "nodewise-run"

    def test_a_name_with_two_dots(self, embedded: Embedded) -> None:
        embedded("absent/../run")
        assert RunFolder.open("run").is_ours()

    def test_a_link_to_nowhere(self, ring: Path, refused: Refused) -> None:
        Path("run").symlink_to("absent")
        assert "run: is a link to nowhere" in refused("embed", "edges.csv", "-o", "run", *SMALL)


class TestSave:
    @pytest.fixture
    def model(self, ring: Path) -> NodeEmbedder:
        settings = package.core.config.override(Settings(), [each for each in SMALL if "=" in each])
        return NodeEmbedder(settings, device="cpu").fit(read_graph("edges.csv", features="nodes.csv"))

    def test_onto_what_is_not_a_run(self, model: NodeEmbedder) -> None:
        with pytest.raises(InputError, match=r"edges\.csv: is a file; name a folder"):
            model.save("edges.csv")
        Path("mine").mkdir()
        Path("mine", "embeddings.parquet").write_text("mine")
        with pytest.raises(InputError, match="mine: holds files that are not a run's"):
            model.save("mine")
        assert Path("mine", "embeddings.parquet").read_text() == "mine"

    def test_in_place_of_a_run(self, model: NodeEmbedder, embedded: Embedded, nodewise: Nodewise) -> None:
        model.save(embedded())
        assert {path.name for path in Path("run").iterdir()} == {
            *("config.toml", "embeddings.parquet", "weights.safetensors", "environment.json", "metrics.jsonl")
        }
        embedded()  # and a command may replace what was saved
        assert Path("run", "labels.parquet").is_file()


class TestFiles:
    @pytest.fixture
    def special(self, folder: Path) -> dict[str, str]:
        os.mkfifo("pipe.csv")
        Path("link.csv").symlink_to("absent")
        Path("folder.csv").mkdir()
        Path("device.csv").symlink_to(os.devnull)
        return {
            "pipe.csv": "a device or a pipe",
            "device.csv": "a device or a pipe",
            "link.csv": "a link to nowhere",
            "folder.csv": "is a folder",
            "absent/a.csv": "does not exist; create it first",
        }

    def test_only_regular_files_are_written(
        self, embedded: Embedded, special: dict[str, str], nodewise: Nodewise
    ) -> None:
        embedded()
        for name, reason in special.items():
            for command in (("report", "run"), ("classify", "run", "--labels", "labels.csv")):
                outcome = nodewise(*command, "-o", name)
                assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
                assert reason in outcome.err
            vectors = Path(name).with_suffix(".parquet")
            if os.path.lexists(name):
                Path(name).rename(vectors)
            outcome = nodewise("transform", "run", "edges.csv", "-f", "nodes.csv", "-o", vectors)
            assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
            assert reason in outcome.err
        assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)
        assert stat.S_ISFIFO(Path("pipe.parquet").stat().st_mode)

    def test_an_empty_name(self, embedded: Embedded, refused: Refused) -> None:
        embedded()
        assert refused("report", "run", "-o", "").endswith("[missing-file]\n")

    @pytest.mark.parametrize("name", RunFolder.NAMES)
    def test_a_runs_own_files(self, name: str, embedded: Embedded, nodewise: Nodewise, refused: Refused) -> None:
        embedded()
        if name == "report.html":
            assert nodewise("report", "run", "-o", "run/report.html").code == 0
            return
        assert "would become a part of the run in run" in refused("report", "run", "-o", f"run/{name}")
        if name.endswith(".parquet"):
            new = ("transform", "run", "edges.csv", "-f", "nodes.csv")
            refused(*new, "-o", f"run/{name}")
            refused("classify", "run", "-l", "nodes.csv", "--label-column", "a", "-o", f"run/{name}")

    def test_the_graph_that_a_run_remembers(self, embedded: Embedded, refused: Refused) -> None:
        embedded()
        for name in ("edges.csv", "nodes.csv", "labels.csv"):
            assert "is of the graph that run was made from" in refused("report", "run", "-o", name)
            Path("other.csv").write_bytes(Path("labels.csv").read_bytes())
            assert "made from" in refused("classify", "run", "--labels", "other.csv", "-o", name)

    def test_files_of_a_store_and_of_shards(self, embedded: Embedded, nodewise: Nodewise, refused: Refused) -> None:
        embedded()
        assert nodewise("convert", "edges.csv", "-f", "nodes.csv", "-o", "g.store").code == 0
        assert nodewise("transform", "run", "g.store", "--shards", "-o", "vectors").code == 0
        for name in ("g.store/manifest.json", "g.store/page.html", "vectors/part-000000.parquet"):
            assert "would become a part of the store" in refused("report", "run", "-o", name)
        Path("site").mkdir()
        Path("site", "manifest.json").write_text('{"name": "a site of ones own"}')
        assert nodewise("report", "run", "-o", "site/page.html", "--projection", "pca").code == 0

    def test_report_asks_first_whether_it_may_write(
        self, embedded: Embedded, nodewise: Nodewise, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        embedded()
        monkeypatch.setattr(os, "access", lambda path, mode, **options: not mode & os.W_OK)
        monkeypatch.setattr("nodewise.runs.page.read_subject", lambda *arguments, **options: pytest.fail("too late"))
        outcome = nodewise("report", "run", "-o", "page.html")
        assert (outcome.code, outcome.err) == (
            2,
            "nodewise: error: cannot write page.html: permission denied [cannot-write]\n",
        )


class TestFolders:
    """Stores and shards are replaced as a whole."""

    @pytest.fixture
    def commands(self, embedded: Embedded, nodewise: Nodewise) -> dict[str, tuple[str, ...]]:
        embedded()
        made = {
            "g.store": ("convert", "edges.csv", "-f", "nodes.csv", "-o", "g.store"),
            "vectors": ("transform", "run", "edges.csv", "-f", "nodes.csv", "--shards", "-o", "vectors"),
        }
        for _ in range(2):  # an earlier result makes way
            assert [nodewise(*command).code for command in made.values()] == [0, 0]
        return made

    @pytest.mark.parametrize("name", ["g.store", "vectors"])
    def test_foreign_files_stay(self, name: str, commands: dict[str, tuple[str, ...]], refused: Refused) -> None:
        Path(name, "notes.txt").write_text("mine")
        assert f"{name}: holds 'notes.txt', which is not of a" in refused(*commands[name], "-q")

    @pytest.mark.parametrize(("name", "manifest"), [("g.store", "manifest.json"), ("vectors", "embeddings.json")])
    def test_a_manifest_of_something_else(
        self, name: str, manifest: str, commands: dict[str, tuple[str, ...]], refused: Refused
    ) -> None:
        Path(name, manifest).write_text("{}")
        assert f"{name}: exists and is not a" in refused(*commands[name], "-q")

    @pytest.mark.parametrize(("name", "file"), [("g.store", "pairs-0.bin"), ("vectors", "part-000000.parquet")])
    def test_a_link_planted_in_the_hidden_folder(
        self, name: str, file: str, commands: dict[str, tuple[str, ...]], refused: Refused
    ) -> None:
        Path("letter.txt").write_text("dear")
        Path(f".{name}.partial").mkdir()
        Path(f".{name}.partial", file).symlink_to(Path("letter.txt").resolve())
        assert f".{name}.partial: holds links or folders" in refused(*commands[name], "-q")

    @pytest.mark.parametrize("ending", ["partial", "partial.old"])
    @pytest.mark.parametrize("name", ["g.store", "vectors"])
    def test_a_hidden_folder_of_the_user(
        self, name: str, ending: str, commands: dict[str, tuple[str, ...]], refused: Refused
    ) -> None:
        Path(f".{name}.{ending}").mkdir()
        Path(f".{name}.{ending}", "notes.txt").write_text("mine")
        said = refused(*commands[name], "-q")
        assert f".{name}.{ending}: holds files that are not ours" in said
        assert said.endswith("[foreign-folder]\n")


class TestNames:
    """Names of files that are not UTF-8 are refused before the work, or work."""

    NAME = os.fsdecode(b"no\xe9")

    def test_every_argument(self, embedded: Embedded, refused: Refused) -> None:
        embedded()
        Path(f"{self.NAME}.csv").write_bytes(Path("nodes.csv").read_bytes())
        for arguments in (
            ("embed", "edges.csv", "-o", self.NAME),
            ("embed", "edges.csv", "-f", f"{self.NAME}.csv", "-o", "other"),
            ("classify", "run", "-l", "labels.csv", "-o", f"{self.NAME}.csv"),
        ):
            assert r"no\udce9" in refused(*arguments)

    def test_the_folder_that_a_command_runs_in(
        self, ring: Path, nodewise: Nodewise, embedded: Embedded, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        place = ring / self.NAME
        place.mkdir()
        for name in ("edges.csv", "nodes.csv", "labels.csv"):
            (ring / name).rename(place / name)
        monkeypatch.chdir(place)
        embedded()
        source = RunFolder(Path("run")).read_environment()["graph"]["source"]
        assert Path(source["graph"]) == place / "edges.csv"
        assert nodewise("report", "run", "--projection", "pca").code == 0
        assert nodewise("evaluate", "run", "--split", "random:5x5x5", "--repeats", 1).code == 0


class TestStreams:
    @pytest.mark.parametrize("env", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}])
    def test_ids_of_any_language_in_any_encoding(self, env: dict[str, str], folder: Path, nodewise: Nodewise) -> None:
        names = ["first", *(f"no\xe9 {i}" for i in range(1, 30))]
        ends = ((names[i], names[(i + step) % 30]) for i in range(30) for step in (1, 2))
        Path("edges.csv").write_text("".join(f"{a},{b}\n" for a, b in ends), encoding="utf-8")
        assert nodewise("embed", "edges.csv", "-o", "run", *SMALL).code == 0
        table = python("neighbors", "run", "--node", "first", env=env)
        assert (table.returncode, table.stderr) == (0, "")
        assert r"no\xe9 1" in table.stdout
        found = json.loads(python("neighbors", "run", "--node", "first", "--json", env=env).stdout)
        assert {each["id"] for each in found["neighbors"]} <= {*names}
        refusal = python("neighbors", "run", "--node", "no\xe9 1", env={**env, "LC_ALL": "C", "PYTHONUTF8": "0"})
        assert (refusal.returncode, refusal.stderr.count("\n")) == (2, 1)
        assert "PYTHONUTF8=1" in refusal.stderr

    @pytest.mark.parametrize("closed", [(1,), (2,), (0, 1, 2)])
    def test_closed_streams(self, closed: tuple[int, ...], ring: Path) -> None:
        def close() -> None:
            for number in closed:
                os.close(number)

        options = {"preexec_fn": close, "stdin": subprocess.DEVNULL}
        assert python("inspect", "edges.csv", **options).returncode == 0
        assert python("inspect", "absent.csv", **options).returncode == 2
        assert Path("edges.csv").read_text().startswith("source,target\npaper_0")

    def test_a_full_stderr(self, ring: Path) -> None:
        if not Path("/dev/full").exists():
            pytest.skip("this system has no /dev/full")
        with Path("/dev/full").open("w") as full:
            done = python("inspect", "edges.csv", stderr=full)  # which has notes to tell
            assert (done.returncode, "nodes" in done.stdout) == (0, True)
            assert python("inspect", "absent.csv", stderr=full).returncode == 2

    def test_a_limit_of_memory(self, ring: Path) -> None:
        import resource

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (300_000_000, 300_000_000))

        for command in (("embed", "edges.csv", "-o", "run"), ("methods",), ("strategies",), ("config",)):
            done = python(*command, preexec_fn=limit)
            assert (done.returncode, done.stderr.count("\n")) == (1, 1)
            assert "not enough memory to start; raise the limit of 300,000,000 bytes" in done.stderr
        for light in ((), ("--version",), ("embed", "--help")):
            assert python(*light, preexec_fn=limit).returncode == 0

    @pytest.mark.skipif(torch.version.cuda is not None, reason="CUDA's libraries take more addresses")
    @pytest.mark.parametrize("threads", ["1", "2"])
    def test_the_limit_of_memory_that_is_recommended_is_enough(self, threads: str, ring: Path) -> None:
        import resource

        def run(limit: int, *command: str) -> subprocess.CompletedProcess[str]:
            env = {"OMP_NUM_THREADS": threads}
            return python(*command, env=env, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))

        trained = (
            "embed",
            "edges.csv",
            "-f",
            "nodes.csv",
            "-l",
            "labels.csv",
            "-o",
            "run",
            "-q",
            "-m",
            "dgi",
            "-s",
            "epochs=2",
        )
        refusal = run(10**9, *trained).stderr
        assert refusal.endswith("[too-little-memory]\n")
        recommended = int(refusal.partition("(ulimit -v) to ")[2].partition(" ")[0].replace(",", ""))
        for command in (trained, ("evaluate", "run", "-q")):
            done = run(recommended, *command)
            assert (done.returncode, done.stderr) == (0, ""), command


class TestEscapes:
    """Text of a file neither drives the terminal nor begins a line."""

    def clean(self, text: str) -> None:
        assert all(character.isprintable() or character == "\n" for character in text)
        assert not any(line.startswith("nodewise: error: fake") for line in text.splitlines())

    def test_ids_classes_and_columns(self, folder: Path, nodewise: Nodewise) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        names = [f"{HOSTILE} {i}" for i in range(30)]
        ends = [(names[i], names[(i + step) % 30]) for i in range(30) for step in (1, 2)]
        pq.write_table(pa.table({"source": [a for a, _ in ends], "target": [b for _, b in ends]}), "edges.parquet")
        pq.write_table(pa.table({"id": names, HOSTILE: range(30), "x": range(30)}), "nodes.parquet")
        pq.write_table(pa.table({"id": names, "label": [f"{HOSTILE} {i % 2}" for i in range(30)]}), "labels.parquet")
        files = ("edges.parquet", "-f", "nodes.parquet", "-l", "labels.parquet")
        for arguments in (
            ("inspect", *files),
            ("embed", *files, "-o", "run", *SMALL),
            ("neighbors", "run", "--node", names[3]),
            ("evaluate", "run", "--split", "random:5x5x5", "--repeats", 1),
            ("convert", *files, "-o", "g.store"),
        ):
            outcome = nodewise(*arguments)
            assert outcome.code == 0, outcome.err
            self.clean(outcome.out + outcome.err)

    def test_notes_of_an_array_file(self, folder: Path, nodewise: Nodewise) -> None:
        from dataclasses import replace

        from nodewise.datasets.planted import block_model

        replace(block_model(20, num_classes=2, num_features=4), notes=(HOSTILE,)).to_npz("graph.npz")
        for arguments in (("inspect", "graph.npz"), ("convert", "graph.npz", "-o", "g.store"), ("inspect", "g.store")):
            outcome = nodewise(*arguments)
            assert outcome.code == 0
            assert r"\x1b]0;title\x07" in outcome.err or arguments[0] == "convert"
            self.clean(outcome.out + outcome.err)
