"""Which whet this is, and where its modules lie."""

from __future__ import annotations

from pathlib import Path

__version__ = "0.1.0"
PACKAGE = Path(__file__).parents[1]
"""The folder of the package."""
ROOT = str(PACKAGE.parent)
"""What a process of ours has to have on its path so that it finds this very whet."""
