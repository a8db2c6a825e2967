"""How much each negative counts, and mixtures of negatives: one file per idea."""
