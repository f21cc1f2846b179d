"""A run whose model and evaluator are scripted, so that what is left is the loop and what it stores."""

from __future__ import annotations

import hashlib
import json
import random
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from whet.agents.models.base import Request
from whet.agents.optimize import optimize, resume
from whet.core.candidate import Candidate
from whet.core.events import Listener, null_listener
from whet.core.plain import to_plain
from whet.core.profile import HotLine
from whet.core.result import Result
from whet.core.store import Store
from whet.core.task import Kind, Task
from whet.core.verdict import Rung, Verdict
from whet.testing.scripted import ScriptedModel
from whet.testing.tabled import Row, TabledEvaluator

LINES = 40  # more make texts and prompts longer
EDITED = 6
"""Lines of the target, and those that a rewrite changes: a function as people write them, and a patch of it."""
GAIN = 1.05
"""Of each round over the one before, so that no run ends for want of a gain."""
HEXADECIMAL = re.compile(r"[0-9a-f]{16,}")
LARGE = 1 << 32  # integers above it count as seeds and hashes, and are drawn anew; smaller ones stay as they are


@cache
def source(changed: str = "") -> str:
    """Returns the target, or the rewrite that a name stands for."""
    lines = [f"    total_{n} = sum(x * {n + 3} for x in xs if x % {n + 2})" for n in range(LINES)]
    drawn = random.Random(changed)
    for n in drawn.sample(range(LINES), EDITED if changed else 0):
        lines[n] = f"    total_{n} = table_{drawn.randrange(10**6)}[len(xs) % {drawn.randrange(10**6)}]"
    return "\n".join(["def f(xs):", *lines, "    return total_0", ""])


SOURCE = source()


def rows(rounds: int, candidates: int) -> dict[str, Row]:
    """Returns what is found of each rewrite: all are right, each round gains on the one before."""
    table = {SOURCE: Row(hot=hot_lines(SOURCE))}
    for number in range(1, rounds + 1):
        for sample in range(candidates):
            text = source(f"{number}.{sample}")
            table[text] = Row(GAIN**number * (1 + sample / 1000), hot=hot_lines(text))
    return table


def hot_lines(text: str) -> tuple[HotLine, ...]:
    """Returns the hot lines of the target or of a rewrite."""
    return tuple(HotLine(n, 0.1, line) for n, line in enumerate(text.split("\n")[1:9], 2))


