"""Edits of assembly, on its lines."""
