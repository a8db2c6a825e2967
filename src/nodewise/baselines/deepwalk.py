"""DeepWalk: words are nodes and sentences are random walks (Perozzi, Al-Rfou & Skiena, KDD 2014).

Defaults are the paper's: 80 walks of 40 nodes from every node, window 10, 128 dimensions.

Differs from the paper: negative sampling instead of a hierarchical softmax.
"""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from nodewise.baselines.estimator import Embedder, Watch
from nodewise.baselines.inputs import Inputs
from nodewise.baselines.skipgram import SkipGramSettings, train_skipgram
from nodewise.core import rng
from nodewise.views.walks import random_walks


class DeepWalk(Embedder):
    """Vectors of nodes from uniform random walks; features are not used."""

    settings_class: ClassVar[type[SkipGramSettings]] = SkipGramSettings
    needs_features = False

    def _embed(self, inputs: Inputs, watch: Watch) -> Tensor:
        def walk(starts: Tensor, number: int) -> Tensor:
            key = rng.key(self.seed, "deepwalk", number)
            return random_walks(inputs.topology, starts, self.settings.length - 1, key)

        return train_skipgram(inputs.topology, walk, self.settings, self.seed, watch)
