from pathlib import Path

import numpy as np
import pytest
from tests.methods.contract import check_seeds_and_files
from tests.methods.planted import accuracy, planted

from nodewise.core.errors import InputError
from nodewise.graph.graph import Graph
from nodewise.methods.rivals.node2vec import Node2Vec, Node2VecSettings


def make(seed: int, **changes: float) -> Node2Vec:
    return Node2Vec(Node2VecSettings(8, 2, 5, 2, **changes), seed=seed, device="cpu")  # type: ignore[arg-type]


def test_finds_planted_classes_from_edges_alone() -> None:
    settings = Node2VecSettings(dimension=32, walks=15, length=20, window=5)
    assert accuracy(Node2Vec(settings, device="cpu").fit_transform(planted())) > 0.6  # chance: 0.25


def test_seeds_and_files(tmp_path: Path) -> None:
    check_seeds_and_files(make, tmp_path / "a")


def test_p_and_q_matter() -> None:
    first, second = (make(0, p=p, q=q).fit_transform(planted()).vectors for p, q in ((4.0, 0.25), (0.25, 4.0)))
    assert not np.allclose(first, second)


def test_needs_no_features() -> None:
    assert make(0).fit_transform(Graph.from_edges([0, 1], [1, 2])).vectors.shape == (3, 8)


def test_settings_out_of_range() -> None:
    with pytest.raises(InputError, match="q is 0; it must be at least 1e-06"):
        Node2VecSettings(q=0.0)
