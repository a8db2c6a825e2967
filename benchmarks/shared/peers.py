"""node2vec of other libraries, in an interpreter of their own: `python peers.py LIBRARY FOLDER`.

They ask for versions of numpy that we do not run with. FOLDER holds edges.npz (indptr, indices) and walks.json; what is
left there are vectors.npy and seconds.json, in which neither imports nor compilation nor reading count.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def pecanpy(indptr: np.ndarray, indices: np.ndarray, walks: dict[str, Any]) -> Callable[[], Any]:
    """Return PecanPy's node2vec in its way for small graphs, which computes all chances beforehand."""
    from pecanpy.pecanpy import PreComp

    model = PreComp(p=walks["p"], q=walks["q"], workers=walks["threads"], verbose=False, random_state=0)
    model.set_node_ids([str(node) for node in range(len(indptr) - 1)])
    model.indptr, model.indices = indptr.astype(np.uint32), indices.astype(np.uint32)
    model.data = np.ones(len(indices), np.float32)

    def embed() -> Any:
        model.preprocess_transition_probs()
        return model.embed(walks["dimension"], walks["walks"], walks["length"], walks["window"])

    return embed


def karateclub(indptr: np.ndarray, indices: np.ndarray, walks: dict[str, Any]) -> Callable[[], Any]:
    """Return karateclub's node2vec."""
    import networkx as nx
    from karateclub import Node2Vec

    graph = nx.empty_graph(len(indptr) - 1)
    sources = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    graph.add_edges_from(zip(sources.tolist(), indices.tolist(), strict=True))
    model = Node2Vec(
        walk_number=walks["walks"],
        walk_length=walks["length"],
        p=walks["p"],
        q=walks["q"],
        dimensions=walks["dimension"],
        window_size=walks["window"],
        workers=walks["threads"],
    )

    def embed() -> Any:
        model.fit(graph)
        return model.get_embedding()

    return embed


def main() -> None:
    library, folder = sys.argv[1], Path(sys.argv[2])
    walks = json.loads((folder / "walks.json").read_text())
    prepare = {"pecanpy": pecanpy, "karateclub": karateclub}[library]
    prepare(np.array([0, 2, 4, 6]), np.array([1, 2, 0, 2, 0, 1]), walks)()  # what is compiled at first use
    with np.load(folder / "edges.npz") as edges:
        embed = prepare(edges["indptr"], edges["indices"], walks)
    start = time.perf_counter()
    vectors = embed()
    (folder / "seconds.json").write_text(json.dumps(time.perf_counter() - start))
    np.save(folder / "vectors.npy", np.asarray(vectors, np.float32))


if __name__ == "__main__":
    main()
