"""Rewrites of stateful code: wrong ones that only a second call or a state after the call shows, and honest ones."""
