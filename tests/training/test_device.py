import pytest
import torch

from nodewise.core.errors import InputError
from nodewise.training.device import choose_device


def test_a_device_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match=r"device 'tpu' cannot be used here: [^\n]*$"):
        choose_device("tpu")
    assert choose_device("cpu") == torch.device("cpu")
    assert choose_device("auto").type in ("cpu", "cuda")
