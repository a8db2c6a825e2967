"""Fast twins are used where their compiler is there, and nowhere else."""

import pytest

from nodewise.core import environment as compilers


@pytest.mark.parametrize("there", [False, True])
def test_triton_is_looked_for(monkeypatch: pytest.MonkeyPatch, there: bool) -> None:
    asked: list[str] = []

    def find(name: str) -> object:
        asked.append(name)
        return object() if there else None

    monkeypatch.setattr(compilers, "find_spec", find)
    assert compilers.triton_is_installed.__wrapped__() is there
    assert asked == ["triton"]
