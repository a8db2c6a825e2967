"""What only makes things fast: kernels and lanes for a GPU, compiled loops for a CPU. Each has a plain twin."""
