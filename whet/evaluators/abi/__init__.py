"""Native functions at the level of registers and memory: the ABI, guarded buffers, and outputs against a reference."""
