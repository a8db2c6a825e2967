import math

import pytest
import torch
from torch.nn.functional import cosine_similarity

from nodewise.methods.rivals.grace import GraceSettings, grace_loss


def views(seed: int = 0) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(7, 4, dtype=torch.float64, generator=generator, requires_grad=True) for _ in range(2)]


def slow_loss(u: torch.Tensor, v: torch.Tensor, tau: float) -> torch.Tensor:
    def theta(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return (cosine_similarity(a, b, dim=0) / tau).exp()

    total = torch.zeros((), dtype=u.dtype)
    for own, other in ((u, v), (v, u)):
        for i in range(len(u)):
            between = sum(theta(own[i], other[j]) for j in range(len(u)))
            within = sum(theta(own[i], own[j]) for j in range(len(u)) if j != i)
            total = total - torch.log(theta(own[i], other[i]) / (between + within))
    return total / (2 * len(u))


@pytest.mark.parametrize("block", [1, 3, 7, 100, None])
def test_loss_and_gradient_are_those_of_the_formula_whatever_the_block(block: int | None) -> None:
    fast, slow = views(), views()
    found, wanted = grace_loss(fast[0], fast[1], 0.4, block), slow_loss(slow[0], slow[1], 0.4)
    torch.testing.assert_close(found, wanted, rtol=1e-10, atol=1e-12)
    (3 * found).backward()
    (3 * wanted).backward()
    for one, other in zip(fast, slow, strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=1e-9, atol=1e-12)


def test_the_lowest_temperature_stays_in_single_precision() -> None:
    same = torch.ones(300, 4, requires_grad=True)
    loss = grace_loss(same, same.detach(), GraceSettings(temperature=0.02).temperature)
    loss.backward()
    torch.testing.assert_close(loss.item(), math.log(599), rtol=1e-5, atol=0)
    assert same.grad is not None
    assert same.grad.isfinite().all()


@pytest.mark.gpu
def test_on_a_gpu_it_is_the_same_up_to_the_rounding_of_its_products() -> None:
    exact, rounded = views(), [view.detach().float().cuda().requires_grad_() for view in views()]
    wanted, found = grace_loss(exact[0], exact[1], 0.4), grace_loss(rounded[0], rounded[1], 0.4)
    torch.testing.assert_close(found.double().cpu(), wanted, rtol=2e-3, atol=2e-3)
    assert torch.get_float32_matmul_precision() == "highest"
    wanted.backward()
    found.backward()
    for one, other in zip(rounded, exact, strict=True):
        torch.testing.assert_close(one.grad.double().cpu(), other.grad, rtol=1e-2, atol=2e-3)
