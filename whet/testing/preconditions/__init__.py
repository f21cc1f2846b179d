"""Rewrites that are right on what a generator draws and differ outside of it, each with an honest one beside it."""
