"""What a rewrite needs of its arguments and the original does not: found by inputs that break one need each."""
