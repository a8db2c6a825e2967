"""None"""

from __future__ import annotations

import re
import subprocess
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import pytest
import torch
from tests.reproduce.planted import row

from nodewise.core.errors import InputError
from nodewise.core.version import __version__
from nodewise.reproduce import provenance
from nodewise.reproduce.provenance import COLUMNS, Ledger, Meter, commit, key_of


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


def test_rows_come_back_as_they_were_written(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "new" / "rows.csv", ("value",))
    first = row(method='with α, "quoted"', protocol="a, b", value="3")
    ledger.append([first])
    ledger.append([row(seed=1)])
    assert ledger.read() == [first, row(seed=1) | {"value": ""}]
    assert ledger.path.read_text().splitlines()[0] == ",".join((*COLUMNS, "value"))


def test_nothing_there_is_no_rows(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "rows.csv")
    assert ledger.read() == []
    ledger.path.touch()
    assert ledger.read() == []


@pytest.mark.parametrize("cut", [1, 2, 10, 40])
def test_a_cut_off_row_is_dropped_and_the_next_is_whole(tmp_path: Path, cut: int) -> None:
    ledger = Ledger(tmp_path / "rows.csv")
    ledger.append([row(seed=0), row(seed=1, config="αβγδ" * 20)])
    whole = ledger.path.read_bytes()
    ledger.path.write_bytes(whole[:-cut])  # also in the middle of a letter
    assert [each["seed"] for each in ledger.read()] == ["0"]
    ledger.append([row(seed=1, config="αβγδ" * 20)])
    assert ledger.path.read_bytes() == whole


def test_a_cut_off_header_is_written_again(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "rows.csv")
    ledger.path.write_text("kind,data")
    assert ledger.read() == []
    ledger.append([row()])
    assert ledger.read() == [row()]


def test_a_repeated_key_counts_once(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "rows.csv")
    ledger.append([row(test="0.1"), row(test="0.2"), row(test="0.3", config="other")])
    assert [each["test"] for each in ledger.read()] == ["0.1", "0.3"]
    assert len({key_of(each) for each in ledger.read()}) == 2


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "rows.csv")
    ledger.path.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"rows\.csv: not the columns"):
        ledger.read()
    with pytest.raises(InputError, match="not the columns"):
        ledger.append([row()])
    assert ledger.path.read_text() == "a,b\n1,2\n"
    ledger.path.write_bytes(b"\xff\xfe\n")
    with pytest.raises(InputError, match="byte 0 is not UTF-8"):
        ledger.read()


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "rows.csv")
    ledger.append([row()])
    with ledger.path.open("a") as file:
        file.write("accuracy,cora\n")
    with pytest.raises(InputError, match="line 3"):
        ledger.read()


def _append(path: Path, worker: int) -> None:
    for seed in range(30):
        Ledger(path).append([row(seed=seed, method=f"worker {worker}", protocol="p" * 500)])


def test_processes_do_not_write_over_each_other(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    context = get_context("fork")
    processes = [context.Process(target=partial(_append, path, worker)) for worker in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert len(Ledger(path).read()) == 90
    assert path.read_text().count("kind,dataset") == 1
