"""Draws from a likelihood L at the price of one Cholesky factorization, whatever the number of draws.

An exact draw of P(Y = A) ∝ det(L_A), with the same decisions as eliminating the items of K = L (L + I)^-1
from last to first (`elimination.py`), but K is never formed and only *accepted* items are carried along.

Let L + I = C C^T, C lower triangular. Visit the items from last to first and let S be those accepted so far.
Given the decisions so far, item j is accepted with probability

    p_j = 1 - (1 + z^T P z) / C_jj^2,      z = C_Sj,      P = (Σ_{l > j} C_Sl C_Sl^T - I)^-1.

Why: removing rejected items from L + I and conditioning on accepted ones leaves an ensemble on the items up
to j whose 1 - p_j is the last diagonal entry of an inverse; by Woodbury's identity that is C_jj^-2 plus a
correction of rank |S|; and L_ij = Σ_{l <= j} C_il C_jl for i > j turns all its terms into entries of C.

With a whole block B of items at a time, v = P Z and Z = C_SB C_BB^-1, the block's own marginal kernel given
the past is K_B = I - (C_BB C_BB^T)^-1 - Z^T v. It is decided item by item (`block.py`), K_B - diag(rejected)
= L D L^T, and P becomes P - I_new + V (L D L^T)^-1 V^T with V = [v; -1 at each newly accepted item].

M^3 / 3 multiply-adds are shared by all draws; each then costs about 2 M k^2 for k chosen items.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nodewise.sampling.dpp.block import away_from_ends, block_size, eliminate_block
from nodewise.sampling.dpp.elimination import draw_from_marginal
from nodewise.sampling.dpp.kernels import marginal_kernel, shifted_cholesky


def draw_from_ensemble(likelihood: Tensor, uniforms: Tensor, block: int | None = None) -> Tensor:
    """Return draws (..., R, M), True where chosen, from likelihoods (..., M, M) and uniforms (..., R, M).

    The number of chosen items shapes the work, which a CUDA device would have to wait for; there the same
    decisions are made by eliminating K.
    """
    block = block or block_size(uniforms.device)
    if likelihood.is_cuda:
        kernel = marginal_kernel(likelihood).flip(-1, -2)
        return draw_from_marginal(kernel, uniforms.flip(-1), block).flip(-1)
    lead, (draws, items) = uniforms.shape[:-2], uniforms.shape[-2:]
    factor = shifted_cholesky(likelihood.reshape(-1, items, items))
    thresholds = away_from_ends(uniforms).reshape(-1, items)
    return _visit_backwards(factor, thresholds, block).reshape(*lead, draws, items)


def _visit_backwards(factor: Tensor, thresholds: Tensor, block: int) -> Tensor:
    """Return draws (T, M) from Cholesky factors (F, M, M) of L + I; T is a multiple of F."""
    total, items = thresholds.shape
    draws = total // len(factor)
    kernel_of_draw = torch.arange(len(factor)).repeat_interleave(draws).unsqueeze(-1)
    identity = torch.eye(block, dtype=torch.float64)
    chosen = torch.empty((total, items), dtype=torch.bool)
    # Each draw's accepted items, padded to `held`, the most of any draw; padding has zero rows in P.
    accepted = torch.full((total, items), items - 1)
    held = 0
    memory = torch.zeros((total, 2 * block, 2 * block), dtype=torch.float64)  # P, with room to grow
    for stop in range(items, 0, -block):
        start = max(0, stop - block)
        size = stop - start
        eye = identity[:size, :size]
        corner = torch.linalg.solve_triangular(factor[:, start:stop, start:stop], eye, upper=False)
        kernel = torch.baddbmm(eye, corner.mT, corner, alpha=-1).repeat_interleave(draws, dim=0)
        v = torch.empty((total, 0, size), dtype=torch.float64)
        if held > 0:
            rows = factor[kernel_of_draw, accepted[:, :held], start:stop]
            z = torch.bmm(rows.reshape(len(factor), -1, size), corner).reshape(rows.shape)
            v = torch.bmm(memory[:, :held, :held], z)
            kernel = torch.baddbmm(kernel, z.mT, v, alpha=-1)
        done = eliminate_block(kernel.flip(-1, -2), thresholds[:, start:stop].flip(-1))
        taken = done.accepted.flip(-1)
        chosen[:, start:stop] = taken
        if start == 0:
            break
        slots = torch.argsort(taken, dim=-1, descending=True, stable=True)[:, : int(taken.sum(-1).max())]
        real = taken.gather(1, slots).double()
        new = slice(held, held + slots.shape[-1])
        accepted[:, new] = slots + start
        # (L D L^T)^-1 = X^T D^-1 X with X = L^-1, in the order of the items rather than of the visits.
        inverse_t = done.inverse.flip(-1, -2).mT
        below = inverse_t.gather(1, slots.unsqueeze(-1).expand(-1, -1, size)) * -real.unsqueeze(-1)
        turned = torch.cat([torch.bmm(v, inverse_t), below], dim=1)
        held = new.stop
        if held > memory.shape[-1]:
            memory = torch.nn.functional.pad(memory, (0, held, 0, held))
        grown = memory[:, :held, :held]
        grown.diagonal(dim1=-2, dim2=-1)[:, new] = -real
        grown.baddbmm_(turned / done.pivots.flip(-1).unsqueeze(-2), turned.mT)
    return chosen
