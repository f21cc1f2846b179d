"""Suites and whet's own tasks."""
