"""What can be read from source text alone, without running it."""
