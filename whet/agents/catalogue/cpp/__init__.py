"""Edits of C and C++ files, on their tokens; no compiler is asked."""
