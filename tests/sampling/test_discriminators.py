import math

import pytest
import torch

from nodewise.core import rng
from nodewise.sampling import discriminators
from nodewise.sampling.discriminators import Queries, log_ratio

KEY = rng.key(0, "F")


def batch(runs: int = 2, queries: int = 5, candidates: int = 12, size: int = 4) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(1)
    points = torch.randn(runs, candidates, size, generator=generator, dtype=torch.float64)
    members = torch.randn(runs, queries, 3, size, generator=generator, dtype=torch.float64)
    near = torch.rand(runs, queries, candidates, generator=generator) < 0.2
    nodes = torch.arange(runs * queries).view(runs, queries)
    return points, members, near, nodes


@pytest.fixture
def double(monkeypatch: pytest.MonkeyPatch) -> None:
    single = discriminators._initial
    monkeypatch.setattr(discriminators, "_initial", lambda *a: [tensor.double() for tensor in single(*a)])


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("hidden", [0, 3])
def test_two_networks_per_node_against_a_loop(hidden: int) -> None:
    points, members, near, nodes = batch()
    near[0, 0] = torch.arange(12) != 3  # a single negative
    found = log_ratio(points, members, Queries(near, nodes, KEY), hidden=hidden, steps=4, learning_rate=0.7)
    for run in range(2):
        center = points[run].mean(0)
        scale = 1 / math.sqrt(float((points[run] - center).square().sum(-1).mean()))
        inputs, own = (points[run] - center) * scale, (members[run] - center) * scale
        for i in range(5):
            probability = {}
            for sign in (1, -1):
                start = discriminators._initial(nodes, 4, hidden, rng.fold(KEY, int(sign > 0)))
                network = [tensor[run, i].clone().requires_grad_() for tensor in start]
                positives = torch.cat([own[i], inputs[near[run, i]]])
                negatives = inputs[~near[run, i]]
                for _ in range(4):
                    loss = torch.zeros((), dtype=torch.float64)
                    for group, label in ((positives, 1), (negatives, 0)):
                        target = label if sign == 1 else 1 - label
                        for point in group:
                            p = torch.sigmoid(forward(network, point))
                            loss = loss - 0.5 / len(group) * torch.log(p if target else 1 - p)
                    gradient = torch.autograd.grad(loss, network)
                    network = [(w - 0.7 * g).detach().requires_grad_() for w, g in zip(network, gradient, strict=True)]
                probability[sign] = torch.stack([torch.sigmoid(forward(network, point)) for point in inputs])
            assert torch.allclose(found[run, i], torch.log(probability[1] / probability[-1]).detach(), atol=1e-9)


def forward(network: list[torch.Tensor], point: torch.Tensor) -> torch.Tensor:
    if len(network) == 2:
        return network[0] @ point + network[1]
    first, bias, second, offset = network
    return second @ torch.relu(first @ point + bias) + offset


def test_networks_are_independent_and_separately_initialized() -> None:
    nodes = torch.arange(4).view(1, 4)
    plus, minus = (discriminators._initial(nodes, 6, 3, rng.fold(KEY, kind)) for kind in (1, 0))
    assert not torch.equal(plus[0], minus[0])
    assert len({tuple(row.flatten().tolist()) for row in plus[0][0]}) == 4


@pytest.mark.parametrize(("hidden", "fans"), [(0, {0: 1 + 4}), (3, {0: 3 + 4, 2: 1 + 3})])
def test_weights_begin_uniform_within_the_bounds_of_their_fans(hidden: int, fans: dict[int, int]) -> None:
    network = discriminators._initial(torch.arange(5000), 4, hidden, KEY)
    for place, tensor in enumerate(network):
        bound = math.sqrt(6 / fans[place]) if place in fans else 0.0
        assert tensor.max().item() == pytest.approx(bound, rel=0.01)
        assert tensor.min().item() == pytest.approx(-bound, rel=0.01)


@pytest.mark.usefixtures("double")
def test_the_scale_of_the_points_does_not_matter() -> None:
    points, members, near, nodes = batch()
    tiny = log_ratio(1e-4 * points, 1e-4 * members, Queries(near, nodes, KEY))
    assert torch.allclose(tiny, log_ratio(points, members, Queries(near, nodes, KEY)), atol=1e-9)


def test_it_tells_planted_groups_apart() -> None:
    generator = torch.Generator().manual_seed(0)
    label = torch.arange(100) % 2
    points = torch.randn(1, 100, 8, generator=generator) + 3 * label.view(1, -1, 1)
    members = torch.stack([points[0, query % 2 :: 2][:6] for query in range(20)]).unsqueeze(0)
    near = torch.eye(20, 100, dtype=torch.bool).unsqueeze(0)
    ratio = log_ratio(points, members, Queries(near, torch.arange(20).unsqueeze(0), KEY))
    # S_i- holds 43 nodes of the query's own class, so only their rank against the other class is telling.
    for query in range(20):
        others = torch.arange(100) != query
        same, score = label[others] == label[query], ratio[0, query, others]
        assert (score[same].unsqueeze(-1) > score[~same]).double().mean() > 0.95


def test_class_balance_matters() -> None:
    # One positive against many negatives: balanced networks still call the positive's twin a positive.
    points = torch.cat([torch.ones(1, 1, 2), -torch.ones(1, 200, 2) * 0.1], dim=1)
    near = torch.zeros(1, 1, 201, dtype=torch.bool)
    queries = Queries(near, torch.zeros(1, 1, dtype=torch.int64), KEY)
    ratio = log_ratio(points, torch.ones(1, 1, 1, 2), queries, steps=30)
    assert ratio[0, 0, 0] > ratio[0, 0, 1:].max()


def test_chunks_and_stacks_do_not_change_a_query() -> None:
    points, members, near, nodes = batch()
    whole = log_ratio(points.float(), members.float(), Queries(near, nodes, KEY))
    part = log_ratio(points[1:].float(), members[1:, 2:4].float(), Queries(near[1:, 2:4], nodes[1:, 2:4], KEY))
    assert torch.allclose(whole[1:, 2:4], part, atol=1e-5)
