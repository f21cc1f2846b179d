"""Runs a command of a repository in the sandbox: on a copy, with the project's own interpreter and import roots."""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from whet.core.repository import Survey
from whet.core.task import MIB, Limits
from whet.evaluators.project import project_files
from whet.sandbox.inside import asv
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Incident, Job, Sandbox, Session
from whet.sandbox.staging import PATH

SECONDS = 600.0
"""What a command may take."""
GRACE = 60.0
"""For the copy, and for what the sandbox itself does."""
LIMITS = Limits(seconds=SECONDS, memory=4096 * MIB, processes=256, output=256 * MIB)
WORK = 1024 * MIB
"""Bytes of ``/work``, which is in memory: it holds the copy, what its build makes, and what hooks write. With fewer a
large build finds no room; more could take that much more of the host's memory."""
PROJECT, TOOLS, SHIMS = "project", "tools", "shims"
OUT = "told"
"""The folder beside the copy that hooks write into."""
RUN = f"""
place="$PWD"; path="$1/{TOOLS}"
mkdir {OUT} && cp -r "$1/{PROJECT}" tree && chmod -R u+w tree && cd tree && shift || exit 1
while [ "$1" != -- ]; do path="$path:$place/tree/$1"; shift; done
export PYTHONPATH="$path" WHET_PLACE="$place"; shift; exec "$@"
"""
ENDED, KILLED = 124, 137
"""Exit codes of timeout(1): it ended the command, or killed it."""
SAID_LINES = 20
"""Lines that are kept of the end of what a command prints, where errors stand. A fault tells the last one only."""
ASV = Path(asv.__file__).read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Hook:
    """What is put beside a command to learn something of its processes.

    Attributes:
        files: path below the folder of tools -> content; ``sitecustomize.py`` runs in every Python process.
        shims: name of a program -> the shell text that stands for it.
        variables: of the environment.
    """

    files: Mapping[str, bytes] = field(default_factory=dict)
    shims: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CommandEnd:
    """How a command ended.

    Attributes:
        code: its exit code.
        said: the end of what it printed.
        wall: seconds.
        cpu: seconds of all its processes.
        told: what hooks wrote: path below their folder -> content.
    """

    code: int
    said: str
    wall: float = 0.0
    cpu: float = 0.0
    told: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def fault(self) -> str:
        """Why the command did not come through, in a line; empty where it did."""
        if self.code == 0:
            return ""
        if self.code in (ENDED, KILLED):
            return f"it did not end within {SECONDS:.0f} s"
        last = self.said.strip().splitlines()[-1:] or ["it printed nothing"]
        return f"exit code {self.code}: {last[0].strip()[:200]}"


def run(
    survey: Survey,
    command: str,
    sandbox: Sandbox,
    interpreter: Interpreter,
    hook: Hook | None = None,
    seconds: float = SECONDS,
) -> CommandEnd:
    """Runs a command once on a copy of a repository's files, by a shell.

    ``python`` and ``pytest`` are those of the interpreter, whose other programs come next on the path.

    Args:
        survey: of the repository; a native one is built first.
        command: as a user would write it in the repository's root.
        sandbox: to run it in.
        interpreter: of the project's environment.
        hook: what is to be learned of it.
        seconds: that it may take.

    Raises:
        UsageError: the repository's files are too many.
    """
    hook = hook or Hook()
    staged = {f"{PROJECT}/{path}": data for path, data in project_files(survey.root).items()}
    staged |= {f"{TOOLS}/{path}": data for path, data in hook.files.items()}
    staged |= {f"{SHIMS}/{name}": text for name, text in shims(interpreter, hook.shims).items()}
    tree = sandbox.stage(f"repository-{secrets.token_hex(8)}", staged, executable=True)
    session = sandbox.open(Job("programs", interpreter, tree, LIMITS, work=WORK))
    try:
        variables = {
            "PATH": f"{session.tree}/{SHIMS}:{interpreter.executable.parent}:{PATH}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONNOUSERSITE": "1",
            **hook.variables,
        }
        if survey.build is not None:
            command = f"{{ {survey.build}; }} >&2 && {command}"
        argv = ["/bin/sh", "-c", RUN, "sh", session.tree, *survey.packages, "--", "/usr/bin/env"]
        argv += [f"{name}={value}" for name, value in variables.items()]
        argv += ["timeout", "--signal=INT", "--kill-after=5", f"{seconds:g}", "/bin/sh", "-c", command]
        return _ran(session, argv, seconds)
    except Incident as incident:
        return CommandEnd(KILLED if incident.kind == "timeout" else 1, str(incident))
    finally:
        session.close()


def shims(interpreter: Interpreter, more: Mapping[str, str] | None = None) -> dict[str, bytes]:
    """Returns programs that stand first on the path: ``python`` and ``pytest`` are those of the interpreter.

    ``asv`` calls the benchmarks on the code that is there: by itself it would clone, build and measure on its own.

    Args:
        interpreter: of the project's environment.
        more: name of a program -> the shell text that stands for it.
    """
    python = shlex.quote(str(interpreter.executable))
    texts = dict.fromkeys(("python", "python3"), f'exec {python} "$@"')
    texts["asv"] = f"exec {python} -c {shlex.quote(ASV)}"
    texts |= dict.fromkeys(("pytest", "py.test"), f'exec {python} -m pytest "$@"') | dict(more or {})
    return {name: f"#!/bin/sh\n{text}\n".encode() for name, text in texts.items()}


def _ran(session: Session, argv: Sequence[str], seconds: float) -> CommandEnd:
    session.ask("prepare", list(argv), b"", seconds=10.0)
    answer, _ = session.ask("go", seconds=seconds + GRACE)
    if answer[0] == "error":
        return CommandEnd(1, str(answer[2]))
    (_, stdout, stderr), _ = session.ask("output", seconds=30.0)
    (_, told), _ = session.ask("gather", OUT, LIMITS.output // 2, seconds=GRACE)
    _, code, wall, cpu, *_ = answer
    lines = (stdout + b"\n" + stderr).decode("utf-8", "replace").strip().splitlines()[-SAID_LINES:]
    return CommandEnd(code, "\n".join(lines), wall / 1e9, cpu / 1e9, dict(told or ()))
