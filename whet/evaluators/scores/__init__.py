"""Scores of benchmark suites as pure functions: what all share in `common`, else one module a suite."""
