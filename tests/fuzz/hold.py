"""Feed a reader many odd files: each is read, or refused in one line, and nothing else happens."""

from __future__ import annotations

import resource
import signal
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import HypothesisWarning
from tests.fuzz.strategies import INTERESTING
from tests.fuzz.targets import Target

from nodewise.core.errors import InputError

LONGEST = 10.0
"""Seconds that no input may take."""
_MEMORY = 12 * 2**30
_BY_HYPOTHESIS = 1000


@dataclass
class Tally:
    """What became of the inputs."""

    read: int = 0
    refused: int = 0
    slowest: float = 0.0

    @property
    def inputs(self) -> int:
        return self.read + self.refused


def fuzz(target: Target, examples: int, start: int | None = None) -> Tally:
    """Run at least `examples` inputs through a reader; raise on the first that it neither reads nor refuses.

    Hypothesis makes up to a thousand of them and shrinks what fails. Any more are made, several times faster, by
    damaging those at random. Without a seed `start` hypothesis's inputs are the same every time.
    """
    tally, pool = Tally(), list[bytes]()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / target.file

        @settings(
            max_examples=min(examples, _BY_HYPOTHESIS),
            deadline=None,
            database=None,
            derandomize=start is None,
            print_blob=False,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.explicit, Phase.generate, Phase.shrink),
        )
        @given(target.content)
        def one(data: bytes) -> None:
            pool.append(data)
            _feed(target, path, data, tally)

        (one if start is None else seed(start)(one))()
        generator = np.random.default_rng(start)
        while tally.inputs < examples:
            data = _damaged(pool[generator.integers(len(pool))], generator)
            try:
                _feed(target, path, data, tally)
            except Exception as error:
                error.add_note(f"input: {data[:2000]!r}")
                raise
    return tally


def _damaged(data: bytes, generator: np.random.Generator) -> bytes:
    """Change, put in, cut out, repeat or cut off something at up to four random places."""
    damaged = bytearray(data)
    for _ in range(generator.integers(1, 5)):
        place, length = (int(generator.integers(bound)) for bound in (len(damaged) + 1, 16))
        match generator.integers(6):
            case 0:
                damaged[place : place + 1] = generator.bytes(1)
            case 1:
                damaged[place:place] = generator.bytes(length)
            case 2:
                damaged[place : place + length] = INTERESTING[generator.integers(len(INTERESTING))]
            case 3:
                del damaged[place : place + length]
            case 4:
                damaged[place:place] = damaged[place : place + length] * 2
            case 5:
                del damaged[place:]
    return bytes(damaged)


def _feed(target: Target, path: Path, data: bytes, tally: Tally) -> None:
    path.write_bytes(data)
    began = time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, LONGEST if signal.getsignal(signal.SIGALRM) is _stop else 0)
    try:
        target.read(path)
        tally.read += 1
    except InputError as error:
        message = str(error)
        assert "\n" not in message, f"several lines: {message!r}"
        assert len(message) < 2000, f"too long: {len(message)} characters"
        tally.refused += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        tally.slowest = max(tally.slowest, time.perf_counter() - began)


def _stop(*_: object) -> None:
    raise TimeoutError(f"over {LONGEST} s")


@contextmanager
def limits() -> Iterator[None]:
    """Let a hang or a huge allocation be an error instead of the end of the machine, and a warning too."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, before[1]))
    handler = signal.signal(signal.SIGALRM, _stop)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", HypothesisWarning)
            yield
    finally:
        signal.signal(signal.SIGALRM, handler)
        resource.setrlimit(resource.RLIMIT_AS, before)
