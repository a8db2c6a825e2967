"""Graphs: what one is, and how it comes in from files, other libraries and data sets."""
