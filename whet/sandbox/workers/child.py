"""The process of a worker, and the one that keeps it: ``python -m whet.sandbox.workers.child DESCRIPTOR HOST``.

The supervisor is the parent of all that the work starts and leaves behind. When the worker ends, or the process that
started it is gone, it ends them all and then itself; its end of the socket is the last to be closed, which tells the
other side that nothing is left.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from contextlib import suppress

from whet.sandbox.inside import kernel
from whet.sandbox.process_tree import tree

PR_SET_CHILD_SUBREAPER = 36


def main() -> None:
    """Forks the worker, and keeps it."""
    # Nobody's child: Ray, when it ends one of its processes, kills that one's children, and so the supervisor first.
    if os.fork():
        os._exit(0)
    descriptor, host = int(sys.argv[1]), sys.argv[2]
    os.set_inheritable(descriptor, False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    kernel.prctl(PR_SET_CHILD_SUBREAPER, 1)
    woken, waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    supervisor = os.getpid()
    worker = os.fork()
    if worker:
        keep(descriptor, worker, woken)
        return
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() == supervisor:
        work(descriptor, host)
    os._exit(0)


def keep(descriptor: int, worker: int, woken: int) -> None:
    """Waits until the worker, or who gives it work, is gone; then ends all that is left."""
    poll = select.poll()
    poll.register(descriptor, select.POLLRDHUP)
    poll.register(woken, select.POLLIN)
    while worker not in buried():
        ready = [found for found, _ in poll.poll()]
        if descriptor in ready:
            break
        os.read(woken, 64)
    while True:
        for pid in list(tree(os.getpid()))[1:]:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def buried() -> list[int]:
    """Reaps the children that have ended, those that others left behind included."""
    found = []
    with suppress(ChildProcessError):
        while pid := os.waitpid(-1, os.WNOHANG)[0]:
            found.append(pid)
    return found


def work(descriptor: int, host: str) -> None:
    """Does work until there is no more."""
    from multiprocessing.connection import Connection

    from whet.sandbox.workers.serve import BEGUN, OwnBench, serve

    connection, bench = Connection(descriptor), OwnBench(host)
    with suppress(EOFError, OSError):
        connection.send(True)
        while (order := connection.recv()) is not None:
            connection.send(serve(bench, order, lambda: connection.send(BEGUN)))
    bench.close()


if __name__ == "__main__":
    main()
