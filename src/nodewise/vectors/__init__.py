"""Embeddings keyed by ids: in memory, in files, in shards."""
