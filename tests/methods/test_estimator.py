"""What all methods share: a name, settings, a learning rate that makes sense, and vectors that are numbers."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.methods.planted import planted
from torch import Tensor

import nodewise as nw
from nodewise.core.errors import InputError, NodewiseError
from nodewise.methods.estimator import METHODS, Embedder, Watch
from nodewise.methods.inputs import Inputs
from nodewise.methods.rivals.dgi import DGI


@pytest.mark.parametrize("name", METHODS)
def test_every_method_follows_the_contract(name: str) -> None:
    method = METHODS[name]
    assert method.name == name
    assert method is METHODS.find(name, with_labels=method.needs_labels())
    with pytest.raises(InputError, match=f"^{name} (uses no|needs) labels: run it with 'nodewise "):
        METHODS.find(name, with_labels=not method.needs_labels())
    assert all((method.title, method.paper, method.cost))
    assert isinstance(method(seed=3, device="cpu").settings, method.settings_class)
    assert isinstance(method.settings_for("cora"), method.settings_class)


@pytest.mark.parametrize("rate", [10.5, 1e30, 1e39, float("nan")])
def test_an_absurd_learning_rate_is_refused(rate: float) -> None:
    with pytest.raises(InputError, match="learning_rate is"):
        DGI(DGI.settings_class(learning_rate=rate))


def test_the_largest_learning_rate_is_allowed() -> None:
    DGI(DGI.settings_class(learning_rate=10.0))


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_vectors_that_are_no_numbers_are_refused_as_a_training_gone_astray(bad: float) -> None:
    class Astray(Embedder):
        settings_class = DGI.settings_class

        def _embed(self, inputs: Inputs, watch: Watch) -> Tensor:
            vectors = torch.ones(inputs.graph.num_nodes, 2)
            vectors[3, 1] = bad
            return vectors

    with pytest.raises(InputError, match="_embed returned vectors that are not all finite") as own:
        Astray(device="cpu").fit(planted())
    assert own.value.code == "own-code-failed"
    Astray.__module__ = DGI.__module__  # as one that comes with the package
    with pytest.raises(NodewiseError, match="the vectors are not finite; lower learning_rate"):
        Astray(device="cpu").fit(planted())


def test_a_collapse_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    class Alike(Embedder):
        settings_class = DGI.settings_class

        def _embed(self, inputs: Inputs, watch: Watch) -> Tensor:
            return torch.ones(inputs.graph.num_nodes, 8)

    Alike(device="cpu").fit(planted())
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("nodewise", "WARNING")
    assert "All 400 vectors are the same" in record.getMessage()
    caplog.clear()
    DGI(dimension=8, epochs=3, device="cpu").fit(planted())
    assert not caplog.records


def test_columns_in_unlike_units_are_logged_where_a_method_takes_them_as_they_are(
    caplog: pytest.LogCaptureFixture,
) -> None:
    plain = planted()
    random = np.random.default_rng(0)
    people = np.stack([random.normal(40, 10, plain.num_nodes), random.lognormal(9, 2, plain.num_nodes)], 1)
    graph = replace(plain, features=people.astype(np.float32), table=None)
    DGI(dimension=8, epochs=3, device="cpu").fit(graph)
    assert any("the spread of columns differs by a factor" in record.getMessage() for record in caplog.records)
    caplog.clear()
    nw.NodeEmbedder(dimension=8, steps=2, device="cpu").fit(graph)  # prepares features itself
    assert not any("the spread of columns" in record.getMessage() for record in caplog.records)


@pytest.mark.parametrize("name", ["nodewise", "dgi", "deepwalk", "gcn"])
def test_what_training_gives_is_not_there_before_it(name: str) -> None:
    model = METHODS[name]()
    attribute = "probabilities_" if name == "gcn" else "embeddings_"
    assert not hasattr(model, attribute)
    assert getattr(model, attribute, None) is None
    with pytest.raises(AttributeError) as told:
        getattr(model, attribute)
    assert isinstance(told.value, InputError)
    assert told.value.code == "not-fitted"
    with pytest.raises(AttributeError, match="no attribute 'embeddings'") as other:
        model.embeddings
    assert not isinstance(other.value, InputError)
    assert copy.deepcopy(model).get_params() == model.get_params()
