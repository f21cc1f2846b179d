"""Adapters of benchmark suites: each reads the original data from a path that the user gives."""
