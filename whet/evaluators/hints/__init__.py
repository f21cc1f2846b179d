"""Names what looks like a trick in a candidate. A hint decides nothing."""
