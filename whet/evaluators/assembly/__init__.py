"""Assembly routines: what their text may hold, and what other instruction sets need."""
