"""Compilers and interpreters: one file a family of languages."""
