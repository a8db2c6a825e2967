"""One page to look at a run with: self-contained, interactive, and needing neither a server nor a network."""
