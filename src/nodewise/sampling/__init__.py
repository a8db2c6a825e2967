"""Negative sampling: which candidates a node is pushed away from, and how hard (Sections 4.2 to 4.4)."""
