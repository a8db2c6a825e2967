"""Graphs whose groups show in the weights, directions or types of their edges only, by the real command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from nodewise.cli.main import main
from nodewise.vectors.embeddings import read_embeddings

NODES, GROUPS, EDGES = 240, 3, 2600
QUICK = ("--set", "training.steps=20", "--set", "encoder.dimension=64", "--quiet")
CHANCE, LEARNT = 0.45, 0.9


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def planted() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.random.Generator]:
    """Groups that edges know nothing of: every pair of nodes is as likely as any other."""
    generator = np.random.default_rng(5)
    groups = generator.integers(0, GROUPS, NODES)
    sources, targets = generator.integers(0, NODES, (2, EDGES))
    labels = "".join(f"n{node},{'abc'[group]}\n" for node, group in enumerate(groups))
    Path("labels.csv").write_text(f"id,label\n{labels}")
    return groups, sources, targets, generator


def bought_and_seen() -> tuple[np.ndarray, np.ndarray]:
    """Customers buy what their group buys, and see five times as many products at random; return everyone's group."""
    generator = np.random.default_rng(3)
    customers, products = generator.integers(0, GROUPS, 150), generator.integers(0, GROUPS, 60)
    lines = []
    for customer, group in enumerate(customers):
        bought = generator.choice(np.flatnonzero(products == group), 5)
        lines += [f"c{customer},p{product},buys\n" for product in bought]
        lines += [f"c{customer},p{product},sees\n" for product in generator.integers(0, 60, 25)]
    generator.shuffle(lines)
    Path("edges.csv").write_text(f"source,target,type\n{''.join(lines)}")
    Path("labels.csv").write_text("id,label\n" + "".join(f"c{i},{'abc'[group]}\n" for i, group in enumerate(customers)))
    tastes = np.where(generator.random(150) < 0.4, customers, generator.integers(0, GROUPS, 150))
    rows = [f"c{i},customer,{'xyz'[taste]},\n" for i, taste in enumerate(tastes)]
    Path("nodes.csv").write_text(
        "id,type,taste,size\n" + "".join(rows + [f"p{i},product,,{i % 5}\n" for i in range(60)])
    )
    return customers, products


def accuracy(capsys: pytest.CaptureFixture[str], *options: str) -> float:
    """Embed, evaluate, and return the share of nodes whose group is found from their vector."""
    assert main(["embed", "edges.csv", "-o", "run", "--overwrite", *options, *QUICK]) == 0
    capsys.readouterr()
    split = ("--labels", "labels.csv", "--split", "random:20x30x60", "--repeats", "3")
    assert main(["evaluate", "run", *split, "--json", "--quiet"]) == 0
    return float(json.loads(capsys.readouterr().out)["scores"]["accuracy"]["mean"])


