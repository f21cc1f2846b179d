"""The server: tools over stdin and stdout, each call a command of whet in a process of its own."""

from __future__ import annotations

import json
import signal
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server

from whet import __version__
from whet.cli.mcp.arguments import TOOLS, Grant, order
from whet.cli.mcp.jobs import answered, heartbeat
from whet.cli.mcp.texts import short
from whet.core.errors import UsageError
from whet.core.text import one_line

SIDE_BY_SIDE = 2
"""Calls that are worked on at once; further ones wait, for each takes cores and memory. `show_run` never waits."""
MOST_LISTED = 20  # runs of a list, the newest first; more fill the context of the agent that asks
BEAT = 20.0
"""Seconds after which a call says again where it is; some clients give up on one that says nothing."""

INSTRUCTIONS = """\
whet makes code faster and proves it: rewrites are built, tested, attacked with fresh inputs and timed in a sandbox.
Ask verify whether your rewrite is right and faster before you claim either; profile where the time goes; optimize
for a search of its own; audit how much the checks would notice. Paths are relative to the server's root. No tool
changes a file: apply the diff of the document yourself. A call may take minutes; a cancelled optimize can be
resumed with `whet runs resume ID` in a shell."""


def serve(grant: Grant) -> None:
    """Serves until stdin ends."""
    # The loop would wait for the thread that reads stdin. Work under way notices by itself that the server is gone.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    anyio.run(_serve, grant)


async def _serve(grant: Grant) -> None:
    server: Server[Any] = Server(
        "whet",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=_listed,
        on_call_tool=partial(_called, grant, anyio.CapacityLimiter(SIDE_BY_SIDE)),
    )
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


async def _listed(
    context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
) -> types.ListToolsResult:
    return types.ListToolsResult(
        tools=[
            types.Tool(
                name=name,
                description=arguments.__doc__,
                input_schema=arguments.model_json_schema(),
                annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=name == "optimize"),
            )
            for name, arguments in TOOLS.items()
        ]
    )


async def _called(
    grant: Grant,
    places: anyio.CapacityLimiter,
    context: ServerRequestContext[Any],
    params: types.CallToolRequestParams,
) -> types.CallToolResult:
    steps = 0

    async def tell(line: str) -> None:
        nonlocal steps
        steps += 1
        await context.session.report_progress(steps, message=line)

    try:
        asked = order(params.name, params.arguments or {}, grant)
    except UsageError as error:
        return _failed(str(error))
    if params.name == "show_run":
        answer = await answered(asked, grant, tell)
    else:
        async with heartbeat(tell, BEAT) as hear, places:
            answer = await answered(asked, grant, hear)
    if answer.document is None:
        return _failed(answer.error)
    document = answer.document
    if params.name == "show_run":
        try:
            document = _within(document, grant.root)
        except UsageError as error:
            return _failed(str(error))
    return types.CallToolResult(
        content=[
            types.TextContent(text=short(params.name, document)),
            # For clients that pass on texts alone.
            types.TextContent(text=json.dumps(document)),
        ],
        structured_content=document,
    )


def _within(found: list[Any] | dict[str, Any], root: Path) -> dict[str, Any]:
    """Returns a run, or a list of runs, of targets below the root; others are none of this server's business."""
    if isinstance(found, list):
        return {"runs": [row for row in found if _is_below(row, root)][:MOST_LISTED]}
    if not _is_below(found, root):
        raise UsageError(f"run {found['run']} is not of a target below {root}")
    return found


def _is_below(row: Mapping[str, Any], root: Path) -> bool:
    return Path(row["target"].partition("::")[0]).resolve().is_relative_to(root)


def _failed(line: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=one_line(line))], is_error=True)
