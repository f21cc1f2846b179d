"""What becomes of a job: done, tried again later, or given up."""

from __future__ import annotations

import logging
from typing import Protocol

from whet.bot.port import Gone, Later, Refused
from whet.bot.queue import JobState, Queue, QueuedJob
from whet.core.errors import WhetError
from whet.core.redaction import redacted
from whet.core.text import one_line

MOST_ATTEMPTS = 8
"""Times that a job is begun before it is given up: after answers to wait, and after workers that did not survive it.
More bridge longer outages of GitHub, but let a job that ends its worker do so more often."""
FIRST_WAIT, LONGEST_WAIT = 5.0, 900.0
"""Seconds before the second attempt, and at most before any where GitHub does not ask for more; the wait doubles each
time. Smaller values ask GitHub more often during an outage, larger ones delay the job. With eight attempts it grows to
320 s, so `LONGEST_WAIT` takes effect only where `MOST_ATTEMPTS` is 10 or more."""
LONGEST_PAUSE = 3700.0
"""Seconds: GitHub's rate limits are renewed every hour."""
log = logging.getLogger("whet.bot")


class Stopped(Exception):
    """The work is no longer wanted."""


class Worked(Protocol):
    """Does a job."""

    def run(self, job: QueuedJob) -> str:
        """Returns what was done, in one line."""

    def give_up(self, job: QueuedJob, why: str) -> None:
        """Leaves nothing that looks as if it were still under way."""


def carry_out(flow: Worked, queue: Queue, job: QueuedJob) -> JobState:
    """Does a job as far as it goes now, and notes what became of it. Nothing that happens in it ends the worker."""
    place = f"{job.request.kind} on {job.request.place}"
    try:
        if job.attempts >= MOST_ATTEMPTS:  # it ended the worker itself, again and again
            raise Later("its worker did not survive it")
        state, note = JobState.DONE, flow.run(job)
    except Later as later:
        if job.attempts + 1 < MOST_ATTEMPTS:
            wait = waiting(later, job.attempts)
            log.info("%s waits %.0f s: %s", place, wait, later)
            queue.postpone(job, wait, one_line(redacted(str(later))), pause=later.limited)
            return JobState.QUEUED
        state, note = JobState.FAILED, f"given up after {MOST_ATTEMPTS} attempts: {later}"
    except Stopped as stopped:
        state, note = JobState.WITHDRAWN, str(stopped)
    except (Gone, Refused, WhetError) as error:
        state, note = JobState.FAILED, str(error)
    except Exception as error:  # the border of a job: a fault of ours ends this one, not the worker
        log.exception("%s failed", place)
        state, note = JobState.FAILED, f"internal: {type(error).__name__}: {error}"
    note = one_line(redacted(note))
    if state is not JobState.DONE:
        try:
            flow.give_up(job, note)
        except (Later, Gone, Refused) as error:
            log.warning("%s: nothing could be posted about its end: %s", place, error)
        except Exception:  # the same border
            log.exception("%s: nothing could be posted about its end", place)
    queue.finish(job.id, state, note)
    log.info("%s: %s: %s", place, state, note)
    return state


def waiting(later: Later, attempts: int) -> float:
    """Returns the seconds to wait: what GitHub asks for, and no less than twice as long each time."""
    grown: float = min(FIRST_WAIT * 2**attempts, LONGEST_WAIT)
    return min(max(later.seconds or 0.0, grown), LONGEST_PAUSE)
