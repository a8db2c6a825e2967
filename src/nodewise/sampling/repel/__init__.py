"""Other forms of the loss than a log-sum-exp over negatives: one file per idea."""
