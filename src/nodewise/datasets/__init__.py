"""Data sets by name, and planted graphs whose answer is known."""
