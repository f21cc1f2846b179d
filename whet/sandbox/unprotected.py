"""The backend ``none``: the same programs with resource limits and nothing else. Needs ``--unsafe``."""

from __future__ import annotations

import itertools
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from whet.sandbox.cores import on_core
from whet.sandbox.protocol import NO_LINKS, Job, Session
from whet.sandbox.session import LocalProcess, PipeSession
from whet.sandbox.staging import Staging, boot, environment, first_words


class Unprotected:
    """A `Sandbox` that keeps nobody out; the evidence says so."""

    name = "none"

    def __init__(self) -> None:
        self._staging = Staging()
        self._numbers = itertools.count()

    @property
    def facts(self) -> Mapping[str, Any]:
        """See `whet.sandbox.protocol.Sandbox.facts`."""
        return {"backend": self.name, "version": "", "unsafe": True, "first_user": os.geteuid()}

    def stage(
        self, name: str, files: Mapping[str, bytes], executable: bool = False, links: Mapping[str, str] = NO_LINKS
    ) -> Path:
        """See `whet.sandbox.protocol.Sandbox.stage`."""
        return self._staging.stage(name, files, executable, links)

    def open(self, job: Job) -> Session:
        """See `whet.sandbox.protocol.Sandbox.open`."""
        self._staging.compile(job.interpreter)
        work = self._staging.folder / "work" / str(next(self._numbers))
        work.mkdir(parents=True)
        with on_core(*job.cores):
            process = subprocess.Popen(
                boot(job.interpreter, job.program, str(self._staging.program), packages=job.packages),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment(job) | {"HOME": str(work), "TMPDIR": str(work)},
                cwd=work,
                process_group=0,
            )
        session = PipeSession(LocalProcess(process), str(job.tree), job.limits.output)
        # Processes count for the whole user here, so that limit is left out.
        session.tell(*first_words(job, 0, str(job.tree), str(work), alone=False))
        return session

    def close(self) -> None:
        """See `whet.sandbox.protocol.Sandbox.close`."""
        self._staging.close()
