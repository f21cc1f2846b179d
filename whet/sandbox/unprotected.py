"""The backend ``none``: the same programs with resource limits and nothing else. Needs ``--unsafe``."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from whet.sandbox.bubblewrap import (
    ADDRESS_SPARE,
    compile_inside,
    environment,
    install_inside,
    python_flags,
    stage,
)
from whet.sandbox.protocol import Job
from whet.sandbox.session import ProcessSession

BOOT = "import sys; sys.path[0] = {folder!r}; from inside.{program} import main; main()"


class Unprotected:
    """A `Sandbox` that keeps nobody out; the evidence says so."""

    name = "none"

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="whet-"))
        install_inside(self._folder / "whet")
        self._compiled: set[Path] = set()
        self._numbers = itertools.count()

    @property
    def facts(self) -> Mapping[str, Any]:
        """See `whet.sandbox.protocol.Sandbox.facts`."""
        return {"backend": self.name, "unsafe": True}

    def stage(self, name: str, files: Mapping[str, bytes], executable: bool = False) -> Path:
        """See `whet.sandbox.protocol.Sandbox.stage`."""
        return stage(self._folder / "trees", name, files, executable)

    def open(self, job: Job) -> ProcessSession:
        """See `whet.sandbox.protocol.Sandbox.open`."""
        if job.interpreter.executable not in self._compiled:
            self._compiled.add(job.interpreter.executable)
            compile_inside(self._folder / "whet", job.interpreter)
        work = self._folder / "work" / str(next(self._numbers))
        work.mkdir(parents=True)
        boot = BOOT.format(folder=str(self._folder / "whet"), program=job.program)
        before = os.sched_getaffinity(0)
        if job.cores:
            os.sched_setaffinity(0, job.cores)
        try:
            process = subprocess.Popen(
                [job.interpreter.executable, *python_flags(), boot],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment(job) | {"HOME": str(work), "TMPDIR": str(work)},
                cwd=work,
                process_group=0,
            )
        finally:
            os.sched_setaffinity(0, before)
        session = ProcessSession(process, str(job.tree), job.limits.output)
        # Processes count for the whole user here, so that limit is left out.
        kernel = (job.limits.memory + ADDRESS_SPARE, 0, job.limits.output)
        place: tuple[Any, ...] = (str(work), False) if job.program == "programs" else (str(job.tree),)
        session.tell("limits", *place, *kernel)
        return session

    def close(self) -> None:
        """See `whet.sandbox.protocol.Sandbox.close`."""
        shutil.rmtree(self._folder, ignore_errors=True)
