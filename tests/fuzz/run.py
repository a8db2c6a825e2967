"""The long form of the fuzz tests: `python -m tests.fuzz.run --examples 10000` (`make fuzz`).

Prints a row a reader. A reader that neither reads nor refuses some input, takes over ten seconds or asks for
more memory than it may, fails the run; the smallest such input is printed, to become a test.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback

from tests.fuzz.hold import fuzz, limits
from tests.fuzz.targets import TARGETS

import nodewise.encoders.convolutions  # noqa: F401  # now, for its libraries warn when imported, and warnings fail below


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=int, default=10_000, help="inputs for each reader")
    parser.add_argument("--seed", type=int, default=0, help="another seed tries other inputs")
    parser.add_argument("--only", action="append", choices=list(TARGETS))
    given = parser.parse_args()
    crashed = []
    print("| reader | inputs | read | refused | slowest | seconds |\n|---|---:|---:|---:|---:|---:|", flush=True)
    with limits():
        for name in given.only or TARGETS:
            began = time.perf_counter()
            try:
                tally = fuzz(TARGETS[name], given.examples, given.seed)
            except Exception:
                crashed.append(name)
                print(f"| {name} | CRASH | | | | {time.perf_counter() - began:.0f} |", flush=True)
                traceback.print_exc()
                continue
            counts = f"{tally.inputs:,} | {tally.read:,} | {tally.refused:,} | {tally.slowest:.2f} s"
            print(f"| {name} | {counts} | {time.perf_counter() - began:.0f} |", flush=True)
    print(f"{len(crashed)} of {len(given.only or TARGETS)} readers crashed", *crashed, sep="; ", file=sys.stderr)
    return int(bool(crashed))


if __name__ == "__main__":
    sys.exit(main())
