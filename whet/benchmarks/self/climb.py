"""A long search that gains in each third round, so that it neither ends early nor stays at one width."""

from __future__ import annotations

import hashlib
import math
import re
import statistics
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from whet.agents.models.base import Request
from whet.agents.optimize import optimize
from whet.benchmarks.self.rehearsal import GAIN, SOURCE, hot_lines, judged, source
from whet.core.task import Kind, Task
from whet.testing.scripted import ScriptedModel
from whet.testing.tabled import Row, TabledEvaluator

SHORT, LONG = 20, 80
"""Rounds of the two runs whose difference is the cost of a round, whatever a run costs by itself."""
EACH = 3
"""Rounds for one gain."""
CANDIDATES = 4  # candidates of each round; what a round takes grows with them
ROUND = re.compile(r"# Round (\d+)")


@dataclass(frozen=True, slots=True)
class Climb:
    """One scripted search.

    Attributes:
        folder: for the target and the state directory; a new one.
        strategy: as after ``--strategy``.
    """

    folder: Path
    strategy: str

    def run(self, rounds: int) -> ScriptedModel:
        """Makes the run, and returns the model that was asked."""
        self.folder.mkdir()
        target = self.folder / "target.py"
        target.write_text(SOURCE, encoding="utf-8")
        rows = {SOURCE: Row(hot=hot_lines(SOURCE))}

        def answer(request: Request) -> str:
            if request.role == "judge":
                return judged(request.sample)
            number = round_of(request)
            parent = hashlib.sha256(request.brief.source.encode()).hexdigest()[:8]
            name = f"{number}.{request.sample} of {parent}"
            text = source(name)
            gain = GAIN ** (number // EACH) if number % EACH == 0 else 1.0
            rows[text] = Row(gain * (1 + request.sample / 1000), hot=hot_lines(text))
            return f"Change: a table instead of sums ({name})\nKind: data structure\n```python\n{text}```\n"

        model = ScriptedModel(answer, free=False)
        optimize(
            f"{target}::f",
            home=self.folder / "home",
            model=model,
            evaluator=TabledEvaluator(Task("f", "python", Kind.FUNCTION, target, SOURCE, "f", self.folder), rows),
            strategy=self.strategy,
            rounds=rounds,
            candidates=CANDIDATES,
            budget_tokens=10**12,
            seed=1,
        )
        return model

    def prompts(self, rounds: int) -> Mapping[int, float]:
        """Returns by round the mean characters of its questions to the Coder."""
        sizes: defaultdict[int, list[int]] = defaultdict(list)
        for request in self.run(rounds).requests:
            if request.role == "coder":
                sizes[round_of(request)].append(sum(len(one.text) for one in request.messages))
        return {number: statistics.mean(of) for number, of in sizes.items()}


def round_of(request: Request) -> int:
    """Returns the number of the round that a question to the Coder is of."""
    found = ROUND.search(request.messages[-1].text)
    assert found is not None, "a question names its round"
    return int(found[1])


def power(sizes: Mapping[int, float]) -> float:
    """Returns the exponent with which sizes grow with their round after the first: a line through their logarithms."""
    rounds = [number for number in sizes if number > 1]
    xs, ys = [math.log(number) for number in rounds], [math.log(sizes[number]) for number in rounds]
    return statistics.linear_regression(xs, ys).slope


@dataclass(frozen=True, slots=True)
class RoundOverhead:
    """What a round takes beside its model and its evaluator.

    Attributes:
        wall: milliseconds.
        cpu: milliseconds of them on the CPU.
        answers: that it asks for.
    """

    wall: float
    cpu: float
    answers: float


def taken(folder: Path, strategy: str) -> RoundOverhead:
    """Returns what a round of a strategy takes."""
    Climb(folder / f"first {strategy}", strategy).run(LONG)  # imports, templates, and the texts of the answers
    walls, cpus = [], []
    for rounds in (SHORT, LONG):
        wall, cpu = time.perf_counter(), time.process_time()
        model = Climb(folder / f"{strategy} {rounds}", strategy).run(rounds)
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    wall, cpu = ((long - short) / (LONG - SHORT) * 1e3 for short, long in (walls, cpus))
    return RoundOverhead(wall, cpu, sum(request.role == "coder" for request in model.requests) / LONG)
