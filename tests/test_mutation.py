"""The script behind `make mutation`: what it changes, and which tests it asks."""

from __future__ import annotations

import ast
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = '''
"""A text."""
import math

def f(x: int = 1, *, flag: bool = True) -> int:
    """Another."""
    if x < 2 and not flag:
        raise ValueError(f"{x + 1} is wrong")
    return g(-x % 3,
             key=1.5, strict=True)
'''


@pytest.fixture(scope="module")
def mutation() -> ModuleType:
    place = importlib.util.spec_from_file_location("mutation", ROOT / "scripts" / "mutation.py")
    assert place is not None
    assert place.loader is not None
    module = importlib.util.module_from_spec(place)
    sys.modules["mutation"] = module  # a NamedTuple looks its module up
    place.loader.exec_module(module)
    return module


def test_every_change_is_made_once_and_alone(mutation: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    file.write_text(SOURCE)
    found = list(mutation.mutants(file))
    sources = [ast.unparse(mutant.tree) for mutant in found]
    changed = {line for source in sources for line in source.split("\n")}
    for line in (
        "def f(x: int=2, *, flag: bool=True) -> int:",
        "def f(x: int=1, *, flag: bool=False) -> int:",
        "    if not (x < 2 and (not flag)):",
        "    if x < 2 or not flag:",
        "    if x <= 2 and (not flag):",
        "    if x < 3 and (not flag):",
        "    if x < 2 and (not not flag):",
        "    return g(-x * 3, key=1.5, strict=True)",
        "    return g(+x % 3, key=1.5, strict=True)",
        "    return g(-x % 4, key=1.5, strict=True)",
        "    return g(-x % 3, strict=True)",
        "    return g(-x % 3, key=3.5, strict=True)",
    ):
        assert line in changed
    assert len(found) == len(set(sources)) == 12
    assert all("x + 1" in source for source in sources)
    assert {mutant.line for mutant in found} <= {5, 7, 9, 10}
    assert {mutant.statement for mutant in found} == {5, 7, 9}


def test_what_runs_at_import_is_told_from_what_runs_when_called(mutation: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    file.write_text("class C:\n    a = 1\n\n    def f(self, x=2):\n        return [y + 3 for y in x]\n\n\nb = 4\n")
    original = mutation._compiled(ast.parse(file.read_text()), file)
    called = {
        mutant.change.split()[0]: mutation.only_functions_differ(original, mutant.code)
        for mutant in mutation.mutants(file)
    }
    assert called == {"1": False, "2": False, "y": True, "3": True, "4": False}


def test_tests_are_those_of_the_folder_or_of_the_one_above(mutation: ModuleType) -> None:
    def names(path: str) -> list[str]:
        return [str(file.relative_to(ROOT / "tests")) for file in mutation.tests_of(ROOT / "src" / "nodewise" / path)]

    assert "losses/test_node_infonce.py" in names("losses/node_infonce.py")
    assert "sampling/test_choose.py" in names("sampling/choose/uniform.py")
    assert all(name.startswith("sampling/dpp/") for name in names("sampling/dpp/greedy.py"))
    assert {"runs/test_run.py", "cli/test_evaluate.py"} <= set(names("runs/evaluate.py"))


def test_tests_that_run_the_line_are_asked_the_likeliest_first(mutation: ModuleType) -> None:
    path = ROOT / "src/nodewise/losses/node_infonce.py"
    own, settings = "tests/losses/test_node_infonce.py::", "tests/losses/test_settings.py::defaults"
    profile = mutation.Profile(
        {own + "slow": 3.0, own + "quick": 0.2, "other": 0.1, "elsewhere": 0.1, own + "unused": 0.1, settings: 0.1},
        {str(path): {1: [""], 5: [own + "slow", "other", own + "quick"], 6: ["elsewhere"]}},
    )

    def asked(line: int, seconds: float = 10) -> list[str]:
        return profile.choose(mutation.Mutant(path, line, line, "", 0, 0), seconds)

    assert asked(5) == [own + "quick", "other", own + "slow"]
    assert asked(5, 0.4) == [own + "quick", "other"]
    assert asked(5, 0.01) == [own + "quick"]
    assert asked(7) == []
    # What runs when imported may be noticed by what uses the file, and by tests that run no line of it.
    assert asked(1) == [own + "quick", own + "unused", "elsewhere", "other", settings, own + "slow"]
    assert profile.at_import(mutation.Mutant(path, 1, 1, "", 0, 0))
    assert not profile.at_import(mutation.Mutant(path, 5, 5, "", 0, 0))


def test_a_child_that_fails_or_runs_on_is_told_apart_from_one_that_passes(mutation: ModuleType) -> None:
    assert mutation.in_child(lambda: 0, 1) == 0
    assert mutation.in_child(lambda: 1, 1) == 1
    assert mutation.in_child(lambda: os.kill(os.getpid(), 9), 1) == -1


def test_the_whole_way(tmp_path: Path) -> None:
    """Every mutant of a small file is tried, and those that no test can see survive."""
    (tmp_path / "scripts").mkdir()
    package, tests = tmp_path / "src" / "nodewise", tmp_path / "tests" / "part"
    for folder in (package / "part", tests):
        folder.mkdir(parents=True)
    for file in (package / "__init__.py", package / "part" / "__init__.py", tmp_path / "pytest.ini"):
        file.write_text("[pytest]\n" if file.suffix == ".ini" else "")
    (tmp_path / "scripts" / "mutation.py").write_bytes((ROOT / "scripts" / "mutation.py").read_bytes())
    (package / "part" / "sums.py").write_text(
        "START = 1\n\n\ndef total(a, b):\n    return START + a + b\n\n\ndef unseen(a):\n    return -a\n"
    )
    (tests / "test_sums.py").write_text(
        "from nodewise.part.sums import total\n\ndef test_total():\n    assert total(0, 2) == 3\n"
    )
    done = subprocess.run(
        [sys.executable, "scripts/mutation.py", "src/nodewise/part/sums.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    assert sorted(line for line in lines if line.startswith("survived")) == [
        "survived: src/nodewise/part/sums.py, line 5: START + a  ->  START - a",
        "survived: src/nodewise/part/sums.py, line 9, which no test runs: -a  ->  +a",
    ]
    assert lines[-1] == "4 of 4 tried, 2 survived"
