"""Routines in assembly with one fault each, the rung that is to catch it, and right ones that must pass."""
