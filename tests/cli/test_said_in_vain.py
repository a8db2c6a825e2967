"""What would be silently ignored, or taken for something else, is refused: options, empty names, names of files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Refused = Callable[..., str]


@pytest.mark.parametrize(
    "line",
    [
        "evaluate run -l labels.csv --columns -a",
        "evaluate run -l labels.csv --directed",
        "evaluate run -l labels.csv --delimiter ;",
        "evaluate run --label-column label",
        "evaluate run -f nodes.csv",
        "report run --edge-types buys",
        "report run --id-column id",
        "classify run -l labels.csv -o l.csv --directed",
        "classify run -l labels.csv -o l.csv --no-header",
        "classify run -l labels.csv -o l.csv --columns a",
        "classify run -o l.csv --id-column id",
        "clusters run --id-column id",
        "tune edges.csv -o tuned --objective links --split random:3x3x3",
    ],
)
def test_an_option_that_nothing_would_look_at(refused: Refused, embedded: Callable[..., Path], line: str) -> None:
    embedded()
    assert refused(*line.split()).endswith("[usage]\n")


def test_ids_of_attributes_are_looked_at(nodewise: Callable[..., object], embedded: Callable[..., Path]) -> None:
    run = embedded()
    for command in ("report", "clusters"):
        outcome = nodewise(command, run, "-a", "nodes.csv", "--id-column", "id")
        assert outcome.code == 0, outcome  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "line",
    [
        ("export", "run", "-o", ""),
        ("report", ""),
        ("convert", "", "-o", "z"),
        ("convert", "edges.csv", "--output="),
        ("embed", "edges.csv", "-o", ""),
        ("embed", "", "-o", "z"),
        ("embed", "edges.csv", "-o", "z", "-l", ""),
        ("evaluate", "run", ""),
        ("evaluate", "run", "--graph", ""),
        ("classify", "", "-o", "l.csv"),
    ],
)
def test_an_empty_name(refused: Refused, embedded: Callable[..., Path], line: tuple[str, ...]) -> None:
    embedded()
    assert refused(*line).endswith("is empty; name a file or a folder [missing-file]\n")


@pytest.mark.parametrize(
    "line",
    [
        "neighbors vectors.parquet -n paper_1",
        "evaluate nope.csv -l labels.csv",
        "export nope.NPY -o v.csv",
        "clusters v.tsv.gz",
        "classify v.vec -l labels.csv -o l.csv",
    ],
)
def test_a_file_of_vectors_that_is_not_there(refused: Refused, ring: Path, line: str) -> None:
    assert refused(*line.split()).endswith("[missing-file]\n")


def test_a_run_and_a_file_of_vectors_are_not_seeds_of_one_encoder(
    refused: Refused, embedded: Callable[..., Path]
) -> None:
    run = embedded()
    for both in ((run, f"{run}/embeddings.parquet"), (f"{run}/embeddings.parquet", run)):
        said = refused("evaluate", *both, "-l", "labels.csv")
        assert "embeddings.parquet does not say its settings" in said
        assert said.endswith("[other-settings]\n")


@pytest.mark.parametrize("content", [None, b"", b"{}"])
def test_a_run_that_no_longer_says_it_is_one(
    refused: Refused, embedded: Callable[..., Path], content: bytes | None
) -> None:
    about = Path(embedded(), "environment.json")
    about.unlink() if content is None else about.write_bytes(content)
    said = refused("embed", "edges.csv", "-o", about.parent)
    assert "environment.json, which would say that it is a run, is missing or damaged" in said
    assert said.endswith("[foreign-folder]\n")
