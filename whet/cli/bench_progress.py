"""Shows a suite's run while it works: a bar with the time left on a terminal, and a plain line for each problem."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from whet.agents.judges import telling
from whet.benchmarks.runner.run import Done, JobExecution
from whet.cli.hosts import Pace, host_lines
from whet.core.events import Event
from whet.core.text import count, duration, one_line, times

Tell = Callable[[Done], None]


@contextmanager
def following(run: JobExecution) -> Iterator[Tell]:
    """Gives what tells of each job that is done; says first what will not be done and why."""
    for why, number in sorted(Counter(why for _, why in run.plan.unable).items()):
        print(f"not run: {count(number, 'problem')}: {one_line(why)}")
    if run.plan.finished:
        print(f"{count(run.plan.finished, 'row')} done before")
    if not sys.stdout.isatty():
        with _plain_hosts(run):
            yield lambda done: print(line_of(done), flush=True)
        return
    from rich.console import Console, Group
    from rich.live import Live
    from rich.text import Text

    console = Console(highlight=False)
    status = f"0 of {len(run.plan.jobs)} done"

    def render() -> Group:
        hosts = host_lines(run.executor.hosts(), run.executor.waiting) if run.executor is not None else []
        return Group(*(Text(row, no_wrap=True, overflow="ellipsis") for row in [*hosts, status]))

    with Live(get_renderable=render, console=console, transient=True, refresh_per_second=4):

        def tell(done: Done) -> None:
            nonlocal status
            console.print(line_of(done), markup=False)
            status = status_of(done)

        yield tell


@contextmanager
def _plain_hosts(run: JobExecution) -> Iterator[None]:
    """Prints how the hosts are, now and then."""
    if run.executor is None:
        yield
        return
    pace = Pace()

    def say(event: Event) -> None:
        for line in pace.lines(event.data):
            print(line, flush=True)

    with telling(run.executor, say):
        yield


def line_of(done: Done) -> str:
    """Returns what came of a job, as a line."""
    name = one_line(f"{done.job.problem.id} #{done.job.sample}", 60)
    where = ", by another driver" if done.elsewhere else ""
    return f"[{done.number}/{done.total}] {name:<28} {_outcome(done)}{where}"


def _outcome(done: Done) -> str:
    row = done.row
    if row is None:
        return one_line(f"could not be judged: {done.error}", 300)
    if row.excluded:
        return one_line(f"excluded: {row.excluded}", 300)
    if row.own is None:
        return "no answer"
    parts = ["passes" if row.own.passed else one_line(f"fails: {row.own.reason}", 200)]
    if row.result is not None:
        speedup = row.result["speedup"]
        ratio = f" {times(speedup['ratio'])}" if speedup else ""
        parts.append(f"whet: {row.result['status']}{ratio}")
    return f"{'; '.join(parts)}  {row.seconds:.1f} s"


def status_of(done: Done) -> str:
    """Returns how far the run is: jobs done, time left and money spent."""
    spent = f", {done.usd:.4f} USD" if done.usd else ""
    return f"{done.number} of {done.total} done, {duration(done.left)} left{spent}"
