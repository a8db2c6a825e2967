"""Strategies x graphs x seeds, paired: what is measured, and what may be said of it."""
