"""Runs commands of whet beside the server, so that none keeps another call waiting and each can be ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream

from whet.cli.mcp.arguments import CommandRequest, Grant


@dataclass(frozen=True, slots=True)
class JobReply:
    """What a command came to.

    Attributes:
        document: as after ``--json``; None where it failed.
        error: the line that says why it failed.
    """

    document: Any
    error: str


Tell = Callable[[str], Awaitable[None]]


@asynccontextmanager
async def heartbeat(tell: Tell, seconds: float) -> AsyncIterator[Tell]:
    """Gives what passes lines on to `tell`; every so many seconds it tells the last one again."""
    last = "waiting for another call to end"

    async def hear(line: str) -> None:
        nonlocal last
        last = line
        await tell(line)

    async def beat() -> None:
        while True:
            await anyio.sleep(seconds)
            await tell(last)

    async with anyio.create_task_group() as group:
        group.start_soon(beat)
        yield hear
        group.cancel_scope.cancel()


async def answered(order: CommandRequest, grant: Grant, tell: Tell) -> JobReply:
    """Runs a command to its end; where the caller is cancelled, the command is interrupted and waited for.

    Args:
        order: the command.
        grant: where it runs, and whether it is given the keys of models.
        tell: is awaited with each line of progress.
    """
    process = await anyio.open_process(
        [sys.executable, "-m", "whet.cli.mcp.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=None,
        cwd=grant.root,
        env=_environment(grant),
        start_new_session=True,  # whoever ends the server's group leaves it the time to keep its state
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        with suppress(anyio.BrokenResourceError):
            await process.stdin.send(f"{json.dumps(asdict(order))}\n".encode())
        async for line in _lines(process.stdout):
            message = json.loads(line)
            if "progress" in message:
                await tell(message["progress"])
            else:
                return JobReply(message["document"], message["error"])
    finally:
        with anyio.CancelScope(shield=True):
            await process.stdin.aclose()
            await process.stdout.aclose()
            await process.wait()
    return JobReply(None, f"internal: the work ended without an answer (exit code {process.returncode})")


def _environment(grant: Grant) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if grant.allow_paid or not name.endswith("_API_KEY")}
    # Else this interpreter, and any that it starts, would import modules that lie in the root.
    return {**kept, "PYTHONSAFEPATH": "1"}


async def _lines(stream: ByteReceiveStream) -> AsyncIterator[bytes]:
    rest = b""
    async for chunk in stream:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line
