from __future__ import annotations

import torch

from nodewise.datasets.planted import block_model
from nodewise.methods.inputs import Inputs
from nodewise.methods.products import drop


def test_half_of_the_entries_go_and_the_mean_stays() -> None:
    inputs = Inputs(block_model(400, num_features=200, seed=0))
    for x in (inputs.x, inputs.dense_x):
        torch.manual_seed(0)
        left = drop(x, 0.5, True).to_dense()
        given = inputs.dense_x
        assert set(((left / given)[given > 0]).round(decimals=4).tolist()) == {0.0, 2.0}
        assert (left[given == 0] == 0).all()
        # About 7,600 entries: three standard deviations of the share are 0.017.
        assert abs((left[given > 0] > 0).float().mean() - 0.5) < 0.02


def test_nothing_goes_outside_training() -> None:
    x = Inputs(block_model(30, num_features=20, seed=0)).x
    assert drop(x, 0.5, False) is x
    assert drop(x, 0.0, True) is x
