"""Types and plain data; imports nothing of ours."""
