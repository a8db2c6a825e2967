"""Nearest-neighbor accuracy: do nodes of a class lie near each other? No training, so nothing to tune."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from nodewise.core.errors import InputError
from nodewise.evaluation.inputs import Matrix, check_labels, check_split, check_vectors, dense_rows, probe_dtype
from nodewise.graph.graph import Split

_SCORES_AT_ONCE = 2**25


def knn_accuracy(
    vectors: Matrix,
    labels: np.ndarray | Tensor | Sequence[int],
    split: Split | None = None,
    *,
    k: int = 5,
    device: torch.device | str = "cpu",
) -> float:
    """Return the share of nodes whose class is the commonest among their k nearest by cosine similarity.

    With a split, test nodes are judged by training nodes. Without, every labeled node is judged by all the
    other labeled nodes. Of equally common classes the first wins. Zero vectors have similarity 0 to all.

    Args:
        vectors: (N, d), dense or CSR.
        labels: (N,), -1 where unknown.
        split: who judges whom.
        k: number of neighbors.
        device: where to compute.
    """
    labels, num_classes = check_labels(labels)
    check_vectors([vectors], len(labels))
    if split is None:
        known = queries = np.flatnonzero(labels >= 0)
    else:
        split = check_split(split, labels)
        known, queries = split.train, split.test
    available = len(known) - (split is None)
    if not 1 <= k <= available:
        raise InputError(f"k={k} neighbors were asked for, but there are {available} labeled nodes to choose from")

    place, dtype = torch.device(device), probe_dtype([vectors])
    keys = torch.nn.functional.normalize(dense_rows(vectors, known, dtype, place))  # (M, d)
    targets = torch.from_numpy(labels).to(place)
    votes_of = torch.nn.functional.one_hot(targets[torch.tensor(known, device=place)], num_classes)  # (M, C)
    hits = torch.zeros((), dtype=torch.int64, device=place)
    height = max(1, _SCORES_AT_ONCE // len(known))
    for start in range(0, len(queries), height):
        chunk = queries[start : start + height]
        similarity = torch.nn.functional.normalize(dense_rows(vectors, chunk, dtype, place)) @ keys.mT  # (b, M)
        if split is None:
            own = torch.arange(len(chunk), device=place)
            similarity[own, own + start] = -torch.inf
        nearest = similarity.topk(k).indices  # (b, k)
        hits += (votes_of[nearest].sum(1).argmax(1) == targets[torch.tensor(chunk, device=place)]).sum()
    return int(hits) / len(queries)
