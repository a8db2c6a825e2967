"""Bring labels that came apart from the vectors, keyed by node id, into the vectors' order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nodewise.core.errors import InputError
from nodewise.data.ids import NodeIds
from nodewise.data.labels import UNKNOWN, encode_labels
from nodewise.data.messages import excerpt


def align_labels(
    ids: NodeIds,
    label_ids: Sequence[int | str],
    names: Sequence[int | str | None],
    source: str = "the labels",
) -> tuple[np.ndarray, tuple[int | str, ...]]:
    """Return int64 labels in the order of `ids`, -1 for nodes without one, and the sorted class names.

    Args:
        ids: the ids of the vectors' rows.
        label_ids: the ids of the labelled nodes; a part of `ids` is enough.
        names: the class of each labelled node; None where unknown.
        source: where the labels are from, for messages.
    """
    if len(label_ids) != len(names):
        raise InputError(f"{source}: {len(names)} labels for {len(label_ids)} ids; give one label per id")
    rows = ids.positions(label_ids, source)
    unknown = np.flatnonzero(rows < 0)
    if len(unknown):
        raise InputError(
            f"{source}: {len(unknown)} of {len(label_ids)} labelled ids have no vector, the first is "
            f"{excerpt(label_ids[int(unknown[0])])}; check that labels and vectors are of the same graph"
        )
    found, counts = np.unique(rows, return_counts=True)
    if (counts > 1).any():
        twice = ids[int(found[counts.argmax()])]
        raise InputError(f"{source}: node {excerpt(twice)} is labelled {counts.max()} times; keep one label")
    codes, classes = encode_labels(names, source)
    labels = np.full(len(ids), UNKNOWN, dtype=np.int64)
    labels[rows] = codes
    return labels, classes
