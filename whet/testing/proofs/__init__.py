"""Thirty pairs of small functions without loops: what the prover says of each, and what it must say."""
