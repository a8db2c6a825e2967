import json
from collections.abc import Callable

from tests.command_line import Nodewise

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
    assert all(f"\n {name} " in out for name in STRATEGIES.names())
