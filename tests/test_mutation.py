"""The script behind `make mutation`: what it changes, and which tests it asks."""

from __future__ import annotations

import importlib.util
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
    return g(-x % 3, key=1.5)
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
    changed = {line for mutant in found for line in mutant.source.split("\n")}
    for line in (
        "def f(x: int=2, *, flag: bool=True) -> int:",
        "def f(x: int=1, *, flag: bool=False) -> int:",
        "    if not (x < 2 and (not flag)):",
        "    if x < 2 or not flag:",
        "    if x <= 2 and (not flag):",
        "    if x < 3 and (not flag):",
        "    if x < 2 and (not not flag):",
        "    return g(-x * 3, key=1.5)",
        "    return g(+x % 3, key=1.5)",
        "    return g(-x % 4, key=1.5)",
        "    return g(-x % 3)",
        "    return g(-x % 3, key=3.5)",
    ):
        assert line in changed
    assert len(found) == len({mutant.source for mutant in found}) == 12
    assert all("x + 1" in mutant.source for mutant in found)


def test_the_tests_of_the_same_name_come_first(mutation: ModuleType) -> None:
    own, others = mutation.tests_of(ROOT / "src/nodewise/losses/node_infonce.py")
    assert [Path(file).name for file in own] == ["test_node_infonce.py"]
    assert "test_score.py" in [Path(file).name for file in others]
    assert "test_node_infonce.py" not in [Path(file).name for file in others]


@pytest.mark.parametrize(
    ("path", "line"), [("losses/node_infonce.py", 'score == "dot"'), ("sampling/pairs.py", "class Pair")]
)
def test_the_lines_named_are_those_of_the_file(mutation: ModuleType, path: str, line: str) -> None:
    file = ROOT / "src" / "nodewise" / path
    lines = file.read_text().splitlines()
    assert any(line in text for text in lines)
    for mutant in mutation.mutants(file):
        assert 1 <= mutant.line <= len(lines)
