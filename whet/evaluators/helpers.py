"""Of a wrong rewrite, the lowest function that is wrong: bottom-up, on calls that the original makes.

The original runs on a few inputs while the calls of its own functions are recorded; then both sides are asked what the
functions that they have in common make of the same arguments, each in a process of its own. What comes of it explains a
verdict, and changes none: a function may well be meant to differ.
"""

from __future__ import annotations

import ast
from base64 import b64decode
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from itertools import islice

from whet.core.helpers import Helpers
from whet.core.task import Kind, Task
from whet.core.trees import parse_python
from whet.core.verdict import Verdict
from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.counterexample import LARGEST_KEPT, SMALLEST
from whet.evaluators.inputs.plan import plan
from whet.evaluators.inputs.source import Input, InputSource
from whet.evaluators.languages.registry import language_of_task
from whet.evaluators.oracle import Oracle
from whet.evaluators.pairs import Side
from whet.evaluators.processes import FunctionProcess
from whet.evaluators.screen import parameters
from whet.sandbox.protocol import Incident

MOST_INPUTS = 16
"""On which the original's calls are recorded."""
MOST_RECORDED = 200
"""Calls of one function that are kept."""
MOST_TRIED = 25
"""Of those, the smallest ones, which both sides repeat."""


def comparable(task: Task, verdict: Verdict) -> bool:
    """Whether a candidate gave something wrong, and the functions of its file can be called by themselves."""
    native = task.signature is not None or task.module is not None
    python = task.kind is Kind.FUNCTION and language_of_task(task).objects and not native and not task.others
    return python and verdict.failed is not None and verdict.failed.name == "differential"


def inputs_for(source: InputSource, verdict: Verdict, seed: int) -> list[Input]:
    """Returns the smallest input on which a candidate is known to be wrong, and a few fresh ones that are not large."""
    drawn = [item for item in islice(plan(source, seed), MOST_INPUTS) if len(item.payload) <= LARGEST_KEPT]
    if lacking := MOST_INPUTS - len(drawn):
        drawn += source.typed(seed, lacking)
    known = verdict.failed.evidence.get(SMALLEST) if verdict.failed is not None else None
    return drawn if known is None else [Input("the smallest input found", b64decode(known)), *drawn]


def shared(ours: str, theirs: str, symbol: str) -> list[str]:
    """Returns the functions of two texts that have the same name and parameters, callees before their callers.

    Args:
        ours: the original; it parses.
        theirs: the rewrite; it parses, for it was run.
        symbol: of the target, which is none of them.
    """
    known, functions = _functions(ours), _functions(theirs)
    same = {
        name: node
        for name, node in functions.items()
        if name != symbol and name in known and parameters(node) == parameters(known[name])
    }
    order: dict[str, None] = {}

    def visit(name: str, above: frozenset[str]) -> None:
        if name not in order and name not in above:
            for callee in _named(same[name]):
                if callee in same:
                    visit(callee, above | {name})
            order[name] = None

    for name in same:
        visit(name, frozenset())
    return list(order)


def _functions(source: str) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in parse_python(source).body if isinstance(node, ast.FunctionDef)}


def _named(function: ast.FunctionDef) -> Iterator[str]:
    return (node.id for node in ast.walk(function) if isinstance(node, ast.Name))


@dataclass(frozen=True, slots=True)
class HelperComparison:
    """Compares the functions that rewrites share with the original.

    Attributes:
        builder: of the task; see `comparable`.
        source: of its inputs.
        seconds: that a call may take.
        hash_seed: of all processes.
    """

    builder: Builder
    source: InputSource
    seconds: float
    hash_seed: int

    def lowest(self, candidate: str, inputs: Sequence[Input]) -> Helpers:
        """Returns the first function that differs, callees before their callers.

        Args:
            candidate: the rewrite's text.
            inputs: on which the original's calls are recorded.
        """
        task = self.builder.task
        assert task.symbol is not None, "a function has a name"
        names = shared(task.source, candidate, task.symbol)
        calls = self._recorded(names, inputs) if names else {}
        agreeing: list[str] = []
        for name in names:
            if name not in calls:
                continue
            if detail := self._difference(candidate, name, calls[name]):
                return Helpers(name, detail, tuple(agreeing))
            agreeing.append(name)
        return Helpers(agreeing=tuple(agreeing))

    def _recorded(self, names: Sequence[str], inputs: Sequence[Input]) -> Mapping[str, list[bytes]]:
        """Returns the arguments with which the original calls some functions, the smallest first."""
        process = self._artifact(self.builder.task.source).start(hash_seed=self.hash_seed, worker=0)
        if not isinstance(process, FunctionProcess):
            return {}
        found: defaultdict[str, list[bytes]] = defaultdict(list)
        with closing(process):
            try:
                payloads = [item.payload for item in inputs]
                for name, call in process.helper_calls(payloads, names, MOST_RECORDED, self.seconds):
                    found[name].append(call)
            except (Incident, ValueError):
                return {}
        return {name: sorted(some, key=len)[:MOST_TRIED] for name, some in found.items()}

    def _difference(self, candidate: str, name: str, calls: Iterable[bytes]) -> str:
        """Returns how a function of the rewrite differs from the original's on the first call where it does."""
        shop = self.builder
        own = Builder(replace(shop.task, symbol=name), shop.sandbox, shop.interpreter, shop.preload, layouts=1)
        with ExitStack() as stack:
            oracle = stack.enter_context(closing(Oracle(own.task, self.source, own)))
            ours, theirs = (
                stack.enter_context(closing(Side(replace(self._artifact(text), builder=own), self.hash_seed)))
                for text in (shop.task.source, candidate)
            )
            for call in calls:
                item = Input("a call that the original makes", call, source="calls")
                expected, actual = ours.call(call, self.seconds), theirs.call(call, self.seconds)
                if isinstance(expected, Fault):
                    continue
                found = actual if isinstance(actual, Fault) else oracle.compare(item, expected[0], actual[0])
                if found is not None:
                    return f"{found.detail}\n{oracle.input_text(item)}"
        return ""

    def _artifact(self, source: str) -> Artifact:
        artifact = self.builder.build(source)
        assert isinstance(artifact, Artifact), "Python needs no building"
        return artifact
