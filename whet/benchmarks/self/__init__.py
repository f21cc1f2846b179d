"""Measures whet itself on this machine: what its figures are worth here."""
