"""Random augmentations of a node: walks on the graph and the subgraphs they induce (Section 4.1)."""
