import torch
from scipy import stats

from nodewise.core import rng
from nodewise.sampling.neighborhood import mixup, mixup_shares


def test_points_are_convex_combinations_of_two_members() -> None:
    generator = torch.Generator().manual_seed(0)
    members = torch.randn(2, 3, 4, 6, generator=generator)
    owners = torch.arange(6).view(2, 3)
    mixed = mixup(members, 50, rng.key(0, "mixup"), owners)
    for run in range(2):
        for query in range(3):
            own = members[run, query]
            for point in mixed[run, query]:
                fits = []
                for a in own:
                    for b in own:
                        direction = a - b
                        share = 0.0 if not direction.any() else float((point - b) @ direction / (direction @ direction))
                        residual = float((b + share * direction - point).norm())
                        fits.append(residual < 1e-4 and -1e-5 <= share <= 1 + 1e-5)
                assert any(fits)


def test_shares_are_uniform() -> None:
    members = torch.tensor([0.0, 1.0]).view(1, 1, 2, 1)
    mixed = mixup(members, 40_000, rng.key(1, "mixup"), torch.zeros(1, 1, dtype=torch.int64)).flatten()
    between = mixed[(mixed > 0) & (mixed < 1)]
    assert abs(len(between) / 40_000 - 0.5) < 0.02
    assert stats.kstest(between.numpy(), "uniform").pvalue > 1e-3


def test_none_are_asked_for() -> None:
    assert mixup(torch.zeros(1, 2, 3, 4), 0, 0, torch.zeros(1, 2, dtype=torch.int64)).shape == (1, 2, 0, 4)


def test_shares_say_what_the_points_are_made_of() -> None:
    members = torch.randn(2, 3, 4, 6, generator=torch.Generator().manual_seed(0))
    owners, key = torch.arange(6).view(2, 3), rng.key(torch.tensor([[3], [4]]), "mixup")
    shares = mixup_shares(4, 20, key, owners)
    assert shares.shape == (2, 3, 20, 4)
    assert torch.allclose(shares @ members, mixup(members, 20, key, owners), atol=1e-6)
    assert torch.allclose(shares.sum(-1), torch.ones(2, 3, 20))
    assert mixup_shares(4, 0, key, owners).shape == (2, 3, 0, 4)
