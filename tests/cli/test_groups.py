from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer

from nodewise.cli.groups import grouped


@dataclass(frozen=True)
class Size:
    """A group of options."""

    width: Annotated[int, typer.Option("--width")] = 1
    height: Annotated[int, typer.Option("--height")] = 2


@pytest.fixture
def seen() -> list[tuple[str, Size]]:
    return []


@pytest.fixture
def app(seen: list[tuple[str, Size]]) -> typer.Typer:
    def draw(name: str, size: Size = Size(), loud: bool = False) -> None:  # noqa: B008
        """Draw something."""
        seen.append((name, size))

    app = typer.Typer(add_completion=False)
    app.command()(grouped(draw))
    return app


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [((), Size(1, 2)), (("--height", "5"), Size(1, 5)), (("--loud", "--width", "7", "--height", "8"), Size(7, 8))],
)
def test_fields_are_options_and_come_back_as_one(
    app: typer.Typer, seen: list[tuple[str, Size]], arguments: tuple[str, ...], expected: Size
) -> None:
    app(["square", *arguments], standalone_mode=False)
    assert seen == [("square", expected)]


def test_the_docstring_stays(app: typer.Typer, capsys: pytest.CaptureFixture[str]) -> None:
    app(["--help"], standalone_mode=False)
    out = capsys.readouterr().out
    assert "Draw something." in out
    assert "--height" in out
    assert "--size" not in out
