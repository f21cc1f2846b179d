"""The loop of most published agents, on a graph of answers: a chain of rounds without a way back."""

from __future__ import annotations

from dataclasses import dataclass, replace

from whet.benchmarks.self.graphs import Graph

ROUNDS = 10
"""As many as such agents make, whatever came of them."""

FASTER = 1.03
"""Speedup from which a planted verdict says faster: its interval is two percent wide on either side."""


@dataclass(frozen=True, slots=True)
class Course:
    """How a search went.

    Attributes:
        calls: that it made of its models.
        bests: after each round's answers: the calls until then, and the best speedup of a right program.
    """

    calls: int
    bests: tuple[tuple[int, float], ...]

    @property
    def best(self) -> float:
        """The best speedup of all."""
        return self.bests[-1][1] if self.bests else 1.0

    @property
    def faster(self) -> float:
        """The best speedup of those that a verdict calls faster; 1 where there is none."""
        return self.best if self.best > FASTER else 1.0

    def reached(self, speedup: float) -> int | None:
        """Returns the calls after which a speedup was reached; None where it was not."""
        return next((calls for calls, best in self.bests if best >= speedup), None)


def chain(graph: Graph, rounds: int = ROUNDS) -> Course:
    """Searches a graph by one answer a round, built upon the last right one, however slow that is.

    The best program is kept aside. Between rounds the Judge is asked. What is wrong or cheats is seen, as whet sees it.
    """
    at, asked, best = graph.original, "", 1.0
    bests = []
    for number in range(1, rounds + 1):
        answer = graph.answer(at, asked, f"{number}.0")
        if not answer.fault:
            at = replace(answer, mark="")
            best = max(best, graph.speedup(at))
        bests.append((2 * number - 1, best))
        asked = graph.directive(at, number)
    return Course(2 * rounds - 1, tuple(bests))
