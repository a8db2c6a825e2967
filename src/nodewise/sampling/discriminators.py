"""The networks F_i+ and F_i- of every node of a batch, trained at once (Section 4.2).

Each query i has two independent, separately initialized classifiers of candidates. F_i+ takes S_i+ as class 1 and
S_i- as class 0; F_i- the reverse. All B of a kind see the same candidates Z (M x r), so their first layers are
one product (B h x r)(r x M) and their losses one masked (B x M) matrix: no loop over nodes.

    p_i+(j) = sigmoid F_i+(z_j),    p_i-(j) = sigmoid F_i-(z_j)

Both classes weigh the same in the loss, whatever their sizes: with a handful of positives against hundreds of
negatives an unbalanced F+ answers "negative" everywhere.

Differs from the paper: sizes and training of F are not given there. Here F is linear or has one hidden layer,
is fitted anew in each batch by a few steps of gradient descent, and inputs are centered and scaled to unit mean
square norm, so that one learning rate suits every input. Linear networks that see clusters have a fast twin,
`cluster_networks`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import softplus

from nodewise.core import rng


class Queries(NamedTuple):
    """Whose networks are fitted.

    Attributes:
        near: bool (S, B, M), candidates that belong to S_i+; the others are S_i-.
        nodes: int64 (S, B), the queries' nodes, which name the initial weights.
        key: the draw's name, int or (S, 1).
    """

    near: Tensor
    nodes: Tensor
    key: int | Tensor


def log_ratio(
    candidates: Tensor,
    members: Tensor,
    queries: Queries,
    *,
    hidden: int = 0,
    steps: int = 10,
    learning_rate: float = 1.0,
) -> Tensor:
    """Fit F_i+ and F_i- for every query and return log(p_i+(j) / p_i-(j)) for every candidate.

    Args:
        candidates: Z, (S, M, r).
        members: members of S_i+ that need not be candidates (the own view, neighbors, mixups), (S, B, P, r).
        queries: whose networks.
        hidden: width h of the hidden layer; 0 for linear networks.
        steps: steps of full-batch gradient descent.
        learning_rate: its step size.

    Returns:
        (S, B, M).
    """
    near, nodes, key = queries
    center = candidates.mean(-2, keepdim=True)
    scale = (candidates - center).square().sum(-1).mean(-1).clamp(min=1e-12).rsqrt().view(-1, 1, 1)
    candidates = (candidates - center) * scale
    members = (members - center.unsqueeze(-3)) * scale.unsqueeze(-1)
    balance = class_balance(near, members.shape[-2])
    if not hidden:
        networks = [_initial(nodes, candidates.shape[-1], 0, rng.fold(key, int(sign > 0))) for sign in (1.0, -1.0)]
        return _fit_linear(networks, candidates, members, near, balance, steps, learning_rate)
    logits = []
    for sign in (1.0, -1.0):
        network = _initial(nodes, candidates.shape[-1], hidden, rng.fold(key, int(sign > 0)))
        for _ in range(steps):
            with torch.enable_grad():
                for parameter in network:
                    parameter.requires_grad_()
                loss = _balanced_loss(network, candidates, members, near, balance, sign)
                gradients = torch.autograd.grad(loss, network)
            network = [p.detach() - learning_rate * g for p, g in zip(network, gradients, strict=True)]
        logits.append(_forward(network, candidates))
    return torch.nn.functional.logsigmoid(logits[0]) - torch.nn.functional.logsigmoid(logits[1])


def _fit_linear(
    networks: list[list[Tensor]],
    candidates: Tensor,
    members: Tensor,
    near: Tensor,
    balance: tuple[Tensor, Tensor],
    steps: int,
    learning_rate: float,
) -> Tensor:
    """Fit linear F+ and F- side by side and return the log ratio; the gradient of a logistic loss needs no tape.

    With F(z) = w . z + b, a weight c and a target t the gradient with respect to F(z) is c (sigmoid F(z) - t). The slow
    twin is a loop over nodes in the tests.
    """
    runs, queries, count = near.shape
    weight = torch.cat([network[0] for network in networks], dim=1)  # (S, 2B, r), those of F+ first
    bias = torch.cat([network[1] for network in networks], dim=1).unsqueeze(-1)
    positive, negative = balance
    importance = torch.where(near, positive.unsqueeze(-1), negative.unsqueeze(-1)).repeat(1, 2, 1)
    shared = importance * torch.cat([near, ~near], dim=1)  # c t
    own = torch.stack([positive, torch.zeros_like(positive)], dim=2).flatten(0, 1).unsqueeze(-1)  # c t of members
    own_importance = positive.flatten().view(-1, 1, 1)
    grouped = members.flatten(0, 1)  # (S B, P, r)

    def by_query(rows: Tensor) -> Tensor:
        """Bring F+ and F- of a query together: (S, 2B, x) -> (S B, 2, x)."""
        return rows.view(runs, 2, queries, -1).transpose(1, 2).reshape(runs * queries, 2, -1)

    for _ in range(steps):
        error = torch.baddbmm(bias, weight, candidates.mT).sigmoid_().mul_(importance).sub_(shared)
        logits = torch.baddbmm(by_query(bias), by_query(weight), grouped.mT)
        own_error = logits.sigmoid_().mul_(own_importance).sub_(own)
        own_slope = torch.bmm(own_error, grouped).view(runs, queries, 2, -1).transpose(1, 2).reshape(weight.shape)
        own_sum = own_error.sum(-1).view(runs, queries, 2).transpose(1, 2).reshape(bias.shape)
        weight = torch.baddbmm(weight - learning_rate * own_slope, error, candidates, alpha=-learning_rate)
        bias = bias - learning_rate * (error.sum(-1, keepdim=True) + own_sum)
    logits = torch.nn.functional.logsigmoid(torch.baddbmm(bias, weight, candidates.mT)).view(runs, 2, queries, count)
    return logits[:, 0] - logits[:, 1]


def class_balance(near: Tensor, members: int) -> tuple[Tensor, Tensor]:
    """Return the weight (S, B) of one positive and of one negative, so that each class of a query sums to 1/2."""
    shared = near.sum(-1)
    negatives = (near.shape[-1] - shared).clamp(min=1)
    return 0.5 / (shared + members), 0.5 / negatives


def draw_weights(streams: Tensor, numbers: Tensor, fans: int) -> Tensor:
    """Draw Xavier-uniform weights by their numbers within a layer, from the streams of their networks.

    Shapes broadcast; `fans` is the number of inputs and outputs of the layer.
    """
    return rng.uniform(streams, numbers).mul_(2).sub_(1).mul_(math.sqrt(6 / fans))


def _initial(nodes: Tensor, inputs: int, hidden: int, key: int | Tensor) -> list[Tensor]:
    """Xavier-uniform weights of one network per node: [w (S,B,r), b] or [W (S,B,h,r), b, v (S,B,h), c]."""

    def draw(layer: int, fan_out: int, fan_in: int, *shape: int) -> Tensor:
        streams = rng.fold(rng.fold(key, layer), nodes).unsqueeze(-1)
        numbers = torch.arange(math.prod(shape), device=nodes.device)
        return draw_weights(streams, numbers, fan_in + fan_out).view(*nodes.shape, *shape)

    zero = torch.zeros(nodes.shape, device=nodes.device)
    if not hidden:
        return [draw(0, 1, inputs, inputs), zero]
    bias = torch.zeros((*nodes.shape, hidden), device=nodes.device)
    return [draw(0, hidden, inputs, hidden, inputs), bias, draw(1, 1, hidden, hidden), zero]


def _forward(network: list[Tensor], candidates: Tensor) -> Tensor:
    """Return the logits of every network with a hidden layer on the shared candidates, (S, B, M)."""
    first, bias, second, offset = network
    inner = first.flatten(1, 2) @ candidates.transpose(-1, -2) + bias.flatten(1, 2).unsqueeze(-1)
    inner = torch.relu(inner).view(*first.shape[:3], -1)
    return (second.unsqueeze(-2) @ inner).squeeze(-2) + offset.unsqueeze(-1)


def _forward_members(network: list[Tensor], members: Tensor) -> Tensor:
    """Return the logits of every network on its own members, (S, B, P)."""
    first, bias, second, offset = network
    inner = torch.relu(members @ first.transpose(-1, -2) + bias.unsqueeze(-2))
    return (inner @ second.unsqueeze(-1)).squeeze(-1) + offset.unsqueeze(-1)


def _balanced_loss(
    network: list[Tensor],
    candidates: Tensor,
    members: Tensor,
    near: Tensor,
    balance: tuple[Tensor, Tensor],
    sign: float,
) -> Tensor:
    """Sum over networks of the class-balanced logistic loss; `sign` -1 swaps the two classes."""
    positive, negative = balance
    shared = sign * _forward(network, candidates)
    own = sign * _forward_members(network, members)
    shared_loss = torch.where(
        near, positive.unsqueeze(-1) * softplus(-shared), negative.unsqueeze(-1) * softplus(shared)
    )
    return shared_loss.sum() + (positive.unsqueeze(-1) * softplus(-own)).sum()
