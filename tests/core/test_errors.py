"""Errors have codes that stay: each is documented, and survives being told again by somebody else."""

from __future__ import annotations

import ast
import pickle
import re
from pathlib import Path

import pytest

import nodewise
from nodewise.core.errors import InputError, LostProcess, NodewiseError, require_type
from nodewise.datasets.registry import DATASETS
from nodewise.encoders.encoder import ENCODERS
from nodewise.methods.estimator import METHODS
from nodewise.sampling.strategy import STRATEGIES

SOURCE = Path(nodewise.__file__).parent
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "errors.md"


def codes_of_the_source() -> set[str]:
    """Every code that is written down as one: an argument, an attribute, or the last argument of the shell's own."""
    found = {f"unknown-{registry.kind.replace(' ', '-')}" for registry in (DATASETS, ENCODERS, METHODS, STRATEGIES)}
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "code":  # one code, or one of two by a condition
                either = (node.value.body, node.value.orelse) if isinstance(node.value, ast.IfExp) else (node.value,)
                found |= {one.value for one in either if isinstance(one, ast.Constant) and one.value}
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "code":
                found |= {node.value.value} if isinstance(node.value, ast.Constant) else set()
            elif isinstance(node, ast.Call) and ast.unparse(node.func) == "_fail" and len(node.args) == 3:
                found |= {node.args[2].value} if isinstance(node.args[2], ast.Constant) else set()
    return found


def test_every_code_is_documented_and_no_other() -> None:
    first_cells = re.findall(r"^\| (`.*?) \|", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    documented = [code for cell in first_cells for code in re.findall(r"`([a-z-]+)`", cell)]
    assert len(documented) == len(set(documented))
    assert {*documented} == codes_of_the_source()


def test_an_error_has_the_code_of_its_class_unless_given_one() -> None:
    assert [kind("x").code for kind in (NodewiseError, InputError, LostProcess)] == ["failed", "input", "lost-process"]
    one = InputError("no", code="missing-file")
    assert (str(one), one.code, one.exit_code) == ("no", "missing-file", 2)
    again = pickle.loads(pickle.dumps(one))
    assert (str(again), again.code) == ("no", "missing-file"), "as from a process that helps"


def test_an_argument_of_another_type() -> None:
    with pytest.raises(InputError, match=r"^k must be a number, not 'x'$") as caught:
        require_type("k", "x", int, "a number")
    assert caught.value.code == "bad-argument"
