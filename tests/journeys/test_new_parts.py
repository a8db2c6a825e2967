"""Somebody adds a part with one class, outside the package, and uses it as if it had come along."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nodewise import NodeEmbedder, read_graph
from nodewise.cli.main import main
from nodewise.core.errors import InputError
from nodewise.encoders.encoder import built
from nodewise.encoders.features import Features
from nodewise.vectors.embeddings import read_embeddings
from nodewise.views.topology import Topology
from tests.journeys.golden import write_ring

STRATEGY = """
from nodewise import PairSets, Strategy

class Distant(Strategy):
    share: float = 0.5

    def choose(self, candidates):
        scores = candidates.scores
        return PairSets(scores <= scores.quantile(self.share, -1, keepdim=True), statistics={"share": self.share})
"""

METHOD = """
from dataclasses import dataclass
from nodewise import Embedder, method

@dataclass(frozen=True)
class PowersSettings:
    power: int = 2

@method("powers")
class Powers(Embedder):
    title, paper, uses = "powers of the adjacency", "nobody, 2026", "X A"
    settings_class = PowersSettings

    def _embed(self, inputs, watch):
        vectors = inputs.dense_x
        for _ in range(self.settings.power):
            vectors = inputs.adjacency @ vectors
        return vectors
"""

DATASET = """
import numpy as np
from nodewise import Graph, dataset

@dataset("square")
def square(data_dir=None, progress=None):
    return Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], features=np.eye(4, dtype=np.float32), name="square")
"""

ENCODER = """
import torch
from nodewise import Encoder, EncoderSettings

class MeansSettings(EncoderSettings):
    hops: int = 1

    def build(self, num_features, seeds):
        return Means(num_features, self, seeds)

class Means(Encoder):
    def __init__(self, num_features, settings, seeds):
        super().__init__()
        self.hops = settings.hops
        start = [torch.randn(num_features, settings.dimension, generator=torch.Generator().manual_seed(int(seed)))
                 for seed in seeds]
        self.weight = torch.nn.Parameter(torch.stack(start))

    def subgraphs(self, features, views, noise=None):
        hidden = features.rows_times(views.nodes, self.weight)
        for _ in range(self.hops):
            hidden = views.adjacency @ hidden
        return hidden[..., 0, :]

    def weights_of(self, run):
        return [self.weight.detach()[run]]

    @torch.no_grad()
    def graph(self, features, topology):
        adjacency, runs = topology.normalized_adjacency(), []
        for weight in self.weight:
            hidden = features.times(weight)
            for _ in range(self.hops):
                hidden = adjacency @ hidden
            runs.append(hidden)
        return torch.stack(runs)
"""

REGISTERED = """
from nodewise import NodeEmbedder, read_graph
from nodewise.encoders.encoder import encoder
from nodewise.sampling.strategy import strategy
from encoder_nodewise_test import MeansSettings
from strategy_nodewise_test import Distant

