"""Whether the machine did something else while a turn was measured, and CPU seconds for where it never stops.

What is looked at is the time for which a side's processes could have run and had no processor, what a hypervisor took,
and whether a piece of work of ours took as long beside each window of the turn: never the seconds that are compared,
and never whose they are. Waiting of a process for itself (sleep, locks, files) is none of it, so nobody can make its
turns look disturbed but by being so, and threads that take turns on one processor count as waiting only as far as that
processor did something else.
"""

from __future__ import annotations

import statistics
from collections.abc import Collection, Sequence
from dataclasses import replace

from whet.evaluators.processes import Pass
from whet.evaluators.scheduling import waited_for_others
from whet.evaluators.timing.turns import (
    SIDES,
    LeftOut,
    Series,
    Turn,
    agreed,
    as_counted,
    contradicted_on_new_inputs,
    slack_of,
    spread_of,
)

DISTURBED_SHARE = 0.05
"""Of a window: a turn with a longer wait is dropped. More would let in what moves a ratio by as much; with less, the
kernel's own work and the ticks of a hypervisor (10 ms in a turn of 200) would drop turns of quiet machines."""
UNEVEN = 1.2
"""How many times as long as beside the quickest window of a turn a piece of work of ours may take beside another:
beyond it, whoever shares the core was at work in a part of the turn. Less would drop turns for how well so short a
piece of work is timed; more would let in what moves a ratio by as much."""
BEARABLE_SHARE = 0.25
"""Of a window: beyond it, another process had the processor in its turn, and not now and then. Where too few turns are
quiet, the least disturbed up to this count: how they scatter stands in their interval."""
MOST_TURNS = 2
"""How many times the turns of a look are measured at most, so that enough of them are quiet."""
UNACCOUNTED_SHARE = 0.1
"""Of a window: so much of it may be neither running nor waiting for a processor where CPU seconds stand in for it."""


def disturbance(turn: Turn, names: Collection[str]) -> float:
    """Returns the largest share of a window for which a side waited for a processor, or of the turn that was stolen.

    Args:
        turn: with passes of every side.
        names: of the workloads that are looked at; where nothing is known of one, it is taken for quiet.
    """
    return _lost([one for name in names for one in turn.passes[name].values()], len(turn.cores))


def disturbed(one: LeftOut) -> bool:
    """Whether the machine disturbed the turn of a process whose passes were left out."""
    return one.share > DISTURBED_SHARE or one.uneven > UNEVEN


def disturbed_alone(turn: Turn, names: Collection[str]) -> str | None:
    """Returns the side but for whose process the machine left a turn alone; None where it did, or disturbed others too.

    Args:
        turn: with passes of every side.
        names: of the workloads that are looked at.
    """
    if quiet([turn], names):
        return None
    waited = disturbance(turn, names) > DISTURBED_SHARE
    of = {side: [turn.passes[name][side] for name in names] for side in turn.order}
    worst = max(of, key=lambda side: _lost(of[side], len(turn.cores)) if waited else _slowest(of[side]))
    others = {name: {side: one for side, one in turn.passes[name].items() if side != worst} for name in names}
    return worst if quiet([replace(turn, passes=others)], names) else None


def _lost(passes: Sequence[Pass], cores: int) -> float:
    """Returns the largest share of a window for which its side waited, or of all of them that was stolen."""
    shares = [_waited(one, max(1, cores)) / one.outside for one in passes if one.outside > 0]
    whole = sum(one.outside for one in passes)
    return max([*shares, sum(one.stolen for one in passes) / whole if whole else 0.0])


def _slowest(passes: Sequence[Pass]) -> float:
    return max(one.pace or 0.0 for one in passes)


def _waited(one: Pass, cores: int) -> float:
    """Returns for how long a side waited while its processors did something else than its work and ours."""
    if one.waited is None or one.ran is None:
        return 0.0
    ours = one.clock if cores == 1 else 0.0  # see `whet.evaluators.meters.time.windows`
    return waited_for_others(one.waited, one.ran, cores * one.outside - ours)


