from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import torch

from nodewise.core.version import __version__
from nodewise.reproduce import provenance
from nodewise.reproduce.provenance import Meter, commit


def test_a_checkout_names_its_commit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    source = tmp_path / "src" / "nodewise" / "reproduce" / "provenance.py"
    source.parent.mkdir(parents=True)
    source.write_text("first")
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    for words in (("add", "."), (*who, "commit", "-q", "-m", "m")):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True)
    monkeypatch.setattr(provenance, "__file__", str(source))
    clean = commit.__wrapped__()
    assert re.fullmatch("[0-9a-f]{7,}", clean)
    source.write_text("second")
    assert commit.__wrapped__() == clean + "+"


def test_an_installed_package_names_its_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(provenance, "__file__", str(tmp_path / "lib" / "nodewise" / "reproduce" / "provenance.py"))
    assert commit.__wrapped__() == __version__


def test_the_meter_leaves_pauses_out(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([10.0, 12.0, 20.0, 21.0])
    monkeypatch.setattr(provenance.time, "perf_counter", lambda: next(clock))
    with Meter(torch.device("cpu")) as meter:
        meter.pause()
        meter.go_on()
    assert meter.seconds == 3.0


def test_the_meter_sees_memory_that_is_gone_again() -> None:
    with Meter(torch.device("cpu")) as small:
        pass
    with Meter(torch.device("cpu")) as large:
        torch.ones(64, 2**20)
    assert large.peak_mb > small.peak_mb + 200


def test_a_copied_tree_is_told_its_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NODEWISE_COMMIT", "abc1234")
    assert commit.__wrapped__() == "abc1234"
