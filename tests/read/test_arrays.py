import io
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from nodewise.core.errors import InputError
from nodewise.read.npz import integers, is_sparse, load_npy, load_npz, sparse_matrix

MATRIX = sp.csr_matrix(np.array([[0, 2, 0], [1, 0, 0], [0, 0, 3]]))


class Malicious:
    """What an attacker would pickle."""

    def __reduce__(self):
        return (pytest.fail, ("code from a pickle was run",))


@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
def test_matrices_saved_by_scipy_are_read(tmp_path, layout):
    path = tmp_path / "a.npz"
    sp.save_npz(path, MATRIX.asformat(layout))
    arrays = load_npz(path)
    assert is_sparse(arrays)
    assert np.array_equal(sparse_matrix(path, arrays).toarray(), MATRIX.toarray())


def test_other_layouts_are_refused_by_name(tmp_path):
    path = tmp_path / "a.npz"
    sp.save_npz(path, sp.dia_matrix(MATRIX))
    with pytest.raises(InputError, match="layout 'dia'; save it as csr, csc or coo"):
        sparse_matrix(path, load_npz(path))


@pytest.mark.parametrize(
    ("changes", "fragment"),
    [
        ({"indices": np.array([1, 0, 7])}, "indices must be < 3"),
        ({"indices": np.array([1, 0, -1])}, "indices holds -1"),
        ({"indices": np.array([1.0, 0.5, 2.0])}, "indices holds values of type float64"),
        ({"indptr": np.array([0, 1, 2])}, "not a valid sparse matrix"),
        ({"indptr": np.array([0, 2, 1, 3])}, "not a valid sparse matrix"),
        ({"shape": np.array([3, 3, 3])}, "not a valid sparse matrix"),
        ({"data": np.array(["a", "b", "c"])}, "type <U1"),
    ],
)
def test_indices_that_would_lead_astray_are_refused(tmp_path, changes, fragment):
    path = tmp_path / "a.npz"
    sp.save_npz(path, MATRIX)
    with pytest.raises(InputError) as error:
        sparse_matrix(path, load_npz(path) | changes)
    assert fragment in str(error.value)
    assert "\n" not in str(error.value)


def test_a_pickled_object_is_refused_and_not_run(tmp_path):
    objects = np.array([Malicious()], dtype=object)
    np.save(tmp_path / "a.npy", objects, allow_pickle=True)
    np.savez(tmp_path / "a.npz", x=objects)
    for load, name in ((load_npy, "a.npy"), (load_npz, "a.npz")):
        with pytest.raises(InputError, match="pickled Python object, which is never loaded"):
            load(tmp_path / name)


def test_damaged_files_are_refused(tmp_path):
    whole = io.BytesIO()
    np.savez_compressed(whole, x=np.arange(1000))
    for name, data in {
        "cut.npz": whole.getvalue()[:-40],
        "bent.npz": whole.getvalue()[:60] + b"\xff" * 40 + whole.getvalue()[100:],
        "cut.npy": b"\x93NUMPY\x01\x00",
    }.items():
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(InputError, match=r"not a readable np[yz] file") as error:
            (load_npy if name.endswith("npy") else load_npz)(path)
        assert "\n" not in str(error.value)


def test_an_archive_that_claims_more_than_the_memory_is_refused_unread(tmp_path, monkeypatch):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, x=np.zeros(10_000))
    monkeypatch.setattr("nodewise.read.npz.available_memory", lambda: 10_000)
    with pytest.raises(InputError, match=r"unpacks to 80,128 bytes.*10,000 are free"):
        load_npz(path)


def test_an_array_that_claims_an_absurd_shape_is_refused(tmp_path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**17,)})
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("x.npy", header.getvalue())
    with pytest.raises(InputError, match="not a readable npz"):
        load_npz(tmp_path / "a.npz")


def test_numbers_too_large_for_a_node_are_refused(tmp_path):
    with pytest.raises(InputError, match="too large"):
        integers(tmp_path, "x", np.array([2**63], np.uint64))
    assert integers(tmp_path, "x", np.array([5], np.uint8)).dtype == np.int64
