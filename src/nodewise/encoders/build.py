"""Encoders by name."""

from __future__ import annotations

from torch import Tensor

from nodewise.encoders.convolutions import ConvolutionStack
from nodewise.encoders.encoder import Encoder, EncoderSettings
from nodewise.encoders.gcn import GCN


def build_encoder(num_features: int, settings: EncoderSettings, seeds: Tensor) -> Encoder:
    """Build the encoder of each seed (S,)."""
    kind = GCN if settings.kind == "gcn" else ConvolutionStack
    return kind(num_features, settings, seeds)
