"""Pages of as many points as a page may hold, with vectors made up; `pytest -m slow -s tests/report` prints times."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.report.test_browser import Reader

from nodewise.graph.graph import Graph
from nodewise.graph.ids import NodeIds
from nodewise.report.contents import contents
from nodewise.report.page import write_page
from nodewise.report.subject import Subject
from nodewise.vectors.embeddings import Embeddings

pytestmark = pytest.mark.slow

PATIENCE = 300_000  # milliseconds

FRAMES = """() => new Promise((done) => {
  const map = document.getElementById("map");
  const press = (key) => map.dispatchEvent(new KeyboardEvent("keydown", { key }));
  const [most, began] = [40, performance.now()];
  let drawn = 0;
  const frame = () => {
    if (drawn === most || performance.now() - began > 20000) done((1000 * drawn) / (performance.now() - began));
    else {
      press(drawn++ % 20 < 10 ? "ArrowLeft" : "ArrowRight");
      // Reading a pixel waits until the points are really there.
      const gl = document.getElementById("points").getContext("webgl2");
      requestAnimationFrame(() => {
        gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
        frame();
      });
    }
  };
  frame();
})"""
"""Pan left and right, and return how many frames were drawn in a second."""


def made_up(nodes: int) -> Subject:
    """Ten clouds of nodes on a ring, without training."""
    generator = np.random.default_rng(0)
    labels = np.arange(nodes) % 10
    vectors = (4 * generator.normal(size=(10, 16))[labels] + generator.normal(size=(nodes, 16))).astype("f4")
    ids = NodeIds([f"node_{i}" for i in range(nodes)])
    ends = np.arange(nodes)
    graph = Graph.from_edges(ends, (ends + 10) % nodes, ids=ids, features=vectors[:, :2], name="clouds")
    names = tuple(f"cloud {i}" for i in range(10))
    return Subject("clouds", Embeddings(ids, vectors), graph, labels.astype(np.int64), names)


def timed(action: Callable[[], object]) -> tuple[Any, float]:
    start = time.perf_counter()
    return action(), time.perf_counter() - start


@pytest.mark.parametrize("nodes", [20_000, 100_000])
def test_a_large_page_is_drawn_searched_and_lassoed(browser: Any, tmp_path: Path, nodes: int) -> None:
    path = tmp_path / "large.html"
    _, making = timed(lambda: write_page(contents(made_up(nodes), "pca"), path))
    reader, loading = timed(lambda: Reader(browser, path, patience=PATIENCE))
    picture, drawing = timed(lambda: reader.picture("#map"))
    colored = (np.ptp(np.asarray(picture, int), axis=-1) > 40).mean()
    assert colored > 0.02

    def search() -> None:
        reader.search(f"node_{nodes - 1}")
        assert reader.heading() == f"node_{nodes - 1}"

    _, first_search = timed(search)
    reader.page.keyboard.press("Escape")
    _, next_search = timed(search)
    assert reader.page.locator("#details .neighbours > div").nth(1).locator("li").count() == 2

    box = reader.box()
    corners = (box["x"] + 4, box["y"] + 4, box["x"] + box["width"] / 2, box["y"] + box["height"] - 4)
    _, lassoing = timed(lambda: (reader.lasso(*corners), reader.page.wait_for_selector("#group h2")))
    number = int("".join(filter(str.isdigit, str(reader.page.locator("#group h2").text_content()))))
    assert 0.1 * nodes < number < 0.9 * nodes
    reader.page.click("#group >> text=Clear")
    rate = reader.page.evaluate(FRAMES)
    assert reader.complaints == []
    reader.context.close()
    print(
        f"\n{nodes:,} points, a page of {path.stat().st_size / 1e6:.1f} MB: made in {making:.0f} s, "
        f"loaded in {loading:.1f} s and drawn in {drawing:.1f} s more; "
        f"search {first_search:.2f} s, then {next_search:.2f} s; "
        f"lasso of {number:,} nodes {lassoing:.2f} s; {rate:.0f} frames a second while panning"
    )
