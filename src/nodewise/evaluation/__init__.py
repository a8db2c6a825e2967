"""Score vectors: probes, neighbors, clusters, links. Labels are read here and nowhere in training.

Training code never imports this folder. Accuracies and scores are fractions in [0, 1] throughout; tables
multiply by 100.
"""
