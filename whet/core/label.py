"""The kinds of wins (law 8)."""

from __future__ import annotations

from enum import StrEnum


class Label(StrEnum):
    """What kind of change a win is."""

    ALGORITHM = "algorithm"
    DATA_STRUCTURE = "data structure"
    VECTORISATION = "vectorisation"
    CUSTOM_KERNEL = "custom kernel"
    DECOY_KERNEL = "decoy kernel"
    LIBRARY_CALL = "library call"
    COMPILER_FLAG = "compiler flag"
    LOWER_PRECISION = "lower precision"
    CACHING = "caching within a call"
    PARALLELISM = "parallelism"
