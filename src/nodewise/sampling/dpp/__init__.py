"""Determinantal point processes: diverse negatives (paper, sections 3.1 and 4.3).

`laws` draws for every query as `settings` say, and is what a sampler calls; `kernels` makes similarity
matrices; `ensemble` and `elimination` draw exactly from a likelihood and from a marginal kernel, item by item
within a `block`; `fixed_size` and `greedy` are options beside them; `diagnostics` tells whether any of it
matters.
"""

from nodewise.sampling.dpp.diagnostics import (
    effective_rank,
    law_distance,
    log_determinant,
    log_determinant_gap,
    participation_rank,
)
from nodewise.sampling.dpp.elimination import draw_from_marginal
from nodewise.sampling.dpp.ensemble import draw_from_ensemble
from nodewise.sampling.dpp.fixed_size import draw_fixed_size
from nodewise.sampling.dpp.greedy import greedy_map
from nodewise.sampling.dpp.kernels import (
    gaussian_kernel,
    linear_kernel,
    literal_kernel,
    marginal_kernel,
    median_bandwidth,
    scale_to_size,
)
from nodewise.sampling.dpp.laws import deal, draw_for_all, sample_negatives
from nodewise.sampling.dpp.settings import DppSettings, fit_scale, similarity

__all__ = [
    "DppSettings",
    "deal",
    "draw_fixed_size",
    "draw_for_all",
    "draw_from_ensemble",
    "draw_from_marginal",
    "effective_rank",
    "fit_scale",
    "gaussian_kernel",
    "greedy_map",
    "law_distance",
    "linear_kernel",
    "literal_kernel",
    "log_determinant",
    "log_determinant_gap",
    "marginal_kernel",
    "median_bandwidth",
    "participation_rank",
    "sample_negatives",
    "scale_to_size",
    "similarity",
]
