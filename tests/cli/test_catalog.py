import json
from collections.abc import Callable
from pathlib import Path

from tests.command_line import Nodewise

from nodewise.graph.graph import Graph
from nodewise.methods.estimator import METHODS
from nodewise.sampling.strategy import STRATEGIES


def test_json_names_what_each_uses(nodewise: Nodewise) -> None:
    cards = json.loads(nodewise("methods", "--json").out)
    assert [card["name"] for card in cards] == list(METHODS)
    assert all(set(card["uses"].split()) <= set("XASY") for card in cards)
    assert all(card["needs_labels"] == ("Y" in card["uses"]) for card in cards)


def test_the_table_has_every_method(nodewise: Nodewise) -> None:
    printed = nodewise("methods", "--details").out.splitlines()
    shown = [line.split()[0] for line in printed[4:] if line[1:2].strip()]
    assert shown == list(METHODS)


def test_a_misspelled_method_is_refused_with_the_nearest(refused: Callable[..., str]) -> None:
    assert "did you mean 'nodewise'" in refused("embed", "citeseer", "-o", "run", "--method", "nodewize")


def test_every_strategy_is_listed_with_what_it_does(nodewise: Nodewise) -> None:
    listed = json.loads(nodewise("strategies", "--json").out)
    assert [entry["name"] for entry in listed] == list(STRATEGIES.names())
    assert all(len(entry["summary"]) > 10 and entry["kinds"] for entry in listed)
    (ring,) = (entry for entry in listed if entry["name"] == "ring")
    assert (ring["kinds"], ring["paper"]) == (["choose"], "Wu et al. 2021")


def test_the_table_names_every_strategy(nodewise: Nodewise) -> None:
    out = nodewise("strategies").out
    assert "what it does" in out
    assert all(f"\n {name} " in out for name in STRATEGIES.names())


def test_every_method_says_whether_it_sees_directions(nodewise: Nodewise, tmp_path: Path) -> None:
    graph = Graph.from_edges([0, 1, 2], [1, 2, 0], directed=True)
    said = {name: METHODS[name]().overlooked(graph) for name in METHODS}
    expected = {name: f"{name} sees no directions, so edges go both ways" for name in METHODS}
    # Three see them, and two look at features only.
    assert said == expected | dict.fromkeys(("nodewise", "smoothed", "random", "raw", "mlp"))
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(f"{i},{(i * i + 1) % 17}\n" for i in range(17)))
    (tmp_path / "labels.csv").write_text("id,label\n" + "".join(f"{i},{i % 2}\n" for i in range(12)))
    edges, run, labels = str(tmp_path / "edges.csv"), str(tmp_path / "run"), str(tmp_path / "labels.csv")
    told = nodewise("embed", edges, "--directed", "--method", "fastrp", "-o", run)
    assert expected["fastrp"] in told.err
    classified = ("classify", edges, "--directed", "--method", "lp", "--labels", labels)
    assert expected["lp"] in nodewise(*classified, "-o", str(tmp_path / "found.csv")).err