def unevenness(turn: Turn, names: Collection[str]) -> float:
    """Returns how many times as long as beside its quickest window a piece of work took beside its slowest.

    Args:
        turn: with passes of every side.
        names: of the workloads that are looked at; 1 where nothing is known of any.
    """
    paces = [one.pace for name in names for one in turn.passes[name].values() if one.pace]
    return max(paces) / min(paces) if paces else 1.0


def quiet(turns: Sequence[Turn], names: Collection[str]) -> list[int]:
    """Returns which of some turns the machine left alone, by their places."""
    return [place for place in unwaited(turns, names) if unevenness(turns[place], names) <= UNEVEN]


def unwaited(turns: Sequence[Turn], names: Collection[str]) -> list[int]:
    """Returns the places of those turns in which no side waited for a processor, however fast that was."""
    return [place for place, turn in enumerate(turns) if disturbance(turn, names) <= DISTURBED_SHARE]


def steadiest(turns: Sequence[Turn], names: Collection[str], count: int) -> list[int]:
    """Returns the places of so many turns in which no side waited, the most even ones; fewer where there are not."""
    return sorted(sorted(unwaited(turns, names), key=lambda place: unevenness(turns[place], names))[:count])


def least_disturbed(turns: Sequence[Turn], names: Collection[str], count: int) -> list[int]:
    """Returns the places of so many of the least disturbed turns; fewer where the others are not to be borne."""
    shares = [disturbance(turn, names) for turn in turns]
    bearable = [place for place, share in enumerate(shares) if share <= BEARABLE_SHARE]
    return sorted(sorted(bearable, key=lambda place: shares[place])[:count])


def in_cpu_seconds(turns: Sequence[Turn], name: str) -> Series | str:
    """Returns the CPU seconds of each side on one workload, or why they cannot stand in for its time.

    Only work on one core that does nothing but compute takes as long as it runs. What the processes ran is read
    outside; what the baseline needs to hand its outcomes over is subtracted, as it is from windows.
    """
    if any(len(turn.cores) != 1 for turn in turns):
        return "the work is not on one core"
    passes = {side: [turn.passes[name][side] for turn in turns] for side in SIDES}
    ran: dict[str, list[float]] = {}
    idle: dict[str, float] = {}
    for side, found in passes.items():
        known = [(one.ran, one.waited) for one in found if one.ran is not None and one.waited is not None]
        if len(known) < len(found):
            return "this machine does not tell what its processes ran"
        if not all(one.whole for one in found):
            # What has ended has taken its account along.
            return f"on {name} processes or threads were started or ended while it was timed, or nobody tells"
        ran[side] = [used for used, _ in known]
        left = (one.outside - used - wait for one, (used, wait) in zip(found, known, strict=True))
        idle[side] = statistics.median(each / one.windows for each, one in zip(left, found, strict=True))
    # Both sides wait for their inputs to come in.
    for side, allowed in (("baseline", 0.0), ("candidate", max(0.0, idle["baseline"]))):
        if idle[side] - allowed > UNACCOUNTED_SHARE * statistics.median(o.outside / o.windows for o in passes[side]):
            return f"on {name} the {side} neither ran nor waited for a processor for {idle[side] * 1e3:.3g} ms"
    over = [
        (used - one.cpu) / one.windows
        for side in ("baseline", "again")
        for used, one in zip(ran[side], passes[side], strict=True)
    ]
    usual, spread = max(0.0, statistics.median(over)), spread_of(over)
    seconds = {
        side: agreed([(one.cpu, used, one.windows) for used, one in zip(ran[side], found, strict=True)], usual, spread)
        for side, found in passes.items()
    }
    ours = [*passes["baseline"], *passes["again"]]
    if fault := contradicted_on_new_inputs(name, ours, passes["candidate"], by_cpu=True):
        return fault.detail
    return Series.of(as_counted(turns, name, seconds, by_cpu=True), slack_of(turns, name, spread))
