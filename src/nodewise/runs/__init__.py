"""What a run is and can do: written by any method, read by anybody, from the shell or from Python."""
