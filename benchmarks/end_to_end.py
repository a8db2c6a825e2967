"""Train and embed, start to end: `python benchmarks/end_to_end.py [--json] [--data-dir DIR]`.

Ours with its defaults against torch_geometric's DeepGraphInfomax of the same size (512), trained as its paper says
(Adam 0.001, patience 20 on the loss), and against our own MVGRL and GRACE. One run each, on Cora where its files are
at hand, else on Citeseer; reading the graph is not counted.

Aim: faster than DeepGraphInfomax.
"""

from __future__ import annotations

import torch
from shared.timing import arguments, graph_or_citeseer, seconds, show
from torch import Tensor, nn
from torch_geometric.nn import DeepGraphInfomax, GCNConv

from nodewise import NodeEmbedder
from nodewise.graph.graph import Graph
from nodewise.methods.estimator import METHODS
from nodewise.methods.inputs import Inputs


class Encoder(nn.Module):
    def __init__(self, features: int, width: int) -> None:
        super().__init__()
        self.convolution, self.activation = GCNConv(features, width, cached=True), nn.PReLU(width)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        out: Tensor = self.activation(self.convolution(x, edge_index))
        return out


def deep_graph_infomax(graph: Graph, device: torch.device, patience: int = 20) -> int:
    """Train torch_geometric's model to its stop and embed; return the epochs."""
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
        model(x, edge_index)
    return epoch


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--skip-slow", action="store_true", help="leave out node2vec, MVGRL and GRACE")
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    graph = graph_or_citeseer("cora", args.data_dir)
    NodeEmbedder(device=device).fit(graph)  # libraries make their workspaces at first use
    epochs = 0

    def infomax() -> None:
        nonlocal epochs
        epochs = deep_graph_infomax(graph, torch.device(device))

    times = {"ours": seconds(lambda: NodeEmbedder(device=device).fit(graph)), "deep_graph_infomax": seconds(infomax)}
    for name in ("fastrp", "smoothed", *(() if args.skip_slow else ("node2vec", "mvgrl", "grace"))):
        estimator = METHODS[name]
        times[name] = seconds(lambda e=estimator: e(e.settings_for(graph.name), device=device).fit(graph))
    result: dict[str, float | int | str] = {
        "graph": graph.name,
        "device": torch.cuda.get_device_name() if device == "cuda" else "cpu",
        "threads": torch.get_num_threads(),
        "deep_graph_infomax_epochs": epochs,
        **{f"{name}_s": value for name, value in times.items()},
        **{f"{name}_ratio": value / times["ours"] for name, value in times.items() if name != "ours"},
    }
    show(f"Train and embed {graph.name}", result, args.json)


if __name__ == "__main__":
    main()
