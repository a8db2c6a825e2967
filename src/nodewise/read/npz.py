"""Graphs in one npz file: our own, a scipy.sparse matrix, or an array of edges."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy.sparse as sp

from nodewise.core.errors import InputError
from nodewise.core.files import atomic_write
from nodewise.core.messages import count, first_line, listing
from nodewise.graph.edges import Edges
from nodewise.graph.graph import Graph, Split
from nodewise.graph.ids import NodeIds
from nodewise.graph.validate import check_contents
from nodewise.read.arrays import SPARSE_PARTS, Arrays, integers, is_sparse, load_npz, sparse_matrix, unused
from nodewise.read.interop import edges_from_scipy

_ABOUT = "nodewise_graph"
_VERSION = 1
_ID_TYPES = {str(kind): kind for kind in (pa.string(), pa.large_string())}
_PARTS = ("train", "val", "test")
_FEATURE_PARTS = tuple(f"features_{part}" for part in ("data", "indices", "indptr", "shape"))
_WRITTEN = (_ABOUT, "indptr", "indices", "ids", "id_lengths", "features", *_FEATURE_PARTS, "labels", *_PARTS)


def save_graph(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write a graph as plain arrays, text as UTF-8 bytes; structural features are left out."""
    about = {
        "version": _VERSION,
        "name": graph.name,
        "notes": graph.notes,
        "class_names": graph.class_names,
        "id_type": str(graph.ids.type),
    }
    arrays: Arrays = {_ABOUT: _bytes(json.dumps(about)), "indptr": graph.indptr, "indices": graph.indices}
    if graph.ids.kind == "integer":
        arrays["ids"] = np.asarray(graph.ids.to_arrow())
    else:
        texts = [str(text).encode() for text in graph.ids]
        arrays["ids"] = _bytes(b"".join(texts))
        arrays["id_lengths"] = np.array([len(text) for text in texts], np.int64)
    if not graph.structural and sp.issparse(graph.features):
        for part in ("data", "indices", "indptr", "shape"):
            arrays[f"features_{part}"] = np.asarray(getattr(graph.features, part))
    elif not graph.structural:
        arrays["features"] = np.asarray(graph.features)
    if graph.labels is not None:
        arrays["labels"] = graph.labels
    if graph.split is not None:
        arrays |= {part: getattr(graph.split, part) for part in _PARTS}
    with atomic_write(path) as temporary, temporary.open("wb") as stream:
        np.savez_compressed(stream, allow_pickle=False, **arrays)


def load_graph(path: str | os.PathLike[str]) -> Graph:
    """Read what `save_graph` wrote."""
    arrays = load_npz(Path(path))
    if not is_graph(arrays):
        raise InputError(f"{path}: not a graph written by nodewise (it holds {listing(tuple(arrays))})")
    return unpack(Path(path), arrays)


def is_graph(arrays: Arrays) -> bool:
    """Tell whether arrays are what `save_graph` writes."""
    return _ABOUT in arrays


def unpack(path: Path, arrays: Arrays) -> Graph:
    """Return the graph of arrays that `save_graph` wrote."""
    try:
        about = json.loads(arrays[_ABOUT].tobytes())
        if about["version"] != _VERSION:
            raise InputError(
                f"{path}: written in version {about['version']} of the format, this nodewise reads "
                f"version {_VERSION}; write it again, or use the version that wrote it"
            )
        graph = Graph(
            indptr=arrays["indptr"],
            indices=arrays["indices"],
            features=_features(arrays),
            ids=_ids(path, arrays, about["id_type"]),
            labels=arrays.get("labels"),
            class_names=tuple(about["class_names"]),
            split=Split(*(arrays[part] for part in _PARTS)) if "train" in arrays else None,
            name=str(about["name"]),
            notes=(*about["notes"], *unused(path, arrays, _WRITTEN)),
        )
        check_contents(graph, str(path))
        return graph
    except InputError as error:
        raise InputError(
            str(error) if str(error).startswith(str(path)) else f"{path}: {error}", code=error.code
        ) from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, pa.ArrowException) as error:
        raise InputError(
            f"{path}: a damaged nodewise graph ({first_line(error)}); write it again", code="damaged-file"
        ) from error


def read_edges(path: Path, arrays: Arrays) -> Edges:
    """Return the edges of a scipy.sparse matrix, or of an array `edge_index` (2, E) or `edges` (E, 2)."""
    if is_sparse(arrays):
        edges = edges_from_scipy(sparse_matrix(path, arrays), str(path))
        return replace(edges, notes=(*edges.notes, *unused(path, arrays, SPARSE_PARTS)))
    names = list(arrays)
    name = next((name for name in names if name in ("edge_index", "edges") or len(names) == 1), None)
    if name is None:
        raise InputError(
            f"{path}: holds {listing(names) or 'nothing'}, none of which is a graph; "
            "save a scipy.sparse matrix with save_npz, or an array 'edge_index' of shape (2, E)"
        )
    edges = edges_from_array(path, arrays[name], name)
    return replace(edges, notes=(*edges.notes, *unused(path, arrays, (name,))))


def edges_from_array(path: Path, array: npt.NDArray[Any], name: str = "array") -> Edges:
    """Return edges given as node numbers from 0, of shape (2, E) or (E, 2); (2, 2) is read as the former."""
    if array.ndim != 2 or 2 not in array.shape:
        raise InputError(f"{path}: {name} has the shape {array.shape}; edges are node numbers of shape (2, E)")
    sources, targets = integers(path, name, array if len(array) == 2 else array.T)
    last = max((int(ends.max()) for ends in (sources, targets) if len(ends)), default=-1)
    # Numbers without gaps end below twice the edges; a stray huge one must not become billions of nodes.
    if last >= max(100 * len(sources), 1_000_000):
        raise InputError(
            f"{path}: {name} names node {last} with only {count(len(sources), 'edge')}; node numbers count "
            "from 0 without gaps, so use a csv or Parquet edge list for other ids"
        )
    return Edges(NodeIds.range(last + 1), sources, targets).once()


def _features(arrays: Arrays) -> Any:
    if "features_data" in arrays:
        parts = (arrays["features_data"], arrays["features_indices"], arrays["features_indptr"])
        matrix = sp.csr_matrix(parts, shape=tuple(arrays["features_shape"].tolist()))
        matrix.check_format(full_check=True)
        return matrix
    return arrays.get("features")


def _ids(path: Path, arrays: Arrays, kind: str) -> NodeIds:
    if "id_lengths" not in arrays:
        return NodeIds(pa.array(arrays["ids"]), str(path))
    ends = np.cumsum(arrays["id_lengths"])
    data = arrays["ids"].tobytes()
    starts = ends - arrays["id_lengths"]
    texts = [data[start:end].decode() for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    return NodeIds(pa.array(texts, _ID_TYPES[kind]), str(path))


def _bytes(text: str | bytes) -> npt.NDArray[np.uint8]:
    return np.frombuffer(text.encode() if isinstance(text, str) else text, np.uint8)
