"""The diffusion matrix S of a graph as a sparse tensor, computed once for each graph and settings."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from nodewise.baselines.inputs import Inputs
from nodewise.core.progress import Progress
from nodewise.views.diffusion import DiffusionSettings, diffuse
from nodewise.views.sparse import csr_tensor

# Training and embedding ask for the same matrix; it goes when the inputs do.
_KNOWN: WeakKeyDictionary[Inputs, dict[DiffusionSettings, Tensor]] = WeakKeyDictionary()


def diffusion_tensor(inputs: Inputs, settings: DiffusionSettings, progress: Progress) -> Tensor:
    """Return S as sparse CSR (N, N), float32, on the device of the inputs."""
    known = _KNOWN.setdefault(inputs, {})
    if settings not in known:
        matrix = diffuse(inputs.graph, settings, progress)
        indptr, indices = (torch.as_tensor(part, dtype=torch.int64) for part in (matrix.indptr, matrix.indices))
        size = (inputs.num_nodes, inputs.num_nodes)
        known[settings] = csr_tensor(indptr, indices, torch.as_tensor(matrix.data), size).to(inputs.device)
    return known[settings]
