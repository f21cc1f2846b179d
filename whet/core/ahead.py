"""Imports that begin before they are needed."""

from __future__ import annotations

import importlib
import sys
import threading


def import_ahead(module: str) -> None:
    """Begins to import a module in a thread of its own; who needs it later waits for what is left of that."""
    if module not in sys.modules:
        name = f"import of {module}"
        threading.Thread(target=importlib.import_module, args=(module,), name=name).start()
