"""A place whose scripted model has another answer to each question, and whose verdicts are planted."""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import signal
import time

from places import SOURCE, Place
from work import diagnosis

from whet.agents.calls import question_of
from whet.core.profile import HotLine
from whet.core.verdict import Reason
from whet.testing.scripted import ScriptedModel
from whet.testing.tabled import Row

HOT = tuple(HotLine(2, 0.4 - place / 10, f"    return {place}") for place in range(3))
LABELS = ("algorithm", "data structure", "vectorisation")


def digest(*parts) -> int:
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:4])


class Verdicts(dict):
    """By the text: a third is wrong, the others between half and four times as fast as the original."""

    def get(self, source, default=None):
        if source == SOURCE:
            return Row(hot=HOT)
        luck = digest("verdict", source)
        return Row(reason=Reason.WRONG_OUTPUT) if luck % 3 == 0 else Row(0.5 + luck % 350 / 100, hot=HOT)


def planted(request) -> str:
    """Returns an answer that hangs on the whole question; a third of them say what another did, in another layout."""
    if request.role == "judge":
        return diagnosis(f"after round {request.sample}")
    luck = digest(request.sample, [one.text for one in request.messages])
    if luck % 3 == 0:
        text = f"def f(xs):\n    return {luck % 2}\n{'# again' * (luck % 9)}\n"
    else:
        text = f"{'import math' if luck % 2 else ''}\n\ndef f(xs):\n    return {luck}\n"
    return f"Change: {luck}\nKind: {LABELS[luck % len(LABELS)]}\n```python\n{text}```\n"


class Planted(Place):
    """As `Place`, for a strategy that is told the price of its answers."""

    def __init__(self, folder, strategy: str) -> None:
        super().__init__(folder)
        self.strategy = strategy

    def model(self, delay: float = 0.0, interrupt_at: int = 0) -> ScriptedModel:
        numbers = itertools.count(1)

        def slowly(request):
            with self.asked.open("a") as journal:
                journal.write(f"{question_of(request)}\n")
            if next(numbers) == interrupt_at:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(1.0)
            time.sleep(delay)
            return planted(request)

        return ScriptedModel(slowly, "paid", free=False)

    def evaluator(self, delay: float = 0.0, rows=None, **options):
        return super().evaluator(delay, Verdicts() if rows is None else rows, **options)

    def optimize(self, delay: float = 0.0, **options):
        return super().optimize(
            delay, **{"strategy": self.strategy, "rounds": 4, "candidates": 4, "budget_calls": 1000, **options}
        )


def rounds_of(text: str) -> int:
    return int(re.search(r"# Round (\d+)", text)[1])
