"""The same bits each time, where an operation has a slower algorithm that promises them."""

from __future__ import annotations

import os

import torch


def be_deterministic() -> None:
    """Let torch use deterministic algorithms only, from now on in this process.

    On a CPU the same seed and number of threads give the same bits without this. On a GPU sums by atomic addition
    depend on the order in which threads finish, and this avoids them; an operation that has no deterministic form
    raises an error.
    """
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # read when cuBLAS is first used
    torch.use_deterministic_algorithms(True)
