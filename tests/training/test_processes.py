"""Who a process is and where it computes; processes that really talk are in test_distributed.py."""

from __future__ import annotations

import pytest
import torch

from nodewise.core.errors import InputError, LostProcess
from nodewise.training import team as processes
from nodewise.training.team import Alone, joined, launched, losses_in_words, restarted


def test_a_single_process_is_not_asked_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    with joined("auto") as (team, device):
        assert not launched()
        assert type(team) is Alone
        assert device == "auto"


@pytest.mark.parametrize(
    ("name", "gpus", "found"), [("auto", 2, "cuda:1"), ("cuda", 2, "cuda:1"), ("auto", 0, "cpu"), ("cpu", 2, "cpu")]
)
def test_every_process_has_a_gpu_of_its_own(name: str, gpus: int, found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpus > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    assert processes._own_device(name, 1) == found
    if found.startswith("cuda"):
        with pytest.raises(InputError, match=r"process 2 of this machine has no GPU .* --nproc-per-node=2"):
            processes._own_device(name, 2)


def test_a_restart_is_known_by_the_launchers_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TORCHELASTIC_RESTART_COUNT", raising=False)
    assert not restarted()
    for count in ("0", "1"):
        monkeypatch.setenv("TORCHELASTIC_RESTART_COUNT", count)
        assert restarted() == (count == "1")


def test_only_losses_become_words() -> None:
    said = r"--max-restarts=3.*\(\[gloo/pair\.cc:1\] Connection closed by peer\)$"
    with pytest.raises(LostProcess, match=said), losses_in_words():
        raise RuntimeError("[gloo/pair.cc:1] Connection closed by peer. This is typically caused by\nmore")
    with pytest.raises(RuntimeError, match="ours"), losses_in_words():
        raise RuntimeError("ours")
