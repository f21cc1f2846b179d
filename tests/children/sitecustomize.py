"""Runs when a command of a test starts its interpreter; see ``tests/guard.py``."""

import os

if os.environ.get("WHET_TESTS_CLOCK_READ") or os.environ.get("WHET_TESTS_SCRIPT"):
    import sys

    sys.path.append(os.path.dirname(os.path.dirname(__file__)))  # noqa: PTH120 - pathlib takes long to import
    import guard

    sys.path.pop()
    guard.watch_imports()
