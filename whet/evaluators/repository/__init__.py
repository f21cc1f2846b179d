"""A whole repository: what is in it, where its time goes, and which tests reach what."""
