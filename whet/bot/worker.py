"""A worker: takes jobs from the queue, one at a time, until the server that started it is gone."""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import time
from contextlib import suppress

from whet.bot.engine import CommandEngine
from whet.bot.flow import Flow
from whet.bot.github import App
from whet.bot.outcome import carry_out
from whet.bot.queue import Queue
from whet.bot.redact import start_log
from whet.bot.settings import Credentials, JobLimits, Places
from whet.core.plain import from_plain

POLL = 0.2  # seconds between two looks of an idle worker at the queue; more delay a job, fewer load the database
log = logging.getLogger("whet.bot")


def main() -> None:
    """Reads what it is to do from stdin, whose end means that the server is gone."""
    start_log()
    with suppress(IndexError):
        os.set_inheritable(int(sys.argv[1]), False)
    places, limits, answers = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_server, daemon=True).start()
    work(from_plain(Places, places), from_plain(JobLimits, limits), answers=answers)


def _end_with_server() -> None:
    sys.stdin.read()
    # Nothing to tidy: the queue knows what is under way, and processes below end with this one.
    os._exit(0)


def work(places: Places, limits: JobLimits, *, answers: bool) -> None:
    """Takes jobs for ever.

    Args:
        places: where things are.
        limits: of one job.
        answers: take those alone that run no code, which wait for nothing.
    """
    credentials = Credentials.read()
    app = App(credentials.app, credentials.key, places.api, places.writes_apart)
    queue = Queue(places.folder)
    flow = Flow(queue, app.repository, CommandEngine(limits), places, limits)
    while True:
        job = queue.claim(os.getpid(), work=not answers)
        if job is None:
            time.sleep(POLL)
        else:
            carry_out(flow, queue, job)


if __name__ == "__main__":
    main()
