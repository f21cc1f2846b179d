"""Commands in comments: a line that is a command and nothing else."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from whet.bot.request import TARGET, RequestKind

FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
COMMANDS = {kind.value: kind for kind in RequestKind if kind is not RequestKind.CHANGE}
BUDGET = re.compile(r"\d{1,6}(?:\.\d{1,4})?")


@dataclass(frozen=True, slots=True)
class BotCommand:
    """A command as it was written.

    Attributes:
        kind: which.
        target: of ``optimize``, if given.
        budget_usd: of ``optimize``, if given.
    """

    kind: RequestKind
    target: str | None = None
    budget_usd: float | None = None


def find_command(body: str) -> BotCommand | None:
    """Returns the first command of a comment.

    A command fills its line from the first column to the last: quoted lines, indented ones, those of a code block and
    sentences that mention a command are none. A line with a word too many is none either, so that nothing is guessed.
    """
    fence = ""
    for line in body.splitlines():
        mark = FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and not line.strip(" `~"):
            fence = ""
        elif not fence and line.startswith("/whet ") and (command := _parsed(line.rstrip())) is not None:
            return command
    return None


def _parsed(line: str) -> BotCommand | None:
    try:
        _, name, *words = shlex.split(line)
    except ValueError:
        return None
    kind = COMMANDS.get(name)
    if kind is None or (words and kind is not RequestKind.OPTIMIZE):
        return None
    target = budget = None
    while words:
        word = words.pop(0)
        if word == "--budget-usd" and budget is None and words and BUDGET.fullmatch(words[0]):
            budget = float(words.pop(0))
        elif target is None and TARGET.fullmatch(word):
            target = word
        else:
            return None
    return BotCommand(kind, target, budget)
