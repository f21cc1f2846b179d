"""All that whet knows of each language: one file a language, found by name or suffix in `registry`."""
