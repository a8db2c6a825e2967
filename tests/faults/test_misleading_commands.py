"""Commands that once ended with a message that misled, or did what nobody had asked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.command_line import SMALL, Nodewise

import nodewise as nw
from nodewise.core.environment import memory_limited_to
from nodewise.evaluation.links import link_prediction
from nodewise.runs.labels import KnownLabels
from nodewise.training.device import require_memory
from nodewise.training.settings import LearnerSettings

Refused = Callable[..., str]

NODES = 30
TUNE = ("tune", "edges.csv", "-o", "tuned", "-q", "-l")
COMPARE = ("compare", "hard", "--on", "edges.csv", "--seeds", "1", *SMALL, "-o", "compared")


def table(name: str, head: str, rows: Iterator[str] | list[str]) -> None:
    Path(name).write_text("\n".join([head, *rows]) + "\n")


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    """A ring with types and weights, two columns of features, labels, measurements, vectors, one of them huge."""
    pairs = [(i, (i + step) % NODES) for i in range(NODES) for step in (1, 3)]
    types = (f"n{i},n{j},{('buys', 'sees')[(i + j) % 2]},{1 + i % 3}" for i, j in pairs)
    table("edges.csv", "source,target,type,weight", types)
    table("nodes.csv", "id,x,y", (f"n{i},{i % 7}.5,{i % 3}" for i in range(NODES)))
    table("labels.csv", "id,label", (f"n{i},{'abc'[i % 3]}" for i in range(NODES)))
    table("amounts.csv", "id,label", (f"n{i},{i * 1.37 + 0.5}" for i in range(NODES)))
    vectors = np.random.default_rng(0).random((NODES, 2)) * 100
    vectors[3, 0] = 3e38
    table("vectors.csv", "id,d0,d1", (f"n{i},{x},{y}" for i, (x, y) in enumerate(vectors)))


def content(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


@pytest.fixture
def store(nodewise: Nodewise) -> Path:
    assert nodewise("convert", "edges.csv", "-f", "nodes.csv", "-o", "stored", "-q").code == 0
    return Path("stored")


@pytest.mark.parametrize("output", ["stored", "./stored/", "link"])
@pytest.mark.parametrize("option", [("--edge-types", "buys"), ("--unweighted",), ("--half",), ("-l", "labels.csv")])
def test_a_store_is_not_converted_into_itself(
    refused: Refused, store: Path, output: str, option: tuple[str, ...]
) -> None:
    Path("link").symlink_to("stored")
    assert "[overwrites-input]" in refused("convert", store, "-o", output, *option)
    assert "[overwrites-input]" in refused("convert", "link", "-o", store, *option)


@pytest.mark.parametrize("name", ["features", "weights", "bounds", "typed_weights"])
def test_a_damaged_store_is_not_vouched_for_by_another(refused: Refused, store: Path, name: str) -> None:
    damaged = bytearray((store / f"{name}.bin").read_bytes())
    damaged[-2] ^= 16
    (store / f"{name}.bin").write_bytes(damaged)
    said = refused("convert", store, "-o", "again")
    assert f"{name}.bin" in said
    assert "[damaged-store]" in said


@pytest.mark.parametrize("method", ["gcn", "lp"])
def test_measurements_are_no_classes_to_learn(refused: Refused, method: str) -> None:
    given = ("edges.csv", "-f", "nodes.csv", "-l", "amounts.csv", "-o", "guesses.csv")
    assert "measurements, not classes" in refused("classify", *given, "--method", method, "-q")
    assert not Path("guesses.csv").exists()


def test_measurements_that_came_with_the_graph_are_scored_as_such(nodewise: Nodewise) -> None:
    assert nodewise("convert", "edges.csv", "-f", "nodes.csv", "-l", "amounts.csv", "-o", "stored", "-q").code == 0
    scored = nodewise("evaluate", "vectors.csv", "--graph", "stored", "-q")
    assert scored.code == 0, scored.err
    assert "R²" in scored.out


def test_a_huge_vector_is_scored(nodewise: Nodewise) -> None:
    scored = nodewise("evaluate", "vectors.csv", "-l", "labels.csv", "--graph", "edges.csv", "-f", "nodes.csv", "-q")
    assert scored.code == 0, scored.err
    assert "link AUC" in scored.out


@pytest.mark.parametrize("score", ["cosine", "dot"])
def test_links_are_scored_alike_at_any_scale(score: str) -> None:
    graph = nw.read_graph("edges.csv")
    vectors = np.random.default_rng(1).normal(size=(NODES, 4)).astype(np.float32)
    found = [link_prediction(vectors * np.float32(2.0**power), graph, score=score) for power in (0, 125, -110)]  # type: ignore[arg-type]
    assert found[0] == found[1] == found[2]


def test_a_view_without_any_feature_does_not_end_the_training(nodewise: Nodewise) -> None:
    table("few.csv", "source,target", ["k0,k1", "k1,k2", "k2,k0"])
    numbers = np.random.default_rng(0).random((8, 3))
    table("three.csv", "id,x,y,z", (f"k{i},{','.join(map(str, row))}" for i, row in enumerate(numbers)))
    hidden = ("--set", "epochs=20", "--set", "drop_features=0.7", "--set", "dimension=8")
    trained = nodewise("embed", "few.csv", "-f", "three.csv", "-o", "run", "-m", "cca-ssg", *hidden, "-q")
    assert trained.code == 0, trained.err


def test_a_message_recommends_only_splits_that_can_be_had(nodewise: Nodewise, refused: Refused) -> None:
    assert "write public, or random:" in refused(*TUNE, "labels.csv", "--split", "folds:5")
    assert "[too-few-labels]" in refused("evaluate", "vectors.csv", "-l", "labels.csv", "--split", "folds:1000")
    assert "folds:5" in refused("evaluate", "vectors.csv", "-l", "labels.csv", "--split", "fold:5")


def test_a_search_of_another_seed_is_told_by_its_seed(nodewise: Nodewise, refused: Refused) -> None:
    wanted = (*TUNE, "labels.csv", "--split", "random:3x3x9", "--trials", "1")
    assert nodewise(*wanted).code == 0
    said = refused(*wanted, "--seed", "5")
    assert "seed 0, not 5" in said
    assert "[other-settings]" in said


def test_measurements_have_remedies(nodewise: Nodewise, refused: Refused) -> None:
    said = refused("evaluate", "vectors.csv", "-l", "amounts.csv", "--task", "classes")
    assert "leave out the task (--task" in said
    assert "measurements, not classes" in nodewise(*COMPARE, "-l", "amounts.csv").err
    assert "whole numbers; search with --objective links" in refused(*TUNE, "amounts.csv")


def test_too_few_labels_to_compare_by(nodewise: Nodewise) -> None:
    table("two.csv", "id,label", ["n0,a", "n1,b"])
    said = nodewise(*COMPARE, "-l", "two.csv")
    assert said.code == 2
    assert "label at least three nodes of some class [too-few-labels]" in said.err


def test_a_class_is_called_as_the_user_calls_it(refused: Refused) -> None:
    assert "class a has only 10" in refused("evaluate", "vectors.csv", "-l", "labels.csv", "--split", "random:100x5x5")


@pytest.mark.parametrize("size", ["0", "1KB"])
@pytest.mark.parametrize("command", [("inspect", "edges.csv"), ("embed", "edges.csv", "-o", "run")])
def test_a_limit_below_what_is_already_held(refused: Refused, command: tuple[str, ...], size: str) -> None:
    said = refused(*command, "--max-memory", size)
    assert "--max-memory allows" in said
    assert "[too-little-memory]" in said


def test_a_limit_of_ones_own_is_named_where_a_graph_needs_more() -> None:
    graph = nw.read_graph("edges.csv")
    with memory_limited_to(1000), pytest.raises(nw.InputError, match=r"--max-memory allows .*: raise it"):
        require_memory(graph, LearnerSettings(), torch.device("cpu"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_file_in_a_folder_that_is_closed(nodewise: Nodewise, folder: Path) -> None:
    closed = Path("locked")
    closed.mkdir()
    (closed / "e.csv").write_text(Path("edges.csv").read_text())
    closed.chmod(0o700)
    for parent in (folder, *folder.parents):
        if parent.name.startswith(("test_", "pytest-", "popen-")):  # pytest's own, which are private
            parent.chmod(0o755)
    os.seteuid(65534)
    try:
        outcome = nodewise("inspect", "locked/e.csv", "-q")
    finally:
        os.seteuid(0)
    assert "locked/e.csv: cannot be read: Permission denied [unreadable-file]" in outcome.err


def test_that_a_file_cannot_be_read_is_found_by_reading_it(nodewise: Nodewise, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *asked, **how: False)  # else said as a wrong use of the option
    assert nodewise("inspect", "edges.csv", "-f", "nodes.csv", "-q").code == 0


OUT_OF_BOUNDS = (
    *("learning_rate=0", "teleports=[2]", "feature_mask=1", "alpha=0", "views.length=0", "restart=2"),
    *("embedding.length=0", "sampling.diversity.size=0"),
)


@pytest.mark.parametrize("setting", OUT_OF_BOUNDS)
def test_settings_out_of_bounds_have_their_code(refused: Refused, setting: str) -> None:
    assert "[bad-setting]" in refused("embed", "edges.csv", "-o", "run", "--set", setting)


def test_settings_that_are_no_file(refused: Refused) -> None:
    assert "[missing-file]" in refused("embed", "edges.csv", "-o", "run", "--config", "nope.toml")
    assert "[not-a-plain-file]" in refused("embed", "edges.csv", "-o", "run", "--config", ".")


def test_tables_are_not_written_into_a_run_or_a_store(nodewise: Nodewise, refused: Refused, store: Path) -> None:
    assert nodewise("embed", "edges.csv", "-o", "run", *SMALL, "-q").code == 0
    for place in ("run", store):
        assert "[foreign-folder]" in refused("reproduce", "table2", "--quick", "--methods", "raw", "-o", place)


def test_an_option_given_twice(nodewise: Nodewise, refused: Refused) -> None:
    given = ("inspect", "edges.csv", "-f", "nodes.csv")
    said = refused(*given, "--features", "labels.csv")
    assert "--features is given 2 times" in said
    assert "[usage]" in said
    assert nodewise(*given, "-q", "--quiet").code == 0, "which says the same"
    assert nodewise("embed", "edges.csv", "-o", "run", *SMALL, "-q").code == 0, "settings may be several"


def test_only_what_a_file_itself_defines_is_offered(nodewise: Nodewise) -> None:
    body = "    def choose(self, batch):\n        return batch.negatives\n"
    imports = "import nodewise as nw\nimport numpy\nfrom nodewise import Strategy\n"
    Path("offers.py").write_text(f"{imports}\n\nclass Ok(Strategy):\n{body}\n\nclass Bad(Strategy):\n{body}")
    said = nodewise("compare", "offers.py:Nope", *COMPARE[2:], "-l", "labels.csv").err
    assert "choose from Ok, Bad [" in said


def test_many_numbered_classes_of_a_graph_are_classes() -> None:
    nodes = np.arange(140)
    graph = nw.Graph.from_edges(nodes, (nodes + 1) % 140, features=np.eye(140, 4), labels=nodes % 70)
    assert KnownLabels.of(graph).targets is None
    fractions = nw.Graph.from_edges(nodes, (nodes + 1) % 140, features=np.eye(140, 4), labels=nodes / 4)
    assert KnownLabels.of(fractions).targets is not None
