"""Inverses found block by block are the inverses."""

import pytest
import torch

from nodewise.sampling.dpp.kernels import inverse_of_many


@pytest.mark.parametrize(("count", "items", "block"), [(1, 1, 4), (3, 7, 4), (2, 8, 4), (4, 50, 16), (2, 130, 64)])
def test_every_matrix_is_inverted(count: int, items: int, block: int) -> None:
    generator = torch.Generator().manual_seed(items)
    points = torch.randn(count, items, 5, generator=generator, dtype=torch.float64)
    # As in the sampler: a similarity of low rank, plus the identity.
    matrices = 30 * points @ points.mT + torch.eye(items, dtype=torch.float64)
    before = matrices.clone()
    found = inverse_of_many(matrices, block)
    assert torch.equal(matrices, before)
    assert torch.allclose(found, torch.linalg.inv(matrices), atol=1e-10)


@pytest.mark.gpu
def test_the_gpu_finds_the_same() -> None:
    points = torch.randn(6, 500, 20, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    matrices = 30 * points @ points.mT + torch.eye(500, dtype=torch.float64)
    found = inverse_of_many(matrices.cuda()).cpu()
    assert torch.allclose(found, torch.linalg.inv(matrices), atol=1e-9)
