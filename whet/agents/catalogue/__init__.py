"""Known performance edits: one small file an edit, listed in `registry`."""
