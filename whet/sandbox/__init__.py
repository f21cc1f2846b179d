"""Runs untrusted code."""
