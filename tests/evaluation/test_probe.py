from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.linear_model import LogisticRegression

from nodewise.core.errors import InputError
from nodewise.evaluation import inputs as rows
from nodewise.evaluation import probe
from nodewise.evaluation.presets import PRESETS, Preset, ProbeResult
from nodewise.evaluation.probe import linear_probe
from nodewise.evaluation.softmax_regression import initial_weights
from nodewise.graph.graph import Split

CPU = torch.device("cpu")
SPLIT = Split(np.arange(0, 60), np.arange(60, 100), np.arange(100, 180))


def blobs(embeddings: int = 1, dims: int = 8, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Four overlapping classes; vectors (S, 200, d) and labels, the last 20 unknown."""
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, 4, 200)
    centers = generator.normal(size=(4, dims))
    vectors = centers[labels] + 1.5 * generator.normal(size=(embeddings, 200, dims))
    labels[180:] = -1
    return vectors, labels


def plain_probe(x: np.ndarray, y: np.ndarray, preset: Preset, decay: float, seed: int) -> tuple[float, float, int]:
    """One probe as a textbook loop: val accuracy, test accuracy and the step taken."""
    model = torch.nn.Linear(x.shape[1], 4, dtype=torch.float64)
    start = initial_weights([seed], 1, 1, x.shape[1], 4, torch.float64, CPU)[0, 0, 0]
    with torch.no_grad():
        model.weight.copy_(start[:, :-1])
        model.bias.zero_()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=decay)
    rows, labels = torch.from_numpy(x), torch.from_numpy(y)
    taken = (-1.0, 0.0, 0)
    for step in range(1, preset.steps + 1):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(rows[SPLIT.train]), labels[SPLIT.train]).backward()
        optimizer.step()
        right = (model(rows).argmax(1) == labels).double()
        val, test = float(right[SPLIT.val].mean()), float(right[SPLIT.test].mean())
        equal_counts = preset.taken == "best validation step"
        if preset.taken == "last step" or val > taken[0] or (equal_counts and val == taken[0]):
            taken = (val, test, step)
    return taken


@pytest.mark.parametrize("name", ["dgi", "mvgrl", "graphmae", "cca"])
@pytest.mark.parametrize("dataset", ["cora", "citeseer"])
def test_presets_equal_a_plain_loop(name: str, dataset: str) -> None:
    vectors, labels = blobs()
    result = linear_probe(vectors, labels, SPLIT, name, dataset=dataset, seed=4)
    preset = PRESETS[name]
    val, test, step = plain_probe(vectors[0], labels, preset, preset.weight_decay_for(dataset), seed=4)
    assert result.val_accuracy.shape == result.test_accuracy.shape == (1, 1, 1)
    assert result.val_accuracy.item() == pytest.approx(val)
    assert result.test_accuracy.item() == pytest.approx(test)
    assert result.steps.item() == step
    assert 0.4 < test < 1


def assert_same(one: ProbeResult, other: ProbeResult, at: tuple[slice, ...]) -> None:
    for field in ("val_accuracy", "test_accuracy", "steps"):
        assert np.array_equal(getattr(one, field), getattr(other, field)[at]), field


@pytest.mark.parametrize("preset", ["mvgrl", "graphmae"])
def test_a_batch_equals_its_members_one_by_one(preset: str) -> None:
    vectors, labels = blobs(3)
    decays = (0.0, 0.05)
    batch = linear_probe(vectors, labels, SPLIT, preset, restarts=3, seed=[7, 8, 7], weight_decays=decays)
    assert batch.test_accuracy.shape == (3, 3, 2)
    assert len(np.unique(batch.test_accuracy)) > 3
    for s, seed in enumerate([7, 8, 7]):
        for w, decay in enumerate(decays):
            alone = linear_probe(vectors[s], labels, SPLIT, preset, restarts=3, seed=seed, weight_decays=[decay])
            assert_same(alone, batch, (slice(s, s + 1), slice(None), slice(w, w + 1)))
            assert np.array_equal(alone.predictions[0], batch.predictions[s][:, w : w + 1])


def test_groups_and_chunks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, labels = blobs(4)
    whole = linear_probe(vectors, labels, SPLIT, restarts=2)
    monkeypatch.setattr(probe, "DENSE_LIMIT", 2 * 9 * 180)
    monkeypatch.setattr(rows, "DENSE_LIMIT", 16 * 9 * 7)
    assert [len(group) for group in probe._groups(list(vectors), [SPLIT] * 4, 3)] == [2, 2]
    assert [len(group) for group in probe._groups(list(vectors), [SPLIT] * 4, 18)] == [1] * 4  # by classes too
    assert_same(linear_probe(vectors, labels, SPLIT, restarts=2), whole, (slice(None),))


def test_each_embedding_may_have_its_own_split() -> None:
    vectors, labels = blobs(3)
    smaller = Split(SPLIT.train[:40], SPLIT.val, SPLIT.test)
    other = Split(SPLIT.test[:60], SPLIT.val, np.concatenate([SPLIT.train, SPLIT.test[60:]]))
    batch = linear_probe(vectors, labels, [SPLIT, smaller, other])
    for s, split in enumerate([SPLIT, smaller, other]):
        assert_same(linear_probe(vectors[s], labels, split), batch, (slice(s, s + 1),))


def test_input_kinds_agree() -> None:
    vectors, labels = blobs(1)
    vectors = np.maximum(vectors, 0)
    dense = linear_probe(vectors[0], labels, SPLIT)
    for kind in (torch.from_numpy(vectors), [vectors[0]], sp.csr_matrix(vectors[0])):
        assert_same(linear_probe(kind, torch.from_numpy(labels), SPLIT), dense, (slice(None),))


def test_frozen_and_memory_mapped_input(tmp_path: Path) -> None:
    vectors, labels = blobs(2)
    expected = linear_probe(vectors, labels, SPLIT)
    np.save(tmp_path / "vectors.npy", vectors)
    mapped = np.load(tmp_path / "vectors.npy", mmap_mode="r")
    split = Split(*(part.copy() for part in (SPLIT.train, SPLIT.val, SPLIT.test)))
    for array in (labels, split.train, split.val, split.test):
        array.setflags(write=False)
    assert_same(linear_probe(mapped, labels, split), expected, (slice(None),))
    assert_same(linear_probe(torch.from_numpy(vectors), labels, split), expected, (slice(None),))


def test_sparse_features_beyond_the_dense_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, labels = blobs(1)
    features = sp.csr_matrix(np.maximum(vectors[0], 0))
    dense = linear_probe(features, labels, SPLIT, "graphmae")
    monkeypatch.setattr(rows, "DENSE_LIMIT", 1)
    assert_same(linear_probe(features, labels, SPLIT, "graphmae"), dense, (slice(None),))


@pytest.mark.parametrize("preset", ["dgi", "mvgrl", "graphmae", "sklearn"])
def test_test_labels_change_nothing_but_test_accuracy(preset: str) -> None:
    vectors, labels = blobs(2)
    shuffled = labels.copy()
    shuffled[SPLIT.test] = np.random.default_rng(1).permutation(labels[SPLIT.test])
    oracle = preset != "sklearn"
    one, other = (linear_probe(vectors, y, SPLIT, preset, restarts=2, oracle=oracle) for y in (labels, shuffled))
    assert np.array_equal(one.val_accuracy, other.val_accuracy)
    assert np.array_equal(one.steps, other.steps)
    assert all(np.array_equal(a, b) for a, b in zip(one.predictions, other.predictions, strict=True))
    assert not np.array_equal(one.test_accuracy, other.test_accuracy)
    if oracle:
        assert one.oracle is not None
        assert other.oracle is not None
        assert np.array_equal(one.oracle.val, other.oracle.val)
        assert not np.array_equal(one.oracle.test, other.oracle.test)


@pytest.mark.parametrize("preset", ["mvgrl", "graphmae"])
def test_oracle_pass_only_adds_curves(preset: str) -> None:
    vectors, labels = blobs(2)
    plain = linear_probe(vectors, labels, SPLIT, preset, restarts=2)
    watched = linear_probe(vectors, labels, SPLIT, preset, restarts=2, oracle=True)
    assert plain.oracle is None
    assert watched.oracle is not None
    assert_same(plain, watched, (slice(None),))
    assert watched.oracle.test.shape == (2, 2, 1, 300)
    at = (watched.steps - 1)[..., None]
    assert np.allclose(np.take_along_axis(watched.oracle.test, at, -1)[..., 0], watched.test_accuracy)
    assert np.allclose(np.take_along_axis(watched.oracle.val, at, -1)[..., 0], watched.val_accuracy)
    assert (watched.oracle.max_test >= watched.test_accuracy).all()
    if preset == "graphmae":
        assert np.allclose(watched.oracle.val.max(-1), watched.val_accuracy)


def test_sklearn_preset() -> None:
    vectors, labels = blobs(2)
    result = linear_probe(vectors, labels, SPLIT, "sklearn", restarts=5)
    assert result.test_accuracy.shape == (2, 1, 1)
    for s, matrix in enumerate(vectors):
        model = LogisticRegression(max_iter=100).fit(matrix[SPLIT.train], labels[SPLIT.train])
        assert result.test_accuracy[s].item() == model.score(matrix[SPLIT.test], labels[SPLIT.test])
        assert result.val_accuracy[s].item() == model.score(matrix[SPLIT.val], labels[SPLIT.val])


def test_sklearn_stops_at_the_last_iteration_without_a_word() -> None:
    vectors, labels = blobs()
    assert linear_probe(vectors, labels, SPLIT, Preset("short", 3, solver="lbfgs")).steps.item() == 3


def test_float32_stays_close_to_float64() -> None:
    vectors, labels = blobs(2)
    double = linear_probe(vectors, labels, SPLIT)
    single = linear_probe(vectors.astype(np.float32), labels, SPLIT)
    assert np.abs(double.test_accuracy - single.test_accuracy).max() <= 2 / 80


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"preset": "mvgrll"}, "did you mean 'mvgrl'"),
        ({"restarts": 0}, "restarts >= 1"),
        ({"weight_decays": []}, "restarts >= 1"),
        ({"weight_decays": [-1.0]}, "weight decays >= 0"),
        ({"seed": [1, 2]}, "do not pair up"),
        ({"split": [SPLIT, SPLIT]}, "do not pair up"),
        ({"preset": "sklearn", "oracle": True}, "no steps for an oracle pass"),
        ({"preset": "sklearn", "weight_decays": [0.1]}, "no weight decays"),
    ],
)
def test_bad_arguments(arguments: dict[str, object], message: str) -> None:
    vectors, labels = blobs()
    with pytest.raises(InputError, match=message):
        linear_probe(**{"vectors": vectors, "labels": labels, "split": SPLIT, **arguments})


@pytest.mark.gpu
@pytest.mark.parametrize("preset", ["mvgrl", "graphmae"])
def test_gpu_agrees_with_cpu(preset: str) -> None:
    vectors, labels = blobs(3)
    on_cpu = linear_probe(vectors, labels, SPLIT, preset, restarts=2)
    on_gpu = linear_probe(torch.from_numpy(vectors).cuda(), labels, SPLIT, preset, restarts=2, device="cuda")
    assert_same(on_gpu, on_cpu, (slice(None),))


@pytest.mark.parametrize("preset", ["mvgrl", "sklearn"])
def test_how_far_it_is_can_be_followed(preset: str) -> None:
    draw, shares = np.random.default_rng(0), list[float]()
    labels, split = np.arange(60) % 3, Split(np.arange(20), np.arange(20, 40), np.arange(40, 60))
    linear_probe(list(draw.random((2, 60, 4), dtype=np.float32)), labels, split, preset, tell=shares.append)
    assert len(shares) > 1
    assert shares == sorted(shares)
    assert 0 <= shares[0] < shares[-1] <= 1
