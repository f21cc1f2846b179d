"""What a candidate may be better in: one file a metric."""