def test_groups_that_only_weights_tell_apart(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    groups, sources, targets, generator = planted()
    weights = np.where(groups[sources] == groups[targets], 5.0, 0.3) * generator.uniform(0.8, 1.2, EDGES)
    rows = zip(sources, targets, weights, strict=True)
    Path("edges.csv").write_text("source,target,weight\n" + "".join(f"n{s},n{t},{w:.3f}\n" for s, t, w in rows))
    assert accuracy(capsys) > LEARNT
    assert accuracy(capsys, "--unweighted") < CHANCE


def test_groups_that_only_directions_tell_apart(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    groups, sources, targets, _ = planted()
    back = (groups[targets] - groups[sources]) % GROUPS == 2  # edges go from a to b, from b to c and from c to a
    ends = zip(np.where(back, targets, sources), np.where(back, sources, targets), strict=True)
    Path("edges.csv").write_text("source,target\n" + "".join(f"n{s},n{t}\n" for s, t in ends))
    assert accuracy(capsys) < CHANCE
    assert accuracy(capsys, "--directed") > LEARNT
    # A new node points to group b, so it belongs to a; the command knows that edges have directions from the run.
    b = np.flatnonzero(groups == 1)[:12]
    Path("more.csv").write_text(Path("edges.csv").read_text() + "".join(f"new,n{node}\n" for node in b))
    capsys.readouterr()
    assert main(["transform", "run", "more.csv", "--new", "-o", "new.parquet"]) == 0
    assert "edges go from 'source' to 'target'" in capsys.readouterr().err
    new, old = read_embeddings("new.parquet").vectors[0], read_embeddings("run/embeddings.parquet")
    out = slice(0, len(new) // 2)  # the half that what a node points to decides
    alike = (old.vectors[:, out] @ new[out]) / np.linalg.norm(old.vectors[:, out], axis=1)
    nearest = [groups[int(old.ids[place][1:])] for place in np.argsort(-alike)[:10]]
    assert nearest.count(0) >= 9


def test_groups_that_features_and_directions_tell_together(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    generator = np.random.default_rng(1)
    colors, groups = generator.integers(0, 2, (2, NODES))
    noise = generator.normal(size=NODES)
    lines = []
    for node in range(NODES):  # pays nodes of one color, and is paid by those of the other
        paid, payers = (np.flatnonzero((colors == groups[node]) == same) for same in (True, False))
        lines += [f"n{node},n{other}\n" for other in generator.choice(paid, 5)]
        lines += [f"n{other},n{node}\n" for other in generator.choice(payers, 5)]
    Path("edges.csv").write_text("source,target\n" + "".join(lines))
    Path("labels.csv").write_text("id,label\n" + "".join(f"n{i},{'ab'[group]}\n" for i, group in enumerate(groups)))
    rows = (f"n{i},{('red', 'blue')[color]},{x:.3f}\n" for i, (color, x) in enumerate(zip(colors, noise, strict=True)))
    Path("nodes.csv").write_text("id,color,age\n" + "".join(rows))
    assert accuracy(capsys, "--features", "nodes.csv") < 0.65
    assert accuracy(capsys, "--features", "nodes.csv", "--directed") > LEARNT


def test_groups_that_the_kinds_of_nodes_tell_apart(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    generator = np.random.default_rng(2)
    groups, kinds = generator.integers(0, 2, NODES), np.arange(NODES) % 2
    codes = groups ^ kinds  # what code x means for a customer, y means for a product
    lines = [f"n{s},n{t}\n" for s in range(0, NODES, 2) for t in generator.choice(np.arange(1, NODES, 2), 6)]
    Path("edges.csv").write_text("source,target\n" + "".join(lines))
    Path("labels.csv").write_text("id,label\n" + "".join(f"n{i},{'ab'[group]}\n" for i, group in enumerate(groups)))
    names, prices = np.array(["customer", "product"])[kinds], ["", *"12345"]
    rows = (f"n{i},{names[i]},{'xy'[codes[i]]},{prices[kinds[i] * (1 + i % 5)]}\n" for i in range(NODES))
    Path("nodes.csv").write_text("id,type,code,price\n" + "".join(rows))
    table = ("--features", "nodes.csv")
    assert accuracy(capsys, *table, "--columns=type:category") < 0.65
    assert accuracy(capsys, *table) > LEARNT
    assert main(["neighbors", "run", "--node", "n0", "-k", "5", "--kind", "product", "--json"]) == 0
    found = [int(each["id"][1:]) for each in json.loads(capsys.readouterr().out)["neighbors"]]
    assert all(kinds[node] == 1 for node in found)
    assert main(["neighbors", "run", "--node", "n0", "--kind", "shop"]) == 2
    assert main(["report", "run", "--labels", "labels.csv", "--quiet"]) == 0
    Path("more.csv").write_text(Path("edges.csv").read_text() + "n0,new\n")
    Path("all.csv").write_text(Path("nodes.csv").read_text() + "new,product,x,3\n")
    assert main(["transform", "run", "more.csv", "--features", "all.csv", "--new", "-o", "new.parquet"]) == 0


def test_groups_that_one_type_of_edges_tells_apart(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    customers, products = bought_and_seen()
    assert main(["inspect", "edges.csv"]) == 0
    told = capsys.readouterr()
    assert "buys: 750, sees: 3,750" in told.out
    assert "'type' read as the type of each edge" in told.err
    assert accuracy(capsys) < CHANCE
    assert accuracy(capsys, "--edge-types", "sees") < CHANCE
    assert accuracy(capsys, "--edge-types", "buys") > LEARNT
    # Through a store, and a new customer who bought what group b buys: which edges to use, the run knows.
    assert main(["convert", "edges.csv", "-o", "graph.store", "--quiet"]) == 0
    assert main(["embed", "graph.store", "-o", "stored", "--edge-types", "buys", *QUICK]) == 0
    old, stored = read_embeddings("run/embeddings.parquet"), read_embeddings("stored/embeddings.parquet")
    assert np.array_equal(old.vectors, stored.vectors)
    bought = "".join(f"new,p{product},buys\n" for product in np.flatnonzero(products == 1)[:6])
    seen = "".join(f"new,p{product},sees\n" for product in range(40))
    Path("more.csv").write_text(Path("edges.csv").read_text() + bought + seen)
    assert main(["transform", "run", "more.csv", "--new", "-o", "new.parquet", "--quiet"]) == 0
    new = read_embeddings("new.parquet").vectors[0]
    alike = old.vectors @ new / np.linalg.norm(old.vectors, axis=1)
    nearest = [old.ids[place] for place in np.argsort(-alike) if old.ids[place][0] == "c"][:10]
    assert [customers[int(name[1:])] for name in nearest].count(1) >= 9


def test_groups_that_a_metapath_tells_apart(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bought_and_seen()
    assert accuracy(capsys, "--metapath", "sees,sees") < CHANCE
    assert accuracy(capsys, "--metapath", "buys,buys") > LEARNT
    table = ("--features", "nodes.csv")
    assert accuracy(capsys, *table) < 0.7
    assert accuracy(capsys, *table, "--metapath", "customer,buys,product,buys,customer") > LEARNT


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--edge-types", "bys"), "unknown-type"),
        (("--edge-types", "buys", "--type-column", "kind"), "missing-column"),
        (("--metapath", "buys,sells"), "unknown-type"),
        (("--metapath", "customer,buys,customer"), "bad-metapath"),
        (("--metapath", "buys", "--edge-types", "buys"), "input"),
    ],
)
def test_types_that_cannot_be_used_are_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], code: str
) -> None:
    bought_and_seen()
    before = sorted(folder.iterdir())
    for command in ("embed", "convert"):
        assert main([command, "edges.csv", "--features", "nodes.csv", "-o", "out", *options, "--quiet"]) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert said.endswith(f"[{code}]\n")
    Path("nodes.csv").write_text(Path("nodes.csv").read_text() + "s1,shop,,3\n")
    assert main(["embed", "edges.csv", "--features", "nodes.csv", "-o", "out", "--quiet"]) == 2
    assert "no edge touches a node of type 'shop'" in capsys.readouterr().err
    assert sorted(folder.iterdir()) == before