strategy("far-away")(Distant)
encoder("means")(MeansSettings)
graph = read_graph("edges.csv", features="nodes.csv", labels="labels.csv")
chosen = {"strategy": "far-away", "share": 0.3} | ({"encoder": "means"} if OWN_ENCODER else {})
model = NodeEmbedder(steps=3, batch_size=16, dimension=8, device="cpu", **chosen).fit(graph)
model.save("run", graph)
again = NodeEmbedder.load("run", device="cpu")  # where they are registered, they are at hand
assert again.settings == model.settings
assert again.set_params(seed=1).fit(graph).settings.sampling.share == 0.3
"""

GRAPH = ("edges.csv", "--features", "nodes.csv")
SMALL = ("--set", "training.steps=3", "--set", "training.batch_size=16", "--quiet")
AS_KEYWORDS = {"steps": 3, "batch_size": 16, "device": "cpu"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working folder with a graph and two modules; the interpreter forgets them afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    Path("strategy_nodewise_test.py").write_text(STRATEGY)
    Path("encoder_nodewise_test.py").write_text(ENCODER)
    Path("method_nodewise_test.py").write_text(METHOD)
    Path("dataset_nodewise_test.py").write_text(DATASET)
    write_ring()
    yield tmp_path
    forget()


def forget() -> None:
    """Be as an interpreter that has not seen the modules."""
    for name in ("strategy", "encoder", "method", "dataset"):
        sys.modules.pop(f"{name}_nodewise_test", None)


def embed(run: str, *assignments: str, config: str | None = None) -> np.ndarray:
    options = [text for assignment in assignments for text in ("--set", assignment)]
    files = ("--config", config) if config else ()
    assert main(["embed", *GRAPH, "-o", run, *files, *SMALL, *options]) == 0
    return read_embeddings(Path(run) / "embeddings.parquet").vectors


def section(run: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((Path(run) / "config.toml").read_text())[name]
    return found


def graph() -> Any:
    return read_graph("edges.csv", features="nodes.csv")


def test_a_strategy(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "strategy_nodewise_test:Distant"
    vectors = embed("run", f"sampling.strategy={name}", "sampling.share=0.3", "encoder.dimension=8")
    assert section("run", "sampling") == {"strategy": name, "share": 0.3}
    first = json.loads((folder / "run" / "metrics.jsonl").read_text().splitlines()[0])
    assert first["share"] == pytest.approx(0.3)
    assert 3 <= first["negatives"] <= 6, "of 16 in a batch"
    other = embed("other", f"sampling.strategy={name}", "sampling.share=0.9", "encoder.dimension=8")
    assert not np.allclose(vectors, other), "its setting is heard"

    # The same as an object, alone and among the settings.
    distant = import_module("strategy_nodewise_test").Distant
    model = NodeEmbedder(strategy=distant(share=0.3), dimension=8, **AS_KEYWORDS).fit(graph())
    assert np.allclose(model.embeddings_.vectors, vectors, atol=1e-5)
    model = NodeEmbedder(strategy=name, share=0.3, dimension=8, **AS_KEYWORDS).fit(graph())
    assert np.allclose(model.embeddings_.vectors, vectors, atol=1e-5)

    # Where the class is not at hand the run is, and it says what is missing when it is to be trained again.
    forget()
    assert main(["transform", "run", *GRAPH, "-o", "again.parquet", "--quiet"]) == 0
    assert np.allclose(read_embeddings("again.parquet").vectors, vectors, atol=1e-5)
    assert main(["neighbors", "run", "--node", "paper_0", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["embed", *GRAPH, "--config", "run/config.toml", "-o", "third", "--quiet"]) == 2
    assert f"the strategy '{name}' would load code" in capsys.readouterr().err
    assert "strategy_nodewise_test" not in sys.modules
    again = embed("third", f"sampling.strategy={name}", config="run/config.toml")
    assert section("third", "sampling") == {"strategy": name, "share": 0.3}
    assert np.allclose(again, vectors, atol=1e-5)


def test_an_encoder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "encoder_nodewise_test:MeansSettings"
    vectors = embed("run", f"encoder.kind={name}", "encoder.hops=2", "encoder.dimension=8")
    assert vectors.shape == (40, 8)
    assert section("run", "encoder") == {"kind": name, "dimension": 8, "hops": 2}
    assert not np.allclose(vectors, embed("other", f"encoder.kind={name}", "encoder.hops=1", "encoder.dimension=8"))

    settings = import_module("encoder_nodewise_test").MeansSettings
    model = NodeEmbedder(encoder=settings(hops=2, dimension=8), **AS_KEYWORDS).fit(graph())
    assert np.allclose(model.embeddings_.vectors, vectors, atol=1e-5)
    assert np.allclose(model.transform(graph()).vectors, vectors, atol=1e-5)

    # Vectors can be looked at without the class; new ones it alone can make.
    forget()
    assert main(["neighbors", "run", "--node", "paper_0", "--quiet"]) == 0
    with pytest.raises(InputError, match=f"the encoder '{name}' would load code"):
        NodeEmbedder.load("run")
    capsys.readouterr()
    assert main(["transform", "run", *GRAPH, "-o", "again.parquet", "--quiet"]) == 2
    assert f"the encoder '{name}' would load code" in capsys.readouterr().err
    assert "encoder_nodewise_test" not in sys.modules


@pytest.mark.parametrize("own_encoder", [False, True])
def test_a_short_name_means_nothing_to_another_process(folder: Path, own_encoder: bool) -> None:
    script = REGISTERED.replace("OWN_ENCODER", str(own_encoder))
    subprocess.run([sys.executable, "-c", script], check=True)
    assert section("run", "sampling") == {"strategy": "strategy_nodewise_test:Distant", "share": 0.3}
    for module in folder.glob("*_nodewise_test.py"):
        module.unlink()

    def nodewise(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "nodewise", *arguments], capture_output=True, text=True, check=False
        )

    graph = ("--graph", "edges.csv", "--features", "nodes.csv")
    done = nodewise("evaluate", "run", *graph, "--split", "random:3x4x8", "--repeats", "2", "--json")
    assert done.returncode == 0, done.stderr
    compared = [row["name"] for row in json.loads(done.stdout)["comparison"]]
    said = "no comparison with a random encoder: encoder_nodewise_test:MeansSettings is not loaded"
    names = ["raw features", "smoothed features"]
    assert compared == (names if own_encoder else [*names, "random encoder"])
    assert (said in done.stderr) is own_encoder
    assert nodewise("report", "run", "--projection", "pca").returncode == 0
    assert nodewise("neighbors", "run", "--node", "paper_0").returncode == 0
    assert nodewise("transform", "run", *GRAPH, "-o", "again.parquet").returncode == (2 if own_encoder else 0)
    done = nodewise("embed", *GRAPH, "--config", "run/config.toml", "-o", "third", "--quiet")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "would load code" in done.stderr


@pytest.mark.parametrize(
    ("assignments", "said"),
    [
        (("sampling.strategy=strategy_nodewise_test:Distant", "sampling.shrae=1"), "did you mean 'sampling.share'"),
        (("sampling.strategy=strategy_nodewise_test:Distnat",), "did you mean 'Distant'"),
        (("sampling.strategy=encoder_nodewise_test:Means",), "not a class derived from nodewise.sampling.strategy"),
        (("encoder.kind=encoder_nodewise_test:MeansSettings", "encoder.layers=2"), "unknown key 'encoder.layers'"),
        (("encoder.kind=encoder_nodewise_test:MeansSettings", "encoder.dimension=0"), "encoder.dimension is 0"),
    ],
)
def test_a_mistake_is_told_in_one_line(
    folder: Path, assignments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [text for assignment in assignments for text in ("--set", assignment)]
    assert main(["embed", *GRAPH, "-o", "run", *SMALL, *options]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not Path("run").exists()


def test_a_method(folder: Path) -> None:
    """In processes of their own: what one registers must not be in the catalog of other tests."""
    name, split = "method_nodewise_test:Powers", ("--split", "random:3x3x3", "--probe", "sklearn", "--quiet", "--json")
    command(folder, "embed", *GRAPH, "--method", name, "--set", "power=1", "-o", "powers", "--quiet")
    assert json.loads((folder / "powers" / "environment.json").read_text())["method"] == name
    assert tomllib.loads((folder / "powers" / "config.toml").read_text()) == {"power": 1}
    scores = json.loads(command(folder, "evaluate", "powers", "--labels", "labels.csv", *split))
    assert [row["name"] for row in scores["comparison"]] == ["raw features", "smoothed features", "random encoder"]
    command(folder, "report", "powers", "--quiet")
    command(folder, "neighbors", "powers", "--node", "paper_0")
    refused = attempt(folder, "transform", "powers", "edges.csv", "--features", "nodes.csv", "-o", "new.parquet")
    assert refused.returncode == 2
    assert refused.stderr.rstrip().endswith("[own-code]")
    code = (
        "import nodewise as nw, method_nodewise_test\n"
        "graph = nw.read_graph('edges.csv', features='nodes.csv')\n"
        "run = nw.methods['powers'](power=1).fit(graph).save('again', graph)\n"
        "assert (run.embeddings.vectors == nw.Run('powers').embeddings.vectors).all()\n"
        "assert run.method(power=3).settings.power == 3\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True)


def test_a_data_set(folder: Path) -> None:
    facts = json.loads(command(folder, "inspect", "dataset_nodewise_test:square", "--json", "--quiet"))
    assert (facts["name"], facts["nodes"], facts["edges"]) == ("square", 4, 4)
    code = "import nodewise as nw, dataset_nodewise_test; assert nw.load_dataset('square').num_nodes == 4"
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True)


FAILING = """
import numpy as np
from dataclasses import dataclass
from nodewise import Embedder, EncoderSettings

