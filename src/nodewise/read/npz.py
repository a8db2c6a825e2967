"""Graphs in one npz file: our own, a scipy.sparse matrix, or an array of edges."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy.sparse as sp

from nodewise.core.environment import available_memory
from nodewise.core.errors import InputError
from nodewise.core.files import atomic_write
from nodewise.core.messages import count, excerpt, first_line, listing
from nodewise.graph.adjacency import Edges
from nodewise.graph.directions import Faces
from nodewise.graph.edge_types import TypedEdges
from nodewise.graph.graph import Graph, Split
from nodewise.graph.ids import NodeIds
from nodewise.graph.validate import check_contents
from nodewise.read.interop import edges_from_scipy
from nodewise.tables.table import FittedTable

_ABOUT = "nodewise_graph"
_VERSION = 1
_ID_TYPES = {str(kind): kind for kind in (pa.string(), pa.large_string())}
_PARTS = ("train", "val", "test")
_FEATURE_PARTS = tuple(f"features_{part}" for part in ("data", "indices", "indptr", "shape"))
_FACES = ("faces_indptr", "faces_indices", "faces_weights")
_TYPED = tuple(f"typed_{name}" for name in ("sources", "targets", "codes", "weights"))
_WRITTEN = (
    _ABOUT,
    "indptr",
    "indices",
    "weights",
    *_FACES,
    *_TYPED,
    "kinds",
    "ids",
    "id_lengths",
    "features",
    *_FEATURE_PARTS,
    "table",
    "labels",
    *_PARTS,
)


def save_graph(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write a graph as plain arrays, text as UTF-8 bytes; structural features are left out."""
    about = {
        "version": _VERSION,
        "name": graph.name,
        "notes": graph.notes,
        "class_names": graph.class_names,
        "kind_names": graph.kind_names,
        "edge_types": () if graph.typed is None else graph.typed.names,
        "id_type": str(graph.ids.type),
    }
    arrays: Arrays = {_ABOUT: _bytes(json.dumps(about)), "indptr": graph.indptr, "indices": graph.indices}
    if graph.weights is not None:
        arrays["weights"] = graph.weights
    for name, array in zip(_FACES, graph.faces or (), strict=False):
        if array is not None:
            arrays[name] = array
    if graph.typed is not None:
        typed = {name: getattr(graph.typed, name.removeprefix("typed_")) for name in _TYPED}
        arrays |= {name: array for name, array in typed.items() if array is not None}
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
    if graph.kinds is not None:
        arrays["kinds"] = graph.kinds
    if graph.table is not None:
        arrays["table"] = _bytes(graph.table.to_json())
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
            kinds=arrays.get("kinds"),
            kind_names=tuple(about.get("kind_names", ())),
            split=Split(*(arrays[part] for part in _PARTS)) if "train" in arrays else None,
            name=str(about["name"]),
            notes=(*about["notes"], *unused(path, arrays, _WRITTEN)),
            weights=arrays.get("weights"),
            faces=_faces(arrays),
            typed=_typed(arrays, tuple(map(str, about.get("edge_types", ())))),
            table=FittedTable.from_json(arrays["table"].tobytes().decode(), str(path)) if "table" in arrays else None,
        )
        if graph.table is not None and len(graph.table.names) != graph.num_features:
            raise ValueError("its features are not those that its table makes")
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


def read_edges(path: Path, arrays: Arrays, weighted: bool = True, directed: bool = False) -> Edges:
    """Return the edges of a scipy.sparse matrix, or of an array `edge_index` (2, E) or `edges` (E, 2)."""
    if is_sparse(arrays):
        edges = edges_from_scipy(sparse_matrix(path, arrays), str(path), weighted, directed)
        return replace(edges, notes=(*edges.notes, *unused(path, arrays, SPARSE_PARTS)))
    names = list(arrays)
    name = next((name for name in names if name in ("edge_index", "edges") or len(names) == 1), None)
    if name is None:
        raise InputError(
            f"{path}: holds {listing(names) or 'nothing'}, none of which is a graph; "
            "save a scipy.sparse matrix with save_npz, or an array 'edge_index' of shape (2, E)"
        )
    edges = edges_from_array(path, arrays[name], name, directed)
    return replace(edges, notes=(*edges.notes, *unused(path, arrays, (name,))))


def edges_from_array(path: Path, array: npt.NDArray[Any], name: str = "array", directed: bool = False) -> Edges:
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
    return Edges(NodeIds.range(last + 1), sources, targets).once(directed)


def _faces(arrays: Arrays) -> Faces | None:
    if _FACES[0] not in arrays:
        return None
    return Faces(arrays["faces_indptr"], arrays["faces_indices"], arrays.get("faces_weights"))


def _typed(arrays: Arrays, names: tuple[str, ...]) -> TypedEdges | None:
    if _TYPED[0] not in arrays:
        return None
    sources, targets, codes = (arrays[name] for name in _TYPED[:3])
    return TypedEdges(sources, targets, codes, names, arrays.get(_TYPED[3]))


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


Arrays = dict[str, npt.NDArray[Any]]
SPARSE_PARTS = ("format", "shape", "data", "row", "col", "indices", "indptr", "_is_array")
"""What `scipy.sparse.save_npz` writes."""

_BYTES_A_ROW = 32  # of a sparse matrix, however empty: offsets, ids, degrees


