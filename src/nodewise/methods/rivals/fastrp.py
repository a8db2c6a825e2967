"""FastRP (Chen, Sultan, Tian, Chen & Skiena, CIKM 2019): very sparse random projections of powers of the adjacency.

    H = Σ_k α_k (D^-1 A)^k L R,    L = diag((d_i / 2E)^β)

with R_ij = √s · {+1, 0, -1} with probability 1/2s, 1 - 1/s, 1/2s. A is the adjacency, d_i are its row sums, D has them
on its diagonal, and 2E is their sum; α_k weighs a power k and β < 0 weighs down nodes of many neighbors.

Edges only, nothing is learned, seconds on millions of edges. Settings: 512 dimensions, and powers 3 and 4 alone, as in
notebooks of the authors.

Differs from the paper: each power's rows are scaled to length one before they are added up, as in the authors' code
and in graph databases; that code then standardizes columns, ours does not. s = 3 instead of √N for N nodes. α_4 = 1
and β = -0.9 on all graphs, where the authors search weights and β with labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor
from torch.nn.functional import normalize

from nodewise.core import rng
from nodewise.core.config import Checked, Range, Size
from nodewise.core.errors import InputError
from nodewise.methods.estimator import Embedder, Watch, method
from nodewise.methods.inputs import Inputs
from nodewise.views.topology import csr_tensor


@dataclass(frozen=True)
class FastRPSettings(Checked):
    """Settings of FastRP.

    Attributes:
        dimension: size of the vectors.
        weights: α of the powers 1, 2, ...
        normalization: β; below 0 it weighs down neighbors that everybody has.
    """

    dimension: Size = 512
    weights: tuple[float, ...] = (0.0, 0.0, 1.0, 1.0)
    normalization: Annotated[float, Range(-10, 10)] = -0.9

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.weights or len(self.weights) > 64 or not any(self.weights):
            raise InputError("weights must be 1 to 64 numbers, one of which is not zero")


@method("fastrp")
class FastRP(Embedder):
    """FastRP on the edges."""

    title = "FastRP"
    paper = "Chen et al., CIKM 2019"
    uses = "A"
    cost = "O(E d) per power"
    needs_features = False
    settings_class = FastRPSettings
    settings: FastRPSettings

    def _embed(self, inputs: Inputs, watch: Watch) -> Tensor:
        topology, chosen, nodes = inputs.topology, self.settings, inputs.num_nodes
        degrees = torch.where(topology.degrees > 0, topology.strengths, 1.0).to(torch.float32)
        index = torch.arange(nodes * chosen.dimension, device=inputs.device)
        drawn = rng.uniform(rng.key(self.seed, "fastrp"), index).view(nodes, chosen.dimension)
        signs = (drawn < 1 / 6).to(torch.float32) - (drawn >= 5 / 6).to(torch.float32)
        hidden = signs * 3**0.5 * (degrees / degrees.sum()).pow(chosen.normalization).unsqueeze(-1)
        chances = (1 / degrees).repeat_interleave(topology.degrees)
        chances = chances if topology.weights is None else chances * topology.weights
        walk = csr_tensor(topology.indptr, topology.indices, chances, (nodes, nodes))
        total = torch.zeros_like(hidden)
        with watch.progress.stage("projecting", total=len(chosen.weights)) as bar:
            for weight in chosen.weights:
                hidden = walk @ hidden
                total += weight * normalize(hidden, dim=-1)
                bar.advance()
        return total
