"""Small runs to make pages of, and a browser to look at them with."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from nodewise.graph.graph import Graph
from nodewise.graph.ids import NodeIds
from nodewise.report.columns import guessed
from nodewise.report.subject import Subject
from nodewise.vectors.embeddings import Embeddings

LONG = "long " * 2048
HOSTILE = (
    "</script><script>window.broken = 1</script>",
    "<img src=x onerror='window.broken = 2'>",
    "\"quotes\" and 'others' & {{data}} <!--",
    LONG,
    "שלום עולם",
    "a,b\nc",
)


def make_subject(**changes: Any) -> Subject:
    """Three groups of twenty nodes, each a ring, with hostile names among them."""
    generator = np.random.default_rng(0)
    nodes = 60
    labels = np.repeat(np.arange(3), 20)
    vectors = (3 * np.eye(3)[labels] @ generator.normal(size=(3, 8)) + generator.normal(size=(nodes, 8))).astype("f4")
    names = [*HOSTILE, *(f"node_{i}" for i in range(len(HOSTILE), nodes))]
    ids = NodeIds(names)
    ends = np.arange(nodes)
    graph = Graph.from_edges(ends, 20 * labels + (ends + 1) % 20, ids=ids, features=vectors, name="rings")
    given = {
        "name": "rings <b>&amp;",
        "embeddings": Embeddings(ids, vectors),
        "graph": graph,
        "labels": labels.astype(np.int64),
        "class_names": ("<i>first</i>", "second", "third"),
        "attributes": (
            guessed("age", [None if i == 7 else i * 1.5 for i in range(nodes)]),
            guessed("<u>city</u>", ["Rome" if i % 2 else "<b>Oslo" for i in range(nodes)]),
        ),
        "metrics": [{"step": i, "loss": 2 - i / 10, "negatives": 30.0, "moved": 0.1, "empty": 0.0} for i in range(8)],
        "settings": {"training": {"steps": 8, "note": "<script>window.broken = 3</script>"}},
        "environment": {"graph": {"edges": 60, "features": 8}, "argv": ["nodewise", "<b>"]},
        "notes": ("<em>a note</em>",),
    }
    return Subject(**(given | changes))


@pytest.fixture
def subject() -> Subject:
    return make_subject()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's Chromium without a screen, drawing WebGL in software."""
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("no Chromium: install it with 'apt-get install chromium'")
    api = pytest.importorskip("playwright.sync_api", reason="no playwright: install nodewise[dev]")
    switches = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=switches)
        yield chromium
        chromium.close()
