"""The graph in memory: nodes with the user's ids, edges as compressed rows, features, labels, splits."""
