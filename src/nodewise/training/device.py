"""Where to compute."""

from __future__ import annotations

import os

import torch

from nodewise.core.errors import InputError


def choose_device(name: str) -> torch.device:
    """Return the device of a name: `auto` is a GPU where there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).tolist()  # "meta" has no numbers at all
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise InputError(
            f"device {name!r} cannot be used here: {str(error).splitlines()[0]}", code="unknown-device"
        ) from None
    return device


def be_deterministic() -> None:
    """Let torch use deterministic algorithms only, from now on in this process.

    On a CPU the same seed and number of threads give the same bits without this. On a GPU sums by atomic addition
    depend on the order in which threads finish, and this avoids them; an operation that has no deterministic form
    raises an error.
    """
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # read when cuBLAS is first used
    torch.use_deterministic_algorithms(True)
