"""Losses score the pairs that samplers chose."""
