"""The diffusion as a tensor: right, symmetric, and computed once."""

from __future__ import annotations

import pytest
import torch
from tests.graphs import small_graph

from nodewise.core.progress import SilentProgress
from nodewise.methods import augment as diffused
from nodewise.methods.augment import diffusion_tensor
from nodewise.methods.inputs import Inputs
from nodewise.views.diffusion import DiffusionSettings, diffuse


def test_it_is_the_matrix() -> None:
    inputs = Inputs(small_graph())
    found = diffusion_tensor(inputs, DiffusionSettings(), SilentProgress())
    assert found.layout == torch.sparse_csr
    assert torch.equal(found.to_dense(), torch.from_numpy(diffuse(inputs.graph, DiffusionSettings()).toarray()))


def test_it_is_computed_once_for_each_graph_and_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(graph, settings, progress):  # type: ignore[no-untyped-def]
        calls.append(settings)
        return diffuse(graph, settings, progress)

    monkeypatch.setattr(diffused, "diffuse", counted)
    inputs, other = Inputs(small_graph()), Inputs(small_graph())
    for which, kind in ((inputs, "ppr"), (inputs, "ppr"), (inputs, "heat"), (other, "ppr"), (inputs, "heat")):
        diffusion_tensor(which, DiffusionSettings(kind=kind), SilentProgress())
    assert [settings.kind for settings in calls] == ["ppr", "heat", "ppr"]
