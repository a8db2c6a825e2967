"""What the benchmarks have in common, and the plain implementations they measure against."""
