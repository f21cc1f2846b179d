"""Whether a driver may join a run: its name, and the plan that all drivers must have."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any

from whet.benchmarks.runner.answers import AnswerSources
from whet.benchmarks.runner.request import TOLD, BenchRequest
from whet.benchmarks.suites.base import Problem
from whet.core.errors import UsageError
from whet.core.text import one_line

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
DIGEST = re.compile(r"[0-9a-f]{64}")


def expect_name(name: str) -> None:
    """Raises UsageError unless a run may have this name: it becomes a part of names of locks."""
    if not NAME.fullmatch(name):
        told = one_line(repr(name), 80)
        raise UsageError(
            f"--join {told}: a name has up to 64 letters, digits, dots, dashes and underscores, and begins with "
            "a letter or digit"
        )


def plan_of(asked: BenchRequest, problems: Sequence[Problem], samples: int) -> dict[str, Any]:
    """Returns all that rows follow from, as a user names it; longer things by their digest."""
    model, strategy, budget = asked.labels
    given = sorted(asked.answers.texts.items()) if isinstance(asked.answers, AnswerSources) else []
    return {
        "whet": metadata.version("whet"),
        "suite": asked.suite.name,
        "problems": _digest([problem.id for problem in problems]),
        "data of the suite": _digest([problem.digest for problem in problems]),
        "--samples": samples,
        "--model": model,
        "answers": _digest(given),
        "--verdict": asked.verdict,
        "--strategy": strategy,
        **{f"--{name.replace('_', '-')}": getattr(asked.options, name) for name in (*TOLD, "arch", "seed")},
        "rounds, candidates or budget": budget,
    }


def _digest(data: Any) -> str:
    return hashlib.sha256(json.dumps(data).encode()).hexdigest()


def expect_equal(name: str, there: Mapping[str, Any], here: Mapping[str, Any]) -> None:
    """Raises UsageError, naming the first thing that differs, unless two plans are equal."""
    for word, value in here.items():
        known = there.get(word)
        if known != value:
            told = "" if DIGEST.fullmatch(str(value)) else f": {_told(known)} there, {_told(value)} here"
            raise UsageError(
                f"the joined run '{name}' was begun with another {word}{told}; give the same, or another --join NAME"
            )


def _told(value: Any) -> str:
    return one_line("none" if value is None else str(value), 80)