def asked(role: str, sample: int, messages: Sequence[tuple[str, str]]) -> str:
    """Returns a name for a question that owes nothing to the ledger's own keys."""
    return hashlib.sha256(repr((role, sample, list(messages))).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """One scripted run.

    Attributes:
        folder: holds the state directory and both journals.
        target: the file to be made faster; written when the run begins.
        rounds: of the run.
        candidates: a round.
        model_seconds: that an answer takes.
        evaluator_seconds: that an evaluation takes.
        journals: whether they are written.
        template: a real verdict up to its measurement; verdicts are made as large as it.
    """

    folder: Path
    target: Path
    rounds: int
    candidates: int = 4
    model_seconds: float = 0.0
    evaluator_seconds: float = 0.0
    journals: bool = True
    template: Verdict | None = None

    @property
    def home(self) -> Path:
        """The state directory."""
        return self.folder / "home"

    @property
    def questions(self) -> Path:
        """A journal: one line for each question that reaches the model, written before it answers."""
        return self.folder / "questions"

    @property
    def evaluations(self) -> Path:
        """A journal: one line for each evaluation, written when it begins."""
        return self.folder / "evaluations"

    def work(self, listener: Listener = null_listener) -> Result:
        """Begins the run, or goes on with it."""
        store = Store(self.home)
        known = store.runs()
        store.close()
        if known:
            return resume(
                known[0].id, home=self.home, model=self.model(), evaluator=self.evaluator(), listener=listener
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        self.target.write_text(SOURCE, encoding="utf-8")
        return optimize(
            f"{self.target}::f",
            home=self.home,
            model=self.model(),
            evaluator=self.evaluator(),
            rounds=self.rounds,
            candidates=self.candidates,
            strategy="refine",  # as many answers in each round
            budget_tokens=10**12,
            seed=1,
            listener=listener,
        )

    def model(self) -> ScriptedModel:
        """Returns a model that costs tokens, and answers by the number of the round and of the sample."""

        def answer(request: Request) -> str:
            if self.journals:
                name = asked(request.role, request.sample, [(one.role, one.text) for one in request.messages])
                with self.questions.open("a", encoding="utf-8") as journal:
                    journal.write(f"{name}\n")
            if self.model_seconds:
                time.sleep(self.model_seconds)
            return judged(request.sample) if request.role == "judge" else _proposed(request)

        return ScriptedModel(answer, free=False)

    def evaluator(self) -> TabledEvaluator:
        """Returns an evaluator that knows the script."""
        task = Task("f", "python", Kind.FUNCTION, self.target, SOURCE, "f", self.target.parent)
        table = rows(self.rounds, self.candidates)
        if self.template is None:
            journal = self.evaluations if self.journals else None
            return TabledEvaluator(task, table, journal=journal, delay=self.evaluator_seconds)
        return LargeVerdicts(task, table, self.template)


def _proposed(request: Request) -> str:
    _, _, rest = request.messages[-1].text.partition("# Round ")
    name = f"{rest.split(maxsplit=1)[0]}.{request.sample}"
    return f"Change: a table instead of sums ({name})\nKind: data structure\n```python\n{source(name)}```\n"


def judged(round: int) -> str:
    """Returns the Judge's answer after a round."""
    return json.dumps(
        {
            "bottleneck": f"the sums of round {round} walk the whole list once for each of the totals",
            "evidence": [f"line {n} takes 10 % of the time" for n in (2, 3, 4)],
            "directive": f"After round {round}: replace more of the sums by one pass that fills all totals at once.",
            "expected_gain": GAIN,
            "confidence": 0.8,
            "stop": False,
        }
    )


class LargeVerdicts(TabledEvaluator):
    """Judges by a table, and writes as much about it as the ladder does: a real verdict, its figures drawn anew."""

    def __init__(self, task: Task, table: dict[str, Row], template: Verdict) -> None:
        super().__init__(task, table)
        self._template = template

    def check(self, candidate: Candidate) -> Verdict:
        """See `whet.evaluators.protocol.Evaluator.check`."""
        super().check(candidate)
        checked = [rung for rung in self._template.rungs if rung.name != "measure"]
        return Verdict(candidate.id, tuple(_redrawn(rung, candidate.id) for rung in checked))

    def measure(self, candidate: Candidate, verdict: Verdict, *, looks: int | None = None) -> Verdict:
        """See `whet.evaluators.protocol.Evaluator.measure`."""
        return self._filled(super().measure(candidate, verdict, looks=looks))

    def confirm(self, candidate: Candidate, verdict: Verdict) -> Verdict:
        """See `whet.evaluators.protocol.Evaluator.confirm`."""
        return self._filled(super().confirm(candidate, verdict))

    def _filled(self, timed: Verdict) -> Verdict:
        """Puts the template's samples behind the last rung's figures."""
        measure = self._template.rung("measure")
        assert measure is not None, "the template was measured"
        assert timed.measurement is not None
        last = replace(timed.rungs[-1], evidence=redrawn(measure.evidence, f"{timed.candidate} {timed.rungs[-1].name}"))
        # As the ladder has it, the samples of the rung are those of the measurement.
        raw = last.evidence["measurements"][0]["raw"]
        return Verdict(timed.candidate, (*timed.rungs[:-1], last), replace(timed.measurement, raw=raw))


def _redrawn(rung: Rung, seed: str) -> Rung:
    return replace(rung, evidence=redrawn(rung.evidence, seed))


def redrawn(data: Any, seed: str) -> Any:
    """Returns plain data of the same shape and size whose hashes, seeds and floats are drawn anew."""
    drawn = random.Random(seed)

    def walk(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: walk(one) for name, one in value.items()}
        if isinstance(value, list):
            return [walk(one) for one in value]
        if isinstance(value, str) and HEXADECIMAL.fullmatch(value):
            return f"{drawn.getrandbits(4 * len(value)):0{len(value)}x}"
        if isinstance(value, float):
            return round(value * drawn.uniform(0.9, 1.1), len(str(value).partition(".")[2]))
        if isinstance(value, int) and value > LARGE:
            return drawn.randrange(value // 2, value)
        return value

    return walk(to_plain(data) if not isinstance(data, dict | list) else data)
