"""Nothing that nodewise opens can run code, read or write another file, or exhaust the machine.

Each test hands over a file that would do so if it could; `canary` is what it would leave.
"""

from __future__ import annotations

import ast
import copyreg
import io
import os
import pickle
import pickletools
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nodewise
from nodewise.cli.main import main
from nodewise.core import config
from nodewise.core.errors import InputError
from nodewise.core.parts import Unloaded
from nodewise.core.registry import FileText
from nodewise.datasets import planetoid_files
from nodewise.datasets.planetoid_pickle import read_array, read_lists, read_matrix
from nodewise.datasets.registry import load_dataset
from nodewise.methods.node_embedder import NodeEmbedder
from nodewise.methods.settings import Settings
from nodewise.read.npz import load_npy, load_npz
from nodewise.read.read import read_graph
from nodewise.vectors.embeddings import read_embeddings
from tests.command_line import of_an_earlier_version
from tests.fuzz import seeds
from tests.fuzz.corpus import CANARY, Bomb, object_array, safetensors_file

SOURCE = Path(nodewise.__file__).parent
SMALL = ("--set", "training.steps=2", "--set", "training.batch_size=4", "--set", "encoder.dimension=8", "--quiet")
OWN = f"""
open({CANARY!r}, "w").close()
from nodewise.sampling.choose.all_in_batch import AllInBatch
class Strategy(AllInBatch): pass
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty working folder, where a module `evil_nodewise_test` lies that must not be imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    Path("evil_nodewise_test.py").write_text(OWN)
    Path("edges.csv").write_bytes(seeds.EDGES_CSV)
    Path("labels.csv").write_bytes(seeds.LABELS_CSV)
    yield tmp_path
    sys.modules.pop("evil_nodewise_test", None)


def ran() -> bool:
    return Path(CANARY).exists()


class TestSource:
    """The source itself has no call that runs what a file says."""

    TREES: ClassVar = {path: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py")}
    FORBIDDEN = frozenset(("eval", "exec", "compile", "__import__"))

    def test_no_eval_or_exec(self) -> None:
        calls = [
            f"{path.name}:{node.lineno}"
            for path, tree in self.TREES.items()
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in self.FORBIDDEN
        ]
        assert calls == []

    def test_pickle_is_imported_by_the_restricted_reader_alone(self) -> None:
        unsafe = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}
        users = {
            path.name
            for path, tree in self.TREES.items()
            for node in ast.walk(tree)
            if (isinstance(node, ast.Import) and any(name.name.split(".")[0] in unsafe for name in node.names))
            or (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in unsafe)
        }
        assert users == {"planetoid_pickle.py"}

    def test_arrays_are_loaded_without_pickle_and_weights_never_by_torch(self) -> None:
        for path, tree in self.TREES.items():
            for node in ast.walk(tree):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "load":
                    owner = ast.unparse(node.func.value)
                    assert owner != "torch", f"{path}:{node.lineno}"
                    if owner == "np":
                        given = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
                        assert given.get("allow_pickle") == "False", f"{path}:{node.lineno}"

    def test_processes_are_never_started_through_a_shell(self) -> None:
        for path, tree in self.TREES.items():
            text = ast.unparse(tree)
            assert "shell=True" not in text, path
            assert "os.system" not in text, path


class TestPickles:
    def test_the_bomb_is_a_bomb(self) -> None:
        pickle.loads(pickle.dumps(Bomb()))
        assert ran()

    @pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
    def test_in_an_array(self, protocol: int) -> None:
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, {"descr": "|O", "fortran_order": False, "shape": (1,)})
        data = header.getvalue() + pickle.dumps([Bomb()], protocol)
        Path("a.npy").write_bytes(data)
        with zipfile.ZipFile("a.npz", "w") as archive:
            archive.writestr("edge_index.npy", data)
        for load, name in ((load_npy, "a.npy"), (load_npz, "a.npz")):
            with pytest.raises(InputError, match="never loaded because it could run any code"):
                load(Path(name))
        assert not ran()

    @pytest.mark.parametrize("name", ["e.npy", "e.npz", "v.npy", "f.npy", "l.npy"])
    def test_through_every_reader_of_arrays(self, name: str) -> None:
        content = seeds.npz(edge_index=object_array()) if name.endswith("npz") else seeds.npy(object_array())
        Path(name).write_bytes(content)
        readers: dict[str, Callable[[], object]] = {
            "e": lambda: read_graph(name),
            "v": lambda: read_embeddings(name),
            "f": lambda: read_graph("edges.csv", features=name),
            "l": lambda: read_graph("edges.csv", labels=name),
        }
        with pytest.raises(InputError, match="pickled"):
            readers[name[0]]()
        assert not ran()

    # Every instruction that can name, import or call something, each reaching for the same function.
    _CALL = f"cbuiltins\nexec\n(S\"open('{CANARY}','w')\"\ntR.".encode()
    ROADS: ClassVar = {
        "GLOBAL and REDUCE": _CALL,
        "INST": f"(S\"open('{CANARY}','w')\"\nibuiltins\nexec\n.".encode(),
        "OBJ": f"(cbuiltins\nexec\nS\"open('{CANARY}','w')\"\no.".encode(),
        "STACK_GLOBAL": b"\x80\x04\x8c\x08builtins\x8c\x04exec\x93\x8c\x16open('canary','w') # x\x85R.",
        "NEWOBJ": b"\x80\x02cbuiltins\nexec\n" + b"U\x12open('canary','w')" + b"\x85\x81.",
        "NEWOBJ_EX": b"\x80\x04cbuiltins\nexec\n" + b"U\x12open('canary','w')" + b"\x85}\x92.",
        "BUILD": b"\x80\x02cnumpy\ndtype\n)\x81}U\x0c__setstate__cbuiltins\nexec\nsb.",
        "PERSID": b"Pcanary\n.",
        "a string that names a module": b"\x80\x02cos.path\nos.system\nU\x0ctouch canary\x85R.",
        "a name with spaces": b"cbuiltins exec\nx\n(tR.",
    }

    @pytest.mark.parametrize("data", ROADS.values(), ids=ROADS)
    def test_every_road_in_a_planetoid_pickle(self, data: bytes) -> None:
        for reader in (read_array, read_matrix, read_lists):
            with pytest.raises(InputError, match="refused and not run"):
                reader(data, "ind.evil.x")
        assert not ran()

    def test_the_extension_registry_is_no_way_in(self) -> None:
        copyreg.add_extension("builtins", "exec", 0x7A)
        try:
            for code in (b"\x82\x7a", b"\x83\x7a\x00", b"\x84\x7a\x00\x00\x00"):
                data = b"\x80\x02" + code + b"U\x12open('canary','w')" + b"\x85R."
                assert any(opcode.name.startswith("EXT") for opcode, _, _ in pickletools.genops(data))
                with pytest.raises(InputError, match="holds the instruction EXT"):
                    read_array(data, "ind.evil.x")
        finally:
            copyreg.remove_extension("builtins", "exec", 0x7A)
        assert not ran()

    def test_metadata_of_parquet_is_never_unpickled(self) -> None:
        for storage in (pa.array([1, 2]), pa.array([b"a", b"b"])):
            table = pa.table({"source": [1, 2], "target": [2, 3], "x": storage})
            evil = {"ARROW:extension:name": "arrow.py_extension_type", "ARROW:extension:metadata": pickle.dumps(Bomb())}
            table = table.cast(table.schema.set(2, table.schema.field(2).with_metadata(evil)))
            table = table.replace_schema_metadata({b"pandas": pickle.dumps(Bomb()), b"python": pickle.dumps(Bomb())})
            pq.write_table(table, "e.parquet")
            assert read_graph("e.parquet").num_edges == 2
        assert not ran()

    def test_weights_are_never_unpickled(self, run: Path) -> None:
        (run / "weights.safetensors").write_bytes(pickle.dumps(Bomb()))
        with pytest.raises(InputError, match="not a readable weights file"):
            NodeEmbedder.load(run)
        header = {"__metadata__": {"num_features": "__import__('os')", "seed": "0", "steps": "0"}}
        (run / "weights.safetensors").write_bytes(safetensors_file(header))
        with pytest.raises(InputError, match="should be whole numbers"):
            NodeEmbedder.load(run)
        assert not ran()


@pytest.fixture
def run() -> Path:
    """A run made with a class of the user's own, named by the user; what importing it left is removed."""
    made = ("embed", "edges.csv", "--labels", "labels.csv", "-o", "run", *SMALL)
    assert main([*made, "--set", "sampling.strategy=evil_nodewise_test:Strategy"]) == 0
    assert ran()
    Path(CANARY).unlink()
    del sys.modules["evil_nodewise_test"]
    return Path("run")


