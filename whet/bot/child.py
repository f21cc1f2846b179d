"""Runs ``whet`` for a worker, and never longer than it: ``python -m whet.bot.child PARENT WORDS...``."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main() -> None:
    """Asks the kernel to end this process with its parent, and becomes ``whet``."""
    parent, *words = sys.argv[1:]
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(parent):
        sys.exit(1)
    os.execv(sys.executable, [sys.executable, "-m", "whet", *words])


if __name__ == "__main__":
    main()
