"""The rung ``screen``: what a text shows before anything of it is built or run, whatever its language."""

from __future__ import annotations

from whet.core.plain import to_plain
from whet.core.task import Task
from whet.evaluators.finding import Passed, sound
from whet.evaluators.hints.registry import hints
from whet.evaluators.languages.registry import language_of_answer


def screened(task: Task, source: str) -> Passed:
    """Returns what the text of an answer shows. Hints of cheating are recorded, and decide nothing.

    Args:
        task: that it answers.
        source: its text.

    Raises:
        RungEndedError: it cannot take the target's place.
    """
    found = sound(language_of_answer(task, source).screen(task, source))
    return Passed(found.detail, {"hints": [to_plain(hint) for hint in hints(task.written, source, task.source)]})
