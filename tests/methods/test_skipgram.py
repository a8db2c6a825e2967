import pytest
import torch
from tests.graphs import small_graph
from torch.nn.functional import logsigmoid

from nodewise.core.errors import InputError
from nodewise.methods.estimator import Watch
from nodewise.methods.skipgram import SkipGramSettings, _Table, pair_weights, skipgram_gradients, train_skipgram
from nodewise.views.topology import Topology
from nodewise.views.walks import random_walks

SETTINGS = SkipGramSettings(dimension=6, walks=3, length=7, window=3, negatives=2.0)


def test_loss_and_gradients_against_a_loop() -> None:
    generator = torch.Generator().manual_seed(0)
    draw = lambda: torch.randn(2, 7, 6, dtype=torch.float64, generator=generator, requires_grad=True)  # noqa: E731
    centers, contexts, noise = draw(), draw(), draw()
    total = torch.zeros((), dtype=torch.float64)
    for walk in range(2):
        for i in range(7):
            for j in range(7):
                if not 1 <= abs(i - j) <= 3:
                    continue
                share = (3 - abs(i - j) + 1) / 3
                total = total - share * logsigmoid(centers[walk, i] @ contexts[walk, j])
                for k in range(7):
                    total = total - share * 2.0 / 7 * logsigmoid(-(centers[walk, i] @ noise[walk, k]))
    total.backward()
    weights = tuple(part.double() for part in pair_weights(SETTINGS, torch.device("cpu")))
    with torch.no_grad():
        loss, *gradients = skipgram_gradients(centers, contexts, noise, weights)  # type: ignore[arg-type]
    assert loss.item() == pytest.approx(total.item(), rel=1e-6)
    for found, leaf in zip(gradients, (centers, contexts, noise), strict=True):
        torch.testing.assert_close(found, leaf.grad, rtol=1e-6, atol=1e-6)


def test_a_step_sums_the_gradients_of_a_row_that_repeats() -> None:
    table = _Table(torch.zeros(4, 2, dtype=torch.float64))
    for _ in range(2):
        table.step(torch.tensor([1, 3, 1]), torch.tensor([[1.0, 2.0], [3.0, 0.0], [1.0, -4.0]]).double(), 0.5)
    size = (2.0**2 + 2.0**2) / 2  # mean square of the row (2, -2)
    moved = -0.5 * (1 / size**0.5 + 1 / (2 * size) ** 0.5)
    torch.testing.assert_close(table.vectors[1], torch.tensor([2.0, -2.0], dtype=torch.float64) * moved)
    assert (table.vectors[[0, 2]] == 0).all()


def test_training_lowers_the_loss_and_leaves_isolated_nodes_near_zero() -> None:
    topology, losses = Topology.of(small_graph()), []
    settings = SkipGramSettings(dimension=8, walks=20, length=10, window=3)

    def walk(starts: torch.Tensor, number: int) -> torch.Tensor:
        return random_walks(topology, starts, 9, number)

    vectors = train_skipgram(topology, walk, settings, 0, Watch(log=lambda record: losses.append(record["loss"])))
    assert len(losses) == 20
    assert losses[-1] < 0.8 * losses[0]
    alone = topology.degrees == 0
    assert vectors[alone].abs().max() <= 0.5 / 8
    assert vectors[~alone].norm(dim=1).min() > vectors[alone].norm(dim=1).max()


def test_settings_out_of_range() -> None:
    with pytest.raises(InputError, match="length is 1; it must be at least 2"):
        SkipGramSettings(length=1)
