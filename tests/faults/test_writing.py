"""Disks that fill up and folders that may not be written: one line, the old file kept, nothing else left."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nodewise.cli.main import main
from nodewise.core.errors import InputError

Writer = Callable[[Path], None]
NOBODY = 65534


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """Let every file end at `size` bytes: the system refuses to write more, to compiled code as well."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def unprivileged(folder: Path) -> Iterator[None]:
    """Take away the right to write to a folder; from root, which may write anywhere, its privileges too."""
    for parent in folder.parents:
        if parent.name.startswith(("test_", "pytest-", "popen-")):  # pytest's own, which are private
            parent.chmod(0o755)
    folder.chmod(0o555)
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o755)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("size", [0, 1, 100, 500])
def test_a_disk_that_fills_up(writer: tuple[str, Writer], tmp_path: Path, size: int) -> None:
    name, write = writer
    with room_for(size), pytest.raises(InputError) as caught:
        write(tmp_path / name)
    assert "cannot write" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert contents(tmp_path) == {}


def test_the_old_file_survives_a_disk_that_fills_up(writer: tuple[str, Writer], tmp_path: Path) -> None:
    name, write = writer
    (tmp_path / name).write_bytes(b"old")
    with room_for(100), pytest.raises(InputError):
        write(tmp_path / name)
    assert contents(tmp_path) == {name: b"old"}


def test_a_folder_that_may_not_be_written(writer: tuple[str, Writer], tmp_path: Path) -> None:
    name, write = writer
    write(tmp_path / name)  # so that what it imports is there before the right to read it may be lost
    folder = tmp_path / "closed"
    folder.mkdir()
    with unprivileged(folder), pytest.raises(InputError, match=r"[Pp]ermission denied") as caught:
        write(folder / name)
    assert "\n" not in str(caught.value)
    assert contents(folder) == {}


class TestCommands:
    SMALL = ("--set", "training.steps=2", "--set", "training.batch_size=8", "--set", "encoder.dimension=64", "--quiet")

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        Path("edges.csv").write_text("".join(f"{i},{(i + step) % 60}\n" for i in range(60) for step in (1, 3)))

    def refused(self, capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
        capfd.readouterr()
        assert main([*arguments]) == 2
        error = capfd.readouterr().err
        assert error.startswith("nodewise: error: ")
        assert error.count("\n") == 1
        return error

    @pytest.mark.parametrize("size", [700, 3000])
    def test_embed_on_a_full_disk_leaves_nothing(self, size: int, capfd: pytest.CaptureFixture[str]) -> None:
        before = contents(Path())
        with room_for(size):
            self.refused(capfd, "embed", "edges.csv", "-o", "run", *self.SMALL)
        assert contents(Path()) == before

    def test_embed_on_a_full_disk_keeps_the_earlier_run(self, capfd: pytest.CaptureFixture[str]) -> None:
        assert main(["embed", "edges.csv", "-o", "run", *self.SMALL]) == 0
        before = contents(Path())
        with room_for(3000):
            self.refused(capfd, "embed", "edges.csv", "-o", "run", *self.SMALL, "--seed", "1")
        assert contents(Path()) == before
        assert main(["neighbors", "run", "--node", "3", "--quiet"]) == 0

    def test_embed_into_a_folder_that_may_not_be_written(
        self, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["embed", "edges.csv", "-o", "run", *self.SMALL]) == 0  # imports what it needs
        (tmp_path / "closed").mkdir()
        with unprivileged(tmp_path / "closed"):
            error = self.refused(capfd, "embed", "edges.csv", "-o", "closed/run", *self.SMALL)
        assert "[cannot-write]" in error
        assert list((tmp_path / "closed").iterdir()) == []

    def test_output_that_cannot_be_printed_is_an_error(self) -> None:
        if not Path("/dev/full").exists():
            pytest.skip("this system has no /dev/full")
        with Path("/dev/full").open("w") as full:
            command = [sys.executable, "-m", "nodewise", "config"]
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
        assert done.returncode == 2
        assert done.stderr.startswith("nodewise: error: ")
        assert "No space left" in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_real_full_disk(tmp_path: Path) -> None:
    """A file system of one megabyte, where the system lets us make one."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(tmp_path)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a file system cannot be mounted here")
    try:
        edges = tmp_path / "edges.csv"
        edges.write_text("".join(f"{i},{(i + step) % 6000}\n" for i in range(6000) for step in (1, 3)))
        command = [sys.executable, "-m", "nodewise", "embed", str(edges), "-o", str(tmp_path / "run")]
        done = subprocess.run([*command, *TestCommands.SMALL], capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 2, done.stderr
        assert "no space left" in done.stderr.lower()
        assert done.stderr.count("\n") == 1
        assert [path.name for path in tmp_path.iterdir()] == ["edges.csv"]
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)
