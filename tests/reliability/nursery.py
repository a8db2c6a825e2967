"""A process that has imported everything and bears children, each of which runs one command line and may be killed.

Started as a program, it reads one JSON object a line, forks, tells the child's process id, and then how it ended. A
child is a process of its own in everything that matters here, but costs no second import of torch.

    {"arguments": [...], "folder": "...", "die_at": 17}               SIGKILL itself at its 17th file operation
    {"arguments": [...], "folder": "...", "kill_after": 0.3}          be killed after so many seconds
    {"arguments": [...], "folder": "...", "signal_at": [15, 4]}       send itself SIGTERM before step 4
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
EVERYTHING = (
    "cli.main",
    "comparison.run",
    "methods.sharded",
    "reproduce.catalog",
    "reproduce.run",
    "runs.embed",
) + (*("runs.run", "store.convert", "tune.search", "vectors.shards"),)
"""What the commands import when they need it, and with it what that imports in turn."""


@dataclass(frozen=True)
class End:
    """How a child ended.

    Attributes:
        code: its exit code, negative the signal that killed it.
        err: what it wrote to stderr.
        operations: how many operations on the file system it made.
    """

    code: int
    err: str
    operations: int


class Nursery:
    """Talks to the process."""

    def __init__(self, **environment: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "src"), **environment},
        )

    def start(self, folder: Path, *arguments: object, **orders: Any) -> int:
        """Start a command line in a folder; return its process id."""
        assert self._process.stdin is not None
        order = {"arguments": [str(each) for each in arguments], "folder": str(folder), **orders}
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return int(self._answer()["pid"])

    def wait(self) -> End:
        """Wait for the child that was started last."""
        answer = self._answer()
        status = int(answer["status"])
        return End(os.waitstatus_to_exitcode(status), answer["err"], answer["operations"])

    def run(self, folder: Path, *arguments: object, **orders: Any) -> End:
        """Start a command line and wait for it."""
        self.start(folder, *arguments, **orders)
        return self.wait()

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer


def _count_operations(die_at: int | None, tell: Callable[[int], None]) -> None:
    """Count what changes the file system, and die right before number `die_at`."""
    done = 0

    def counted(owner: Any, name: str) -> None:
        original = getattr(owner, name)

        def operation(*arguments: Any, **options: Any) -> Any:
            nonlocal done
            done += 1
            tell(done)
            if done == die_at:
                if name == "fsync":
                    _lose_half(arguments[0])
                os.kill(os.getpid(), signal.SIGKILL)
            return original(*arguments, **options)

        setattr(owner, name, operation)

    for name in ("touch", "replace", "unlink", "mkdir", "rmdir"):
        counted(Path, name)
    for name in ("fsync", "truncate"):
        counted(os, name)


def _lose_half(descriptor: int) -> None:
    """Leave a temporary file as if killed in the middle of its writing."""
    path = Path(f"/proc/self/fd/{descriptor}").readlink()
    if path.suffix == ".tmp":
        os.truncate(path, path.stat().st_size // 2)


def _signal_before_step(number: int, step: int) -> None:
    from nodewise.training.loop import Callbacks

    original = Callbacks.before_step

    def before_step(self: Callbacks, now: int, learner: Any) -> None:
        if now == step:
            os.kill(os.getpid(), number)
        original(self, now, learner)

    Callbacks.before_step = before_step  # type: ignore[method-assign]


def _search_little() -> None:
    """Let a trial of `tune` train two steps and look at them in two ways: what is killed is the same code."""
    from dataclasses import replace

    from nodewise.tune import search, space

    space.SPACES["quick"] = replace(space.SPACES["quick"], steps=2)
    search.LOOKS, search.EMBEDDINGS = (1, 2), search.EMBEDDINGS[:2]


def _child(order: dict[str, Any], stderr: int, counter: int) -> None:
    from nodewise.cli.main import run

    os.chdir(order["folder"])
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(stderr, 2)
    sys.argv = ["nodewise", *order["arguments"]]
    _count_operations(order.get("die_at"), lambda done: os.pwrite(counter, str(done).encode(), 0) and None)
    if "signal_at" in order:
        number, step = order["signal_at"]
        # Under nohup, or in the background of a shell, the tests' own processes ignore some signals.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for ignored in (signal.SIGHUP, signal.SIGTERM):
            signal.signal(ignored, signal.SIG_DFL)
        _signal_before_step(number, step)
    if order["arguments"][0] == "tune":
        _search_little()
    run()


def _serve() -> None:
    import tempfile

    for module in EVERYTHING:
        importlib.import_module(f"nodewise.{module}")
    for line in sys.stdin:
        order = json.loads(line)
        with tempfile.TemporaryFile() as stderr, tempfile.TemporaryFile() as counter:
            if (pid := os.fork()) == 0:
                try:
                    _child(order, stderr.fileno(), counter.fileno())
                except SystemExit as end:
                    sys.stderr.flush()
                    os._exit(int(end.code or 0))
                finally:
                    os._exit(99)
            print(json.dumps({"pid": pid}), flush=True)
            if "kill_after" in order:
                time.sleep(order["kill_after"])
                os.kill(pid, signal.SIGKILL)  # not waited for yet, so that the number is still the child's
            _, status = os.waitpid(pid, 0)
            texts = [os.pread(file.fileno(), 1 << 20, 0).decode() for file in (stderr, counter)]
            print(json.dumps({"status": status, "err": texts[0], "operations": int(texts[1] or 0)}), flush=True)


if __name__ == "__main__":
    _serve()
