"""What a newcomer does who has read the README alone: its blocks as they stand, a notebook, new nodes tomorrow."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodewise.cli.main import main
from nodewise.sampling.strategy import STRATEGIES

README = Path(__file__).resolve().parent.parent.parent / "README.md"
ELSEWHERE = ("cora", "pubmed", "reproduce")  # data sets that do not come along, and what takes hours


def blocks() -> list[tuple[str, str]]:
    """Return the language and the text of each block of the README."""
    return re.findall(r"^```(\w+)\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.fixture
def own_graph(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Three groups of people who mostly know each other, with ages, towns and labels of some."""
    generator, nodes = np.random.default_rng(0), 150
    group = np.arange(nodes) % 3
    near = generator.random((nodes, nodes)) < np.where(group[:, None] == group, 0.08, 0.01)
    names = [f"person_{i}" for i in range(nodes)]
    rows = [f"{names[i]},{names[j]}\n" for i, j in np.argwhere(np.triu(near, 1))]
    Path("edges.csv").write_text("source,target\n" + "".join(rows))
    ages = (30 + 10 * group + generator.normal(size=nodes) * 8).round(1)
    towns = np.array(["Rome", "Oslo", "Lima"])[np.where(generator.random(nodes) < 0.7, group, (group + 1) % 3)]
    lines = (f"{name},{age},{town}\n" for name, age, town in zip(names, ages, towns, strict=True))
    Path("nodes.csv").write_text("id,age,town\n" + "".join(lines))
    known = (f"{names[i]},{'abc'[group[i]]}\n" for i in range(nodes))
    Path("labels.csv").write_text("id,label\n" + "".join(known) + "stranger,a\n")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "mine", raising=False)  # another test's, of the same name
    before = set(sys.modules)
    yield folder
    for name in [name for name in STRATEGIES.names() if STRATEGIES[name].__module__ == "mine"]:
        del STRATEGIES._found[name]
    for name in set(sys.modules) - before:  # modules that blocks have written here
        if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def commands(text: str) -> Iterator[list[str]]:
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["nodewise"] and not any(word in ELSEWHERE for word in words):
            yield words[1:]


def test_every_block_runs_in_the_order_of_the_page(own_graph: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ran = 0
    for language, text in blocks():
        if language == "python":
            if named := re.match(r"# (\w+\.py)\n", text):
                Path(named[1]).write_text(text)
                continue  # imported by the command that names it
            exec(compile(text, str(README), "exec"), {"__name__": "readme"})
            ran += 1
        elif language in ("sh", "bash", "console"):
            for words in commands(text):
                assert main(words) == 0, (words, capfd.readouterr().err)
                ran += 1
    assert ran >= 4, "the README has lost its blocks, or they are of another language"
    assert (own_graph / "run" / "report.html").is_file()


def test_new_nodes_tomorrow(own_graph: Path, nodewise: Callable[..., Any]) -> None:
    few = ("--set", "training.steps=5", "-q")
    assert nodewise("embed", "edges.csv", "--features", "nodes.csv", "-o", "run", *few).code == 0
    with Path("edges.csv").open("a") as edges, Path("nodes.csv").open("a") as table:
        edges.writelines(f"newcomer,person_{i}\n" for i in range(0, 30, 3))
        table.write("newcomer,31,Atlantis\n")  # a town that training has not seen
    made = nodewise("transform", "run", "edges.csv", "--features", "nodes.csv", "--new", "-o", "new.parquet")
    assert made.code == 0, made.err
    found = json.loads(nodewise("neighbors", "run", "--new", "new.parquet", "-n", "newcomer", "-k", 9, "--json").out)
    groups = [int(str(each["id"]).removeprefix("person_")) % 3 for each in found["neighbors"]]
    assert groups.count(0) >= 6, "the newcomer knows people of the first group only"


def test_a_notebook_shows_graphs_models_runs_and_tables(own_graph: Path) -> None:
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    cells = [
        "import sys; sys.path[:0] = " + repr([path for path in sys.path if path.endswith("src")]),
        "import nodewise as nw\ngraph = nw.read_graph('edges.csv', features='nodes.csv'); graph",
        "model = nw.NodeEmbedder(steps=5, device='cpu').fit(graph); model.embeddings_",
        "run = model.save('run', graph); run.evaluate(labels='labels.csv')",
        "run.neighbors(['person_0', 'person_1'], k=2)",
        "run.clusters()",
        "run.report(labels='labels.csv')",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(book, timeout=200, kernel_name="python3").execute()
    shown = ["".join(str(output.get("data", {})) for output in cell.outputs) for cell in book.cells]
    assert "150 nodes" in shown[1]
    assert "person_0" in shown[2]
    assert "smoothed features" in shown[3]
    assert "4 pairs" in shown[4]
    assert "<table" in shown[5]
    assert "<iframe" in shown[6]
