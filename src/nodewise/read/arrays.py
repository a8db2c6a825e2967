"""Read npy and npz files without ever unpickling, and check what is in them before anything uses it."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.core.errors import InputError
from nodewise.core.memory import available_memory
from nodewise.core.messages import excerpt, first_line, listing

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
