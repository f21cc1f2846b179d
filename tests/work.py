"""A target in a folder of its own, and runs on it by models and evaluators of known answers."""

from __future__ import annotations

import json
import os
from pathlib import Path

# Before langgraph is imported: a state that is not plain data would come back as something else.
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from whet.agents.optimize import optimize
from whet.core.profile import HotLine
from whet.core.task import Kind, Task
from whet.testing.scripted import ScriptedModel
from whet.testing.tabled import TabledEvaluator

SOURCE = "def f(xs):\n    return sorted(xs)\n"
HOT = (HotLine(2, 0.9, "    return sorted(xs)"),)


def version(number) -> str:
    return f"def f(xs):\n    return {number}\n"


def answer(source: str, note: str = "") -> str:
    return f"Change: {note}\nKind: algorithm\n```python\n{source}```\n"


def diagnosis(directive: str = "use a heap", stop: bool = False) -> str:
    parts = {"bottleneck": "sorting", "evidence": [], "directive": directive, "expected_gain": 2.0}
    return json.dumps({**parts, "confidence": 0.5, "stop": stop})


def scripted(*rounds, judge=()) -> ScriptedModel:
    """A model that answers as listed: one list a round of the Coder's samples."""

    def say(request):
        if request.role == "judge":
            lines = list(judge)
            return lines[request.sample - 1] if request.sample <= len(lines) else diagnosis()
        number = int(request.messages[3].text.split("# Round ")[1].split()[0])
        lines = rounds[number - 1] if number <= len(rounds) else []
        return lines[request.sample] if request.sample < len(lines) else ""

    return ScriptedModel(say)


class Work:
    """A target in a folder of its own, and runs on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "f.py"
        self.path.write_text(SOURCE)
        self.home = folder / "home"
        self.journal = folder / "journal"
        self.events = []
        self.task = Task("f", "python", Kind.FUNCTION, self.path, SOURCE, "f", folder)

    def optimize(self, model, rows, *, evaluator=None, **options):
        """Runs a search; candidates are checked one after the other, so that what is told has one order."""
        evaluator = evaluator or TabledEvaluator(self.task, rows, journal=self.journal)
        options = {"candidates": 2, "rounds": 8, "workers": 1, **options}
        return optimize(
            f"{self.path}::f", model=model, home=self.home, evaluator=evaluator, listener=self.events.append, **options
        )

    def journal_lines(self) -> list[str]:
        return self.journal.read_text().splitlines()


def coder_requests(model, sample=0):
    return [r for r in model.requests if r.role == "coder" and r.sample == sample and len(r.messages) == 4]


def prompt(request) -> str:
    return "\n".join(message.text for message in request.messages)


def endless(judge=None):
    """A Coder that always has another version, none of them any faster."""
    count = iter(range(10_000))

    def say(request):
        if request.role == "judge":
            return judge or diagnosis()
        return answer(version(next(count)))

    return ScriptedModel(say)
