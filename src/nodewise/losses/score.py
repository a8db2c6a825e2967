"""What the score f(h_i, h_j) = h_i . h_j is taken of (Section 3.3).

dot           the embeddings as they are, the paper's f
cosine        embeddings of unit length
centred       the batch's mean taken off first: a common direction says nothing about who is who
standardised  each coordinate with mean 0 and variance 1 over the batch first, then unit length
"""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import normalize


def scorable(embeddings: Tensor, score: str) -> Tensor:
    """Return the vectors (S, B, d) whose dot products are the scores."""
    if score == "dot":
        return embeddings
    if score in ("centred", "standardised"):
        embeddings = embeddings - embeddings.mean(-2, keepdim=True)
    if score == "standardised":
        embeddings = embeddings * (embeddings.square().mean(-2, keepdim=True) + 1e-8).rsqrt()
    return normalize(embeddings, dim=-1)
