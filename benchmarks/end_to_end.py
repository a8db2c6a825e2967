"""Train and embed, start to end: `python benchmarks/end_to_end.py [--json] [--data-dir DIR] [--only NAMES]`.

Ours with its defaults against torch_geometric's DeepGraphInfomax of the same size (512), trained as its paper says
(Adam 0.001, patience 20 on the loss), against our own FastRP, smoothed features, node2vec, MVGRL and GRACE, and against
node2vec as PecanPy and karateclub have it, with the walks, the window and the size of ours. One run each, on Cora where
its files are at hand, else on Citeseer; reading the graph is not counted. Beside the seconds stands the test accuracy
of the public split under one linear probe.

These two need numpy below 2, which we do not run with: `--peers PYTHON` names an interpreter that has them. PecanPy
installs by `pip install pecanpy`. karateclub 1.3.3 asks for numpy below 1.23 and pandas up to 1.3.5, which Python 3.11
has no builds of; it runs with later ones: `pip install --no-deps karateclub python-louvain pygsp`, then `pip install
gensim networkx scikit-learn "numpy<2" "pandas<3"`. What is not installed is left out, and the table says so.

Aim: faster than DeepGraphInfomax.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from shared.timing import arguments, graph_or_citeseer, seconds, show
from torch import Tensor, nn
from torch_geometric.nn import DeepGraphInfomax, GCNConv

from nodewise import NodeEmbedder
from nodewise.evaluation.probe import linear_probe
from nodewise.graph.graph import Graph
from nodewise.methods.estimator import METHODS
from nodewise.methods.inputs import Inputs
from nodewise.methods.rivals.node2vec import Node2VecSettings

_PEERS = ("pecanpy", "karateclub")


class Encoder(nn.Module):
    def __init__(self, features: int, width: int) -> None:
        super().__init__()
        self.convolution, self.activation = GCNConv(features, width, cached=True), nn.PReLU(width)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        out: Tensor = self.activation(self.convolution(x, edge_index))
        return out


def deep_graph_infomax(graph: Graph, device: torch.device, patience: int = 20) -> np.ndarray:
    """Train torch_geometric's model to its stop and embed."""
    inputs = Inputs(graph, device)
    x, edge_index = inputs.dense_x, inputs.edge_index
    torch.manual_seed(0)
    model = DeepGraphInfomax(
        hidden_channels=512,
        encoder=Encoder(graph.num_features, 512),
        summary=lambda z, *args, **kwargs: torch.sigmoid(z.mean(dim=0)),
        corruption=lambda x, edge_index: (x[torch.randperm(len(x), device=x.device)], edge_index),
    ).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
    best, best_epoch, epoch = float("inf"), 0, 0
    while epoch - best_epoch <= patience:
        model.train()
        optimizer.zero_grad()
        loss = model.loss(*model(x, edge_index))
        loss.backward()
        optimizer.step()
        epoch += 1
        if loss.item() < best:
            best, best_epoch = loss.item(), epoch
    with torch.no_grad():
        return np.asarray(model(x, edge_index)[0].cpu())


def peer(library: str, python: str, graph: Graph, threads: int) -> tuple[float, np.ndarray] | str:
    """Return the seconds and the vectors of another library's node2vec, or why there are none."""
    with TemporaryDirectory() as folder:
        place, edges = Path(folder), graph.adjacency()
        np.savez(place / "edges.npz", indptr=edges.indptr, indices=edges.indices)
        (place / "walks.json").write_text(json.dumps(asdict(Node2VecSettings()) | {"threads": threads}))
        done = subprocess.run(
            [python, str(Path(__file__).parent / "shared" / "peers.py"), library, folder],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            return f"left out: {done.stderr.strip().splitlines()[-1]}"
        return json.loads((place / "seconds.json").read_text()), np.load(place / "vectors.npy")


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--only", default="", metavar="NAMES", help="of the rows below ours, separated by commas")
    parser.add_argument(
        "--peers", default=sys.executable, metavar="PYTHON", help="an interpreter with PecanPy and karateclub"
    )
    args = parser.parse_args()
    device, threads = "cuda" if torch.cuda.is_available() else "cpu", torch.get_num_threads()
    graph = graph_or_citeseer("cora", args.data_dir)

    def timed(embed: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
        found: list[np.ndarray] = []
        return seconds(lambda: found.append(embed())), found[0]

    def method(name: str) -> Callable[[], np.ndarray]:
        made: Any = METHODS[name]
        return lambda: np.asarray(made(made.settings_for(graph.name), device=device).fit(graph).embeddings_)

    entries: dict[str, Callable[[], np.ndarray]] = {
        "ours": lambda: np.asarray(NodeEmbedder(device=device).fit(graph).embeddings_),
        "deep_graph_infomax": lambda: deep_graph_infomax(graph, torch.device(device)),
        **{name: method(name) for name in ("fastrp", "smoothed", "node2vec", "mvgrl", "grace")},
    }
    wanted = {"ours", *args.only.split(",")} if args.only else {*entries, *_PEERS}
    entries["ours"]()  # libraries make their workspaces at first use
    found = {name: timed(embed) for name, embed in entries.items() if name in wanted}
    peers = {library: peer(library, args.peers, graph, threads) for library in _PEERS if library in wanted}
    result: dict[str, float | int | str] = {
        "graph": graph.name,
        "device": torch.cuda.get_device_name() if device == "cuda" else "cpu",
        "threads": threads,
    }
    for name, outcome in (found | peers).items():
        result |= {name: outcome} if isinstance(outcome, str) else row(name, *outcome, graph, found["ours"][0])
    show(f"Train and embed {graph.name}", result, args.json)


def row(name: str, taken: float, vectors: np.ndarray, graph: Graph, ours: float) -> dict[str, float]:
    """Return the seconds of an entry, as a multiple of ours too, and its accuracy."""
    assert graph.labels is not None
    assert graph.split is not None
    accuracy = linear_probe(vectors, graph.labels, graph.split, dataset=graph.name).test_accuracy.mean()
    return {f"{name}_s": taken, f"{name}_ratio": taken / ours, f"{name}_accuracy": float(accuracy)}


if __name__ == "__main__":
    main()
