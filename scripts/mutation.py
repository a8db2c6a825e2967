"""Change the code in small ways and see whether a test notices: scripts/mutation.py src/nodewise/losses/*.py.

Every operator, comparison, condition, number and keyword argument in turn is changed, one a time, and the tests that
run the changed line are asked: those in the test file of the same name first, the quick before the slow, up to the
first that fails. A mutant that no test notices survives, and its line is printed. No file is written.

Two processes wait with all libraries loaded. One has collected the tests too: its children exchange the code of a
function and run tests at once. The other has not imported nodewise yet: its children serve the mutants of what runs
when a module is imported, such as defaults.

Of our own making: the tools there are work on a copy of the tree, start Python for every mutant, and lag behind pytest.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import gc
import importlib
import importlib.machinery
import inspect
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "nodewise"
LONGEST = 180
"""Seconds by the clock after which a mutant counts as noticed: it hangs."""
MEMORY = 12 << 30
"""Bytes that a mutant may ask for."""
_COMMANDS = {"page": "report", "run": "embed", "source": "inspect", "clusters": "groups"}
"""What the tests of the command line call a file of `runs/` where they do not call it by its name."""
_UNSEEN = ("strict", "encoding", "device", "stacklevel")
"""Keyword arguments that cannot be missed here: guards against what does not happen, and what needs a GPU."""

_SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}  # fmt: skip


class Mutant(NamedTuple):
    """One change of one file: the variant of the node that comes so many-th among those that can be changed."""

    path: Path
    line: int
    statement: int
    change: str
    index: int
    variant: int

    @property
    def tree(self) -> ast.Module:
        """The changed file; its lines keep their numbers."""
        tree = ast.parse(self.path.read_text(encoding="utf-8"))
        _change(list(_mutable(tree))[self.index][0], self.variant)
        return ast.fix_missing_locations(tree)

    @property
    def code(self) -> CodeType:
        """The changed file as Python runs it."""
        return _compiled(self.tree, self.path)


def mutants(path: Path) -> Iterator[Mutant]:
    """Yield every mutant of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for index, (node, statement) in enumerate(_mutable(tree)):
        for variant in range(_variants(node)):
            twin = copy.deepcopy(node)
            _change(twin, variant)
            change = f"{_first_line(node)}  ->  {_first_line(twin)}"
            yield Mutant(path, node.lineno, statement, change, index, variant)


def _first_line(node: ast.AST) -> str:
    return ast.unparse(node).split("\n")[0]


def _mutable(node: ast.AST, statement: int = 1) -> Iterator[tuple[Any, int]]:
    """Yield the nodes that can be changed, each with the line on which its statement begins.

    Texts, types, messages of errors and imports are left out.
    """
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            match child:
                case ast.Raise() | ast.Import() | ast.ImportFrom() | ast.Assert() | ast.JoinedStr():
                    continue
                case ast.If() if "TYPE_CHECKING" in ast.dump(child.test):
                    continue
                case ast.keyword() if child.arg in _UNSEEN:
                    continue
                case ast.AST():
                    begins = child.lineno if isinstance(child, ast.stmt) else statement
                    if _variants(child):
                        yield child, begins
                    yield from _mutable(child, begins)


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
            return len(_named(node))
    return 0


def _named(call: ast.Call) -> list[int]:
    return [
        place for place, keyword in enumerate(call.keywords) if keyword.arg is not None and keyword.arg not in _UNSEEN
    ]


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
            del node.keywords[_named(node)[variant]]


def _compiled(tree: ast.Module, path: Path) -> CodeType:
    return compile(tree, str(path), "exec", dont_inherit=True)


def only_functions_differ(old: CodeType, new: CodeType) -> bool:
    """Return whether two versions of a file do the same when imported."""
    if old.co_flags & inspect.CO_OPTIMIZED:  # a function, which only runs when called
        return True
    parts = [[part for part in code.co_consts if isinstance(part, CodeType)] for code in (old, new)]
    bodies = [
        code.replace(co_consts=tuple(None if isinstance(part, CodeType) else part for part in code.co_consts))
        for code in (old, new)
    ]
    return bodies[0] == bodies[1] and all(only_functions_differ(*pair) for pair in zip(*parts, strict=True))


def own_tests(path: Path) -> Path:
    """Return the test file of the same name, whether or not it exists."""
    return ROOT / "tests" / path.resolve().relative_to(PACKAGE).parent / f"test_{path.stem}.py"


def tests_of(path: Path) -> list[Path]:
    """Return the files with the tests that may be asked about a file: those of its folder, or of the one above."""
    folder = own_tests(path).parent
    while not (found := sorted(folder.glob("test_*.py"))):
        folder = folder.parent
    command = ROOT / "tests" / "cli" / f"test_{_COMMANDS.get(path.stem, path.stem)}.py"
    return [*found, command] if folder.name == "runs" and command.exists() else found


