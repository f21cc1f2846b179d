"""The ladder: what is right, and what is faster."""
