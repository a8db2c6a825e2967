"""From files and other libraries' objects to a graph."""
