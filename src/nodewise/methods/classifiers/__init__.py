"""Methods that learn from labels, one file each."""
