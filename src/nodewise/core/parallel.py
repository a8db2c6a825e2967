"""One job in several processes side by side, each taking the next free part, with one bar for all."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any, Protocol

import torch

from nodewise.core.errors import NodewiseError
from nodewise.core.progress import Progress, Stage


class Turns:
    """The numbers of the parts that a process is to do, 0, 1, 2, ... without end; no two processes get the same.

    Parts differ in length by a factor of a hundred, so whoever is free takes the next one.
    """

    def __init__(self, worker: int = 0, taken: Any = None) -> None:
        self.worker = worker
        self._taken = taken  # a number that the processes share; None where there is one process
        self._next = 0

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        if self._taken is None:
            self._next += 1
            return self._next - 1
        with self._taken.get_lock():
            self._taken.value += 1
            return int(self._taken.value) - 1


class Work(Protocol):
    """A job that can be shared: it opens one stage of progress for all parts and does those whose turn it gets."""

    def __call__(self, *, turns: Turns, progress: Progress) -> None:
        """Do the parts that `turns` names, until there are no more."""


def run_shares(work: Work, workers: int, progress: Progress) -> None:
    """Run the work in `workers` fresh processes; with one, in this process.

    The first error ends all of them. `work` must be picklable; CPU threads are divided among the processes.
    """
    if workers == 1:
        work(turns=Turns(), progress=progress)
        return
    context, threads = get_context("spawn"), max(1, torch.get_num_threads() // workers)
    taken = context.Value("q", 0)
    processes: dict[Connection, Any] = {}
    try:
        for worker in range(workers):
            reader, writer = context.Pipe(duplex=False)
            process = context.Process(target=_run, args=(work, Turns(worker, taken), writer, threads), daemon=True)
            process.start()
            writer.close()  # ours; the end of the process closes the other, and the reader learns of it
            processes[reader] = process
        begun = [_receive(reader, processes[reader]) for reader in processes]
        with progress.stage(begun[0][0], max(total for _, total in begun)) as bar:
            active = list(processes)
            while active:
                ready = wait(active)
                for reader in [each for each in active if each in ready]:
                    steps = _receive(reader, processes[reader])
                    if steps is None:
                        active.remove(reader)
                    else:
                        bar.advance(steps)
    finally:
        for process in processes.values():
            process.terminate()
            process.join()


def _receive(reader: Connection, process: Any) -> Any:
    """Return what a worker sent, None once it is done; raise the error it ended with."""
    try:
        message = reader.recv()
    except EOFError:
        process.join()
        raise NodewiseError(
            f"a worker process ended with code {process.exitcode}, perhaps for want of memory"
        ) from None
    if isinstance(message, NodewiseError):
        raise message
    return message


def _run(work: Work, turns: Turns, writer: Connection, threads: int) -> None:
    # An interruption reaches every process of a terminal; the first one ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(threads)
    try:
        work(turns=turns, progress=_Relay(writer))
    except BrokenPipeError:
        return  # the first process was killed: nobody is left to tell
    except NodewiseError as error:
        writer.send(error)
    except Exception as error:
        writer.send(NodewiseError(f"a worker process failed: {type(error).__name__}: {error}"))
    else:
        writer.send(None)


class _Relay:
    """Progress that is shown by another process."""

    def __init__(self, writer: Connection) -> None:
        self._writer = writer

    @contextmanager
    def stage(self, description: str, total: int | None = None) -> Iterator[Stage]:
        """Tell the other process how much there is to do."""
        self._writer.send((description, total or 0))
        yield self

    def advance(self, steps: int = 1, **values: float) -> None:
        """Tell the other process what was done."""
        self._writer.send(steps)
