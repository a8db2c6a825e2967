"""Label propagation: labels flow along the edges from the labeled nodes, whose own stay as they are. No features.

Zhu & Ghahramani 2002, and Zhu, Ghahramani & Lafferty, "Semi-supervised learning using Gaussian fields and harmonic
functions", ICML 2003: F <- D^-1 A F with F_l = Y_l again after each step. It tends to the harmonic function, whose
value at a node is the mean over its neighbors. The class of node i is the one of the largest q_c F_ic / sum_u F_uc
(class mass normalization, section 4 of the latter; q_c is the share of class c among the training labels, u runs over
the other nodes): without it one class can swallow the whole graph, as on Pubmed. Nodes that no label reaches get q.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional
from torch_geometric.nn import LabelPropagation as Propagation

from nodewise.core.config import Checked, Count
from nodewise.methods.classifiers.classifier import Classifier, Supervision
from nodewise.methods.estimator import Watch, method
from nodewise.methods.inputs import Inputs


@dataclass(frozen=True)
class LabelPropagationSettings(Checked):
    """How many steps; class masses are balanced as in the 2003 paper unless switched off."""

    steps: Count = 1000
    class_mass: bool = True


@method("lp")
class LabelPropagation(Classifier):
    """torch_geometric's propagation with the weights of a random walk and the labeled nodes clamped."""

    title = "label propagation"
    paper = "Zhu, Ghahramani & Lafferty, ICML 2003"
    uses = "A Y"
    cost = "O(E C) time, O(E C) memory a step, C classes"
    settings_class = LabelPropagationSettings
    needs_features = False

    def _classify(self, inputs: Inputs, known: Supervision, watch: Watch) -> Tensor:
        given = functional.one_hot(known.labels[known.train], known.num_classes).to(torch.float32)
        start = given.new_zeros(inputs.num_nodes, known.num_classes).index_copy_(0, known.train, given)
        sender, receiver = inputs.edge_index
        walk = inputs.topology.strengths[receiver].to(torch.float32).reciprocal()
        if inputs.topology.weights is not None:
            walk *= inputs.topology.weights
        with watch.progress.stage("propagating", total=self.settings.steps) as bar:

            def clamp(scores: Tensor) -> Tensor:
                bar.advance()
                return scores.index_copy_(0, known.train, given)

            propagate = Propagation(self.settings.steps, alpha=1.0)
            scores: Tensor = propagate(start, torch.stack([sender, receiver]), edge_weight=walk, post_step=clamp)
        share = given.mean(0)
        if self.settings.class_mass:
            others = torch.ones(len(scores), dtype=torch.bool, device=scores.device).index_fill_(0, known.train, False)
            scores = scores * share / scores[others].sum(0).clamp(min=1e-12)
        total = scores.sum(1, keepdim=True)
        return torch.where(total > 0, scores / total.clamp(min=1e-12), share)
