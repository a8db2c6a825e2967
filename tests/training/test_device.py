import pytest
import torch

from nodewise.core.errors import InputError
from nodewise.training.device import choose_device


def test_a_device_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match=r"device 'tpu' cannot be used here: [^\n]*$"):
        choose_device("tpu")
    assert choose_device("cpu") == torch.device("cpu")
    assert choose_device("auto").type in ("cpu", "cuda")


@pytest.mark.parametrize(
    "error",
    [torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 MiB."), RuntimeError("CUDA error: out of memory")],
)
def test_a_device_that_others_have_filled_is_not_called_unknown(
    monkeypatch: pytest.MonkeyPatch, error: RuntimeError
) -> None:
    def full(*size: int, **options: object) -> torch.Tensor:
        raise error

    monkeypatch.setattr(torch, "zeros", full)
    with pytest.raises(InputError, match=r"^device 'cuda' has no memory left: [^\n]*$") as found:
        choose_device("cuda")
    assert found.value.code == "too-little-memory"