class TestCodeInSettings:
    """`module:Class` is how researchers bring their own class: whoever types it means it, a file may not."""

    def test_a_run_is_opened_used_and_scored_without_its_class(
        self, run: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert "evil_nodewise_test:Strategy" in (run / "config.toml").read_text()
        model = NodeEmbedder.load(run)
        assert isinstance(model.settings.sampling, Unloaded)
        assert model.settings.sampling.name == "evil_nodewise_test:Strategy"
        commands = (
            ("transform", "run", "edges.csv", "-o", "new.parquet"),
            ("neighbors", "run", "--node", "a"),
            ("evaluate", "run", "--split", "random:1x1x1", "--labels", "all.csv"),
            ("classify", "run", "-o", "guesses.csv"),
        )
        Path("all.csv").write_text("id,label\na,u\nb,v\nc,u\nd,v\n")
        for command in commands:
            assert main([*command, "--quiet"]) == 0, capsys.readouterr().err
        assert not ran()
        assert "evil_nodewise_test" not in sys.modules

    def test_training_again_from_the_runs_settings_asks_for_the_name(
        self, run: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        capsys.readouterr()
        again = ("embed", "edges.csv", "--config", "run/config.toml", "-o", "again", *SMALL)
        assert main(list(again)) == 2
        assert "would load code, and only a file names it" in capsys.readouterr().err
        assert not ran()
        assert not Path("again").exists()
        assert main([*again, "--set", "sampling.strategy=evil_nodewise_test:Strategy"]) == 0
        assert ran()

    def test_a_loaded_model_does_not_import_it_for_a_new_fit_either(self, run: Path) -> None:
        with pytest.raises(InputError, match="would load code"):
            NodeEmbedder.load(run).fit(read_graph("edges.csv"))
        assert not ran()

    @pytest.mark.parametrize("name", ["os:system", "evil_nodewise_test:Strategy", "antigravity:x"])
    def test_whatever_a_file_names(self, name: str) -> None:
        Path("c.toml").write_text(f'[sampling]\nstrategy = "{name}"\n')
        settings = config.load_toml(Settings, "c.toml")
        for loaded in (settings, config.override(settings, ["training.steps=3"])):
            assert isinstance(loaded.sampling, Unloaded)
            assert isinstance(loaded.sampling.name, FileText)
            with pytest.raises(InputError, match="would load code"):
                NodeEmbedder(loaded).fit(read_graph("edges.csv"))
        assert not ran()
        assert "antigravity" not in sys.modules

    @pytest.mark.parametrize("name", [":", "a:b:c", "antigravity:", "os:system('x')"])
    def test_what_cannot_be_the_name_of_a_class_is_unknown_at_once(self, name: str) -> None:
        Path("c.toml").write_text(f'[sampling]\nstrategy = "{name}"\n')
        with pytest.raises(InputError, match=r"^c\.toml: unknown strategy "):
            config.load_toml(Settings, "c.toml")
        assert not ran()
        assert "antigravity" not in sys.modules

    def test_what_the_user_types_or_writes_in_python_is_not_a_files(self) -> None:
        named = "evil_nodewise_test:Strategy"
        Path("c.toml").write_text('[sampling]\nstrategy = "theirs:Own"\n')
        Path("same.toml").write_text(f'[sampling]\nstrategy = "{named}"\n')
        theirs, same = config.load_toml(Settings, "c.toml"), config.load_toml(Settings, "same.toml")
        assert not ran()
        for before in (Settings(), theirs, same):
            loaded = config.override(before, [f"sampling.strategy={named}"]).sampling
            assert type(loaded) is sys.modules["evil_nodewise_test"].Strategy
            assert loaded.name == named
        assert "theirs" not in sys.modules

    def test_a_class_that_was_loaded_is_still_not_a_files(self) -> None:
        named = "evil_nodewise_test:Strategy"
        config.override(Settings(), [f"sampling.strategy={named}"])
        Path("c.toml").write_text(f'[sampling]\nstrategy = "{named}"\n')
        assert isinstance(config.load_toml(Settings, "c.toml").sampling, Unloaded)

    def test_an_encoder_is_held_to_the_same(self, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
        written = (run / "config.toml").read_text()
        usual = f'kind = "{Settings().encoder.name}"'
        assert usual in written
        written = written.replace(usual, 'kind = "evil_nodewise_test:Encoder"')
        (run / "config.toml").write_text(written)
        of_an_earlier_version(run)
        capsys.readouterr()
        with pytest.raises(InputError, match="the encoder 'evil_nodewise_test:Encoder' would load code"):
            NodeEmbedder.load(run)
        assert main(["embed", "edges.csv", "--config", "run/config.toml", "-o", "again", *SMALL]) == 2
        error = capsys.readouterr().err
        assert "would load code, and only a file names it" in error
        assert error.count("\n") == 1
        assert not ran()
        assert not Path("again").exists()

    def test_marked_settings_equal_plain_ones_and_are_written_alike(self) -> None:
        Path("c.toml").write_text(config.to_toml(Settings()))
        loaded = config.load_toml(Settings, "c.toml")
        assert loaded == Settings()
        assert loaded.sampling.name == "adaptive"
        assert config.to_toml(loaded) == config.to_toml(Settings())
        assert pickle.loads(pickle.dumps(loaded)) == loaded  # as worker processes get it
        Path("c.toml").write_text('[sampling]\nstrategy = "mine:Own"\n')
        marked = config.load_toml(Settings, "c.toml")
        assert isinstance(pickle.loads(pickle.dumps(marked)).sampling.name, FileText)
        assert hash(marked.sampling.name) == hash("mine:Own")


class TestPaths:
    NAMES = ("../../x", "..", "/etc/passwd", "cora/../../x", "ind.cora", "cora\0", "~root", "C:\\x", "cora\n", "")

    @pytest.mark.parametrize("name", NAMES)
    def test_a_data_set_is_one_of_three_names(self, name: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        if name.strip() == "cora":
            pytest.skip("white space around a name is forgiven")
        monkeypatch.setattr("urllib.request.urlopen", lambda *_, **__: pytest.fail("asked the network"))
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        with pytest.raises(InputError, match="unknown data set"):
            load_dataset(name)
        assert not (folder / "cache").exists()

    @pytest.mark.parametrize("name", ["../../x", "/etc/passwd", "x/../../etc/passwd"])
    def test_reproduce_takes_no_path_for_a_data_set(self, name: str, capsys: pytest.CaptureFixture[str]) -> None:
        before = sorted(Path.cwd().rglob("*"))
        assert main(["reproduce", "ablation", "--datasets", name, "-o", "out"]) == 2
        assert "data set" in capsys.readouterr().err
        assert sorted(Path.cwd().rglob("*")) == before

    @pytest.mark.parametrize("member", ["../outside.npy", "/tmp/outside.npy", "a/../../outside.npy", "..\\outside.npy"])
    def test_members_of_an_archive_are_names_not_paths(self, member: str, folder: Path) -> None:
        inner = folder / "inner"
        inner.mkdir()
        with zipfile.ZipFile(inner / "e.npz", "w") as archive:
            archive.writestr(member, seeds.npy(np.array([[0, 1], [1, 2]])))
        before = sorted(folder.rglob("*"))
        assert read_graph(inner / "e.npz").num_edges == 2
        assert sorted(folder.rglob("*")) == before

    def test_only_files_with_the_right_sum_are_kept_or_read(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Response(io.BytesIO):
            pass

        monkeypatch.setattr("urllib.request.urlopen", lambda *_, **__: Response(pickle.dumps(Bomb())))
        with pytest.raises(InputError, match="SHA-256 mismatch"):
            planetoid_files.fetch_files("cora", folder / "cache")
        assert list((folder / "cache").iterdir()) == []
        for name in planetoid_files.file_names("cora"):
            (folder / "cache" / name).write_bytes(pickle.dumps(Bomb()))
        with pytest.raises(InputError, match="SHA-256 mismatch"):
            load_dataset("cora", folder / "cache")
        assert not ran()

    @pytest.mark.parametrize("name", ["report.html", "best.html"])
    def test_a_link_planted_where_a_page_goes_is_not_written_through(self, run: Path, name: str) -> None:
        Path("mine.txt").write_text("dear")
        (run / name).symlink_to(Path("mine.txt").resolve())
        assert main(["report", str(run), "-o", str(run / name), "--quiet"]) == 0
        assert Path("mine.txt").read_text() == "dear"
        assert "<html" in (run / name).read_text()

    def test_a_folder_planted_where_a_run_is_made_is_not_cleared(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("mine").mkdir()
        Path("mine/metrics.jsonl").write_text("dear")
        Path("stranger").mkdir()
        Path("stranger/.partial").symlink_to(Path("mine").resolve())
        assert main(["embed", "edges.csv", "-o", "stranger", *SMALL]) == 2
        assert "stranger/.partial: holds links" in capsys.readouterr().err
        assert Path("mine/metrics.jsonl").read_text() == "dear"

    def test_every_file_of_every_data_set_has_a_sum_and_comes_by_https(self) -> None:
        wanted = {file for name in ("cora", "citeseer", "pubmed") for file in planetoid_files.file_names(name)}
        assert set(planetoid_files.SHA256) == wanted
        assert all(len(value) == 64 for value in planetoid_files.SHA256.values())
        assert planetoid_files.BASE_URL.startswith("https://")


class TestDepth:
    """Nesting that would exhaust the stack of a naive reader."""

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("c.toml", b"a = " + b"[" * 100_000),
            ("c.toml", b"a = " + b"{b=" * 100_000),
            ("c.toml", b"[" + b".".join([b"a"] * 20_000) + b"]\n"),
        ],
    )
    def test_settings(self, name: str, content: bytes) -> None:
        Path(name).write_bytes(content)
        with pytest.raises(InputError, match=name):
            config.load_toml(Settings, name)

    def test_a_deep_value_on_the_command_line(self) -> None:
        with pytest.raises(InputError, match="must be a whole number"):
            config.override(Settings(), ["training.steps=" + "[" * 100_000])

    @pytest.mark.parametrize("content", [b"[" * 100_000, b'{"graph":' * 100_000, b'{"graph": 3}', b'{"seed": "x"}'])
    def test_the_records_of_a_run(self, content: bytes, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (run / "environment.json").write_bytes(content)
        capsys.readouterr()
        assert main(["evaluate", "run", "--labels", "labels.csv", "--split", "random:1x1x1", "--quiet"]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_a_message_cannot_drive_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    Path("e.csv").write_bytes(b"\x1b]0;owned\x07,\x1b[2J\na\n")
    assert main(["inspect", "e.csv"]) == 2
    error = capsys.readouterr().err
    assert "\x1b" not in error
    assert "\x07" not in error


def test_devices_and_pipes_are_not_read() -> None:
    os.mkfifo("e.csv")
    for name in ("e.csv", "/dev/zero"):
        with pytest.raises(InputError, match="not a plain file"):
            read_graph(name)
