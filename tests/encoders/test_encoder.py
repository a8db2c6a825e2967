"""What every encoder shares: readouts, passes over a graph, one view of each node."""

from __future__ import annotations

import math
from typing import Any, get_args, get_type_hints

import pytest
import torch
from tests.graphs import small_graph
from torch import Tensor

from nodewise.core import rng
from nodewise.encoders.encoder import (
    LINEAR,
    Encoder,
    EncoderSettings,
    LayeredSettings,
    Pass,
    linear_row,
    readout,
    smoothing_passes,
)
from nodewise.encoders.features import Features
from nodewise.views.topology import Topology
from nodewise.views.walks import ViewSettings, random_walks

READOUTS = get_args(get_type_hints(LayeredSettings)["readout"])
MASK = torch.tensor([[True, True, True, False, False], [True, False, False, False, False], [True] * 5])
EMBEDDINGS = torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float32) - 0.5


def slow_twin(name: str, rows: list[list[float]]) -> list[float]:
    """R(H) of Section 4.1 over the real nodes, one coordinate at a time."""
    pooled = []
    for column in zip(*rows, strict=True):
        mean, largest = sum(column) / len(column), max(column)
        outcome = {
            "center": column[0],
            "mean": mean,
            "mean_max": mean + largest,
            "sigmoid_mean_max": 1 / (1 + math.exp(-(mean + largest))),
        }
        pooled.append(outcome[name])
    return pooled


@pytest.mark.parametrize("name", READOUTS)
def test_against_a_loop_with_padding_left_out(name: str) -> None:
    found = readout(name, EMBEDDINGS, MASK)
    for row in range(3):
        expected = slow_twin(name, EMBEDDINGS[row][MASK[row]].tolist())
        assert torch.allclose(found[row], torch.tensor(expected), atol=1e-6)


@pytest.mark.parametrize("name", READOUTS)
def test_what_is_in_padded_slots_does_not_matter(name: str) -> None:
    other = EMBEDDINGS.masked_fill(~MASK.unsqueeze(-1), 1e6)
    blank = EMBEDDINGS.masked_fill(~MASK.unsqueeze(-1), 0.0)
    assert torch.equal(readout(name, other, MASK), readout(name, blank, MASK))


@pytest.mark.parametrize("name", LINEAR)
def test_linear_readouts_are_a_row_times_the_embeddings(name: str) -> None:
    row = linear_row(name, MASK)
    assert torch.allclose(row.sum(-1), torch.ones(3))
    assert not (row * ~MASK).any()
    assert torch.allclose(readout(name, EMBEDDINGS, MASK), torch.einsum("bl,bld->bd", row, EMBEDDINGS), atol=1e-6)


def test_the_papers_readout_of_rectified_embeddings_lies_between_a_half_and_one() -> None:
    pooled = readout("sigmoid_mean_max", EMBEDDINGS.relu(), MASK)
    assert (pooled >= 0.5).all()
    assert (pooled < 1).all()


class Counts(Encoder):
    """The least that an encoder must bring: of a view it says the center, how many nodes it has, and the noise."""

    def subgraphs(self, features: Any, views: Any, noise: Any = None) -> Tensor:
        named = torch.full_like(views.nodes[..., 0], -1 if noise is None else int(noise))
        return torch.stack([views.nodes[..., 0], views.mask.sum(-1), named], dim=-1).float()

    def weights_of(self, run: int) -> list[Tensor]:
        return []

    def graph(self, features: Any, topology: Any) -> Tensor:
        return torch.zeros(1, topology.num_nodes, 1)


@pytest.mark.parametrize(
    "chosen", [ViewSettings(length=8), ViewSettings(length=8, restart=0.6), ViewSettings(length=8, lazy=0.9)]
)
def test_a_view_is_the_subgraph_of_the_nodes_of_a_walk(chosen: ViewSettings) -> None:
    graph = small_graph()
    topology, starts = Topology.of(graph), torch.arange(30).reshape(1, 30)
    key = torch.tensor([rng.key(5, "views")])
    found = Counts().views(Features(graph), topology, starts, chosen, key, torch.tensor(7))
    walks = random_walks(topology, starts, chosen.length, key, restart=chosen.restart, lazy=chosen.lazy)
    for node in range(30):
        assert found[0, node].tolist() == [node, len(set(walks[0, node].tolist())), 7]
    assert Counts().views(Features(graph), topology, starts, chosen, key)[..., 2].eq(-1).all()


def test_what_an_encoder_leaves_unsaid_means_nothing_is_done() -> None:
    encoder, rows = Counts(), torch.randn(3, 2)
    assert torch.equal(encoder.finish(rows), rows)
    assert encoder.passes(0) is None
    assert encoder.face_passes(0) is None
    assert not encoder.static
    assert not encoder.directions


def test_directions_take_the_same_passes_unless_an_encoder_has_others() -> None:
    class WithPasses(Counts):
        def passes(self, run: int) -> list[Pass]:
            return [Pass(weight=torch.full((1, 1), float(run)))]

    (found,) = WithPasses().face_passes(4) or ()
    assert found.weight is not None
    assert found.weight.item() == 4


def test_a_pass_rectifies_or_smooths_or_does_neither() -> None:
    mixed, origin = torch.tensor([[-2.0, 4.0]]), torch.tensor([[10.0, 20.0]])
    assert Pass().combine(mixed, origin).tolist() == [[-2, 4]]
    assert Pass(rectified=True).combine(mixed, origin).tolist() == [[0, 4]]
    assert Pass(teleport=0.25).combine(mixed, origin).tolist() == [[1, 8]]
    assert Pass(teleport=torch.tensor([0.0, 1.0])).combine(mixed, origin).tolist() == [[-2, 20]]
    assert Pass(teleport=0.25).combine(mixed, None).tolist() == [[-2, 4]]


def test_smoothing_starts_from_what_comes_into_its_first_step() -> None:
    assert smoothing_passes(0, 0.1) == []
    assert smoothing_passes(3, 0.1) == [
        Pass(teleport=0.1, origin=True),
        Pass(teleport=0.1, origin=False),
        Pass(teleport=0.1, origin=False),
    ]


def test_the_defaults_are_those_of_the_documentation() -> None:
    assert EncoderSettings() == EncoderSettings(dimension=512)
    assert LayeredSettings() == LayeredSettings(
        feature_mask=0.2, layers=1, final_activation=False, readout="center", dropout=0.0
    )
    for name in ("feature_mask", "dropout"):
        assert getattr(LayeredSettings(**{name: 0.0}), name) == 0


def test_only_settings_of_the_earlier_kind_are_upgraded() -> None:
    earlier = {"kind": "gat", "propagation": 0, "teleport": 0.1, "dimension": 8}
    assert EncoderSettings.upgraded(earlier) == {"kind": "gat", "dimension": 8}
    for kept in (earlier | {"propagation": 2}, earlier | {"kind": "gcn"}, {"kind": "gat", "teleport": 0.1}):
        assert EncoderSettings.upgraded(kept) == kept
