import math

import numpy as np
import pytest
import torch
from scipy import stats

from nodewise.evaluation.inputs import gather
from nodewise.evaluation.presets import Preset, Taken
from nodewise.evaluation.softmax_regression import correct, fit, initial_weights

CPU = torch.device("cpu")
DECAYS = (0.0, 1e-4, 0.3)


def problem(embeddings: int = 2, nodes: int = 40, dims: int = 6) -> tuple[list[np.ndarray], torch.Tensor]:
    generator = np.random.default_rng(0)
    matrices = [generator.normal(size=(nodes, dims)) for _ in range(embeddings)]
    labels = generator.integers(0, 3, (embeddings, nodes))
    return matrices, torch.from_numpy(labels)


def plain_loop(x: np.ndarray, y: torch.Tensor, start: torch.Tensor, decay: float, steps: int) -> list[torch.Tensor]:
    """The slow twin: one nn.Linear under torch's own Adam; its weights and bias after each step."""
    model = torch.nn.Linear(x.shape[1], start.shape[0], dtype=torch.float64)
    with torch.no_grad():
        model.weight.copy_(start[:, :-1])
        model.bias.copy_(start[:, -1])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=decay)
    after = []
    for _ in range(steps):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(torch.from_numpy(x)), y).backward()
        optimizer.step()
        after.append(torch.cat([model.weight.detach(), model.bias.detach()[:, None]], dim=1).clone())
    return after


def test_every_step_equals_the_plain_loop() -> None:
    matrices, labels = problem()
    index = [np.arange(40)] * 2
    start = initial_weights([5, 9], 2, len(DECAYS), 6, 3, torch.float64, CPU)
    seen: list[torch.Tensor] = []
    fit(
        gather(matrices, index, torch.float64, CPU),
        labels,
        start.clone(),
        DECAYS,
        Preset("test", 120),
        watch=lambda weights: seen.append(weights.clone()),
    )
    for s, matrix in enumerate(matrices):
        for r in range(2):
            for w, decay in enumerate(DECAYS):
                expected = plain_loop(matrix, labels[s], start[s, r, w], decay, 120)
                for step in (0, 1, 50, 119):
                    torch.testing.assert_close(seen[step][s, r, w], expected[step], rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("taken", ["best validation step", "first best validation step"])
def test_validation_takes_the_last_or_the_first_of_the_best_steps(taken: Taken) -> None:
    matrices, labels = problem(nodes=60)
    train, val = np.arange(30), np.arange(30, 60)
    start = initial_weights([1, 2], 2, len(DECAYS), 6, 3, torch.float64, CPU)
    validation = (gather(matrices, [val] * 2, torch.float64, CPU), labels[:, 30:])
    fitted = fit(
        gather(matrices, [train] * 2, torch.float64, CPU),
        labels[:, :30],
        start.clone(),
        DECAYS,
        Preset("test", 80, taken),
        validation,
    )
    for s, matrix in enumerate(matrices):
        rows = torch.cat([torch.from_numpy(matrix[val]), torch.ones(30, 1, dtype=torch.float64)], dim=1)
        for r in range(2):
            for w, decay in enumerate(DECAYS):
                best_hits, best_step, best_weights = -1, 0, start
                for step, weights in enumerate(plain_loop(matrix[train], labels[s, :30], start[s, r, w], decay, 80), 1):
                    hits = int(((rows @ weights.T).argmax(1) == labels[s, 30:]).sum())
                    if hits > best_hits or (hits == best_hits and taken == "best validation step"):
                        best_hits, best_step, best_weights = hits, step, weights
                assert int(fitted.steps[s, r, w]) == best_step
                torch.testing.assert_close(fitted.weights[s, r, w], best_weights, rtol=1e-9, atol=1e-11)
                assert int(correct(*validation, fitted.weights)[s, r, w]) == best_hits
    assert len(fitted.steps.unique()) > 1  # the rule had something to choose


def test_without_validation_the_last_step_is_taken() -> None:
    matrices, labels = problem(1)
    start = initial_weights([0], 1, 1, 6, 3, torch.float64, CPU)
    rows = gather(matrices, [np.arange(40)], torch.float64, CPU)
    fitted = fit(rows, labels, start.clone(), (0.0,), Preset("test", 17))
    assert fitted.steps.tolist() == [[[17]]]
    torch.testing.assert_close(fitted.weights[0, 0, 0], plain_loop(matrices[0], labels[0], start[0, 0, 0], 0.0, 17)[-1])


def test_initial_weights_are_xavier_uniform_with_zero_bias() -> None:
    weights = initial_weights([3], 2, 2, 400, 7, torch.float64, CPU)
    assert weights.shape == (1, 2, 2, 7, 401)
    assert not weights[..., -1].any()
    bound = math.sqrt(6 / 407)
    assert stats.kstest(weights[0, 0, 0, :, :-1].ravel(), stats.uniform(-bound, 2 * bound).cdf).pvalue > 1e-3
    assert torch.equal(weights[:, :, 0], weights[:, :, 1])  # weight decays start together
    assert not torch.equal(weights[:, 0], weights[:, 1])  # restarts do not


def test_initial_weights_depend_on_seed_and_restart_only() -> None:
    together = initial_weights([3, 8], 4, 1, 10, 3, torch.float32, CPU)
    assert torch.equal(initial_weights([8], 2, 3, 10, 3, torch.float32, CPU)[0, :, 2], together[1, :2, 0])


@pytest.mark.gpu
def test_gpu_agrees_with_cpu() -> None:
    matrices, labels = problem()
    results = []
    for device in (CPU, torch.device("cuda")):
        rows = gather(matrices, [np.arange(40)] * 2, torch.float64, device)
        start = initial_weights([5, 9], 2, len(DECAYS), 6, 3, torch.float64, device)
        validation = (rows, labels.to(device))
        results.append(
            fit(
                rows,
                labels.to(device),
                start,
                DECAYS,
                Preset("test", 100, "best validation step"),
                validation,
            )
        )
    torch.testing.assert_close(results[0].weights, results[1].weights.cpu(), rtol=1e-8, atol=1e-10)
    assert torch.equal(results[0].steps, results[1].steps.cpu())


@pytest.mark.gpu
@pytest.mark.filterwarnings("ignore:Synchronization debug mode is a prototype")
def test_no_step_waits_for_the_device() -> None:
    device = torch.device("cuda")
    matrices, labels = problem()
    rows = gather(matrices, [np.arange(40)] * 2, torch.float32, device)
    start = initial_weights([5, 9], 2, len(DECAYS), 6, 3, torch.float32, device)
    targets = labels.to(device)
    steps: list[str] = []

    def watch(_: torch.Tensor) -> None:
        # From the first step on, any synchronisation is an error.
        torch.cuda.set_sync_debug_mode("error")
        steps.append("")

    try:
        fit(rows, targets, start, DECAYS, Preset("test", 20, "best validation step"), (rows, targets), watch)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert len(steps) == 20
