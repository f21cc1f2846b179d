"""``whet doctor``: what this machine offers, and what each lack costs."""

from __future__ import annotations

import json
import os
import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from whet.cli.options import Debug, Json


def doctor(as_json: Json = False, debug: Debug = False) -> int:
    """Show what this machine offers and what each lack costs; attack its sandboxes.

    Exits with 1 where the sandbox that whet would take did not hold.
    """
    from whet.cli import machine
    from whet.sandbox.backends import probe
    from whet.testing.attacks.quick import attacked

    report = {
        "tools": [asdict(finding) for finding in machine.tools()],
        "sandboxes": [asdict(backend) for backend in attacked(probe())],
        "devices": [asdict(finding) for finding in machine.devices()],
        "models": [asdict(finding) for finding in machine.models(os.environ)],
    }
    print(json.dumps(report, indent=2) if as_json else "\n".join(lines(report, _width())))
    return exit_code(report["sandboxes"])


def exit_code(sandboxes: Sequence[Mapping[str, Any]]) -> int:
    """Returns 1 where an attack got through the sandbox that ``--sandbox auto`` takes, else 0."""
    chosen = next((backend for backend in sandboxes if backend["available"]), None)
    return 1 if chosen and _escaped(chosen) else 0


def lines(report: Mapping[str, Sequence[Mapping[str, Any]]], width: int) -> Iterator[str]:
    """Yields the report for people, no line longer than ``width`` where words allow it."""
    for heading, findings in report.items():
        yield heading
        for finding in findings:
            mark = "ok" if finding["available"] else "--"
            yield f"  {mark}  {finding['name'] + ' ':<12}{finding['version'] or ''}".rstrip()
            notes = [finding["reason"]]
            if not finding["available"] and finding.get("costs"):
                notes.append(f"costs: {finding['costs']}")
            on = [name for name, present in finding.get("protections", {}).items() if present]
            off = [name for name, present in finding.get("protections", {}).items() if not present]
            notes += [f"on: {', '.join(on)}" if on else "", f"off: {', '.join(off)}" if off else ""]
            notes += _tried(finding)
            for note in filter(None, notes):
                yield from textwrap.wrap(
                    note, width, initial_indent=" " * 6, subsequent_indent=" " * 8, break_on_hyphens=False
                )
    able = [backend for backend in report["sandboxes"] if backend["available"]]
    yield ""
    if not able:
        yield "whet cannot run here: no sandbox is available; mend one of those above."
    elif escaped := _escaped(able[0]):
        yield f"DO NOT RUN whet here: {able[0]['name']}, which --sandbox auto takes,"
        yield f"let {len(escaped)} of {len(able[0]['attacks'])} attacks through."
    else:
        yield f"whet can run here; --sandbox auto takes {able[0]['name']}."


def _tried(finding: Mapping[str, Any]) -> Iterator[str]:
    """Yields what came of the attacks on a sandbox."""
    attacks = finding.get("attacks", ())
    words = {True: "attacks held", None: "attacks that could not be made here", False: "ATTACKS THAT GOT THROUGH"}
    for held, word in words.items():
        if names := [attack["name"] for attack in attacks if attack["held"] is held]:
            yield f"{word} ({len(names)} of {len(attacks)}): {', '.join(names)}"


def _escaped(backend: Mapping[str, Any]) -> list[str]:
    return [attack["name"] for attack in backend["attacks"] if attack["held"] is False]


def _width() -> int:
    return min(shutil.get_terminal_size((80, 24)).columns, 100)
