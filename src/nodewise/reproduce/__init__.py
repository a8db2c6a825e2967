"""Experiments: searches for settings and, from them, the tables of the paper."""
