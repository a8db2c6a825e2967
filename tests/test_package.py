"""The public face: everything it promises is there, and nothing heavy is imported before it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import nodewise


@pytest.mark.parametrize("name", nodewise.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(nodewise, name) is not None
    assert name in dir(nodewise)


def test_nothing_but_public_names_is_shown() -> None:
    assert dir(nodewise) == sorted(nodewise.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'nodewise' has no attribute 'Grahp'"):
        nodewise.Grahp


def test_importing_the_package_is_light() -> None:
    code = "import nodewise, sys; assert not {'torch', 'numpy', 'pyarrow'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_graph_needs_no_torch() -> None:
    code = (
        "import nodewise, sys\n"
        "nodewise.Graph, nodewise.read_graph, nodewise.load_dataset, nodewise.Embeddings\n"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
