"""The search for settings: label-free or by validation nodes, resumable."""
