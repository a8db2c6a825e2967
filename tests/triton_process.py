"""Run a comparison of a Triton kernel with its twin in a process of its own."""

import os
import subprocess
import sys


def run(comparison: str, device: str) -> str:
    """Return what a script prints that compares on a device: interpreted on the CPU, compiled on CUDA.

    Triton decides when it is imported which of the two it does, hence the process.
    """
    command = [sys.executable, "-W", "ignore", "-c", comparison, device]
    environment = os.environ | {"TRITON_INTERPRET": str(int(device == "cpu"))}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    return done.stdout + done.stderr[-2000:]
