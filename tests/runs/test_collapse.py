"""Vectors that are all alike are never passed on in silence: embed, evaluate, report and the folder tell it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from tests.command_line import Nodewise
from tests.journeys.golden import write_ring
from tests.report.test_packing import data_of

from nodewise.methods.inputs import Inputs
from nodewise.methods.rivals.dgi import DGI

GRAPH = ("edges.csv", "--features", "nodes.csv", "--labels", "labels.csv")


def test_a_collapse_is_told_everywhere(folder: Path, nodewise: Nodewise, monkeypatch: pytest.MonkeyPatch) -> None:
    write_ring()
    small = ("--method", "dgi", "--set", "epochs=2", "--set", "dimension=8", "--device", "cpu")
    assert "warning" not in nodewise("embed", *GRAPH, *small, "-o", "sound").err

    def alike(self: DGI, network: torch.nn.Module, inputs: Inputs) -> torch.Tensor:
        return torch.ones(inputs.num_nodes, 8)

    monkeypatch.setattr(DGI, "_encode", alike)
    told = "All 40 vectors are the same"
    assert f"warning: {told}" in nodewise("embed", *GRAPH, *small, "-o", "run").err
    (noted,) = json.loads(Path("run/environment.json").read_text())["embeddings"]["warnings"]
    assert noted.startswith(told)

    options = ("--split", "random:3x4x8", "--repeats", "1")
    assert f"warning: {told}" in nodewise("evaluate", "run", *options).err
    (noted,) = json.loads(nodewise("evaluate", "run", *options, "--json").out)["warnings"]
    assert noted.startswith(told)
    assert "warnings" not in json.loads(nodewise("evaluate", "sound", *options, "--json").out)

    nodewise("report", "run", "-o", "page.html", "--projection", "pca")
    assert any(told in warning for warning in data_of(Path("page.html"))["warnings"])
