"""Coder, Judge and the loop that they turn in."""
