"""Somebody's own code that fails in odd ways, or returns odd things: one line says so, and whose it is."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tests.command_line import SMALL, Nodewise, python

STRATEGIES = """
from __future__ import annotations
from typing import TYPE_CHECKING
import torch
import nodewise as nw

if TYPE_CHECKING:
    from numbers import Number

class Unknown(nw.Strategy):
    share: Number = 3

    def choose(self, batch):
        return batch.negatives

class Misspelled(nw.EncoderSettings):
    share: Undefined = 0.5

    def build(self, num_features, seeds):
        return None

class Doubles(nw.Strategy):
    def choose(self, batch):
        torch.set_default_dtype(torch.float64)
        return batch.negatives

class Waits(nw.Strategy):
    async def choose(self, batch):
        return batch.negatives

class Silent(Exception):
    def __str__(self):
        raise ValueError

class Mute(nw.Strategy):
    def choose(self, batch):
        raise Silent

class Base(nw.Strategy):
    def choose(self, batch):
        raise BaseException("q")
"""
METHODS = """
from __future__ import annotations
from dataclasses import dataclass
import torch
import nodewise as nw

@dataclass(frozen=True)
class Plain:
    number: int = 3

@dataclass(frozen=True)
class Unknown:
    number: Whole = 3

class Method(nw.Embedder):
    settings_class = Plain
    returned = "torch.zeros(40, 2)"

    def _embed(self, inputs, watch):
        return eval(self.returned)

class Untyped(Method):
    settings_class = Unknown

class Huge(Method):
    returned = "torch.zeros(10**14)"

class Sparse(Method):
    returned = "torch.eye(40).to_sparse()"

class Compressed(Method):
    returned = "torch.eye(40).to_sparse_csr()"

class Wordy(Method):
    returned = "torch.eye(40).to_sparse() != 0"

class Silent(Exception):
    def __str__(self):
        raise ValueError

class Mute(Method):
    def _embed(self, inputs, watch):
        raise Silent

class Base(Method):
    def _embed(self, inputs, watch):
        raise BaseException("q")

class Closed(Method):
    def _embed(self, inputs, watch):
        raise GeneratorExit
"""


@pytest.fixture
def own(ring: Path) -> Path:
    Path("own_strategies.py").write_text(STRATEGIES)
    Path("own_methods.py").write_text(METHODS)
    Path("own_ends.py").write_text("raise BaseException('at import')\n")
    return ring


@pytest.mark.parametrize(
    ("part", "status", "code"),
    [
        ("sampling.strategy=own_strategies.py:Unknown", 2, "own-code-failed"),
        ("encoder.kind=own_strategies.py:Misspelled", 2, "own-code-failed"),
        ("sampling.strategy=own_ends.py:Any", 2, "own-code-failed"),
        ("sampling.strategy=own_strategies.py:Mute", 2, "bad-strategy"),
        ("sampling.strategy=own_strategies.py:Base", 2, "bad-strategy"),
        ("Untyped", 2, "own-code-failed"),
        ("Huge", 1, "too-little-memory"),
        ("Sparse", 2, "own-code-failed"),
        ("Compressed", 2, "own-code-failed"),
        ("Wordy", 2, "own-code-failed"),
        ("Mute", 2, "own-code-failed"),
        ("Base", 2, "own-code-failed"),
        ("Closed", 2, "own-code-failed"),
    ],
)
def test_ends_in_one_short_line(part: str, status: int, code: str, own: Path, nodewise: Nodewise) -> None:
    chosen = (*SMALL, "--set", part) if "=" in part else ("-m", f"own_methods.py:{part}")
    outcome = nodewise("embed", "edges.csv", "-f", "nodes.csv", "-o", "run", "-q", *chosen)
    assert (outcome.code, outcome.err.count("\n")) == (status, 1), outcome.err
    assert outcome.err.endswith(f" [{code}]\n")
    assert len(outcome.err) < 600
    assert not Path("run").exists()


def test_a_coroutine_is_no_answer_and_nothing_else_is_said(own: Path) -> None:
    chosen = (*SMALL, "--set", "sampling.strategy=own_strategies.py:Waits")
    done = python("embed", "edges.csv", "-f", "nodes.csv", "-o", "run", "-q", *chosen)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert done.stderr.endswith("[bad-strategy]\n")


def test_what_a_strategy_sets_for_torch_ends_with_it(own: Path, nodewise: Nodewise) -> None:
    chosen = (*SMALL, "--set", "sampling.strategy=own_strategies.py:Doubles")
    assert nodewise("embed", "edges.csv", "-f", "nodes.csv", "-o", "run", "-q", *chosen).code == 0
    assert torch.get_default_dtype() == torch.float32
