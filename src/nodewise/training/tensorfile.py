"""Tensors in a file that cannot hold code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from safetensors.torch import save
from torch import Tensor

from nodewise.core.files import atomic_write


def write_tensors(path: Path, tensors: Mapping[str, Tensor], about: Mapping[str, str]) -> None:
    """Write tensors, from any device, and some texts about them as a safetensors file, whole or not at all."""
    held = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    # Not save_file: what it writes is private to its owner, and its errors do not say that a disk is full.
    data = memoryview(save(held, metadata=dict(about)))
    size = int.from_bytes(data[:8], "little")
    header = json.loads(bytes(data[8 : 8 + size]))
    # The library writes the texts in a random order, but the same content should be the same bytes.
    header["__metadata__"] = dict(sorted(about.items()))
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text = text.ljust(-(-len(text) // 8) * 8)
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        for part in (len(text).to_bytes(8, "little"), text, data[8 + size :]):
            file.write(part)
