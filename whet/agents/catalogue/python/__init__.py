"""Edits of Python files, on libcst."""
