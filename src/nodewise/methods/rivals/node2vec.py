"""node2vec: DeepWalk on walks that lean inwards or outwards (Grover & Leskovec, KDD 2016).

A walk that came from t to v goes on to a neighbor x of v with a probability proportional to

    1 / p if x = t,    1 if x is a neighbor of t,    1 / q otherwise,

with p the return parameter and q the in-out parameter. The loss of a walk w is DeepWalk's, with its symbols
(`nodewise.methods.rivals.deepwalk`):

    L = Σ_i Σ_j c_ij [-log σ(u_{w_i} · v_{w_j})  +  n E_b -log σ(-u_{w_i} · v_b)]

Defaults are the paper's: 128 dimensions, 10 walks of 80 nodes from every node, window 10, and the p = 1, q = 0.5 of
its case study of communities.

Differs from the paper: it chooses p and q from {0.25, 0.5, 1, 2, 4} with labels; we do not. A walk shares its noise
nodes, and steps are AdaGrad's instead of plain ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from torch import Tensor

from nodewise.core import rng
from nodewise.core.config import Range
from nodewise.methods.estimator import method
from nodewise.methods.rivals.deepwalk import DeepWalk
from nodewise.methods.skipgram import SkipGramSettings
from nodewise.views.topology import Topology
from nodewise.views.walks import biased_walks


@dataclass(frozen=True)
class Node2VecSettings(SkipGramSettings, walks=10, length=80):
    """Skip-gram on second-order walks.

    Attributes:
        walks: number of walks from every node.
        length: nodes of a walk.
        p: return parameter; large values keep a walk from going back.
        q: in-out parameter; small values send a walk outwards.
    """

    p: Annotated[float, Range(1e-6)] = 1.0
    q: Annotated[float, Range(1e-6)] = 0.5


@method("node2vec")
class Node2Vec(DeepWalk):
    """Vectors of nodes from second-order random walks; features are not used."""

    title = "node2vec"
    paper = "Grover & Leskovec, KDD 2016"
    settings_class = Node2VecSettings

    def _walk(self, topology: Topology, starts: Tensor, number: int) -> Tensor:
        chosen, key = self.settings, rng.key(self.seed, "node2vec", number)
        return biased_walks(topology, starts, chosen.length - 1, key, p=chosen.p, q=chosen.q)
