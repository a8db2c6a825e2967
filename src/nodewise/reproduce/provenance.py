"""Where a number is from: device, versions, commit, and what it cost."""

from __future__ import annotations

import os
import resource
import subprocess
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self

import torch

from nodewise.core.version import __version__


@cache
def commit() -> str:
    """Return the commit of the checkout this package is run from, with a plus if its code was changed since.

    An installed package has no checkout; its version takes the commit's place. Where the code was copied to a machine
    without its repository, the environment variable NODEWISE_COMMIT names it.
    """
    if named := os.environ.get("NODEWISE_COMMIT"):
        return named
    root = Path(__file__).resolve().parents[3]
    if not (root / ".git").exists():
        return __version__
    try:
        head, changed = (_git(root, *words) for words in (("rev-parse", "--short", "HEAD"), ("status", "-s", "src")))
    except (OSError, subprocess.SubprocessError):
        return __version__
    return head.strip() + ("+" if changed.strip() else "")


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=True, timeout=30)
    return done.stdout


def provenance(device: torch.device) -> dict[str, str]:
    """Return the columns that say where and with what a row was made."""
    on_gpu = device.type == "cuda"
    return {
        "device": torch.cuda.get_device_name(device) if on_gpu else f"cpu ({torch.get_num_threads()} threads)",
        "torch": torch.__version__,
        "nodewise": __version__,
        "commit": commit(),
    }


class Meter:
    """Seconds and peak memory of a block of work: of the GPU, or else of this process in RAM, libraries included.

    Time between `pause` and `go_on` is left out.
    """

    def __init__(self, device: torch.device) -> None:
        self._device, self.seconds, self.peak_mb = device, 0.0, 0

    def __enter__(self) -> Self:
        if self._device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(self._device)
        else:
            _forget_host_peak()
        self.go_on()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.pause()
        on_gpu = self._device.type == "cuda"
        peak = torch.cuda.max_memory_allocated(self._device) if on_gpu else _host_peak()
        self.peak_mb = round(peak / 2**20)

    def pause(self) -> None:
        """Stop the clock, once the device is done with what it was given."""
        self._wait()
        self.seconds += time.perf_counter() - self._began

    def go_on(self) -> None:
        """Start the clock."""
        self._wait()
        self._began = time.perf_counter()

    def _wait(self) -> None:
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)


def _forget_host_peak() -> None:
    with suppress(OSError):  # the peak is then that of the process so far
        Path("/proc/self/clear_refs").write_text("5")


def _host_peak() -> int:
    """Return the largest resident size in bytes since the peak was forgotten."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
