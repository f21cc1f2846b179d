"""Whatever answers prompts: providers, people, recorded replies; one protocol, one file each."""
