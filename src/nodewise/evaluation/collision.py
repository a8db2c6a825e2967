"""Class collision among negatives: how many are of the query's own class, and whether the sampler finds them.

This is the quantity adaptive sampling claims to reduce (4.2). It needs labels, so it is reported, never used.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class CollisionCounts:
    """Numbers of (query, negative) pairs with both labels known; add batches with `+`."""

    before: int = 0
    same_before: int = 0
    after: int = 0
    same_after: int = 0

    def __add__(self, other: CollisionCounts) -> CollisionCounts:
        return CollisionCounts(
            self.before + other.before,
            self.same_before + other.same_before,
            self.after + other.after,
            self.same_after + other.same_after,
        )

    @property
    def share_before(self) -> float | None:
        """Share of same-class pairs among the negatives offered; None when there are none."""
        return _share(self.same_before, self.before)

    @property
    def share_after(self) -> float | None:
        """Share of same-class pairs among the negatives kept."""
        return _share(self.same_after, self.after)

    @property
    def precision(self) -> float | None:
        """Share of same-class pairs among the removed; `share_before` is what removing at random gives."""
        return _share(self.same_before - self.same_after, self.before - self.after)

    @property
    def recall(self) -> float | None:
        """Share of the same-class pairs that were removed."""
        return _share(self.same_before - self.same_after, self.same_before)

    def to_dict(self) -> dict[str, float | int | None]:
        """Return the four quantities, and the number of pairs removed."""
        return {
            "same_class_before": self.share_before,
            "same_class_after": self.share_after,
            "removed": self.before - self.after,
            "removal_precision": self.precision,
            "removal_recall": self.recall,
        }


def count_collisions(query_labels: Tensor, candidate_labels: Tensor, before: Tensor, after: Tensor) -> CollisionCounts:
    """Count same-class pairs among the negatives before and after a sampler.

    Args:
        query_labels: (B,), -1 where unknown.
        candidate_labels: (M,), or (B, M) where each query has its own; -1 where unknown.
        before: bool (B, M), the negatives offered to the sampler.
        after: bool (B, M), those it kept; a subset.
    """
    if (after & ~before).any():
        raise ValueError("the sampler kept negatives it was not offered")
    known = (query_labels >= 0)[:, None] & (candidate_labels >= 0)
    same = (query_labels[:, None] == candidate_labels) & known
    return CollisionCounts(
        before=int((before & known).sum()),
        same_before=int((before & same).sum()),
        after=int((after & known).sum()),
        same_after=int((after & same).sum()),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
