"""The one border where every failure becomes one line on stderr and an exit code."""

from __future__ import annotations

import os
import select
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field

import typer

from whet.core.errors import Exit, WhetError, nearest
from whet.core.events import Listener, null_listener
from whet.core.text import one_line

SIGPIPE_EXIT = 141
"""What a shell reports for a program whose reader went away."""
ALIKE = 0.6
"""How much of a wrong option has to agree with the one that is suggested. Below, unrelated ones are: json for jobs."""


@dataclass(slots=True)
class Invocation:
    """What one invocation knows of itself; the context object of the command line.

    Attributes:
        debug: show tracebacks.
        run: id of the run under way that could be resumed.
        resume: the command that goes on with what is under way, where that is another than ``whet runs resume``.
        listener: hears what happens besides whatever is shown, ``--json`` or not.
        began: when it began, by ``time.monotonic``.
    """

    debug: bool = False
    run: str | None = None
    resume: str | None = None
    listener: Listener = null_listener
    began: float = field(default_factory=time.monotonic)


def guarded(session: Invocation, work: Callable[[], int]) -> int:
    """Runs a command and returns its exit code, whatever happens in it.

    Every error ends as exactly one line on stderr; with ``session.debug`` a traceback precedes it.
    """
    try:
        try:
            code = work()
        except typer.Exit as done:
            code = done.exit_code
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        command = session.resume or (f"whet runs resume {session.run}" if session.run else "")
        mend = f"; resume with: {command}" if command else ""
        return _fail(session, f"interrupted{mend}", Exit.INTERRUPTED)
    except typer.TyperException as error:
        return _fail(session, f"error: {describe(error)}", Exit.USAGE)
    except WhetError as error:
        return _fail(session, f"error: {error}", error.exit_code)
    except Exception as error:
        if isinstance(error, BrokenPipeError) and _reader_gone():
            # What is left in the buffer would raise once more when the interpreter ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return SIGPIPE_EXIT
        hint = "" if session.debug else "; run it again with --debug for the traceback"
        return _fail(session, f"error: internal: {type(error).__name__}: {error}{hint}", Exit.INTERNAL)
    return code


def describe(error: typer.TyperException) -> str:
    """Returns what the parser found wrong as one line that names the mend."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "whet"
    help = f"; see '{path} --help'"
    if context and hasattr(error, "possibilities"):
        names = (name for option in context.command.params for name in option.opts)
        known = [name.removeprefix("--") for name in names if name.startswith("--")]
        name = getattr(error, "option_name", "")
        # Compared without what all of them begin with, else any two short ones are alike.
        mend = nearest(name.lstrip("-"), known, ALIKE).replace("'", "'--", 1)
        return f"'{path}' has no option '{name}'{mend or help}"
    message = error.format_message().rstrip(".")
    return f"{message[:1].lower()}{message[1:]}{help}"


def _fail(session: Invocation, line: str, code: int) -> int:
    if session.debug:
        traceback.print_exc()
    print(one_line(line), file=sys.stderr)
    return int(code)


def _reader_gone() -> bool:
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))
