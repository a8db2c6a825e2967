from pathlib import Path

import numpy as np
import torch
from tests.methods.contract import check_features_are_needed, check_seeds_and_files
from tests.methods.planted import accuracy, planted, raw_accuracy

from nodewise.methods.rivals.deepwalk import DeepWalk, DeepWalkFeatures, of_unit_size
from nodewise.methods.skipgram import SkipGramSettings

SETTINGS = SkipGramSettings(dimension=32, walks=15, length=20, window=5)
TINY = SkipGramSettings(8, 2, 5, 2)


def make(seed: int) -> DeepWalkFeatures:
    return DeepWalkFeatures(TINY, seed=seed, device="cpu")


def test_is_deepwalk_beside_the_features_and_better_than_either() -> None:
    both = DeepWalkFeatures(SETTINGS, device="cpu").fit_transform(planted()).vectors
    walks = DeepWalk(SETTINGS, device="cpu").fit_transform(planted()).vectors
    assert both.shape == (400, 32 + 64)
    np.testing.assert_allclose(both[:, :32], of_unit_size(torch.tensor(walks)), rtol=1e-5)
    np.testing.assert_allclose(both[:, 32:], of_unit_size(torch.tensor(planted(dense=True).features)), rtol=1e-5)
    assert accuracy(both) > max(raw_accuracy(), accuracy(walks))


def test_halves_are_of_one_size_and_zeros_stay() -> None:
    rows = of_unit_size(torch.tensor([[3.0, 4.0], [0.0, 0.0]]))
    torch.testing.assert_close(rows.square().sum(1).mean(), torch.tensor(1.0))
    assert (of_unit_size(torch.zeros(2, 2)) == 0).all()


def test_seeds_and_files(tmp_path: Path) -> None:
    check_seeds_and_files(make, tmp_path / "a")


def test_features_are_needed() -> None:
    check_features_are_needed(make)
