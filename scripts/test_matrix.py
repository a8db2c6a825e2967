"""Run the tests on every Python and torch the metadata admits, as far as they can be installed here.

    python scripts/test_matrix.py [--only NAME] [--tests PATH ...] [--home FOLDER] [--keep]

Each cell is an environment of its own under build/matrix or the folder given, removed again unless --keep; with the
CUDA libraries that torch brings it takes 5 to 6 GB. A cell that cannot be installed is said so in the table and does
not fail the run; a cell whose tests fail does.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
# Tools of `make check` test nothing here and would only have to be resolved.
_TEST_TOOLS = ("dppy", "hypothesis", "networkx", "numba", "psutil", "pytest", "pytest-xdist")


class Cell(NamedTuple):
    """A Python, and which of the admitted versions of torch and torch_geometric to install beside it."""

    python: str
    versions: str

    @property
    def name(self) -> str:
        return f"{self.python}-{self.versions}"


CELLS = (Cell("3.11", "lowest"), Cell("3.12", "pinned"), Cell("3.13", "pinned"), Cell("3.13", "newest"))


class CannotInstall(Exception):
    """In words, why a cell cannot be made here."""


def interpreter(version: str) -> Path | None:
    """Return a working interpreter of that version from pyenv, uv or the PATH."""
    name = f"python{version}"
    folders = (Path.home() / ".pyenv/versions", Path.home() / ".local/share/uv/python")
    candidates = [found for folder in folders for found in sorted(folder.glob(f"*{version}.*/bin/{name}"))]
    candidates += [Path(found)] if (found := shutil.which(name)) else []
    # A shim of pyenv is on the PATH whether or not there is a Python behind it, so each one is tried.
    works = (subprocess.run([one, "-V"], capture_output=True, check=False).returncode == 0 for one in candidates)
    return next((one for one, good in zip(candidates, works, strict=True) if good), None)


def requirements(versions: str) -> list[str]:
    """Return what to install: torch and torch_geometric at the bound asked for, and what the tests need."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    bounds = dict(re.fullmatch(r"([\w-]+)>=([\d.]+)", line).groups() for line in declared)
    if versions == "lowest":
        return [f"{name}=={bounds[name]}.*" for name in ("torch", "torch_geometric")]
    return ["torch", "torch_geometric"] if versions == "newest" else []


def install(cell: Cell, folder: Path) -> Path:
    """Make the cell's environment and return its interpreter."""
    base = interpreter(cell.python)
    if base is None:
        raise CannotInstall(f"no Python {cell.python} found (PATH, pyenv, uv)")
    python = folder / "bin" / "python"
    if not python.exists():
        _call([str(base), "-m", "venv", str(folder)])
    environment = dict(os.environ, PIP_DISABLE_PIP_VERSION_CHECK="1")
    if cell.versions == "pinned":
        environment["PIP_CONSTRAINT"] = str(ROOT / "constraints.txt")
    pip = [str(python), "-m", "pip", "install", "-qq"]
    _call([*pip, "--editable", str(ROOT), *requirements(cell.versions), *_TEST_TOOLS], environment)
    return python


def _call(command: list[str], environment: dict[str, str] | None = None) -> None:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        raise CannotInstall(next((line for line in lines if "ERROR" in line), lines[-1]))


def installed(python: Path) -> str:
    """Return the versions that the tests ran on."""
    code = (
        "import platform, importlib.metadata as m; "
        "print('Python ' + platform.python_version(), *(f'{p} {m.version(p)}' for p in "
        "('torch', 'torch_geometric', 'numpy', 'scipy', 'pyarrow')), sep=', ')"
    )
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def run_tests(python: Path, tests: list[str], workers: str) -> tuple[bool, str]:
    """Run the tests and return whether they passed, and pytest's last line."""
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    command = [str(python), "-m", "pytest", "--numprocesses", workers, "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    lines = done.stdout.strip().splitlines() or done.stderr.strip().splitlines() or ["nothing was printed"]
    if done.returncode:
        print("\n".join(lines[-100:]), file=sys.stderr)
    return done.returncode == 0, lines[-1].strip("= ")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=[cell.name for cell in CELLS], action="append")
    parser.add_argument("--tests", nargs="*", default=[])
    parser.add_argument("--workers", default="2")
    parser.add_argument("--home", type=Path, default=ROOT / "build" / "matrix", help="where to make the environments")
    parser.add_argument("--keep", action="store_true", help="keep the environments for the next time")
    given = parser.parse_args()
    failed = False
    for cell in CELLS:
        if given.only and cell.name not in given.only:
            continue
        folder = given.home.resolve() / cell.name
        try:
            python = install(cell, folder)
        except CannotInstall as why:
            print(f"{cell.name}: not tested here: {why}", flush=True)
        else:
            passed, summary = run_tests(python, given.tests, given.workers)
            failed |= not passed
            print(f"{cell.name}: {'passed' if passed else 'FAILED'}: {summary} ({installed(python)})", flush=True)
        if not given.keep:
            shutil.rmtree(folder, ignore_errors=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
