"""Graph neural networks that embed a batch of subgraphs or a whole graph with the same weights."""
