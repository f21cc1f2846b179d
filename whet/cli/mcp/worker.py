"""One command of whet in a process of its own, for the server: ``python -m whet.cli.mcp.worker``.

A line of JSON on stdin orders it: ``words``, and ``option`` and ``text`` of a rewrite. Lines of JSON on stdout answer:
any number of ``{"progress": TEXT}``, then one with ``code`` (the exit code), ``document`` (or null) and ``error`` (the
line on stderr). Where stdin ends before that, be it that the call was cancelled or that the server is gone, the work is
interrupted as by Ctrl-C.
"""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any, TextIO

from whet.cli.errors import Invocation
from whet.cli.main import main as whet
from whet.cli.run_progress import lasting_line
from whet.core.events import Event, EventKind
from whet.core.text import one_line

PATIENCE = 20.0
"""Seconds for what is interrupted to close its sandboxes and to keep its state."""


def main() -> int:
    """Works on the order that stands on stdin; returns the exit code of the command."""
    # Whatever else reads or prints in this process shall not meet the two channels.
    orders, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w", buffering=1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    order = json.loads(orders.readline())
    threading.Thread(target=_interrupt_at_end, args=(orders,), daemon=True).start()
    said, told = io.StringIO(), io.StringIO()
    with redirect_stdout(said), redirect_stderr(told):
        code = _worked(order, answers)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    text = said.getvalue()
    lines = told.getvalue().splitlines() or [""]
    _say(
        answers,
        {"code": code, "document": json.loads(text) if text else None, "error": lines[-1].removeprefix("error: ")},
    )
    return code


def _worked(order: Mapping[str, Any], answers: TextIO) -> int:
    lock = threading.Lock()

    def hear(event: Event) -> None:
        # A client may ask for a run as soon as it hears of it, and before it has begun there is none.
        if event.kind in (EventKind.COST, EventKind.TURN) or "named" in event.data:
            return
        line = lasting_line(event) or one_line(event.text)
        if line:
            with lock:
                _say(answers, {"progress": line})

    try:
        with _words(order) as words:
            return whet(words, Invocation(listener=hear))
    except KeyboardInterrupt:  # before the command began, or after it ended
        return 130


@contextmanager
def _words(order: Mapping[str, Any]) -> Iterator[list[str]]:
    command, *rest = order["words"]
    if not order["option"]:
        yield [command, *rest]
        return
    with tempfile.TemporaryDirectory(prefix="whet-mcp-") as folder:
        file = Path(folder) / order["option"].lstrip("-")
        file.write_text(order["text"], encoding="utf-8")
        yield [command, f"{order['option']}={file}", *rest]


def _say(answers: TextIO, message: Mapping[str, Any]) -> None:
    with suppress(OSError):  # the server is gone, and the work is being interrupted
        answers.write(f"{json.dumps(message)}\n")


def _interrupt_at_end(orders: TextIO) -> None:
    orders.read()
    main_thread = threading.main_thread().ident
    assert main_thread is not None
    signal.pthread_kill(main_thread, signal.SIGINT)
    time.sleep(PATIENCE)
    os.killpg(os.getpgrp(), signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
