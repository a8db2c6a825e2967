"""Where to compute."""

from __future__ import annotations

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
        raise InputError(f"device {name!r} cannot be used here: {str(error).splitlines()[0]}") from None
    return device
