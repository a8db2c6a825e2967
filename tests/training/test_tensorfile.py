import errno
import os
import stat
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file

from nodewise.core.errors import InputError
from nodewise.training.checkpoint import write_tensors

TENSORS = {"b": torch.arange(6.0).view(2, 3).T, "a": torch.tensor(3)}
ABOUT = {"zebra": 'quoted "ü"', "apple": "1", "mango": "2"}


def test_it_is_a_plain_safetensors_file(tmp_path: Path) -> None:
    write_tensors(tmp_path / "t", TENSORS, ABOUT)
    found = load_file(tmp_path / "t")
    assert all(torch.equal(found[name], TENSORS[name]) for name in TENSORS)
    with safe_open(tmp_path / "t", framework="pt") as file:
        assert file.metadata() == ABOUT


def test_the_same_content_is_the_same_bytes(tmp_path: Path) -> None:
    for number in range(8):
        write_tensors(tmp_path / f"{number}", dict(reversed(TENSORS.items())), dict(reversed(ABOUT.items())))
    write_tensors(tmp_path / "8", TENSORS, ABOUT)
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1


def test_it_may_be_read_by_whom_the_user_lets(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_tensors(tmp_path / "t", TENSORS, ABOUT)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "t").stat().st_mode) == 0o640


def test_a_full_disk_is_told_and_leaves_the_older_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tensors(tmp_path / "t", TENSORS, ABOUT)
    before = (tmp_path / "t").read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"cannot write .*: no space left on device"):
        write_tensors(tmp_path / "t", {"a": torch.zeros(3)}, {})
    assert (tmp_path / "t").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["t"]
