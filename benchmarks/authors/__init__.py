"""The code that authors of rivals published, trained on our graphs: `python -m benchmarks.authors homogcl --help`.

Where a method stays more than a point below what its paper prints, the question is whether our implementation is
weaker than theirs. So theirs is run here, as it stands in a clone of their repository, on the same features, edges and
split, and its vectors are scored by the same probes. Nothing of it is part of this project: each file names the
repository and how its own commands are called, and stands in for libraries that it wants and that are not installed.
"""
