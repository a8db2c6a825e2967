"""Lloyd's algorithm for sets of points side by side, and how much a point belongs to each cluster."""

from __future__ import annotations

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.encoders.directions import MOST_ROWS


def kmeans(points: Tensor, clusters: Tensor, steps: int, keys: Tensor) -> Tensor:
    """Return the clusters (G, N) of points (G, N, k) after `steps` of Lloyd's algorithm from distinct random points.

    Set g is divided into `clusters`[g] parts; `keys` (G,) name the draws of their first centers. The centers of very
    many points are found from a random part of them.
    """
    places = torch.arange(int(clusters.max()), device=points.device)
    spare = (places >= clusters.unsqueeze(-1)).unsqueeze(-2)
    return _lloyd(points, len(places), spare, steps, keys)[0]


def fixed_kmeans(points: Tensor, clusters: int, steps: int, keys: Tensor) -> tuple[Tensor, Tensor]:
    """Return the clusters (G, N) of points (G, N, k), and the centers (G, C, k); nobody has to wait for a GPU."""
    return _lloyd(points, min(clusters, points.shape[1]), None, steps, keys)


def _lloyd(points: Tensor, clusters: int, spare: Tensor | None, steps: int, keys: Tensor) -> tuple[Tensor, Tensor]:
    copies, count = points.shape[:2]
    drawn = rng.bits(keys.unsqueeze(-1), torch.arange(count, device=points.device))
    order = torch.argsort(drawn, stable=True)
    centers = _taken(points, order[:, :clusters])
    some = _taken(points, order[:, :MOST_ROWS]) if count > MOST_ROWS else points

    def nearest(points: Tensor) -> Tensor:
        scores = torch.baddbmm(centers.square().sum(-1).unsqueeze(-2) / -2, points, centers.mT)
        return (scores if spare is None else scores.masked_fill_(spare, -torch.inf)).argmax(-1)

    members = some.new_empty(copies, some.shape[1], clusters)
    for _ in range(steps):
        members.zero_().scatter_(-1, nearest(some).unsqueeze(-1), 1.0)
        sizes = members.sum(1).unsqueeze(-1)
        # A cluster that lost all its points stays where it is.
        centers = torch.where(sizes > 0, members.mT @ some / sizes.clamp(min=1), centers)
    return nearest(points), centers


def _taken(points: Tensor, places: Tensor) -> Tensor:
    """Return the points (G, m, k) at places (G, m)."""
    return points.gather(1, places.unsqueeze(-1).expand(-1, -1, points.shape[-1]))
