from __future__ import annotations

import numpy as np
import torch

from nodewise.datasets.planted import block_model
from nodewise.methods.classifiers.geniepath import GeniePath, GeniePathNetwork, GeniePathSettings
from nodewise.methods.inputs import Inputs


def sigmoid(x: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-x)))


def looped(network: GeniePathNetwork, x: np.ndarray, adjacency: np.ndarray) -> np.ndarray:
    """The paper's formulas, one node at a time."""
    weights = {name: value.detach().double().numpy() for name, value in network.state_dict().items()}
    lengths = np.sqrt((x**2).sum(1))
    h = x / np.where(lengths > 0, lengths, 1)[:, None] @ weights["enter.weight"].T + weights["enter.bias"]
    state, memory = h, np.zeros_like(h)
    for t in range(len(network.layers)):
        w = {name.split(".")[2]: value for name, value in weights.items() if name.startswith(f"layers.{t}.")}
        forget, take, show, new = np.split(w["gates"], 4)
        paths, after, kept = (np.zeros_like(h) for _ in range(3))
        for i in range(len(x)):
            near = [j for j in range(len(x)) if adjacency[i, j] or i == j]
            scores = [(w["attention"] @ np.tanh(w["receiver"] @ h[i] + w["sender"] @ h[j])).item() for j in near]
            shares = np.exp(scores) / np.exp(scores).sum()
            paths[i] = np.tanh(w["mix"] @ sum(share * h[j] for share, j in zip(shares, near, strict=True)))
            u = np.concatenate([paths[i], state[i]])
            kept[i] = sigmoid(forget @ u) * memory[i] + sigmoid(take @ u) * np.tanh(new @ u)
            after[i] = sigmoid(show @ u) * np.tanh(kept[i])
        h, state, memory = paths, after, kept
    return np.asarray(state @ weights["leave.weight"].T + weights["leave.bias"])


def test_the_network_is_its_formula() -> None:
    graph = block_model(25, num_classes=3, num_features=12, seed=0)
    inputs = Inputs(graph)
    torch.manual_seed(0)
    model = GeniePath(GeniePathSettings(hidden=5, layers=3))
    network = model._build(12, 3).eval()
    assert isinstance(network, GeniePathNetwork)
    with torch.no_grad():
        for weight in network.parameters():
            weight.normal_()  # large enough that no gate or attention is nearly constant
    wanted = looped(network, inputs.dense_x.double().numpy(), graph.adjacency().toarray())
    found = model._logits(network, inputs).detach().numpy()
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
