"""A task as a question, and a source text as the answer to it: what is exported, and what a reward is given for."""

from __future__ import annotations

from whet.agents.learning.records import Message, Messages
from whet.agents.telling import shown_support
from whet.core.measurement import told_as
from whet.core.task import Task
from whet.prompts import fence, render
from whet.sandbox.toolchains import native


def question(task: Task, metric: str) -> str:
    """Returns the prompt of a task: the same for all its candidates.

    The prompts of a run are others: they quote what was tried before, this machine's times and earlier inputs. Of
    several metrics it names the first, by which candidates are ranked.
    """
    support = shown_support(task)["support"]
    first = told_as(metric.partition(",")[0])
    return render("learner", task=task, metric=first, tag=native.language_of(task, task.source), support=support)


def answer(task: Task, source: str) -> str:
    """Returns a text as an answer that `whet.agents.answers.parse_answer` reads: the whole file in one fence."""
    return fence(source, native.language_of(task, source))


def asked(text: str) -> Messages:
    """Returns a prompt as a conversation."""
    return (Message("user", text),)


def answered(text: str) -> Messages:
    """Returns an answer as a conversation."""
    return (Message("assistant", text),)
