"""Read npy and npz files without ever unpickling, and check what is in them before anything uses it."""

from __future__ import annotations

import os
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.core.errors import InputError
from nodewise.data.messages import excerpt, first_line

Arrays = dict[str, npt.NDArray[Any]]
_DAMAGE = (ValueError, OSError, EOFError, MemoryError)


def load_npy(path: Path) -> npt.NDArray[Any]:
    """Return the array of an npy file."""
    try:
        return np.asarray(np.load(path, allow_pickle=False))
    except _DAMAGE as error:
        raise _unreadable(path, "npy", error) from error


def load_npz(path: Path) -> Arrays:
    """Return every array of an npz file by name."""
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        if size > (memory := os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")):
            raise InputError(f"{path}: unpacks to {size:,} bytes, more than this machine's memory of {memory:,}")
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except InputError:
        raise
    except (*_DAMAGE, KeyError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        raise _unreadable(path, "npz", error) from error


def is_sparse(arrays: Arrays) -> bool:
    """Tell whether the arrays are a matrix written by `scipy.sparse.save_npz`."""
    return "format" in arrays and "shape" in arrays and "data" in arrays


def sparse_matrix(path: Path, arrays: Arrays) -> sp.csr_matrix[Any]:
    """Return the matrix that `scipy.sparse.save_npz` wrote; its indices are checked before use."""
    name = arrays["format"].item()
    layout = name.decode() if isinstance(name, bytes) else str(name)
    wanted = {"coo": ("row", "col"), "csr": ("indices", "indptr"), "csc": ("indices", "indptr")}.get(layout)
    if wanted is None:
        raise InputError(f"{path}: a sparse matrix in the layout {excerpt(layout)}; save it as csr, csc or coo")
    try:
        height, width = (int(size) for size in integers(path, "shape", arrays["shape"]))
        first, second = (integers(path, name, arrays[name]) for name in wanted)
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
        raise InputError(f"{path}: not a valid sparse matrix ({first_line(error)}); save it again") from error


def integers(path: Path, name: str, array: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return an array of node numbers or sizes, which must be whole and not negative."""
    if array.dtype.kind not in "iu":
        seen = f", such as {array.flat[0]}" if array.size else ""
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
            "save plain arrays of numbers or strings"
        )
    return InputError(f"{path}: not a readable {kind} file, perhaps truncated ({first_line(error)}); write it again")
