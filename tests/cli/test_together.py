"""`embed` and `transform --shards` by several processes: the outcome of one, also when one of them is lost."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.command_line import Nodewise
from tests.ranks import AtStep, commands, run_together

from nodewise.core.folder import RunFolder
from nodewise.methods import layerwise
from nodewise.vectors.embeddings import Embeddings
from nodewise.vectors.shards import MANIFEST, read_shards

STEPS = 6
SMALL = (
    *("--set", f"training.steps={STEPS}"),
    *("--set", "training.batch_size=16"),
    *("--set", "training.log_every=1"),
    *("--set", "encoder.dimension=8"),
    # Of five features a mask may leave one, whose length no cosine sees: its gradient is rounding, Adam's step is not.
    *("--set", "encoder.feature_mask=0"),
    *("--set", "sampling.class_collision.clusterings=2"),
    *("--device", "cpu"),
    *("--checkpoint-every", "0"),
)


@pytest.fixture
def embed(ring: Path) -> list[str]:
    return ["embed", "edges.csv", "--features", "nodes.csv", *SMALL]


def together(
    folder: Path, *arguments: Sequence[str], before: Callable[[int], None] | None = None
) -> list[tuple[int | None, str, str]]:
    """Run one command line a process; return the exit code, output and errors of each."""
    codes = run_together(commands, len(arguments), folder, arguments, before)
    read = [[(folder / f"{name}-{rank}").read_text() for name in ("out", "err")] for rank in range(len(codes))]
    for path in (*folder.glob("out-*"), *folder.glob("err-*")):
        path.unlink()
    return [(code, *texts) for code, texts in zip(codes, read, strict=True)]  # type: ignore[misc]


def vectors(run: str) -> np.ndarray:
    return Embeddings.from_parquet(RunFolder(Path(run)).embeddings).vectors


def errors(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("nodewise: error: ")]


@pytest.mark.parametrize("encoder", ["smoothing", "gcn"])
def test_two_processes_make_the_run_of_one(encoder: str, embed: list[str], folder: Path, nodewise: Nodewise) -> None:
    embed = [*embed, "--set", f"encoder.kind={encoder}"]
    first, second = together(folder, *[[*embed, "-o", "two"]] * 2)
    assert first[0] == second[0] == 0
    assert first[1] == "40 vectors of 8 numbers are in two/embeddings.parquet\n"
    assert second[1:] == ("", "")
    assert nodewise(*embed, "-o", "one").code == 0
    assert np.abs(vectors("two") - vectors("one")).max() < 1e-5
    records = [RunFolder(Path(run)).read_metrics() for run in ("two", "one")]
    assert [[record["step"] for record in run] for run in records] == [list(range(STEPS))] * 2
    assert all(abs(two["loss"] - one["loss"]) < 1e-5 for two, one in zip(*records, strict=True))


def test_processes_that_disagree_are_refused_before_training(embed: list[str], folder: Path) -> None:
    before = sorted(folder.iterdir())
    outcomes = together(folder, [*embed, "-o", "run"], [*embed, "--set", "loss.temperature=0.25", "-o", "run"])
    for code, out, err in outcomes:
        assert (code, out) == (2, "")
        (line,) = errors(err)
        assert "process 1 differs from process 0: it has loss.temperature 0.25, not 0.5" in line
    assert sorted(folder.iterdir()) == before


def test_a_method_that_trains_alone_says_so(embed: list[str], folder: Path) -> None:
    arguments = ["embed", "edges.csv", "--features", "nodes.csv", "-o", "run", "--method", "dgi", "--device", "cpu"]
    assert all(
        code == 2 and "dgi trains in a single process" in err for code, _, err in together(folder, *[arguments] * 2)
    )


def test_a_killed_process_ends_all_and_a_restart_goes_on(embed: list[str], folder: Path, nodewise: Nodewise) -> None:
    assert nodewise(*embed, "-o", "one").code == 0
    first, second = together(folder, *[[*embed, "-o", "two"]] * 2, before=AtStep(4, signal.SIGKILL))
    assert (first[0], second[0]) == (1, -signal.SIGKILL)
    assert "another of the processes was lost" in first[2]
    assert RunFolder(Path("two/.partial")).checkpoints()[-1].name == "checkpoint-000000000004.safetensors"
    first, second = together(folder, *[[*embed, "-o", "two"]] * 2, before=restart)
    assert first[0] == second[0] == 0, first[2] + second[2]
    assert "resuming after step 4" in first[2]
    assert second[2] == ""
    assert np.abs(vectors("two") - vectors("one")).max() < 1e-5
    steps = [record["step"] for record in RunFolder(Path("two")).read_metrics()]
    assert steps == list(range(STEPS))


def restart(rank: int) -> None:
    os.environ["TORCHELASTIC_RESTART_COUNT"] = "1"


def test_one_process_asked_to_stop_stops_all_and_saves(embed: list[str], folder: Path) -> None:
    outcomes = together(folder, *[[*embed, "-o", "run"]] * 2, before=AtStep(3, signal.SIGTERM))
    assert [code for code, _, _ in outcomes] == [128 + signal.SIGTERM] * 2
    assert "what was learned is kept in run/.partial/checkpoint-000000000004" in outcomes[0][2]


class Chunks:
    """Embed 16 nodes at a time; the process of rank 1 is killed when it has computed some chunks, if asked to."""

    def __init__(self, killed_after: int | None = None) -> None:
        self.killed_after = killed_after

    def __call__(self, rank: int) -> None:
        layerwise.ROWS = 16
        computed, rows = [0], layerwise._rows

        def deadly(*arguments: object) -> object:
            if rank == 1 and computed[0] == self.killed_after:
                os.kill(os.getpid(), signal.SIGKILL)
            computed[0] += 1
            return rows(*arguments)  # type: ignore[arg-type]

        layerwise._rows = deadly  # type: ignore[assignment]


@pytest.mark.parametrize("size", [2, 4])
def test_shards_by_rank_and_one_manifest(size: int, embed: list[str], folder: Path, nodewise: Nodewise) -> None:
    assert nodewise(*embed, "-o", "run").code == 0
    transform = ["transform", "run", "edges.csv", "--features", "nodes.csv", "-o", "shards", "--shards"]
    if size == 2:
        lost, killed = together(folder, *[transform] * size, before=Chunks(killed_after=4))
        assert (lost[0], killed[0]) == (1, -signal.SIGKILL)
        assert not (folder / "shards").exists()
        done = json.loads((folder / ".shards.partial" / "journal.json").read_bytes())["done"]
        assert len(done) > 3
    outcomes = together(folder, *[transform] * size, before=Chunks())
    assert [code for code, _, _ in outcomes] == [0] * size
    assert [bool(out) for _, out, _ in outcomes] == [True] + [False] * (size - 1)
    manifest = json.loads((folder / "shards" / MANIFEST).read_bytes())
    assert [shard["rows"] for shard in manifest["shards"]] == [16, 16, 8]
    assert len(list((folder / "shards").iterdir())) == 4
    assert np.allclose(read_shards(folder / "shards").vectors, vectors("run"), atol=1e-6)
    assert not (folder / ".shards.partial").exists()


def test_several_processes_embed_into_shards_only(embed: list[str], folder: Path, nodewise: Nodewise) -> None:
    assert nodewise(*embed, "-o", "run").code == 0
    transform = ["transform", "run", "edges.csv", "--features", "nodes.csv", "-o", "new.parquet"]
    assert all(code == 2 and "add --shards" in err for code, _, err in together(folder, *[transform] * 2))
