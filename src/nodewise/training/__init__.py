"""The training loop: batches, one step, the monitor that stops it, and its fast twin on a GPU."""
