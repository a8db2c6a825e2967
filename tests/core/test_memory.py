from pathlib import Path

import pytest

from nodewise.core import environment as memory


def write(folder: Path, monkeypatch: pytest.MonkeyPatch, **files: str) -> None:
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    monkeypatch.setattr(memory, "_MEMINFO", folder / "meminfo")
    monkeypatch.setattr(memory, "_CGROUP", folder)


def test_the_smaller_of_machine_and_container_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, monkeypatch, meminfo="MemTotal: 9000 kB\nMemAvailable:    5000 kB\n")
    assert memory.available_memory() == 5000 * 1024
    write(tmp_path, monkeypatch, memory_max="max\n", memory_current="7\n", memory_stat="inactive_file 1\n")
    assert memory.available_memory() == 5000 * 1024
    write(tmp_path, monkeypatch, memory_max="4000\n", memory_current="3000", memory_stat="anon 5\ninactive_file 600\n")
    assert memory.available_memory() == 1600
    write(tmp_path, monkeypatch, memory_current="9000\n")
    assert memory.available_memory() == 0


def test_where_nobody_says_nothing_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, monkeypatch)
    assert memory.available_memory() is None
    write(tmp_path, monkeypatch, meminfo="nonsense\n")
    assert memory.available_memory() is None


def test_this_machine_has_some() -> None:
    assert memory.available_memory() is None or memory.available_memory() > 1e6
