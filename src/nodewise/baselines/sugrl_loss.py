"""The multiplet loss of SUGRL (Mo et al., AAAI 2022), as the authors' code computes it.

For every node i an anchor h, a structural positive p, a neighbour positive s and k random anchors n, d the Euclidean
distance, [.]_+ the positive part,

    L = ω Σ_n mean_i [d(h, p) - d(h, n) + α]_+  +  ω Σ_n mean_i [d(h, s) - d(h, n) + α]_+
        + 1/k Σ_n Σ_i [d(h, n) - d(h, p) - (α + β)]_+ ,

where no gradient flows through d(h, p) in the last term, which bounds how far a random node is pushed away. As in the
authors' code, that term is a sum over nodes and the others are means.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor
from torch.nn.functional import pairwise_distance


def multiplet_loss(
    anchors: Tensor,
    structural: Tensor,
    neighbours: Tensor,
    negatives: Sequence[Tensor],
    *,
    weight: float,
    margin: float,
    bound: float,
) -> Tensor:
    """Return the loss of anchors, both kinds of positives and each set of negatives, all (N, d).

    `weight` is ω, `margin` α and `bound` β.
    """
    to_structural = pairwise_distance(anchors, structural)
    to_neighbours = pairwise_distance(anchors, neighbours)
    loss = anchors.new_zeros(())
    for negative in negatives:
        away = pairwise_distance(anchors, negative)
        for near in (to_structural, to_neighbours):
            loss = loss + weight * (near - away + margin).clamp(min=0).mean()
        too_far = (away - to_structural.detach() - margin - bound).clamp(min=0)
        loss = loss + too_far.sum() / len(negatives)
    return loss
