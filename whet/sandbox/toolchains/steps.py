"""Runs a few shell commands inside the sandbox, and brings out the files that they made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from whet.core.task import MIB, Limits
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Incident, Job, Sandbox

LIMITS = Limits(seconds=600.0, memory=8192 * MIB, processes=64, output=256 * MIB)
"""Of compilers for GPUs, and of torch's: its headers alone keep nvcc busy for most of a minute."""


@dataclass(frozen=True, slots=True)
class Steps:
    """What came of some commands.

    Attributes:
        code: exit code of the first that failed; 0 where none did, None where they did not end.
        said: their stderr, or what became of them.
        printed: their stdout.
        files: path -> bytes, of those that were asked for; none where a command failed.
    """

    code: int | None
    said: str
    printed: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)


def run_steps(
    sandbox: Sandbox,
    interpreter: Interpreter,
    steps: Sequence[str],
    tree: Path | None = None,
    wanted: Sequence[str] = (),
    threads: int = 1,
    gpu: bool = False,
    work: int = 256 * MIB,
    limits: Limits = LIMITS,
) -> Steps:
    """Runs commands one after the other in a sandbox of their own, until one fails.

    Args:
        sandbox: where to run.
        interpreter: runs our program inside.
        steps: for ``/bin/sh``, from ``/tmp``; ``$TREE`` is where they see the tree.
        tree: folder to show, read-only.
        wanted: files that they make, to be brought out.
        threads: OMP_NUM_THREADS and its kin.
        gpu: whether they see the GPU.
        work: bytes that they may write in ``/work``.
        limits: what they may use.
    """
    session = sandbox.open(Job("programs", interpreter, tree, limits, threads=threads, work=work, gpu=gpu))
    try:
        script = " && ".join(["cd /tmp", *steps])
        argv = ["/bin/sh", "-c", f"TREE={session.tree}; {script}"]
        session.ask("prepare", argv, b"", seconds=10.0)
        answer, _ = session.ask("go", seconds=limits.seconds)
        (_, printed, said), _ = session.ask("output", seconds=10.0)
        code = answer[1] if answer[0] == "done" else None
        files = {path: _bytes(session.ask("read", path, seconds=30.0)[0]) for path in wanted if code == 0}
        return Steps(code, said.decode("utf-8", "replace"), printed.decode("utf-8", "replace"), files)
    except Incident as incident:
        return Steps(None, str(incident))
    finally:
        session.close()


def _bytes(answer: tuple[object, ...]) -> bytes:
    _, content = answer
    assert isinstance(content, bytes)
    return content
