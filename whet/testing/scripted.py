"""A language model that says what a test wrote down."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from whet.agents.models.base import ModelError, Reply, Request, Usage
from whet.agents.models.tokens import counted

Line: TypeAlias = str | Reply | ModelError
Lines: TypeAlias = Sequence[Line] | Mapping[int, Line]
Script: TypeAlias = Callable[[Request], Line] | Mapping[str, Lines]


class ScriptedModel:
    """Answers from a script, and keeps what it was asked.

    Args:
        script: a function of the request; or, by role, lines in order of arrival or by the request's sample.
            A line that is an error is raised. Where the script has no more lines, the answer is blank.
        name: the model's name.
        free: whether its calls cost nothing; else each is counted at a bound from its bytes.

    Attributes:
        requests: all requests so far, in order of arrival.
    """

    def __init__(self, script: Script, name: str = "scripted", free: bool = True) -> None:
        self.name = name
        self.free = free
        self.requests: list[Request] = []
        self._script = script
        self._said: dict[str, int] = {}
        self._lock = threading.Lock()

    def complete(self, request: Request) -> Reply:
        """Answers one request.

        Raises:
            ModelError: the script says so.
        """
        with self._lock:
            self.requests.append(request)
            line = self._line(request) if isinstance(self._script, Mapping) else None
        if line is None and callable(self._script):
            line = self._script(request)
        if isinstance(line, ModelError):
            raise line
        if isinstance(line, Reply):
            return line
        text = line or ""
        return Reply(text, self.name) if self.free else Reply(text, self.name, counted(Usage(), request, text))

    def _line(self, request: Request) -> Line:
        assert isinstance(self._script, Mapping)
        lines = self._script.get(request.role, ())
        if isinstance(lines, Mapping):
            return lines.get(request.sample, "")
        index = self._said.get(request.role, 0)
        self._said[request.role] = index + 1
        return lines[index] if index < len(lines) else ""
