import torch

from nodewise.methods.rivals.sugrl import multiplet_loss


def test_against_a_loop() -> None:
    generator = torch.Generator().manual_seed(1)
    anchors, structural, neighbors, *negatives = torch.randn(5, 6, 3, dtype=torch.float64, generator=generator)
    total = 0.0
    for negative in negatives:
        for i in range(6):
            away = (anchors[i] - negative[i] + 1e-6).norm()  # torch keeps distances differentiable at 0 by 1e-6
            for positive in (structural, neighbors):
                total += 3.0 * max(0.0, float((anchors[i] - positive[i] + 1e-6).norm() - away + 0.8)) / 6
            near = (anchors[i] - structural[i] + 1e-6).norm()
            total += max(0.0, float(away - near - 0.8 - 0.2)) / 2
    found = multiplet_loss(anchors, structural, neighbors, negatives, weight=3.0, margin=0.8, bound=0.2)
    torch.testing.assert_close(found, torch.tensor(total, dtype=torch.float64))


def test_the_upper_bound_does_not_pull_at_the_positive() -> None:
    anchors, far = torch.zeros(1, 2), torch.full((1, 2), 9.0)
    positive = torch.ones(1, 2, requires_grad=True)
    multiplet_loss(anchors, positive, anchors, [far], weight=1.0, margin=0.1, bound=0.1).backward()
    assert (positive.grad == 0).all()
