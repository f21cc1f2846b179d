"""Asks a model once for a workload file, where nobody gave one. What comes of it is a fact of the run."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from whet.agents.answers import LONGEST, THINKING, fenced_blocks
from whet.agents.asking import Asking
from whet.agents.coder import Ask, repair_request
from whet.agents.job import store_task
from whet.agents.models.base import Brief, Message, Model, ModelError, Reply, Request
from whet.agents.models.in_turn import parts
from whet.agents.telling import shown_support
from whet.core.errors import BudgetError
from whet.core.events import Event, EventKind, Listener
from whet.core.patch import Malformed
from whet.core.store import Store
from whet.core.task import Task
from whet.core.trees import parse_python
from whet.evaluators.inputs.proposed import Judged
from whet.evaluators.inputs.type_hints import hints_of, module_name
from whet.evaluators.languages.registry import takes_objects
from whet.prompts import one_line, render

ROOM = 8192
"""Tokens of an answer."""
CALLERS = "callers"
DECIDED = "workload"
QUESTION = "workload"
TAGS = ("python", "py", "python3", "")

WorkloadTrial = Callable[[str, str], Judged]
"""Judges the text of a proposed workload file, and who proposed it."""


def author_of(model: Model) -> Model | None:
    """Returns the first part of a model that can write a workload; None for the catalogue alone."""
    return next((part for part in parts(model) if part.name != "catalogue"), None)


def lacks_workload(task: Task) -> bool:
    """Whether nobody gave inputs of a task: whatever it has was written from its hints."""
    return not task.workload.given


def workload_request(task: Task, callers: str) -> Request:
    """Returns the question for a workload file."""
    python = takes_objects(task)
    told = render(
        "workload_task",
        task=task,
        module=module_name(task) if python else "",
        hints=hints_of(task) if python else "",
        callers=callers,
        support=shown_support(task)["support"],
    )
    messages = (Message("system", render("workload_system"), stable=True), Message("user", told, stable=True))
    brief = Brief(task.written, task.kind.value, task.symbol, task.source)
    return Request("workload", messages, 0, ROOM, brief)


def read_workload(reply: Reply) -> str | Malformed:
    """Returns the file in an answer. It is parsed, and run by nobody here."""
    if reply.stop != "end":
        return Malformed("the answer was cut off for its length" if reply.stop == "length" else "the model refused")
    text = THINKING.sub("", reply.text, count=1)
    if len(text) > LONGEST:
        return Malformed("the answer is too long")
    blocks = [block for block in fenced_blocks(text.split("\n")) if block.closed and block.tag.lower() in TAGS]
    if len(blocks) != 1:
        return Malformed(f"{len(blocks)} fenced blocks of Python were found where one should be")
    source = "\n".join(blocks[0].lines) + "\n"
    try:
        module = parse_python(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Malformed(f"the file does not parse: {one_line(str(error))}")
    names = {node.name for node in module.body if isinstance(node, ast.FunctionDef)}
    if "make_input" not in names:
        return Malformed("the file defines no make_input(size, rng)")
    # Either would let inputs, or right answers, be ruled out by somebody who answers for neither.
    if unasked := names & {"valid", "check"}:
        return Malformed(f"the file defines {', '.join(sorted(unasked))}, which nobody asked for; leave it out")
    return source


@dataclass(frozen=True, slots=True)
class Author:
    """Has a workload written for a run, and remembers what came of it.

    Attributes:
        store: of the run.
        run: its id.
        model: is asked.
        asking: asks it.
        ask: through the ledger.
        listener: hears what comes of it.
    """

    store: Store
    run: str
    model: Model
    asking: Asking
    ask: Ask
    listener: Listener

    def decide(self, task: Task, trial: WorkloadTrial) -> tuple[Task, str]:
        """Returns the task as it stands from now on, and a line about why; both are facts of the run.

        An answer that cannot be read, or is not accepted, is sent back once.

        Raises:
            ModelError: a fatal one: nothing is decided.
        """
        self.listener(Event(EventKind.STAGE, "asking for a workload", {"stage": "workload"}))
        request = workload_request(task, self.store.fact(self.run, CALLERS) or "")
        judged = Judged(task, False, "")
        for name in (QUESTION, f"{QUESTION}:again"):
            try:
                reply = self.asking.one(self.model, name, partial(self.ask, self.model, request))
            except BudgetError as error:
                judged = Judged(task, False, judged.why or str(error))
                break
            except ModelError as error:
                if error.fatal:
                    raise
                judged = Judged(task, False, str(error))
                break
            text = read_workload(reply)
            judged = Judged(task, False, text.complaint) if isinstance(text, Malformed) else trial(text, reply.model)
            if judged.accepted or reply.stop == "refusal" or not reply.text.strip():
                break
            request = repair_request(request, reply, "workload_repair", Malformed(judged.why))
        return judged.task, self._recorded(judged)

    def _recorded(self, judged: Judged) -> str:
        line = (
            f"the workload of {self.model.name} is {'used' if judged.accepted else 'dropped'}: {one_line(judged.why)}"
        )
        with self.store.on_disk():
            self.store.set_fact(self.run, "task", store_task(self.store, judged.task))
            self.store.set_fact(self.run, DECIDED, {"accepted": judged.accepted, "line": line})
        self.listener(Event(EventKind.STAGE, line, {"stage": "workload", "accepted": judged.accepted}))
        return line
