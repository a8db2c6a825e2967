"""Who else is a positive: one file per idea."""
