"""Tables as people have them, turned into features: what a column holds, and what becomes of it."""
