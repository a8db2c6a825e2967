"""What "a determinantal sample of S_i-" means, and the draw of it for every query at once (section 4.3).

shared    K = L (L + I)^-1 of all M candidates, restricted to S_i-. If Y ~ DPP(K) and S is fixed before the
          draw, Y ∩ S ~ DPP(K_S) exactly: one draw serves every query. Items outside S_i- still repel.
literal   the similarity itself, scaled to eigenvalues <= 1, as marginal kernel, restricted likewise. Its
          diagonal is constant: every item is as likely as any other, only their joint choice is spread out.
per_node  the likelihood L restricted to S_i- alone: one factorization and one draw per query.
fixed     exactly `size` of all candidates (k-DPP), restricted to S_i-.
greedy    the `size` most diverse of all candidates (greedy MAP), restricted to S_i-; not random.

Differs from the paper: it defines the process by det(B_A), which is "literal", but aims at thinning dense
regions, which only the other laws do; the default is "shared". Its draws are correlated between queries; R
independent draws soften that, each query using one of them, named by a hash of the query.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.sampling.dpp.elimination import draw_from_marginal
from nodewise.sampling.dpp.ensemble import draw_from_ensemble
from nodewise.sampling.dpp.fixed_size import draw_fixed_size
from nodewise.sampling.dpp.greedy import greedy_map
from nodewise.sampling.dpp.kernels import literal_kernel
from nodewise.sampling.dpp.settings import DppSettings, fit_scale, similarity

# Streams derived from the caller's key.
_ITEMS, _PICKS, _ASSIGNMENT = range(3)

# per_node works on this many kernel entries at a time: 256 MB of float64.
_CHUNK_ENTRIES = 1 << 25


def sample_negatives(
    points: Tensor,
    candidates: Tensor,
    key: int | Tensor,
    settings: DppSettings,
    *,
    scale: Tensor | None = None,
    items: Tensor | None = None,
    queries: Tensor | None = None,
) -> Tensor:
    """Return which candidates each query keeps: bool (..., B, M), a part of `candidates`.

    Args:
        points: (..., M, d), the candidates' embeddings h_j^k. The leading dimensions are stacked runs.
        candidates: bool (..., B, M), the sets S_i-, fixed before the draw.
        key: names the draw: an integer, or a tensor with one key for each stacked run.
        settings: law, kernel and size.
        scale: (...), from `fit_scale`; computed here if it is needed and not given.
        items: int64 (M,) or (..., M), distinct numbers that name the candidates; by default their positions.
        queries: int64 (B,) or (..., B), numbers that name the queries; by default their positions.

    """
    if settings.law == "per_node":
        return _draw_for_each_set(points, candidates, key, settings, scale, items, queries)
    drawn = draw_for_all(points, key, settings, scale=scale, items=items)
    return deal(drawn, candidates, key, queries=queries)


def draw_for_all(
    points: Tensor,
    key: int | Tensor,
    settings: DppSettings,
    *,
    scale: Tensor | None = None,
    items: Tensor | None = None,
) -> Tensor:
    """Return draws (..., R, M) from all candidates, whatever the sets of the queries: any law but per_node.

    The arguments are those of `sample_negatives`, which deals the draws to the queries.
    """
    lead, size = points.shape[:-2], points.shape[-2]
    items = torch.arange(size, device=points.device) if items is None else items
    return _draws(_likelihood(points, settings, scale), settings, _for_each_run(key, lead), items)


def deal(drawn: Tensor, candidates: Tensor, key: int | Tensor, *, queries: Tensor | None = None) -> Tensor:
    """Return what each query keeps of its set (..., B, M): what is in the one of the draws (..., R, M) it was given."""
    lead, (count, size) = candidates.shape[:-2], candidates.shape[-2:]
    queries = torch.arange(count, device=drawn.device) if queries is None else queries
    run = _for_each_run(key, lead)
    assigned = rng.below(drawn.shape[-2], rng.fold(run, _ASSIGNMENT), queries.unsqueeze(-1))
    # Whole rows by flat position: a gather of single entries would cost more than the draw.
    first_row = torch.arange(lead.numel(), device=drawn.device).mul(drawn.shape[-2]).reshape(*lead, 1, 1)
    return candidates & drawn.reshape(-1, size)[(first_row + assigned).squeeze(-1)]


def _for_each_run(key: int | Tensor, lead: torch.Size) -> int | Tensor:
    return key.reshape(*(lead if key.numel() > 1 else ()), 1, 1) if isinstance(key, Tensor) else key


def _likelihood(points: Tensor, settings: DppSettings, scale: Tensor | None) -> Tensor:
    likelihood = similarity(points.detach(), settings)
    if scale is None:
        scale = fit_scale(points.detach(), settings)
    return likelihood if scale is None else likelihood.mul_(scale[..., None, None])


def _draws(likelihood: Tensor, settings: DppSettings, run: int | Tensor, items: Tensor) -> Tensor:
    """Return draws (..., R, M) from all candidates, whose likelihood is (..., M, M); greedy has only one."""
    lead, size = likelihood.shape[:-2], likelihood.shape[-1]
    exact = round(settings.size or 0)
    if settings.law == "greedy":
        none = torch.zeros((*lead, 1, size), dtype=torch.bool, device=likelihood.device)
        return none.scatter(-1, greedy_map(likelihood, exact).unsqueeze(-2), True)
    numbers = torch.arange(settings.draws, device=likelihood.device).unsqueeze(-1)
    uniforms = rng.uniform64(rng.fold(run, _ITEMS), numbers, items.unsqueeze(-2))
    uniforms = uniforms.expand(*lead, settings.draws, size)
    if settings.law == "shared":
        return draw_from_ensemble(likelihood, uniforms)
    if settings.law == "literal":
        return draw_from_marginal(literal_kernel(likelihood), uniforms)
    steps = torch.arange(exact, device=likelihood.device)
    picks = rng.uniform64(rng.fold(run, _PICKS), numbers, steps).expand(*lead, settings.draws, exact)
    runs = zip(
        likelihood.reshape(-1, size, size),
        uniforms.reshape(-1, settings.draws, size),
        picks.reshape(-1, settings.draws, exact),
        strict=True,
    )
    return torch.stack([draw_fixed_size(*run) for run in runs]).reshape(uniforms.shape)


def _draw_for_each_set(
    points: Tensor,
    candidates: Tensor,
    key: int | Tensor,
    settings: DppSettings,
    scale: Tensor | None,
    items: Tensor | None,
    queries: Tensor | None,
) -> Tensor:
    """Return a draw (..., B, M) from the likelihood restricted to each of the sets (..., B, M).

    Zero rows and columns take an item out of an L-ensemble: its pivot is 0 and it leaves the others alone.
    """
    lead, (count, size) = candidates.shape[:-2], candidates.shape[-2:]
    items = torch.arange(size, device=points.device) if items is None else items
    queries = torch.arange(count, device=points.device) if queries is None else queries
    run = _for_each_run(key, lead)
    likelihood = _likelihood(points, settings, scale)
    uniforms = rng.uniform64(rng.fold(run, _ITEMS), queries.unsqueeze(-1), items.unsqueeze(-2)).expand(candidates.shape)
    chunk = max(1, _CHUNK_ENTRIES // (lead.numel() * size * size))
    parts = []
    for start in range(0, count, chunk):
        mask = candidates[..., start : start + chunk, :]
        restricted = likelihood.unsqueeze(-3) * (mask.unsqueeze(-1) & mask.unsqueeze(-2))
        draw = uniforms[..., start : start + chunk, None, :]
        parts.append(draw_from_ensemble(restricted, draw).squeeze(-2))
    return torch.cat(parts, dim=-2)