class Profile(NamedTuple):
    """What the tests do to the code as it is: how long each takes, and which lines of which file it runs."""

    seconds: dict[str, float]
    runs: dict[str, dict[int, list[str]]]
    """The tests that run a line, of each file; the empty name stands for the import."""

    def choose(self, mutant: Mutant, longest: float) -> list[str]:
        """Return the tests to ask, the likeliest to notice first, as many as take so many seconds."""
        lines = self.runs.get(str(mutant.path.resolve()), {})
        found = {test for line in (mutant.line, mutant.statement) for test in lines.get(line, [])}
        own = str(own_tests(mutant.path).relative_to(ROOT))
        using = {test for tests in lines.values() for test in tests}
        if "" in found:  # it runs when imported, and may be noticed by tests that run no line of the file
            files = {str(file.relative_to(ROOT)) for file in tests_of(mutant.path)}
            found = using | {test for test in self.seconds if test.split("::")[0] in files}

        def rank(test: str) -> tuple[Any, ...]:
            seconds = self.seconds[test]
            return seconds > 1, not test.startswith(own), test not in using, seconds, test

        order = sorted(found & self.seconds.keys(), key=rank)
        total, chosen = 0.0, []
        for test in order:
            total += self.seconds[test]
            if chosen and total > longest:
                break
            chosen.append(test)
        return chosen

    def at_import(self, mutant: Mutant) -> bool:
        """Return whether the line runs when its file is imported."""
        lines = self.runs.get(str(mutant.path.resolve()), {})
        return "" in [*lines.get(mutant.line, []), *lines.get(mutant.statement, [])]


class _Watch:
    """A plugin for pytest that makes the profile."""

    def __init__(self, paths: list[Path], result: Path) -> None:
        import coverage

        self.paths, self.result = paths, result
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []
        self.coverage = coverage.Coverage(data_file=None, include=[str(path) for path in paths], config_file=False)
        self.coverage.start()

    def pytest_collection_finish(self) -> None:
        for path in self.paths:
            _import(path)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.coverage.switch_context(nodeid)
        self.seconds[nodeid] = -time.process_time()  # the clock would count what else the machine does

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.seconds[nodeid] += time.process_time()

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self.coverage.stop()
        data = self.coverage.get_data()
        runs = {str(path): data.contexts_by_lineno(str(path)) for path in self.paths}
        self.result.write_text(json.dumps([self.seconds, runs, self.failed]), encoding="utf-8")


class _Server:
    """A plugin for pytest that, instead of running the tests it collected, waits for mutants to run some of them on."""

    def __init__(self, paths: list[Path], requests: Connection) -> None:
        self.paths, self.requests = paths, requests

    def pytest_runtestloop(self, session: Any) -> bool:
        for path in self.paths:
            _import(path)
        items = {item.nodeid: item for item in session.items}
        functions = [
            thing for thing in gc.get_objects() if type(thing) is FunctionType
        ]  # others may warn when looked at
        gc.freeze()  # children share what they do not touch
        while request := self.requests.recv():
            mutant, tests, seconds = request
            changes = _live_changes(mutant, functions)
            if not changes:
                self.requests.send(None)
                continue

            def run(changes: Any = changes, tests: Any = tests) -> int:
                for function, code in changes:
                    function.__code__ = code
                chosen = [items[test] for test in tests]
                for item, following in zip(chosen, [*chosen[1:], None], strict=True):
                    session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                    if session.testsfailed:
                        return 1
                return 0

            self.requests.send(in_child(run, seconds) != 0)
        return True


def _live_changes(mutant: Mutant, functions: list[FunctionType]) -> list[tuple[FunctionType, CodeType]]:
    """Return the functions of the file that are loaded and whose code differs, with their new code."""
    codes = {(code.co_qualname, code.co_firstlineno): code for code in _all_code(mutant.code)}
    path = str(mutant.path.resolve())
    found = []
    for function in functions:
        code = function.__code__
        if code.co_filename == path:
            new = codes.get((code.co_qualname, code.co_firstlineno))
            if new is not None and new != code and new.co_freevars == code.co_freevars:
                found.append((function, new))
    return found


def _all_code(code: CodeType) -> Iterator[CodeType]:
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _all_code(part)


def _import(path: Path) -> None:
    parts = path.resolve().relative_to(ROOT / "src").with_suffix("").parts
    importlib.import_module(".".join(part for part in parts if part != "__init__"))


def in_child(work: Callable[[], int], seconds: float) -> int:
    """Return what the work returns in a child process; -1 if it fails, or takes much longer than it should."""
    child = os.fork()
    if child == 0:
        code = 3
        try:
            _silence()
            _limit(5 * seconds + 20)
            code = work()
        finally:
            os._exit(code)
    deadline = time.monotonic() + max(LONGEST, 20 * seconds)  # the processor's seconds count; this is for what sleeps
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else -1
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -1


def _silence() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def _limit(seconds: float) -> None:
    now = resource.getrusage(resource.RUSAGE_SELF)
    most = int(now.ru_utime + now.ru_stime + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))
    with contextlib.suppress(OSError, ValueError):
        used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, resource.RLIM_INFINITY))


