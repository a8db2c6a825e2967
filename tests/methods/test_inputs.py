"""The features that networks see: shares of a row, told apart from numbers that are no counts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from tests.command_line import of_an_earlier_version
from tests.methods.planted import planted

from nodewise.methods.inputs import Inputs, scaled, suitable
from nodewise.methods.rivals.gae import GraphAutoEncoder

COUNTS = np.array([[2, 0, 6], [0, 0, 0], [1, 1, 2]], np.float32)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_shares_sum_to_one_and_empty_rows_stay(kind: type) -> None:
    found = scaled(kind(COUNTS), "shares")
    assert type(found) is type(kind(COUNTS))
    dense = found if isinstance(found, np.ndarray) else found.toarray()
    np.testing.assert_allclose(dense, [[0.25, 0, 0.75], [0, 0, 0], [0.25, 0.25, 0.5]])
    assert dense.dtype == np.float32
    np.testing.assert_allclose(Inputs(planted(), scaling="shares").dense_x.sum(1).numpy(), 1, atol=1e-5)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_peaks_give_words_back_their_ones(kind: type) -> None:
    words = (COUNTS > 0).astype(np.float32)
    found = scaled(scaled(kind(words), "shares"), "peaks")
    np.testing.assert_array_equal(found if isinstance(found, np.ndarray) else found.toarray(), words)
    assert suitable(COUNTS, "peaks") == "peaks"
    assert suitable(COUNTS - 1, "peaks") == "raw"


def test_rows_that_sum_to_one_are_not_touched() -> None:
    once = scaled(np.random.default_rng(0).random((40, 7), np.float32), "shares")
    assert scaled(once, "shares") is once


def test_negative_numbers_are_no_counts() -> None:
    assert suitable(COUNTS, "shares") == suitable(sp.csr_matrix(COUNTS), "shares") == "shares"
    assert suitable(COUNTS - 1, "shares") == suitable(sp.csr_matrix(COUNTS - 1), "shares") == "raw"


def test_a_run_remembers_its_scaling_and_one_that_has_none_is_of_an_earlier_version(tmp_path: Path) -> None:
    model = GraphAutoEncoder(dimension=4, epochs=2, device="cpu").fit(planted())
    model.save(tmp_path / "run")
    of_an_earlier_version(tmp_path / "run")
    path = tmp_path / "run" / "weights.safetensors"
    assert GraphAutoEncoder.load(tmp_path / "run").scaling_ == "unit"
    with safe_open(path, framework="pt") as file:
        about = dict(file.metadata())
    del about["features"]
    save_file(load_file(path), path, about)
    earlier = GraphAutoEncoder.load(tmp_path / "run", device="cpu")
    assert earlier.scaling_ == "raw"
    raw = earlier._encode(earlier.network_.eval(), Inputs(planted())).detach().numpy()
    np.testing.assert_array_equal(earlier.transform(planted()).vectors, raw)
