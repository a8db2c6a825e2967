"""Methods are what scikit-learn expects: cloned, changed by keywords, in a pipeline, and shown as they are made."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from tests.methods.planted import planted

from nodewise.core.errors import InputError
from nodewise.encoders.gcn import GCNSettings
from nodewise.methods.estimator import Embedder
from nodewise.methods.node_embedder import NodeEmbedder
from nodewise.methods.rivals.dgi import DGI
from nodewise.methods.smoothed import SmoothedFeatures
from nodewise.sampling.weigh.hard import Hard

QUICK: dict[type[Embedder], dict[str, Any]] = {
    NodeEmbedder: {"dimension": 8, "steps": 2, "clusterings": 2, "batch_size": 100},
    DGI: {"dimension": 8, "epochs": 2},
}
MADE = [
    (NodeEmbedder, {}),
    (NodeEmbedder, {"steps": 80, "dpp": True}),
    (NodeEmbedder, {"seed": 4, "device": "cpu", "encoder": "gcn", "layers": 2, "embedding_teleport": 0.3}),
    (NodeEmbedder, {"strategy": "hard", "concentration": 0.7}),
    (NodeEmbedder, {"teleports": (0.1, 0.5), "views_length": 7}),
    (DGI, {"epochs": 3, "seed": 1}),
    (SmoothedFeatures, {"dimension": 16}),
]


@pytest.mark.parametrize(("kind", "keywords"), MADE)
def test_what_is_shown_makes_the_same(kind: type[Embedder], keywords: dict[str, Any]) -> None:
    model = kind(**keywords)
    again = eval(repr(model), {kind.__name__: kind})
    assert (again.settings, again.seed, again.device) == (model.settings, model.seed, model.device)
    assert repr(again) == repr(model)


def test_only_what_differs_from_the_defaults_is_shown() -> None:
    assert repr(NodeEmbedder()) == "NodeEmbedder()"
    assert repr(NodeEmbedder(steps=80, dpp=True, seed=3)) == "NodeEmbedder(dpp=True, steps=80, seed=3)"
    assert repr(DGI(epochs=3, device="cpu")) == "DGI(epochs=3, device='cpu')"


@pytest.mark.parametrize(("kind", "keywords"), MADE)
def test_a_clone_is_equal_and_not_fitted(kind: type[Embedder], keywords: dict[str, Any]) -> None:
    model = kind(**keywords)
    model.history_ = []
    copy = clone(model)
    assert type(copy) is kind
    assert copy is not model
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "history_")


@pytest.mark.parametrize("kind", QUICK)
def test_keywords_and_set_params_are_the_same(kind: type[Embedder]) -> None:
    made, changed = kind(seed=5, device="cpu", **QUICK[kind]), kind()
    assert changed.set_params(seed=5, device="cpu", **QUICK[kind]) is changed
    assert changed.get_params() == made.get_params()
    assert changed.get_params()["dimension"] == 8
    assert set(changed.get_params(deep=False)) == {"settings", "seed", "device"}
    vectors = [model.fit_transform(planted()).vectors for model in (made, changed, clone(made))]
    assert np.array_equal(vectors[0], vectors[1])
    assert np.array_equal(vectors[0], vectors[2])


def test_parts_may_be_objects_names_or_sections() -> None:
    for given in (Hard(concentration=0.7), {"strategy": "hard", "concentration": 0.7}):
        assert NodeEmbedder(sampling=given).settings.sampling == Hard(concentration=0.7)
    assert NodeEmbedder(encoder=GCNSettings(dimension=4)).settings.encoder == GCNSettings(dimension=4)
    kept = NodeEmbedder(steps=7).set_params(strategy="hard", concentration=0.7).settings
    assert (kept.training.steps, kept.sampling) == (7, Hard(concentration=0.7))


@pytest.mark.parametrize(
    ("kind", "keywords", "said"),
    [
        (NodeEmbedder, {"stepz": 3}, "no setting 'stepz'; did you mean 'steps'"),
        (NodeEmbedder, {"steps": "many"}, "'training.steps' must be a whole number"),
        (NodeEmbedder, {"propagation": 3}, "several settings; write encoder_propagation or embedding_propagation"),
        (DGI, {"epoch": 3}, "no setting 'epoch'; did you mean 'epochs'"),
        (DGI, {"settings": 3}, "settings"),
    ],
)
def test_slips_are_told_in_one_line(kind: type[Embedder], keywords: dict[str, Any], said: str) -> None:
    for make in (lambda: kind(**keywords), lambda: kind().set_params(**keywords)):
        with pytest.raises(InputError, match=said) as caught:
            make()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", QUICK)
def test_a_pipeline_classifies_nodes_by_their_vectors(kind: type[Embedder]) -> None:
    labels = np.asarray(planted().labels)
    model = make_pipeline(kind(seed=5, device="cpu", **QUICK[kind]), LogisticRegression())
    score = model.fit(planted(), labels).predict(planted()) == labels
    assert score.mean() > 0.5, "chance is a quarter"
    assert isinstance(clone(model), Pipeline)
    assert model.set_params(**{f"{model.steps[0][0]}__seed": 6})[0].seed == 6
    assert kind.__name__ in repr(model)
    assert "not fitted" in clone(model)[0]._repr_html_()
