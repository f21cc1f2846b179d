"""Tensor kernels: how problems of the kernel suites become tasks."""
