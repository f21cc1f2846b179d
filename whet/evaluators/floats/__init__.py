"""Whether floats that differ in their bits are right."""
