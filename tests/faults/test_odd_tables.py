"""Odd files of edges and tables of features: understood, or refused in one clear line; never anything else.

`odd_tables.json` is what testers who had not seen the code came up with: the bytes of a file, as Latin-1, and options;
of a table of features also the edges, where it is not about a ring.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nodewise.cli.main import main

CASES = json.loads(Path(__file__).with_name("odd_tables.json").read_text())
NODES = 40


@pytest.mark.parametrize("name", CASES)
def test_understood_or_refused_in_one_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    case = CASES[name]
    monkeypatch.chdir(tmp_path)
    (tmp_path / case["file"]).write_bytes(case["bytes"].encode("latin-1"))
    arguments = [case["file"]]
    if name.startswith("features"):
        ring = "".join(f"n{i},n{(i + step) % NODES}\n" for i in range(NODES) for step in (1, 7))
        (tmp_path / "edges.csv").write_bytes(case.get("edges", "source,target\n" + ring).encode("latin-1"))
        arguments = ["edges.csv", "-f", case["file"]]
    before = sorted(path.name for path in tmp_path.iterdir())

    code = main(["inspect", *arguments, "--json", *case["options"]])

    out, err = capfd.readouterr()
    assert code in (0, 2), err
    assert all(character.isprintable() or character == "\n" for character in err), err
    if code == 0:
        assert json.loads(out)["nodes"] >= 1
    else:
        assert out == ""
        assert err.startswith("nodewise: error: ")
        assert err.count("\n") == 1
        assert len(err) < 700
    assert sorted(path.name for path in tmp_path.iterdir()) == before
