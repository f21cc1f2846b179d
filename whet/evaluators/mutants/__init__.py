"""Mutants: the target with one small fault, which a sound oracle finds. One file a family of languages."""
