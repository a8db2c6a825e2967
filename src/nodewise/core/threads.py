"""How the threads of a computation wait for each other.

GNU's OpenMP, which torch brings along, lets a thread that waits spin for about a millisecond before it sleeps. Where
another program wants the cores as well, that is time which the thread it waits for does not get: to embed a small
graph took more than 100 s instead of 13 s beside two busy loops on two cores. Spinning for some microseconds ends that,
and costs nothing that could be measured on idle cores.
"""

from __future__ import annotations

import os

_SPINS = "3000"


def spin_briefly() -> None:
    """Set how long threads spin, unless the user has; only of use before torch is imported."""
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", _SPINS)
