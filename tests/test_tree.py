"""The tree stays one that a stranger can walk: small folders, no splinters, no giants, and a page that shows it."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "nodewise"
FILES = {
    ".".join(("nodewise", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in PACKAGE.rglob("*.py")
}


def lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def importers() -> dict[str, set[str]]:
    """Who imports each module of the package, at the top of a file or within a function."""
    found: dict[str, set[str]] = defaultdict(set)
    for module, path in FILES.items():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                for each in node.names:
                    name = f"{node.module}.{each.name}"
                    found[name if name in FILES else node.module].add(module)
    return found


def test_no_folder_has_more_than_20_files() -> None:
    folders = {path.parent for path in FILES.values()}
    assert {folder for folder in folders if len(list(folder.glob("*.py"))) > 20} == set()


def test_no_file_has_more_than_600_lines() -> None:
    assert {str(path) for path in FILES.values() if lines(path) > 600} == set()


def test_a_file_of_30_lines_has_more_than_one_importer() -> None:
    found = importers()
    assert found["nodewise.core.errors"] > {"nodewise.core.config"}
    small = {name for name, path in FILES.items() if path.name != "__init__.py" and lines(path) <= 30}
    assert {name for name in small if len(found[name]) == 1} == set()


def test_the_architecture_shows_every_folder() -> None:
    shown = (ROOT / "docs" / "architecture.md").read_text().partition("## Layers")[0]
    folders = {path.parent.name for path in FILES.values()} - {"nodewise", "bundled"}
    assert {name for name in folders if f"{name}/" not in shown} == set()