def load_npy(path: Path) -> npt.NDArray[Any]:
    """Return the array of an npy file."""
    try:
        with path.open("rb") as stream:  # closed whatever happens, also where it is an archive after all
            _refuse_beyond_memory(f"{path}: holds", os.fstat(stream.fileno()).st_size)
            return _text_checked(np.lib.format.read_array(stream, allow_pickle=False))
    except InputError:
        raise
    except Exception as error:  # numpy's parser of headers can fail in any way at all
        raise _unreadable(path, "npy", error) from error


def load_npz(path: Path) -> Arrays:
    """Return every array of an npz file by name."""
    try:
        # Opened once, so that what was looked at is what is loaded, and closed whatever happens.
        with path.open("rb") as stream:
            with zipfile.ZipFile(stream) as archive:
                size = sum(entry.file_size for entry in archive.infolist())
            _refuse_beyond_memory(f"{path}: unpacks to", size)
            stream.seek(0)
            with np.load(stream, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
        # numpy hands over a member that is no array as its bytes.
        for name, array in arrays.items():
            if not isinstance(array, np.ndarray):
                raise InputError(f"{path}: its member {excerpt(name)} is no array; save plain arrays with numpy.savez")
        return {name: _text_checked(array) for name, array in arrays.items()}
    except InputError:
        raise
    except Exception as error:  # as above, and zipfile as well
        raise _unreadable(path, "npz", error) from error


def _refuse_beyond_memory(what: str, size: int) -> None:
    """Refuse what, with the one copy that using it takes, does not fit into memory."""
    memory = available_memory()
    if memory is not None and 2 * size > memory:
        raise InputError(
            f"{what} {size:,} bytes, which would take twice that and {memory:,} are free; "
            "give edges as csv or Parquet and use 'nodewise convert', which needs little memory",
            code="too-little-memory",
        )


def unused(path: Path, arrays: Arrays, used: Collection[str]) -> tuple[str, ...]:
    """Return, as notes, the names of arrays that nothing reads."""
    others = [name for name in arrays if name not in used]
    return (f"{path.name}: not used: {listing(others)}",) if others else ()


def _text_checked(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the array; strings with a number that is no character, which fail only when looked at, are refused."""
    if array.dtype.kind == "U" and array.nbytes:
        codes = np.ascontiguousarray(array).reshape(-1).view(np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
        if ((codes > 0x10FFFF) | ((codes >= 0xD800) & (codes <= 0xDFFF))).any():
            raise ValueError("it holds strings that are not Unicode")
    return array


def is_sparse(arrays: Arrays) -> bool:
    """Tell whether the arrays are a matrix written by `scipy.sparse.save_npz`."""
    return "format" in arrays and "shape" in arrays and "data" in arrays


def sparse_matrix(path: Path, arrays: Arrays) -> sp.csr_matrix[Any]:
    """Return the matrix that `scipy.sparse.save_npz` wrote; its indices are checked before use."""
    name = arrays["format"].reshape(-1)[:1].tolist()
    layout = name[0].decode(errors="replace") if name and isinstance(name[0], bytes) else "".join(map(str, name))
    wanted = {"coo": ("row", "col"), "csr": ("indices", "indptr"), "csc": ("indices", "indptr")}.get(layout)
    if wanted is None:
        raise InputError(f"{path}: a sparse matrix in the layout {excerpt(layout)}; save it as csr, csc or coo")
    try:
        height, width = (int(size) for size in integers(path, "shape", arrays["shape"]))
        first, second = (integers(path, name, arrays[name]) for name in wanted)
        _refuse_beyond_memory(f"{path}: a matrix of {height:,} rows needs", _BYTES_A_ROW * height)
        data = arrays["data"]
        if data.dtype.kind not in "buif":
            raise InputError(f"{path}: the matrix holds values of type {data.dtype}; use numbers")
        if layout == "coo":
            return sp.coo_matrix((data, (first, second)), shape=(height, width)).tocsr()
        kind = sp.csr_matrix if layout == "csr" else sp.csc_matrix
        matrix = kind((data, first, second), shape=(height, width))
        matrix.check_format(full_check=True)
        return matrix.tocsr()
    except (ValueError, KeyError, IndexError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{path}: not a valid sparse matrix ({first_line(error)}); save it again", code="damaged-file"
        ) from error


def integers(path: Path, name: str, array: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return an array of node numbers or sizes, which must be whole and not negative."""
    if array.dtype.kind not in "iu":
        seen = f", such as {excerpt(array.flat[0])}" if array.size and array.dtype.kind in "fbUS" else ""
        raise InputError(f"{path}: {name} holds values of type {array.dtype}{seen}; use integers, from 0 on")
    if array.size and int(array.min()) < 0:
        raise InputError(f"{path}: {name} holds {int(array.min())}; use integers from 0 on")
    if array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise InputError(f"{path}: {name} holds {int(array.max())}, which is too large")
    return array.astype(np.int64, copy=False)


def _unreadable(path: Path, kind: str, error: BaseException) -> InputError:
    if "allow_pickle" in str(error) or "Object arrays" in str(error):
        return InputError(
            f"{path}: holds a pickled Python object, which is never loaded because it could run any code; "
            "save plain arrays of numbers or strings",
            code="pickled-object",
        )
    return InputError(
        f"{path}: not a readable {kind} file, perhaps truncated ({first_line(error)}); write it again",
        code="damaged-file",
    )
