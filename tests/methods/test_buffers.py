from pathlib import Path

import pytest
import torch

from nodewise.methods import layerwise as buffers
from nodewise.methods.layerwise import Buffers, FileBuffers, MemoryBuffers, choose_buffers

CPU = torch.device("cpu")


@pytest.mark.parametrize("kind", ["memory", "folder", "temporary"])
def test_rows_come_back(tmp_path: Path, kind: str) -> None:
    held: Buffers = MemoryBuffers(5, CPU)
    if kind != "memory":
        held = FileBuffers(5, tmp_path if kind == "folder" else None)
    matrix = torch.arange(15, dtype=torch.float32).view(5, 3)
    held.write("a", 3, matrix[3:])
    held.write("b", 0, -matrix)
    held.write("a", 0, matrix[:3])
    assert torch.equal(held.read("a"), matrix)
    assert torch.equal(held.read("b"), -matrix)
    held.write("a", 1, matrix[:1])
    assert held.read("a")[1].tolist() == [0, 1, 2]
    held.close()


def test_files_outlive_the_process_that_wrote_them(tmp_path: Path) -> None:
    first = FileBuffers(4, tmp_path)
    first.write("a", 0, torch.ones(4, 2))
    first.close()
    second = FileBuffers(4, tmp_path)
    assert second.read("a").sum() == 8
    second.close()


def test_a_matrix_outlives_its_buffers() -> None:
    held = FileBuffers(4)
    held.write("a", 0, torch.ones(4, 2))
    matrix = held.read("a")
    held.close()
    assert matrix.sum() == 8


def test_large_matrices_go_to_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buffers, "IN_MEMORY", 6)
    assert isinstance(choose_buffers(3, 2, CPU), MemoryBuffers)
    assert isinstance(choose_buffers(4, 2, CPU), FileBuffers)


@pytest.mark.parametrize("kind", ["memory", "files"])
def test_a_matrix_is_as_wide_as_what_is_written_to_it(tmp_path: Path, kind: str) -> None:
    held: Buffers = MemoryBuffers(4, CPU) if kind == "memory" else FileBuffers(4, tmp_path)
    for width in (2, 5, 3):
        for start in (0, 2):
            held.write("a", start, torch.full((2, width), float(start + width)))
        assert held.read("a")[[0, 3]].tolist() == [[width] * width, [width + 2.0] * width]
    held.close()
