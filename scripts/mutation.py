"""Change the code in small ways and see whether a test notices: scripts/mutation.py "src/nodewise/losses/*.py".

Works on a copy in build/mutation, with mutmut from build/mutmut (`make mutation` puts it there). The tests run are
those of the folders the files are in. Afterwards, in build/mutation, `mutmut show NAME` shows a survivor.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPY = ROOT / "build" / "mutation"
sys.path[:0] = [str(ROOT / "build" / "mutmut")]


def prepare(patterns: list[str]) -> None:
    """Copy the package and its tests, with settings for mutmut."""
    shutil.rmtree(COPY, ignore_errors=True)
    COPY.mkdir(parents=True)
    shutil.copytree(ROOT / "src", COPY / "src")
    folders = sorted({str(Path(pattern).parent).replace("src/nodewise", "tests") for pattern in patterns})
    for folder in folders:
        shutil.copytree(ROOT / folder, COPY / folder)
    for file in (ROOT / "tests").glob("*.py"):
        if not file.name.startswith("test_"):
            shutil.copy(file, COPY / "tests" / file.name)
    settings = f"\n[tool.mutmut]\nsource_paths = ['src/']\nonly_mutate = {patterns}\n"
    settings += f"pytest_add_cli_args_test_selection = {folders}\n"
    (COPY / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text() + settings)


def run() -> None:
    """Run mutmut, which was written for a pytest whose items called their name differently."""
    import _pytest.nodes
    from mutmut.__main__ import cli

    if not hasattr(_pytest.nodes.Node, "_nodeid"):
        _pytest.nodes.Node._nodeid = property(lambda item: item.nodeid)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.chdir(COPY)
    cli(["run", "--max-children", "1"])


if __name__ == "__main__":
    prepare(sys.argv[1:] or ["src/nodewise/losses/*.py", "src/nodewise/sampling/*.py"])
    run()
