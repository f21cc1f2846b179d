"""Whet's own loop on a graph of answers: the prompts are real, and the graph answers them and judges the answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from whet.agents.models.base import Message, Request
from whet.agents.optimize import optimize
from whet.benchmarks.self.chain import Course
from whet.benchmarks.self.graphs import Graph, Node
from whet.core.result import Result
from whet.core.task import Kind, Task
from whet.testing.scripted import ScriptedModel
from whet.testing.tabled import Row, TabledEvaluator

ROUND = re.compile(r"# Round (\d+)")
CLASS = re.compile(r"Class: ([a-z ]+)\.")
FOCUS = re.compile(r"## Where to work\n.*?part_(\d+)", re.DOTALL)
PARTNER = re.compile(r"## A version to join with it\n.*?```python\n(.*?)```", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of a model: its request, the round, and the program that answered; None for the Judge's."""

    request: Request
    round: int
    node: Node | None


@dataclass(frozen=True, slots=True)
class Search:
    """A graph that answers the prompts of one run.

    Attributes:
        graph: the graph.
        folder: for the target and the state directory.
        asked: all calls so far.
    """

    graph: Graph
    folder: Path
    asked: list[ModelCall] = field(default_factory=list)
    _nodes: dict[str, Node] = field(default_factory=dict)
    _rows: dict[str, Row] = field(default_factory=dict)

    def run(self, strategy: str, rounds: int, candidates: int = 4, calls: int | None = None) -> Result:
        """Works on the graph's task to the end."""
        source = self._known(self.graph.original)
        target = self.folder / "target.py"
        target.write_text(source, encoding="utf-8")
        # One after the other: what arrives in the plan's order can be read in it.
        (self.folder / "pyproject.toml").write_text("[tool.whet.providers.scripted]\nslots = 1\n", encoding="utf-8")
        return optimize(
            f"{target}::f",
            home=self.folder / "home",
            model=ScriptedModel(self._answer, free=False),
            evaluator=TabledEvaluator(Task("f", "python", Kind.FUNCTION, target, source, "f", self.folder), self._rows),
            strategy=strategy,
            rounds=rounds,
            candidates=candidates,
            budget_calls=calls,
            budget_tokens=10**12,
            seed=1,
        )

    def course(self) -> Course:
        """Returns how the run went; a round's answers are known when the last of them is."""
        best, calls = 1.0, 0
        bests = []
        for _, turn in groupby(self.asked, key=lambda one: (one.round, one.node is None)):
            for one in turn:
                calls += 1
                if one.node is not None and not one.node.fault:
                    best = max(best, self.graph.speedup(one.node))
            bests.append((calls, best))
        return Course(calls, tuple(bests))

    def prompts(self) -> Iterator[tuple[int, tuple[Message, ...]]]:
        """Yields the round and the messages of each question."""
        return ((one.round, one.request.messages) for one in self.asked)

    def node(self, source: str) -> Node:
        """Returns the program that a text of the run stands for."""
        return self._nodes[source]

    def _answer(self, request: Request) -> str:
        parent, told = self._nodes[request.brief.source], request.messages[-1].text
        if request.role == "judge":
            self.asked.append(ModelCall(request, request.sample, None))
            return _diagnosis(self.graph.directive(parent, request.sample))
        round = int(found[1]) if (found := ROUND.search(told)) else 0
        sample = f"{round}.{request.sample}"
        if found := PARTNER.search(told):
            node = self.graph.cross(parent, self._nodes[found[1]], sample)
        elif found := FOCUS.search(told):
            node = self.graph.answer(parent, self.graph.kind(parent.family, int(found[1])), sample)
        else:
            node = self.graph.answer(parent, found[1] if (found := CLASS.search(told)) else "", sample)
        self.asked.append(ModelCall(request, round, node))
        return f"Change: the next part in another way\nKind: algorithm\n```python\n{self._known(node)}```\n"

    def _known(self, node: Node) -> str:
        text = self.graph.text(node)
        self._nodes[text] = node
        self._rows[text] = self.graph.row(node)
        return text


def _diagnosis(kind: str) -> str:
    """Returns a Judge's answer of a usual length."""
    return json.dumps(
        {
            "bottleneck": "the loops over the items that are left take most of the time, each item looked up twice",
            "evidence": ["the hot lines append to a list for each item", "the last round's figures, by input"],
            "directive": f"Class: {kind}. Rewrite the part that takes the most time by a change of this kind, and "
            "leave the parts that were made faster before as they are.",
            "expected_gain": 1.3,
            "confidence": 0.6,
            "stop": False,
        }
    )
