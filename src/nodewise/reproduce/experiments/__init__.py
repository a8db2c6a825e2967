"""The experiments, one file each: what they plan, and the tables they show."""
