"""torchrun starts everybody again after a kill, and training resumes from the last checkpoint."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from tests.graphs import random_graph

from nodewise.core.folder import RunFolder
from nodewise.store.convert import write_store
from nodewise.vectors.embeddings import Embeddings

PATIENCE = 300  # seconds; a machine at leisure needs ten
STEPS = 60
EMBED = (
    *("-m", "nodewise", "embed", "graph.store", "--device", "cpu", "--checkpoint-every", "0"),
    *("--set", f"training.steps={STEPS}", "--set", "training.batch_size=16", "--set", "training.log_every=10"),
    *("--set", "encoder.dimension=8", "--set", "sampling.class_collision.clusterings=2"),
)


def worker(launcher: int, rank: int) -> int:
    """Return the process id of a rank."""
    children = Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()
    return next(int(pid) for pid in children if f"\0RANK={rank}\0" in Path(f"/proc/{pid}/environ").read_text())


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


@pytest.mark.slow
@pytest.mark.parametrize(("rank", "rendezvous"), [(1, "--rdzv-backend=static"), (0, "--standalone")])
def test_a_killed_worker_is_started_again_and_training_goes_on(
    rank: int, rendezvous: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_store(random_graph(40, 100, seed=1), Path("graph.store"))
    environment = os.environ | {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    torchrun = (sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--max-restarts=2", rendezvous)
    port = () if rendezvous == "--standalone" else ("--master-addr=127.0.0.1", f"--master-port={free_port()}")
    subprocess.run([sys.executable, *EMBED, "-o", "one"], env=environment, check=True, timeout=PATIENCE)
    with Path("log").open("w") as log:
        command = [*torchrun, *port, *EMBED, "-o", "two"]
        launcher = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            began = time.monotonic()
            while len(RunFolder(Path("two/.partial")).checkpoints()) < 2:
                assert launcher.poll() is None, Path("log").read_text()
                assert time.monotonic() < began + PATIENCE
                time.sleep(0.05)
            os.kill(worker(launcher.pid, rank), signal.SIGKILL)
            assert launcher.wait(PATIENCE) == 0, Path("log").read_text()
        finally:
            launcher.terminate()
            launcher.wait(PATIENCE)
    (step,) = re.findall(r"resuming after step (\d+)", Path("log").read_text())
    assert 0 < int(step) < STEPS
    one, two = (Embeddings.from_parquet(RunFolder(Path(run)).embeddings).vectors for run in ("one", "two"))
    assert np.abs(one - two).max() < 1e-4
    steps = [[record["step"] for record in RunFolder(Path(run)).read_metrics()] for run in ("one", "two")]
    assert steps[0] == steps[1]
