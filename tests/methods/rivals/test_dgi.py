"""DGI: equal to torch_geometric's on the same weights, better than its input, repeatable, inductive."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from tests.graphs import small_graph
from tests.methods.planted import accuracy, planted, raw_accuracy
from torch import Tensor, nn
from torch_geometric.nn import DeepGraphInfomax, GCNConv

from nodewise.core.errors import InputError
from nodewise.methods.inputs import Inputs
from nodewise.methods.rivals.dgi import DGI, DGIS, DGISettings, DGISSettings
from nodewise.views.diffusion import DiffusionSettings, exact

QUICK, QUICK_S = DGISettings(dimension=32, epochs=60), DGISSettings(dimension=32, epochs=60)


class Peer(nn.Module):
    """The encoder as torch_geometric's examples write it, on edges and dense features."""

    def __init__(self, num_features: int, dimension: int) -> None:
        super().__init__()
        self.conv, self.activation = GCNConv(num_features, dimension), nn.PReLU()

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return torch.as_tensor(self.activation(self.conv(x, edge_index)))


def test_loss_gradient_and_vectors_are_those_of_torch_geometric() -> None:
    inputs = Inputs(small_graph(sparse=True))
    order = torch.randperm(30, generator=torch.Generator().manual_seed(5))
    ours = DGI(DGISettings(dimension=8))._build(inputs.num_features)
    ours.corruption = lambda projected, adjacency: (projected[order], adjacency)
    peer = DeepGraphInfomax(8, Peer(7, 8), lambda z, *_: torch.sigmoid(z.mean(0)), lambda x, edges: (x[order], edges))
    peer.load_state_dict({name.replace("convolution", "conv"): value for name, value in ours.state_dict().items()})

    loss = ours.loss(*ours(ours.encoder.project(inputs.x), inputs.adjacency))
    expected = peer.loss(*peer(inputs.dense_x, inputs.edge_index))
    torch.testing.assert_close(loss, expected)
    loss.backward()
    expected.backward()
    for name, parameter in ours.named_parameters():
        torch.testing.assert_close(parameter.grad, peer.get_parameter(name.replace("convolution", "conv")).grad)
    vectors = DGI(DGISettings(dimension=8))._encode(ours, inputs)
    torch.testing.assert_close(vectors, peer.encoder(inputs.dense_x, inputs.edge_index))


def test_dgi_s_convolves_with_the_diffusion() -> None:
    graph = small_graph(sparse=True)
    model = DGIS(DGISSettings(dimension=8, epochs=1, diffusion=DiffusionSettings(threshold=0.0))).fit(graph)
    layer = model.network_.encoder
    spread = torch.as_tensor(exact(graph, DiffusionSettings()), dtype=torch.float32)
    expected = layer.activation(
        spread @ Inputs(graph).dense_x @ layer.convolution.lin.weight.T + layer.convolution.bias
    )
    np.testing.assert_allclose(model.embeddings_.vectors, expected.detach().numpy(), atol=1e-6)


def test_beats_its_input_on_planted_classes() -> None:
    for model in (DGI(QUICK), DGIS(QUICK_S)):
        assert accuracy(model.fit(planted()).embeddings_) > raw_accuracy() + 0.04


def test_dense_features_give_the_same() -> None:
    sparse, dense = (DGI(DGISettings(dimension=8, epochs=5)).fit(planted(kind)).embeddings_ for kind in (False, True))
    np.testing.assert_allclose(sparse.vectors, dense.vectors, atol=1e-4)


def test_a_seed_names_the_result_and_leaves_the_callers_generator_alone() -> None:
    torch.manual_seed(3)
    before = torch.random.get_rng_state()
    first, again, other = (
        DGI(DGISettings(dimension=8, epochs=3), seed=seed).fit(planted()).embeddings_.vectors for seed in (1, 1, 2)
    )
    assert torch.equal(before, torch.random.get_rng_state())
    assert np.array_equal(first, again)
    assert not np.allclose(first, other)


class Records:
    """Keeps the metrics that a run folder would."""

    def __init__(self) -> None:
        self.seen: list[dict[str, float]] = []

    def append_metrics(self, record: dict[str, float]) -> None:
        self.seen.append(record)


def test_stops_when_the_loss_no_longer_falls() -> None:
    records = Records()
    # A rate this high soon overshoots.
    DGI(DGISettings(dimension=8, epochs=5000, learning_rate=0.3, patience=5)).fit(planted(), run=records)  # type: ignore[arg-type]
    assert records.seen[-1]["step"] < 4000


def test_what_is_saved_embeds_other_graphs(tmp_path: Path) -> None:
    model = DGIS(DGISSettings(dimension=8, epochs=3)).fit(planted())
    model.save(tmp_path)
    back = DGIS.load(tmp_path)
    assert back.settings == model.settings
    np.testing.assert_array_equal(back.transform(planted()).vectors, model.embeddings_.vectors)
    with pytest.raises(InputError, match="has 7 features, but the model was trained on 64"):
        back.transform(small_graph())


@pytest.mark.parametrize("wrong", [{"dimension": 0}, {"epochs": 0}, {"patience": -1}, {"learning_rate": -1.0}])
def test_settings_out_of_range_are_refused(wrong: dict[str, int]) -> None:
    (name,) = wrong
    with pytest.raises(InputError, match=f"{name} is"):
        DGISettings(**wrong)
