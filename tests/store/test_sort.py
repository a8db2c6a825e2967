"""External sorting against sorting in memory."""

from pathlib import Path

import numpy as np
import pytest

from nodewise.store import convert_edges as store_sort
from nodewise.store.convert_edges import merge_runs, write_run


def runs(folder: Path, *batches: list[int]) -> list[Path]:
    paths = [folder / f"{number}.bin" for number in range(len(batches))]
    for path, batch in zip(paths, batches, strict=True):
        write_run(path, np.array(batch, np.int64))
    return paths


def merged(paths: list[Path], memory: int = 0) -> list[int]:
    return [int(key) for part in merge_runs(paths, memory) for key in part]


def test_a_run_is_sorted_and_has_no_repeats(tmp_path: Path) -> None:
    assert write_run(tmp_path / "run", np.array([5, -1, 5, 3, 3], np.int64)) == 3
    assert np.fromfile(tmp_path / "run", np.int64).tolist() == [-1, 3, 5]


@pytest.mark.parametrize("seed", range(20))
def test_runs_are_merged_like_one_sort(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_sort, "_LEAST_CHUNK", 3)  # so that every run takes many chunks
    generator = np.random.default_rng(seed)
    batches = [generator.integers(0, 40, generator.integers(0, 60)).tolist() for _ in range(generator.integers(1, 6))]
    expected = sorted({key for batch in batches for key in batch})
    assert merged(runs(tmp_path, *batches)) == expected


def test_a_key_in_the_last_place_of_many_chunks_comes_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_sort, "_LEAST_CHUNK", 2)
    assert merged(runs(tmp_path, [1, 7, 7, 9], [7, 9], [0, 7])) == [0, 1, 7, 9]


def test_nothing_merges_to_nothing(tmp_path: Path) -> None:
    assert merged([]) == []
    assert merged(runs(tmp_path, [], [])) == []


def test_what_is_held_at_once_is_bounded(tmp_path: Path) -> None:
    paths = runs(tmp_path, *[list(range(start, 400_000, 4)) for start in range(4)])
    parts = list(merge_runs(paths, memory=400_000))
    assert max(part.nbytes for part in parts) <= 100_000
    assert np.concatenate(parts).tolist() == list(range(400_000))
