from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from nodewise.report.contents import contents
from nodewise.report.page import page, write_page
from nodewise.report.subject import Subject


class Elements(HTMLParser):
    """The elements of a page, and the text of its scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inline: list[tuple[str, dict[str, str | None], str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self.inline.append((tag, dict(attrs), ""))

    def handle_data(self, data: str) -> None:
        if self.inline and self.cdata_elem is not None:
            tag, attributes, text = self.inline[-1]
            self.inline[-1] = (tag, attributes, text + data)


@pytest.fixture
def text(subject: Subject) -> str:
    return page(contents(subject, "pca"))


def test_every_script_and_style_is_allowed_by_its_hash_and_nothing_else_is(text: str) -> None:
    elements = Elements(text)
    policy = next(a["content"] for tag, a in elements.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert "unsafe" not in policy
    assert policy.startswith("default-src 'none'; ")
    code = [text for _, attributes, text in elements.inline if attributes.get("type") != "application/json"]
    hashes = {f"'sha256-{base64.b64encode(hashlib.sha256(each.encode()).digest()).decode()}'" for each in code}
    assert hashes == set(re.findall(r"'sha256-[^']+'", policy))


def test_nothing_is_loaded_and_no_attribute_holds_code(text: str) -> None:
    for tag, attributes in Elements(text).tags:
        assert tag not in ("img", "iframe", "object", "embed", "link", "base", "form")
        assert "src" not in attributes
        assert not attributes.get("href", "#").startswith(("http", "//", "javascript", "data"))
        assert not [name for name in attributes if name.startswith("on") or name == "style"]


def test_hostile_data_leave_the_markup_as_it_is(text: str, subject: Subject) -> None:
    elements = Elements(text)
    assert [tag for tag, _ in elements.tags].count("script") == 2
    assert "window.broken" not in text.replace("\\u003cscript\\u003ewindow.broken = 3\\u003c/script\\u003e", "")
    data = next(text for _, attributes, text in elements.inline if attributes.get("id") == "data")
    assert json.loads(data)["settings"] == subject.settings


@pytest.mark.parametrize(
    ("known", "title"),
    [
        ({}, "cora"),
        ({"method": "dgi"}, "dgi on cora"),
        ({"method": "dgi", "run": "first"}, "dgi on cora, folder first"),
        ({"method": "dgi", "run": "cora"}, "dgi on cora"),
        ({"run": "</title><b>{{data}}"}, "cora, folder </title><b>{{data}}"),
    ],
)
def test_the_tab_and_the_heading_say_what_the_page_is_of(subject: Subject, known: dict[str, str], title: str) -> None:
    found = contents(replace(subject, name="cora", **known), "pca")
    assert found["title"] == title
    head = page(found).partition("<title>")[2].partition("</title>")[0]
    assert unescape(head) == f"{title} · nodewise report"
    assert "<" not in head


def test_our_scripts_build_no_markup_and_evaluate_no_text() -> None:
    import nodewise.report

    scripts = sorted((Path(nodewise.report.__file__).parent / "assets" / "scripts").glob("*.js"))
    assert len(scripts) == 19
    for script in scripts:
        code = script.read_text(encoding="utf-8")
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|fetch\(", code
        )
        assert max(map(len, code.splitlines())) < 200
        assert script.name in Path(nodewise.report.__file__).with_name("page.py").read_text(encoding="utf-8")


def test_the_page_is_written_whole(text: str, subject: Subject, tmp_path: Path) -> None:
    write_page(contents(subject, "pca"), tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == text
    assert list(tmp_path.iterdir()) == [tmp_path / "report.html"]
