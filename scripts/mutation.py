"""Change the code in small ways and see whether a test notices: scripts/mutation.py src/nodewise/losses/*.py.

Every operator, comparison, condition, number and keyword argument in turn is changed, one a time, and the tests of
the file run on it: first those in the test file of the same name, then those of the whole folder. A mutant that no
test notices survives, and its line is printed. No file is written: a child process, forked with the libraries
loaded, is given the changed code when it imports the module.

Of our own making: the tools there are work on a copy of the tree, start Python for every mutant, and lag behind pytest.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.machinery
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 180
"""Seconds after which a mutant counts as noticed: it hangs."""

_SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}  # fmt: skip


class Mutant(NamedTuple):
    """One change of one file."""

    path: Path
    line: int
    change: str
    source: str


def mutants(path: Path) -> Iterator[Mutant]:
    """Yield every mutant of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for index, node in enumerate(_mutable(tree)):
        for variant in range(_variants(node)):
            changed = copy.deepcopy(tree)
            twin = list(_mutable(changed))[index]
            before = ast.unparse(twin)
            _change(twin, variant)
            yield Mutant(path, twin.lineno, f"{before}  ->  {ast.unparse(twin)}", ast.unparse(changed))


def _mutable(node: ast.AST) -> Iterator[Any]:
    """Yield the nodes that can be changed; texts, types, messages of errors and imports are left out."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(
                child, ast.Raise | ast.Import | ast.ImportFrom | ast.Assert
            ):
                continue
            if isinstance(child, ast.JoinedStr) or (
                isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)
            ):
                continue
            if _variants(child):
                yield child
            yield from _mutable(child)


def _variants(node: ast.AST) -> int:
    match node:
        case ast.Compare():
            return len(node.ops)
        case ast.BinOp() | ast.AugAssign():
            return int(type(node.op) in _SWAPS)
        case ast.BoolOp() | ast.If() | ast.IfExp() | ast.While():
            return 1
        case ast.UnaryOp(op=ast.USub() | ast.Not() | ast.Invert()):
            return 1
        case ast.Constant():
            return int(isinstance(node.value, bool | int | float))
        case ast.Call():
            return sum(keyword.arg is not None for keyword in node.keywords)
    return 0


def _change(node: Any, variant: int) -> None:
    match node:
        case ast.Compare():
            node.ops[variant] = _SWAPS[type(node.ops[variant])]()
        case ast.BinOp() | ast.AugAssign() | ast.BoolOp():
            node.op = _SWAPS[type(node.op)]()
        case ast.If() | ast.IfExp() | ast.While():
            node.test = ast.UnaryOp(ast.Not(), node.test)
        case ast.UnaryOp():
            node.op = ast.UAdd() if isinstance(node.op, ast.USub) else node.op
            if isinstance(node.op, ast.Not | ast.Invert):  # twice is not at all
                node.operand = ast.UnaryOp(node.op, node.operand)
        case ast.Constant(value=bool()):
            node.value = not node.value
        case ast.Constant():
            node.value = node.value + 1 if isinstance(node.value, int) else node.value * 2 + 0.5
        case ast.Call():
            named = [place for place, keyword in enumerate(node.keywords) if keyword.arg is not None]
            del node.keywords[named[variant]]


def tests_of(path: Path) -> list[list[str]]:
    """Return the tests to run on a file, the likeliest to notice first."""
    folder = ROOT / "tests" / path.resolve().relative_to(ROOT / "src" / "nodewise").parent
    own = folder / f"test_{path.stem}.py"
    return [[str(own)] if own.exists() else [], [str(file) for file in sorted(folder.glob("test_*.py")) if file != own]]


def notices(mutant: Mutant | None, tests: list[str]) -> bool:
    """Run the tests in a child process; return whether one fails, or none can be run, or it takes too long."""
    if not tests:
        return False
    child = os.fork()
    if child == 0:
        _run_tests(mutant, tests)
    deadline = time.monotonic() + LONGEST
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            if os.waitstatus_to_exitcode(status) in (4, 5):
                raise RuntimeError(f"pytest found no tests in {tests}")
            return status != 0
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


def _run_tests(mutant: Mutant | None, tests: list[str]) -> None:
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    original = importlib.machinery.SourceFileLoader.get_code

    def get_code(loader: importlib.machinery.SourceFileLoader, name: str) -> Any:
        if mutant is not None and Path(loader.path).resolve() == mutant.path.resolve():
            return compile(mutant.source, loader.path, "exec")
        return original(loader, name)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]
    code = 3
    try:
        import pytest

        code = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *tests]))
    finally:
        os._exit(code)


def main() -> int:
    """Try mutants until all are tried or the time is over, in random order."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--minutes", type=float, default=60, help="try no more after so long")
    parser.add_argument("--seed", type=int, default=0, help="order in which mutants are tried")
    parser.add_argument("--own", action="store_true", help="ask the test file of the same name alone, which is faster")
    parser.add_argument("--skip", type=int, default=0, help="go on after so many, which an earlier run has tried")
    given = parser.parse_args()
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT / "src"), str(ROOT)]  # a copy of the tree tests itself, not what is installed
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # no test here needs one, and each child would import them
    import pyarrow.parquet  # noqa: F401  # loaded once, for all children
    import pytest  # noqa: F401
    import scipy.stats  # noqa: F401
    import sklearn.cluster  # noqa: F401
    import torch
    import torch_geometric  # noqa: F401

    torch.set_num_threads(1)
    found = [mutant for path in given.files for mutant in mutants(path)]
    random.Random(given.seed).shuffle(found)
    stages = {path: tests_of(path) for path in given.files}
    if given.own:
        stages = {path: [own] if own else [others] for path, (own, others) in stages.items()}
    for tests in {tuple(sorted(file for stage in of_file for file in stage)) for of_file in stages.values()}:
        if notices(None, list(tests)):
            raise SystemExit(f"these fail without any mutant: {' '.join(tests)}")
    tried, survived, began = Counter[str](), Counter[str](), time.monotonic()
    for mutant in found[given.skip :]:
        if time.monotonic() - began > 60 * given.minutes:
            break
        name = str(mutant.path)
        tried[name] += 1
        if not any(notices(mutant, tests) for tests in stages[mutant.path]):
            survived[name] += 1
            print(f"survived: {name}, line {mutant.line}: {mutant.change}", flush=True)
    possible = Counter(str(mutant.path) for mutant in found)
    print("\n| file | mutants | tried | noticed |\n|---|---:|---:|---:|")
    for name in sorted(possible):
        print(f"| {name} | {possible[name]} | {tried[name]} | {tried[name] - survived[name]} |")
    print(f"{tried.total()} of {possible.total()} tried, {survived.total()} survived")
    return 0


if __name__ == "__main__":
    sys.exit(main())
