"""``whet bench self search``: what the strategies are worth on graphs of answers with planted verdicts."""

from __future__ import annotations

import math
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from whet.agents.models.base import Message
from whet.benchmarks.self import climb
from whet.benchmarks.self.chain import ROUNDS, Course, chain
from whet.benchmarks.self.graphs import VERSION, Graph
from whet.benchmarks.self.searching import Search

SEEDS = range(200)
"""Of the graphs that are reported on; the strategies were tuned on seeds from 10,000 on alone."""
CALLS_GOAL, BETTER_GOAL, CACHED_GOAL, OVERHEAD_GOAL = 0.60, 0.50, 0.70, 10.0
"""Shares, and milliseconds a round."""
COMPARED = ("auto", "refine", "best-of", "beam", "evolve")
TIMED = ("refine", "beam", "evolve", "auto")
CHARACTERS = 4
"""A token, about: shares do not hang on it."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One graph, searched by a strategy and by the chain with as many calls.

    Attributes:
        chain: the chain's course.
        ours: the strategy's.
        shown: speedup of what the run ended with; 1 where that is the original.
        prompts: characters of the prompts after the first round: all, those marked as stable, and of these those that
            were sent before.
    """

    chain: Course
    ours: Course
    shown: float
    prompts: tuple[int, int, int]

    @property
    def share(self) -> float | None:
        """Of the chain's calls after which its best was reached: infinite for never, None where it found nothing."""
        if self.chain.best <= 1.0:
            return None
        calls = self.ours.reached(self.chain.best)
        return math.inf if calls is None else calls / self.chain.calls

    @property
    def ends_worse(self) -> bool:
        """Whether an earlier round had a candidate, measured faster, that is better than what the run ended with."""
        return self.shown < self.ours.faster


def compared(seed: int, strategy: str) -> Compared:
    """Searches one graph."""
    graph = Graph(seed)
    theirs = chain(graph)
    with tempfile.TemporaryDirectory(prefix="whet-self-") as folder:
        search = Search(graph, Path(folder))
        # Rounds are no cap: each takes a call at least.
        result = search.run(strategy, theirs.calls, calls=theirs.calls)
        shown = result.speedup.ratio if result.speedup and result.candidate else 1.0
        return Compared(theirs, search.course(), shown, prefixes(search.prompts()))


def prefixes(prompts: Iterator[tuple[int, tuple[Message, ...]]]) -> tuple[int, int, int]:
    """Returns the characters of prompts after the first round; of their stable prefixes; of what was sent before."""
    sent: set[tuple[Message, ...]] = set()
    whole = stable = again = 0
    for round, messages in prompts:
        end = max((place for place, one in enumerate(messages, 1) if one.stable), default=0)
        known = max((place for place in range(end + 1) if messages[:place] in sent), default=0)
        sent.update(messages[:place] for place in range(1, end + 1))
        if round > 1:
            sizes = [len(one.text) for one in messages]
            whole, stable, again = whole + sum(sizes), stable + sum(sizes[:end]), again + sum(sizes[:known])
    return whole, stable, again


def report(seeds: Sequence[int] = SEEDS) -> Iterator[str]:
    """Yields the lines of the report while it measures."""
    yield (
        f"graphs of answers, version {VERSION}, seeds {seeds[0]} to {seeds[-1]}; beside each the chain of {ROUNDS} "
        f"rounds, which makes {2 * ROUNDS - 1} calls with the Judge's; a search may make as many"
    )
    found: list[Compared] = []
    for strategy in COMPARED:
        searches = [compared(seed, strategy) for seed in seeds]
        yield f"  {strategy}: {_against_chain(searches)}"
        found = found or searches
    worse = sum(one.ends_worse for one in found)
    yield f"auto ended on a worse candidate than an earlier round had: {worse} of {len(found)} (goal 0)"
    whole, stable, again = (sum(sizes) for sizes in zip(*(one.prompts for one in found), strict=True))
    yield (
        f"prompt tokens of auto after the first round, Judge's too: {stable / whole:.0%} in the cacheable prefix (goal "
        f"{CACHED_GOAL:.0%}), {again / whole:.0%} sent before in the same run"
    )
    with tempfile.TemporaryDirectory(prefix="whet-self-") as folder:
        yield from _growth(Path(folder))
        yield from _overhead(Path(folder))


def _against_chain(searches: Sequence[Compared]) -> str:
    shares = [share for one in searches if (share := one.share) is not None]
    better = sum(one.ours.best > one.chain.best for one in searches)
    worse = sum(one.ours.best < one.chain.best for one in searches)
    median = statistics.median(shares)
    needed = f"{median:.0%}" if math.isfinite(median) else "more than all"
    return (
        f"{needed} of the chain's calls to reach its best (median of {len(shares)}, goal {CALLS_GOAL:.0%}; not reached "
        f"in {sum(map(math.isinf, shares))}); with equal calls better on {better} of {len(searches)} (goal "
        f"{BETTER_GOAL:.0%}), worse on {worse}"
    )


def _growth(folder: Path) -> Iterator[str]:
    for strategy in ("refine", "auto"):
        tokens = {
            number: size / CHARACTERS
            for number, size in climb.Climb(folder / f"tokens {strategy}", strategy).prompts(climb.LONG).items()
        }
        at = ", ".join(f"{tokens[number]:.0f} in round {number}" for number in (2, 10, climb.LONG // 2, climb.LONG))
        power = climb.power(tokens)
        yield f"tokens of a Coder's prompt, {strategy}: {at}; grows as the round to the power of {power:.2f} (goal < 1)"


def _overhead(folder: Path) -> Iterator[str]:
    for strategy in TIMED:
        taken = climb.taken(folder, strategy)
        yield (
            f"search overhead beside model and evaluation, {strategy}, k=4: {taken.wall:.1f} ms a round (goal "
            f"{OVERHEAD_GOAL:g}) of {taken.answers:.1f} answers, of them {taken.cpu:.1f} ms on the CPU"
        )
