"""Several processes of one training, as torchrun would start them, but forked from a server that has imported torch.

The rendezvous is a store in the test's own process, so there is no port to be taken by somebody else meanwhile.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

PATIENCE = 600  # seconds, of which a machine at leisure needs ten

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["nodewise.cli.main", "nodewise.methods.node_embedder", "sklearn.cluster"])


def run_together(work: Callable[..., None], size: int, *arguments: Any) -> list[int | None]:
    """Call `work(rank, *arguments)` in `size` processes that find each other; return their exit codes."""
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    environment = {
        "WORLD_SIZE": str(size),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(store.port),
        "TORCHELASTIC_USE_AGENT_STORE": "True",
        "GLOO_SOCKET_IFNAME": "lo",
    }
    workers = [
        _CONTEXT.Process(target=_begin, args=(rank, environment, work, arguments), daemon=True) for rank in range(size)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(PATIENCE)
    for rank in range(size):
        if store.check([f"failure {rank}"]):
            print(store.get(f"failure {rank}").decode(), file=sys.stderr)  # pytest shows it if the test fails
    return [worker.exitcode for worker in workers]


def _begin(rank: int, environment: dict[str, str], work: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    os.environ.update(environment, RANK=str(rank), LOCAL_RANK=str(rank))
    torch.set_num_threads(1)
    try:
        work(rank, *arguments)
    except Exception:
        store = dist.TCPStore(environment["MASTER_ADDR"], int(environment["MASTER_PORT"]), is_master=False)
        store.set(f"failure {rank}", traceback.format_exc())
        raise


def commands(
    rank: int, folder: Path, arguments: Sequence[Sequence[str]], before: Callable[[int], None] | None = None
) -> None:
    """Run rank's command line in a folder; what it prints goes to the files out-RANK and err-RANK."""
    from nodewise.cli.main import main

    os.chdir(folder)
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(f"{name}-{rank}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    if before is not None:
        before(rank)
    code = main(arguments[rank])
    sys.stdout.flush()
    os._exit(code)


class AtStep:
    """Send a signal to the process of rank 1 when it comes to a training step."""

    def __init__(self, step: int, number: signal.Signals) -> None:
        self.step, self.number = step, number

    def __call__(self, rank: int) -> None:
        from nodewise.training.batches import Batches

        at = Batches.at

        def deadly(batches: Batches, step: int) -> torch.Tensor:
            if (rank, step) == (1, self.step):
                os.kill(os.getpid(), self.number)
            return at(batches, step)

        Batches.at = deadly  # type: ignore[method-assign]
