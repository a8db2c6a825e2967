"""Graphs larger than memory: folders of arrays that are read where they are touched."""
