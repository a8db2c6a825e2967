"""Whether two graphs are the same to training: one number for edges, features and ids."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.graph.graph import Graph


def fingerprint(graph: Graph) -> str:
    """Return a SHA-256 of what training and its result depend on; labels, split, name and notes do not count."""
    digest = hashlib.sha256()
    for array in _arrays(graph):
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _arrays(graph: Graph) -> Iterator[npt.NDArray[np.generic]]:
    yield graph.indptr
    yield graph.indices
    if graph.weights is not None:
        yield graph.weights
    if graph.kinds is not None:
        yield graph.kinds
    yield from (array for array in (graph.faces or ())[:3] if array is not None)
    yield np.frombuffer(f"{graph.ids.type}\n".encode() + _id_bytes(graph), np.uint8)
    if graph.structural:  # a function of the above
        return
    features = graph.features
    if sp.issparse(features):
        yield from (features.indptr, features.indices, features.data)
    yield np.array(features.shape) if sp.issparse(features) else np.asarray(features)


def _id_bytes(graph: Graph) -> bytes:
    if graph.ids.kind == "integer":
        return np.asarray(graph.ids.to_arrow()).tobytes()
    # A length before each name: "a", "bc" and "ab", "c" are different ids.
    return b"".join(f"{len(name)}:{name}".encode() for name in map(str, graph.ids))
