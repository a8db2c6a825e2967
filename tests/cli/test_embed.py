"""From files to vectors and on, through the command line, on a graph small enough to take a second."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from nodewise.core.folder import RunFolder

Nodewise = Callable[..., Any]

SMALL = (
    *("--set", "training.steps=3"),
    *("--set", "training.batch_size=16"),
    *("--set", "encoder.dimension=8"),
)
FILES = {"graph": "edges", "features": "nodes", "labels": "labels"}
RUN = {
    "config.toml",
    "embeddings.parquet",
    "weights.safetensors",
    "metrics.jsonl",
    "environment.json",
    "labels.parquet",
}


@pytest.fixture
def run(nodewise: Nodewise, ring: Path) -> Path:
    files = ("--features", "nodes.csv", "--labels", "labels.csv")
    outcome = nodewise("embed", "edges.csv", *files, "-o", "run", *SMALL, "--json", "--quiet")
    assert (outcome.code, outcome.err) == (0, ""), outcome.err
    assert json.loads(outcome.out) == {
        "run": "run",
        "embeddings": "run/embeddings.parquet",
        "nodes": 40,
        "dimensions": 8,
    }
    return ring / "run"


def vectors(path: str | Path) -> list[list[float]]:
    found: list[list[float]] = pq.read_table(path)["embedding"].to_pylist()
    return found


def test_the_run_folder_is_complete(run: Path) -> None:
    assert {entry.name for entry in run.iterdir()} == RUN
    assert pq.read_table(run / "embeddings.parquet")["id"].to_pylist() == [f"paper_{i}" for i in range(40)]
    assert json.loads((run / "environment.json").read_text())["graph"]["name"] == "edges"
    assert "steps = 3\n" in (run / "config.toml").read_text()
    assert (run / "metrics.jsonl").read_text().count("\n") >= 1


def test_the_run_can_be_evaluated_asked_and_applied(nodewise: Nodewise, run: Path) -> None:
    scores = nodewise("evaluate", run, "--split", "random:5x10x10", "--probe", "sklearn", "--json")
    assert 0 <= json.loads(scores.out)["scores"]["accuracy"]["mean"] <= 1
    near = json.loads(nodewise("neighbors", run, "--node", "paper_7", "-k", "3", "--json").out)
    assert len(near["neighbors"]) == 3
    applied = nodewise("transform", run, "edges.csv", "--features", "nodes.csv", "-o", "again.parquet")
    assert applied.code == 0, applied.err
    np.testing.assert_allclose(vectors("again.parquet"), vectors(run / "embeddings.parquet"), atol=1e-6)


def test_the_same_settings_give_the_same_vectors(nodewise: Nodewise, run: Path) -> None:
    again = nodewise("embed", "edges.csv", "-f", "nodes.csv", "-o", "again", "--config", run / "config.toml")
    assert again.code == 0, again.err
    assert vectors("again/embeddings.parquet") == vectors(run / "embeddings.parquet")
    assert not Path("again/labels.parquet").exists()


def test_labels_do_not_change_the_vectors(nodewise: Nodewise, run: Path) -> None:
    before = vectors(run / "embeddings.parquet")
    Path("labels.csv").write_text("id,label\n" + "".join(f"paper_{i},{i % 3}\n" for i in range(40)))
    nodewise("embed", "edges.csv", "-f", "nodes.csv", "-l", "labels.csv", "-o", run, *SMALL)
    assert vectors(run / "embeddings.parquet") == before


def test_another_seed_gives_other_vectors(nodewise: Nodewise, run: Path) -> None:
    nodewise("embed", "edges.csv", "-f", "nodes.csv", "-o", "other", *SMALL, "--seed", "1")
    assert vectors("other/embeddings.parquet") != vectors(run / "embeddings.parquet")


def test_a_graph_with_other_features_is_refused(refused: Callable[..., str], run: Path) -> None:
    message = refused("transform", run, "edges.csv", "-o", "again.parquet", "--quiet")
    assert "5" in message


def test_a_model_without_weights_is_refused(refused: Callable[..., str], run: Path) -> None:
    (run / "weights.safetensors").unlink()
    arguments = ("transform", run, "edges.csv", "-f", "nodes.csv", "-o", "again.parquet", "--quiet")
    assert "weights" in refused(*arguments)


def test_the_run_says_where_its_graph_is(run: Path) -> None:
    source = json.loads((run / "environment.json").read_text())["graph"]["source"]
    assert source == {name: str(run.parent / f"{file}.csv") for name, file in FILES.items()}


def test_columns_are_named_where_names_do_not_help(nodewise: Nodewise, ring: Path) -> None:
    text = Path("edges.csv").read_text()
    Path("odd.txt").write_text(text.replace("source,target", "x,y").replace(",", "^"))
    nodes = Path("nodes.csv").read_text()
    Path("odd_nodes.csv").write_text(nodes.replace("id,", "paper,"))
    options = ("--delimiter", "^", "--header", "--source", "y", "--target", "x", "--id-column", "paper")
    odd = nodewise("embed", "odd.txt", "-f", "odd_nodes.csv", *options, "-o", "odd", *SMALL)
    assert odd.code == 0, odd.err
    usual = nodewise("embed", "edges.csv", "-f", "nodes.csv", "-o", "usual", *SMALL)
    assert usual.code == 0, usual.err
    assert vectors("odd/embeddings.parquet") == vectors("usual/embeddings.parquet")
    applied = nodewise("transform", "odd", "odd.txt", "-f", "odd_nodes.csv", *options, "-o", "again.parquet")
    assert applied.code == 0, applied.err


def test_a_run_is_not_resumed_as_another(refused: Callable[..., str], run: Path) -> None:
    again = ("embed", "edges.csv", "-f", "nodes.csv", "-l", "labels.csv", "-o", "run", *SMALL, "--resume", "-q")
    assert "the finished run there has seed 0, not 1" in refused(*again, "--seed", "1")
    assert "has encoder.dimension 8, not 9" in refused(*again, "--set", "encoder.dimension=9")
    another = "replace it with --overwrite instead of --resume [other-run]\n"
    assert refused(*(each for each in again if each not in ("-f", "nodes.csv"))).endswith(another)
    assert refused("embed", "edges.csv", "-o", "run", "-m", "fastrp", "--resume", "-q").endswith(another)


def test_the_advice_to_replace_a_run_of_another_graph_works(nodewise: Nodewise, run: Path) -> None:
    with Path("edges.csv").open("a") as edges:
        edges.write("paper_0,paper_15\n")
    again = ("embed", "edges.csv", "-f", "nodes.csv", "-o", "run", *SMALL, "-q")
    assert nodewise(*again, "--resume").err.endswith("--overwrite instead of --resume [other-run]\n")
    assert nodewise(*again, "--overwrite").code == 0
    assert nodewise(*again, "--resume").code == 0


@pytest.mark.parametrize("options", [("--resume",), ()])
@pytest.mark.parametrize("name", ["config.toml", "embeddings.parquet", "metrics.jsonl"])
def test_a_folder_in_place_of_a_file_is_told_before_the_work(
    refused: Callable[..., str], run: Path, name: str, options: tuple[str, ...]
) -> None:
    (run / name).unlink()
    (run / name).mkdir()
    said = refused("embed", "edges.csv", "-f", "nodes.csv", "-o", "run", *SMALL, "-q", *options)
    assert name in said
    assert said.endswith("[not-a-plain-file]\n")


def test_a_finished_run_is_left_alone(nodewise: Nodewise, run: Path) -> None:
    before = {path: path.read_bytes() for path in run.iterdir()}
    again = nodewise("embed", "edges.csv", "-f", "nodes.csv", "-o", "run", *SMALL, "--resume", "--json")
    assert again.code == 0, again.err
    assert again.err.endswith("run is finished already\n")
    assert json.loads(again.out)["nodes"] == 40
    assert {path: path.read_bytes() for path in run.iterdir()} == before


def test_nothing_to_resume_is_the_beginning(nodewise: Nodewise, run: Path) -> None:
    again = nodewise("embed", "edges.csv", "-f", "nodes.csv", "-o", "again", *SMALL, "--resume")
    assert again.code == 0, again.err
    assert "there is no checkpoint to resume from: starting at the beginning" in again.err
    assert vectors("again/embeddings.parquet") == vectors(run / "embeddings.parquet")


def test_too_little_memory_is_refused_before_anything_is_done(
    refused: Callable[..., str], nodewise: Nodewise, ring: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nodewise.training.device.available_memory", lambda: 1000)
    arguments = ("embed", "edges.csv", "-f", "nodes.csv", "-o", "run", *SMALL, "-q")
    assert "edges: embedding needs about 0.2 GB" in refused(*arguments)
    assert nodewise(*arguments, "--any-memory").code == 0


def test_exploded_training_says_where_the_last_good_weights_are(nodewise: Nodewise, ring: Path) -> None:
    arguments = ("embed", "edges.csv", "-f", "nodes.csv", "-o", "run", "-q", "--checkpoint-every", "0", *SMALL)
    plain = ("encoder.kind=gcn", "features.scaling=none", "features.unit_rows=false")
    exploding = (*plain, "training.learning_rate=10", "loss.score=dot", "loss.temperature=0.01")
    outcome = nodewise(*arguments, *(part for change in exploding for part in ("--set", change)))
    assert outcome.code == 1
    assert outcome.err.count("\n") == 1
    assert "exploded at step 1; lower training.learning_rate, which is 10; what was learned before is in" in outcome.err
    kept = list(Path("run/.partial").glob("checkpoint-*"))
    assert [str(path) for path in kept] == [outcome.err.split()[-2]]
    assert outcome.err.endswith(" [training-diverged]\n")
    assert not Path("run/config.toml").exists()


@pytest.mark.parametrize("method", ["nodewise", "dgi"])
def test_replacing_an_interrupted_run_is_said(nodewise: Nodewise, ring: Path, method: str) -> None:
    Path("run/.partial").mkdir(parents=True)
    Path("run/.partial/checkpoint-000000000003.safetensors").write_bytes(b"learned")
    chosen = ("-s", "epochs=2", "-m", "dgi") if method == "dgi" else SMALL
    outcome = nodewise("embed", "edges.csv", "-f", "nodes.csv", "-o", "run", *chosen)
    assert outcome.code == 0, outcome.err
    said = "run: replacing the interrupted run there; --resume would have resumed it\n"
    assert outcome.err.count(said) == 1
    again = nodewise("embed", "edges.csv", "-f", "nodes.csv", "-o", "run", *chosen)
    assert "interrupted" not in again.err
    assert again.err.count("run: replacing the run there\n") == 1


@pytest.mark.parametrize("name", ["notes.txt", "config.toml"])
def test_a_hidden_folder_of_the_user_stays(refused: Callable[..., str], ring: Path, name: str) -> None:
    Path("run/.partial").mkdir(parents=True)
    Path("run/.partial", name).write_text("mine")
    said = refused("embed", "edges.csv", "-f", "nodes.csv", "-o", "run", *SMALL, "-q")
    assert "run/.partial: holds files that are not ours" in said
    assert said.endswith("[foreign-folder]\n")


def test_a_method_without_checkpoints_starts_at_the_beginning(nodewise: Nodewise, ring: Path) -> None:
    outcome = nodewise("embed", "edges.csv", "-f", "nodes.csv", "-o", "run", "-m", "dgi", "--resume", "-s", "epochs=2")
    assert outcome.code == 0, outcome.err
    assert "dgi saves no checkpoints: starting at the beginning\n" in outcome.err


def test_what_another_method_had_begun_is_not_lost_by_resuming(nodewise: Nodewise, ring: Path) -> None:
    checkpoint = Path("run/.partial/checkpoint-000000000003.safetensors")
    checkpoint.parent.mkdir(parents=True)
    checkpoint.write_bytes(b"learned")
    outcome = nodewise("embed", "edges.csv", "-f", "nodes.csv", "-o", "run", "-m", "dgi", "--resume")
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert outcome.err.endswith("to replace it, leave out --resume [other-settings]\n")
    assert checkpoint.read_bytes() == b"learned"


def test_a_training_that_sees_few_of_the_nodes_says_so(nodewise: Nodewise, ring: Path) -> None:
    short = ("--set", "training.steps=2", "--set", "training.batch_size=8")
    said = nodewise("embed", "edges.csv", "--features", "nodes.csv", "-o", "run", *short).err
    assert "2 steps of 8 nodes visit 40.0% of the nodes; --set training.steps=5 is one pass over all" in said
    longer = ("--set", "training.steps=3", "--set", "training.batch_size=8")
    assert "visit" not in nodewise("embed", "edges.csv", "--features", "nodes.csv", "-o", "run", *longer).err
    assert "visit" not in nodewise("embed", "edges.csv", "--method", "random", "-o", "drawn").err


def test_a_run_without_its_vectors_is_not_finished(nodewise: Nodewise, ring: Path) -> None:
    command = ("embed", "edges.csv", "--features", "nodes.csv", "-o", "run", *SMALL, "--resume")
    assert nodewise(*command).code == 0
    assert "finished already" in nodewise(*command).err
    Path("run/embeddings.parquet").unlink()
    assert "finished already" not in nodewise(*command).err
    assert Path("run/embeddings.parquet").is_file()


def test_a_strategy_that_keeps_nothing_is_pointed_out(
    refused: Callable[..., str], ring: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("nothing.py").write_text(
        "from nodewise import PairSets, Strategy\n\n\n"
        "class Nothing(Strategy):\n"
        "    def choose(self, candidates):\n"
        "        return PairSets(candidates.scores > 1e9)\n"
    )
    monkeypatch.syspath_prepend(str(ring))
    command = ("embed", "edges.csv", "--features", "nodes.csv", "-o", "run", *SMALL)
    said = refused(*command, "--set", "sampling.strategy=nothing:Nothing", "--quiet")
    assert "nothing.py" in said
    assert "no negative" in said
    assert not Path("run").exists()


class TestAnotherRun:
    """A mistyped name costs nobody a finished training, and a command can be repeated."""

    @pytest.fixture(autouse=True)
    def finished(self, embedded: Callable[..., Path]) -> Path:
        return embedded("run")

    def test_of_another_graph_is_refused(self, refused: Callable[..., str], nodewise: Nodewise) -> None:
        Path("other.csv").write_text(Path("edges.csv").read_text() + "paper_0,paper_20\n")
        said = refused("embed", "other.csv", "-o", "run", *SMALL)
        assert "run: holds a finished run of another graph, 'edges'; name another folder, or replace it with" in said
        assert said.endswith("--overwrite [other-run]\n")
        assert nodewise("embed", "other.csv", "-o", "run", *SMALL, "--overwrite", "-q").code == 0
        assert RunFolder(Path("run")).read_environment()["graph"]["name"] == "other"

    def test_of_another_method_is_refused(self, refused: Callable[..., str], nodewise: Nodewise) -> None:
        command = ("embed", "edges.csv", "-o", "run", "-m", "smoothed")
        assert "run: holds a finished run of the method 'nodewise'; name another" in refused(*command)
        assert nodewise(*command, "--overwrite", "-q").code == 0
        assert nodewise(*command, "-q").code == 0

    def test_of_the_same_command_is_replaced(self, embedded: Callable[..., Path], nodewise: Nodewise) -> None:
        embedded("run")
        embedded("run", "--seed", 3, "--set", "encoder.dimension=8")
        Path("edges.csv").rename("moved.csv")  # the same content under another name is the same graph
        files = ("--features", "nodes.csv")
        assert nodewise("embed", "moved.csv", *files, "-o", "run", *SMALL).err.count("replacing the run there") == 1


def test_a_method_of_the_edges_alone_says_that_features_are_not_used(nodewise: Nodewise, folder: Path) -> None:
    Path("edges.csv").write_text("a,b\nb,c\nc,a\n")
    Path("nodes.csv").write_text("id,age\na,1\nb,2\nc,3\n")
    embed = ("embed", "edges.csv", "--features", "nodes.csv", "--method", "deepwalk", "--set", "walks=1")
    assert "deepwalk learns from the edges alone: the features are not used" in nodewise(*embed, "-o", "out").err
    assert "learns from" not in nodewise(*embed[:2], *embed[4:], "-o", "without").err
