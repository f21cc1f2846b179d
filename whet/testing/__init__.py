"""Parts for tests, ours and the users'."""
