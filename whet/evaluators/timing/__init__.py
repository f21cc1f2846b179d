"""Turns of fresh processes, and what they show."""
