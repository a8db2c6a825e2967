import math
from typing import get_args, get_type_hints

import pytest
import torch

from nodewise.encoders.encoder import LINEAR, LayeredSettings, linear_row, readout

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
