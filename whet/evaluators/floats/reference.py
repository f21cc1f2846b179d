"""The baseline as a source of truth: with more bits, and on inputs near a given one."""

from __future__ import annotations

import importlib.util
import io
import zipfile
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from whet.evaluators.artifacts import Artifact, Builder, task_on_gpu
from whet.evaluators.finding import Fault
from whet.evaluators.floats.leaves import Groups, outcome_leaves
from whet.evaluators.outcomes import decode_call
from whet.evaluators.processes import START_SECONDS, FunctionProcess, TargetProcess
from whet.sandbox.inside.codec import CodecError
from whet.sandbox.inside.reference import LIBRARIES
from whet.sandbox.protocol import CpuLimit, Incident, Job, Session

BITS = 113
"""Of a Python float in the reference: as many as IEEE 754's binary128 has."""
RUN_LIMIT = CpuLimit(5.0)
"""Of one run of the reference, or of the baseline near an input."""


@cache
def libraries() -> bytes:
    """Returns mpmath as an archive that any interpreter can import from."""
    spec = importlib.util.find_spec("mpmath")
    assert spec is not None
    assert spec.origin is not None, "mpmath is one of our dependencies"
    folder = Path(spec.origin).parent
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*.py")):
            if "tests" not in file.parts:
                archive.write(file, file.relative_to(folder.parent))
    return packed.getvalue()


class Reference(Protocol):
    """A baseline with more bits than it has."""

    def truth(self, payload: bytes, bits: int = BITS, arguments: bool = True) -> Groups | None:
        """Returns the floats of what the baseline makes of an input with so many bits; None where it cannot be had.

        Args:
            payload: the input.
            bits: of a float.
            arguments: whether those of the arguments after the call are wanted: to store many takes longer than a call.
        """

    def near(self, payload: bytes, seed: int) -> tuple[bytes, float] | None:
        """Returns an input whose floats are off by a last place, and the sum of the magnitudes of the given one's."""

    def plain(self, payload: bytes) -> Groups | None:
        """Returns the floats of the baseline's outcome on an input."""

    def spent(self) -> float:
        """Returns the CPU seconds that its processes have used so far."""

    def close(self) -> None:
        """Ends its processes."""


class PythonReference:
    """Two processes of the baseline: one as it is, one with more bits. For one thread at a time."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._session: Session | None = None
        self._process: TargetProcess | None = None

    def truth(self, payload: bytes, bits: int = BITS, arguments: bool = True) -> Groups | None:
        """See `Reference.truth`."""
        outcome = self._asked("call", payload, bits, arguments)
        return None if outcome is None else floats_of(outcome[1])

    def near(self, payload: bytes, seed: int) -> tuple[bytes, float] | None:
        """Returns an input whose floats are off by a last place, and the sum of the magnitudes of the given one's."""
        answer = self._asked("near", payload, seed)
        return None if answer is None else (answer[1], answer[2])

    def plain(self, payload: bytes) -> Groups | None:
        """Returns the floats of the baseline's outcome on an input."""
        if self._process is None:
            started = self._artifact().start(worker=0)
            if isinstance(started, Fault):
                return None
            self._process = started
        answer = self._process.call(payload, RUN_LIMIT)
        if isinstance(answer, Fault):
            self._process = None
            return None
        return floats_of(answer[0])

    def spent(self) -> float:
        """See `Reference.spent`."""
        sessions = (self._session, self._process.session if isinstance(self._process, FunctionProcess) else None)
        return sum(session.cpu() or 0.0 for session in sessions if session is not None)

    def close(self) -> None:
        """Ends both."""
        for one in (self._session, self._process):
            if one is not None:
                one.close()
        self._session = self._process = None

    def _artifact(self) -> Artifact:
        artifact = self._builder.build(self._builder.task.source)
        assert isinstance(artifact, Artifact), "the baseline was built before"
        return artifact

    def _asked(self, *message: Any) -> tuple[Any, ...] | None:
        for _ in range(2):  # its process may have been ended for what it used
            try:
                session = self._session or self._opened()
                answer, _ = session.ask(*message, seconds=RUN_LIMIT)
            except Incident as incident:
                self._session = None
                if incident.kind == "timeout":
                    return None
            else:
                return None if answer[0] == "error" else answer
        return None

    def _opened(self) -> Session:
        task = self._builder.task
        files = {path: text.encode() for path, text in task.files(task.source).items()}
        files |= {LIBRARIES: libraries()}
        tree = self._builder.sandbox.stage("reference", files, links=self._builder.links)
        job = Job("reference", self._builder.interpreter, tree, task.limits, preload=self._builder.preload)
        job = replace(job, gpu=task_on_gpu(task))
        session = self._builder.sandbox.open(job)
        self._session = session
        session.ask("load", BITS, *self._builder.target(), seconds=START_SECONDS)
        return session


def floats_of(outcome: bytes) -> Groups | None:
    """Returns the floats of an outcome that is a value."""
    with suppress(CodecError, ValueError, TypeError):
        value = decode_call(outcome)
        if value.kind == "value":
            return outcome_leaves(value)
    return None