def _pytest(arguments: list[str], scratch: Path, *plugins: object) -> int:
    import pytest

    quiet = ["-q", "-s", "-p", "no:cacheprovider", f"--basetemp={scratch / 'tests'}"]
    return int(pytest.main([*quiet, *arguments], plugins=list(plugins)))


def run_fresh(mutant: Mutant, tests: list[str], scratch: Path) -> int:
    """Run tests where the mutant is imported in place of its file."""
    original = importlib.machinery.SourceFileLoader.get_code

    def get_code(loader: importlib.machinery.SourceFileLoader, name: str) -> Any:
        if Path(loader.path).resolve() == mutant.path.resolve():
            return mutant.code
        return original(loader, name)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]
    return _pytest(["-x", *tests], scratch)


class Judge:
    """Says whether a mutant is noticed."""

    def __init__(self, paths: list[Path], scratch: Path, longest: float) -> None:
        self.scratch, self.longest = scratch, longest
        self.files = sorted({str(file) for path in paths for file in tests_of(path)})
        self.profile = self._profile(paths)
        self.originals = {path: _compiled(ast.parse(path.read_text(encoding="utf-8")), path) for path in paths}
        self.requests, theirs = Pipe()
        self.server = os.fork()
        if self.server == 0:
            self.requests.close()
            _silence()
            _pytest(self.files, scratch, _Server(paths, theirs))
            os._exit(0)
        theirs.close()

    def _profile(self, paths: list[Path]) -> Profile:
        result = self.scratch / "profile.json"
        in_child(lambda: _pytest(self.files, self.scratch, _Watch(paths, result)), 3600)
        seconds, runs, failed = json.loads(result.read_text(encoding="utf-8"))
        if failed:
            raise SystemExit(f"these fail without any mutant: {' '.join(failed)}")
        return Profile(seconds, {path: {int(line): tests for line, tests in of.items()} for path, of in runs.items()})

    def tests(self, mutant: Mutant) -> list[str]:
        """Return the tests that are asked about a mutant."""
        return self.profile.choose(mutant, self.longest)

    def notices(self, mutant: Mutant) -> bool:
        """Return whether a test fails, or takes too long."""
        tests = self.tests(mutant)
        if not tests:
            return False
        seconds = sum(self.profile.seconds[test] for test in tests)
        if not self.profile.at_import(mutant) and only_functions_differ(self.originals[mutant.path], mutant.code):
            self.requests.send((mutant, tests, seconds))
            if (noticed := self.requests.recv()) is not None:
                return bool(noticed)
        code = in_child(lambda: run_fresh(mutant, tests, self.scratch), seconds + 10)
        if code == 5:
            raise RuntimeError(f"pytest found no tests in {tests}")
        return code != 0

    def close(self) -> None:
        """End the process that waits."""
        with contextlib.suppress(OSError):  # an interruption from the keyboard has ended it already
            self.requests.send(None)
        os.waitpid(self.server, 0)


def main() -> int:
    """Try mutants until all are tried or the time is over, in random order."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--minutes", type=float, default=60, help="try no more after so long")
    parser.add_argument("--seed", type=int, default=0, help="order in which mutants are tried")
    parser.add_argument("--seconds", type=float, default=10, help="ask tests that take so long about each mutant")
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
    paths = [path.resolve() for path in given.files]
    found = [mutant for path in paths for mutant in mutants(path)]
    random.Random(given.seed).shuffle(found)
    scratch = Path(tempfile.mkdtemp(prefix="mutation-"))
    tried, survived, began = Counter[str](), Counter[str](), time.monotonic()
    try:
        judge = Judge(paths, scratch, given.seconds)
        print(f"{len(judge.profile.seconds)} tests looked at in {time.monotonic() - began:.0f} s", flush=True)
        began = time.monotonic()
        with contextlib.suppress(KeyboardInterrupt):  # what was found until then is worth telling
            for mutant in found[given.skip :]:
                if time.monotonic() - began > 60 * given.minutes:
                    break
                name, noticed = str(mutant.path.relative_to(ROOT)), judge.notices(mutant)
                tried[name] += 1
                if not noticed:
                    survived[name] += 1
                    reached = "" if judge.tests(mutant) else ", which no test runs"
                    print(f"survived: {name}, line {mutant.line}{reached}: {mutant.change}", flush=True)
                if tried.total() % 100 == 0:
                    print(f"{tried.total()} tried, {survived.total()} survived", flush=True)
        judge.close()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    possible = Counter(str(mutant.path.relative_to(ROOT)) for mutant in found)
    print("\n| file | mutants | tried | noticed |\n|---|---:|---:|---:|")
    for name in sorted(possible):
        print(f"| {name} | {possible[name]} | {tried[name]} | {tried[name] - survived[name]} |")
    print(f"{tried.total()} of {possible.total()} tried, {survived.total()} survived")
    return 0


if __name__ == "__main__":
    sys.exit(main())
