"""Builds, checks, times and profiles known answers on a machine with a GPU: ``python -m whet.benchmarks.gpu_check``.

It shows on one page whether whet's verdicts on a GPU are the right ones. What needs no GPU runs without one.
"""
