from __future__ import annotations

import subprocess
import sys
from datetime import datetime

from nodewise.core.environment import environment


def test_it_names_versions_hardware_date_and_command() -> None:
    import numpy

    found = environment()
    assert found["versions"]["numpy"] == numpy.__version__
    assert found["argv"] == sys.argv
    assert found["cpus"] >= 1
    assert datetime.fromisoformat(found["date"]).tzinfo is not None


def test_torch_is_described_when_loaded() -> None:
    import torch

    found = environment()
    assert found["torch_threads"] == torch.get_num_threads()
    assert (found["gpu"] is not None) == torch.cuda.is_available()


def test_torch_is_not_imported_for_it() -> None:
    code = (
        "import sys; from nodewise.core.environment import environment\n"
        "assert 'torch_threads' not in environment() and 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
