"""Evaluation through an executor: the steps of the ladder as work for other processes and hosts."""
