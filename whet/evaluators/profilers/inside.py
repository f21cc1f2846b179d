"""Runs a tool of ours inside the sandbox, and fetches the report that it writes there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.inputs.source import Input
from whet.sandbox.protocol import Incident, Job
from whet.sandbox.toolchains import native

SLOWED = 50.0
"""How many times slower a tool may make a program."""
REPORT = "/work/tool.out"
LONGEST_REPORT = 32 << 20
"""Bytes of a report at most; it comes from a process that a candidate may control, and a longer one is refused. A
larger bound costs memory and time to parse it, a smaller one loses the profile of a large program."""


def report(
    builder: Builder,
    artifact: Artifact,
    argv: Sequence[str],
    item: Input,
    slowed: float = SLOWED,
    profiling: bool = False,
) -> str:
    """Returns what a tool wrote while an artifact ran under it.

    Args:
        builder: of the artifact.
        artifact: what runs under the tool.
        argv: the command; ``{tree}`` in it stands for where the artifact's files are, ``{report}`` for where the tool
            shall write.
        item: the program's stdin.
        slowed: how many times slower it may be than the task's limit.
        profiling: see `whet.sandbox.protocol.Job`.

    Raises:
        Incident: it did not come through, or left no report.
    """
    own = builder.task.limits
    limits = replace(own, memory=max(own.memory, native.LIMITS.memory), processes=native.LIMITS.processes)
    job = Job("programs", builder.interpreter, artifact.tree, limits, profiling=profiling)
    session = builder.sandbox.open(job)
    try:
        words = [word.replace("{tree}", session.tree).replace("{report}", REPORT) for word in argv]
        session.ask("prepare", words, item.payload, seconds=10.0)
        session.ask("go", seconds=builder.task.limits.seconds * slowed)
        (_, found), _ = session.ask("read", REPORT, seconds=10.0)
    finally:
        session.close()
    if type(found) is not bytes or len(found) > LONGEST_REPORT:
        raise Incident("protocol", "the report is not in form")
    return found.decode("utf-8", "replace")
