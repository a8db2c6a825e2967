"""The documentation's pictures can be drawn, and its links lead somewhere."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    ROOT / name
    for name in subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True).stdout.split()
)
MADE = ("_pictures/", "_generated/")  # by the build itself


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, and of those of the pages it includes."""
    text = page.read_text(encoding="utf-8")
    found = {
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        for heading in re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M), re.M)
    }
    for included in re.findall(r"^```\{include\} (\S+)", text, re.M):
        found |= anchors(page.parent / included) if not included.startswith(MADE) else set()
    return found


@pytest.mark.skipif(not PAGES, reason="needs the files that git knows")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target) or target.startswith(MADE):
            continue
        path, _, anchor = target.partition("#")
        other = (page.parent / path).resolve() if path else page
        assert other.exists(), target
        if anchor:
            assert anchor in anchors(other), target


@pytest.mark.skipif(not PAGES, reason="needs the files that git knows")
def test_a_part_of_a_page_that_is_included_is_there() -> None:
    parts = 0
    for page in PAGES:
        for included, options in re.findall(
            r"^```\{include\} (\S+)\n((?::.*\n)+)", page.read_text(encoding="utf-8"), re.M
        ):
            text = (page.parent / included).read_text(encoding="utf-8")
            marks = re.findall(r'^:(?:start-after|end-before): "(.*)"$', options, re.M)
            assert [mark for mark in marks if text.count(mark) != 1] == [], included
            parts += bool(marks)
    assert parts


@pytest.mark.skipif(not PAGES, reason="needs the files that git knows")
def test_the_catalog_shows_the_accuracies_of_the_committed_rows(tmp_path: Path) -> None:
    target = ROOT / "src/nodewise/methods/accuracy.json"
    copy = tmp_path / "accuracy.json"
    script = ROOT / "scripts/bundle_accuracy.py"
    subprocess.run([sys.executable, script, ROOT / "results", ROOT / "configs", copy], check=True)
    assert json.loads(copy.read_text()) == json.loads(target.read_text())


def test_pictures_are_drawn(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "docs" / "pictures.py")
    assert spec is not None
    assert spec.loader is not None
    pictures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pictures)
    pictures.draw_all(tmp_path)
    shown = set(re.findall(r"_pictures/([\w.]+)", "".join(page.read_text(encoding="utf-8") for page in PAGES)))
    assert shown
    assert shown <= {path.name for path in tmp_path.iterdir() if path.stat().st_size > 1000}
