"""DeepWalk: words are nodes and sentences are random walks (Perozzi, Al-Rfou & Skiena, KDD 2014).

With u_a the vector of node a, v_a its vector as a context, and σ the sigmoid, the loss of a walk w is

    L = Σ_i Σ_j c_ij [-log σ(u_{w_i} · v_{w_j})  +  n E_b -log σ(-u_{w_i} · v_b)]

where c_ij falls from 1 for the next node to 1 / W for the last of a window of W, and is 0 elsewhere, n is the number of
negatives, and b is drawn by degree^0.75 (`nodewise.methods.skipgram`). Defaults are the paper's: 80 walks of 40 nodes
from every node, window 10, 128 dimensions; 5 negatives are word2vec's.

Differs from the paper: negative sampling instead of a hierarchical softmax, with noise nodes that all positions of a
walk share; near nodes of a window count more, as in word2vec; steps of AdaGrad instead of plain ones.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.methods.estimator import Embedder, Watch, method
from nodewise.methods.inputs import Inputs
from nodewise.methods.skipgram import SkipGramSettings, train_skipgram
from nodewise.views.topology import Topology
from nodewise.views.walks import random_walks


@method("deepwalk")
class DeepWalk(Embedder):
    """Vectors of nodes from uniform random walks; features are not used."""

    title = "DeepWalk"
    paper = "Perozzi, Al-Rfou & Skiena, KDD 2014"
    uses = "A"
    cost = "O(r N L² d) for r walks of L nodes; O(N d) memory"
    probe = "sklearn"
    settings_class: ClassVar[type[SkipGramSettings]] = SkipGramSettings
    needs_features = False

    def _embed(self, inputs: Inputs, watch: Watch) -> Tensor:
        def walk(starts: Tensor, number: int) -> Tensor:
            return self._walk(inputs.topology, starts, number)

        return train_skipgram(inputs.topology, walk, self.settings, self.seed, watch)

    def _walk(self, topology: Topology, starts: Tensor, number: int) -> Tensor:
        return random_walks(topology, starts, self.settings.length - 1, rng.key(self.seed, "deepwalk", number))


def of_unit_size(rows: Tensor) -> Tensor:
    """Scale a matrix so that the mean squared length of its rows is 1; zeros stay zeros."""
    size = rows.square().sum(1).mean().sqrt()
    return rows / size if size > 0 else rows


@method("deepwalk-features")
class DeepWalkFeatures(DeepWalk):
    """The vectors of DeepWalk and the features, concatenated: (N, d + F)."""

    title = "DeepWalk + features"
    paper = "Perozzi, Al-Rfou & Skiena, KDD 2014; Veličković et al., ICLR 2019"
    uses = "X A"
    cost = "O(r N L² d) for r walks of L nodes; O(N (d + F)) memory"
    needs_features = True

    def _embed(self, inputs: Inputs, watch: Watch) -> Tensor:
        vectors = super()._embed(inputs, watch)
        return torch.cat([of_unit_size(vectors), of_unit_size(inputs.dense_x)], dim=1)