@dataclass(frozen=True)
class Settings:
    power: int = 2

class Mine(Embedder):
    settings_class = Settings

class Raises(Mine):
    def _embed(self, inputs, watch):
        watch.log({"step": 0, "loss": 1.0})
        raise ValueError("no such luck")

class Returns(Mine):
    def _embed(self, inputs, watch):
        return np.ones((3, 2))

class Text(Mine):
    def _embed(self, inputs, watch):
        return "vectors"

class Array(Mine):
    def _embed(self, inputs, watch):
        return np.arange(80.0).reshape(40, 2)

class Unset(Embedder):
    def _embed(self, inputs, watch):
        return inputs.dense_x

class Plain:
    pass

class BuildRaises(EncoderSettings):
    def build(self, num_features, seeds):
        return 1 / 0

class BuildsFive(EncoderSettings):
    def build(self, num_features, seeds):
        return 5

def no_graph(data_dir=None, progress=None):
    return "a graph"

def fails(data_dir=None, progress=None):
    raise KeyError("file")

class Sparse(Mine):
    def _embed(self, inputs, watch):
        import torch

        return torch.eye(40).to_sparse()
"""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("embed G -m os:path", "os:path is no method"),
        ("embed G -m os.path:join", "os.path:join is no method"),
        ("embed G -m method_nodewise_test:Plain", "is no method: it is not a class derived from nodewise.Embedder"),
        ("embed G -m method_nodewise_test:Unset", "method method_nodewise_test:Unset must define settings_class"),
        ("embed G -m method_nodewise_test:Raises", "failed at method_nodewise_test.py, line 16: ValueError: no such"),
        ("embed G -m method_nodewise_test:Returns", "_embed returned the shape (3, 2); return a tensor"),
        ("embed G -m method_nodewise_test:Sparse", "_embed returned a tensor of the layout sparse_coo; return"),
        ("embed G -m method_nodewise_test:Text", "_embed returned 'vectors'; return a tensor"),
        ("embed G --set encoder.kind=method_nodewise_test:BuildRaises", "line 39: ZeroDivisionError"),
        ("embed G --set encoder.kind=method_nodewise_test:BuildsFive", "build returned 5, no nodewise"),
        ("inspect method_nodewise_test:no_graph", "returned 'a graph'; return a nodewise.Graph"),
        ("inspect method_nodewise_test:fails", "failed at method_nodewise_test.py, line 49: KeyError"),
        ("inspect os:path", "data set os:path is no function that returns a graph"),
    ],
)
def test_own_code_that_fails_is_told_in_one_line(
    folder: Path, words: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("method_nodewise_test.py").write_text(FAILING)
    graph = (*GRAPH, "-o", "run", "--quiet")
    assert main([word for each in words.split() for word in (graph if each == "G" else (each,))]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert said in error
    assert error.endswith("[own-code-failed]")


CENTER, STACKED = "return hidden[..., 0, :]", "return torch.stack(runs)"


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        (CENTER, "return self.nothing", "Means failed at encoder_nodewise_test.py, line 23: AttributeError"),
        (CENTER, "raise SystemExit", "Means failed at encoder_nodewise_test.py, line 23: SystemExit"),
        (CENTER, "return hidden", "subgraphs returned a tensor of the shape (1, "),
        (CENTER, "return hidden[0, :, 0]", ", 8); return (1, "),
        (CENTER, "return hidden[..., 0, :0]", ", 0); return (1, "),
        (CENTER, "return", "subgraphs returned None; return a tensor (1, "),
        (CENTER, "return hidden[..., 0, :].long()", "subgraphs returned a tensor of int64; return floating-point"),
        (CENTER, "return hidden[..., 0, :].detach()", "subgraphs returned vectors without a gradient"),
        (CENTER, "return hidden[..., 0, :] * torch.nan", "subgraphs returned vectors that are not all finite"),
        (CENTER, "return hidden[..., 0, :].to_sparse()", "subgraphs returned a tensor of the layout sparse_coo"),
        (CENTER, "return hidden[..., 0, :].to('meta')", "subgraphs returned a tensor without values"),
        (STACKED, "return torch.stack(runs).to_sparse()", "graph returned a tensor of the layout sparse_coo"),
        (STACKED, "return torch.nested.nested_tensor(runs)", "graph returned a nested tensor"),
        (STACKED, "return 1 / 0", "Means failed at encoder_nodewise_test.py, line 36: ZeroDivisionError"),
        (STACKED, "return runs", "graph returned [tensor("),
        (STACKED, "return runs[0]", "graph returned a tensor of the shape (40, 8); return (1, 40, d)"),
        (STACKED, "return torch.stack(runs * 2)", "graph returned a tensor of the shape (2, 40, 8); return (1, 40, d)"),
        (STACKED, "return torch.stack(runs) / 0", "graph returned vectors that are not all finite"),
        ("torch.nn.Parameter(torch.stack(start))", "torch.stack(start)", "Means has no weights to learn"),
    ],
)
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_an_encoder_that_fails_after_it_is_built_is_told_in_one_line(
    folder: Path, right: str, wrong: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert right in ENCODER
    Path("encoder_nodewise_test.py").write_text(ENCODER.replace(right, wrong))
    chosen = ("--set", "encoder.kind=encoder_nodewise_test:MeansSettings", "--set", "encoder.dimension=8")
    # Quietly, since a busy machine would show its progress in between.
    assert main(["embed", *GRAPH, *chosen, "--quiet", "-o", "run"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert said in lines[0]
    assert "encoder encoder_nodewise_test:Means" in lines[0]
    assert lines[0].endswith("[own-code-failed]")
    assert not Path("run").exists()


def test_what_an_encoder_failed_of_is_kept_and_weights_gone_astray_are_not_its_fault(folder: Path) -> None:
    Path("encoder_nodewise_test.py").write_text(ENCODER.replace(CENTER, "return 1 / 0"))
    sys.path.append(str(folder))
    settings = import_module("encoder_nodewise_test").MeansSettings(dimension=8)
    with pytest.raises(InputError) as error:
        NodeEmbedder(encoder=settings, **AS_KEYWORDS).fit(graph())
    assert isinstance(error.value.__cause__, ZeroDivisionError)
    encoder = built(settings, 5, torch.tensor([0]))
    with torch.no_grad():
        encoder.weight.fill_(torch.nan)
    read = graph()
    assert encoder.graph(Features(read), Topology.of(read)).isnan().all()


def test_vectors_of_a_method_may_be_an_array_and_callbacks_fail_for_themselves(folder: Path) -> None:
    Path("method_nodewise_test.py").write_text(FAILING)
    sys.path.append(str(folder))
    mine = import_module("method_nodewise_test")
    assert mine.Array().fit(graph()).embeddings_.vectors[39].tolist() == [78, 79]

    def stop(record: dict[str, Any]) -> None:
        raise StopIteration("enough")

    with pytest.raises(StopIteration, match="enough"):
        mine.Raises().fit(graph(), callbacks=[stop])


def attempt(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "nodewise", *words], cwd=folder, capture_output=True, text=True)


def command(folder: Path, *words: str) -> str:
    done = attempt(folder, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout
