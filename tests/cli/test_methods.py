import json
from collections.abc import Callable

import pytest
from tests.cli.conftest import Nodewise

from nodewise.methods.catalogue import METHODS


@pytest.mark.parametrize("name", METHODS)
def test_every_method_listed_can_be_loaded_and_follows_the_contract(name: str) -> None:
    estimator = METHODS[name].load()
    model = estimator(seed=3, device="cpu")
    assert isinstance(model.settings, estimator.settings_class)
    assert isinstance(estimator.settings_for("cora"), estimator.settings_class)


def test_json_names_what_each_uses(nodewise: Nodewise) -> None:
    cards = json.loads(nodewise("methods", "--json").out)
    assert [card["name"] for card in cards] == list(METHODS)
    assert all(set(card["uses"].split()) <= set("XASY") for card in cards)


def test_a_misspelt_method_is_refused_with_the_nearest(refused: Callable[..., str]) -> None:
    assert "did you mean 'nodewise'" in refused("embed", "citeseer", "-o", "run", "--method", "nodewize")
