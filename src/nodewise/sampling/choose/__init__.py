"""Which candidates are negatives: one file per idea."""
