"""node2vec: DeepWalk on walks that lean inwards or outwards (Grover & Leskovec, KDD 2016).

Defaults are the paper's: 128 dimensions, 10 walks of 80 nodes from every node, window 10, and the p = 1, q = 0.5 of
its case study of communities. The paper chooses p and q from {0.25, 0.5, 1, 2, 4} with labels; we do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from nodewise.core import rng
from nodewise.core.config import check_ranges
from nodewise.methods.estimator import Embedder, Watch, method
from nodewise.methods.inputs import Inputs
from nodewise.methods.rivals.skipgram import SkipGramSettings, train_skipgram
from nodewise.views.walks import biased_walks


@dataclass(frozen=True)
class Node2VecSettings(SkipGramSettings):
    """Skip-gram on second-order walks.

    Attributes:
        walks: number of walks from every node.
        length: nodes of a walk.
        p: return parameter; large values keep a walk from going back.
        q: in-out parameter; small values send a walk outwards.
    """

    walks: int = 10
    length: int = 80
    p: float = 1.0
    q: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_ranges(self, p=(1e-6, None), q=(1e-6, None))


@method("node2vec")
class Node2Vec(Embedder):
    """Vectors of nodes from second-order random walks; features are not used."""

    title = "node2vec"
    paper = "Grover & Leskovec, KDD 2016"
    uses = "A"
    cost = "O(r N L² d) for r walks of L nodes; O(N d) memory"

    settings_class: ClassVar[type[Node2VecSettings]] = Node2VecSettings
    needs_features = False

    def _embed(self, inputs: Inputs, watch: Watch) -> Tensor:
        chosen = self.settings

        def walk(starts: Tensor, number: int) -> Tensor:
            key = rng.key(self.seed, "node2vec", number)
            return biased_walks(inputs.topology, starts, chosen.length - 1, key, p=chosen.p, q=chosen.q)

        return train_skipgram(inputs.topology, walk, chosen, self.seed, watch)
