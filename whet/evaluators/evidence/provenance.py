"""Gathers what a verdict rests on beside the texts: machine, toolchain, sandbox, tools, and the tests' files.

Nothing here reads the environment, a host's name or a user's; paths of the host stay out of what it returns.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import Any

from whet.core.about import PACKAGE, __version__
from whet.core.errors import UsageError
from whet.core.evidence import Machine, Provenance, Toolchain
from whet.core.task import MIB, Task
from whet.evaluators.artifacts import Builder
from whet.evaluators.languages.registry import language_of_task
from whet.evaluators.own_tests import OwnTests
from whet.evaluators.preloads import preloads
from whet.sandbox.docker_engine import REPOSITORY
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.workers.labels import processor, system

ASK_SECONDS = 20.0
"""Seconds that the interpreter or a compiler may take to tell its version; the interpreter may read what all installed
packages hold for that. A smaller limit fails on a busy machine; a larger one only delays the failure of a tool that
hangs."""
TOOLS = ("numpy", "scipy", "hypothesis", "libcst", "pydantic")
"""What whet's figures and inputs rest on."""
PERSONAL = ("first_user",)
"""Facts of a sandbox that tell whose it is."""
MOST_TESTS = 8 * MIB
"""Of test files that travel with the evidence."""
ASK = """\
import importlib.metadata as m, json, platform, sys
# What belongs to which package is read from the files of all of them.
found, known = {}, m.packages_distributions() if sys.argv[1:] else {}
for name in sys.argv[1:]:
    for distribution in known.get(name, ()):
        found[distribution] = m.version(distribution)
print(json.dumps([platform.python_implementation() + " " + platform.python_version(), sys.executable, found]))
"""


def gather(
    builder: Builder, seed: int, tests: OwnTests | None, keep: Callable[[str], str], validated: str = ""
) -> Provenance:
    """Returns the facts about a run.

    Args:
        builder: where its candidates are built.
        seed: of its inputs.
        tests: the clean copy that the target's own tests run in, if any.
        keep: stores a text and returns its SHA-256.
        validated: see `Provenance`.
    """
    wanted = {} if tests is None else {p: d for p, d in tests.files.items() if p != tests.target and not _hidden(p)}
    texts = _texts(wanted)
    return Provenance(
        gathered=datetime.now(UTC).isoformat(timespec="seconds"),
        seed=seed,
        machine=machine(),
        toolchain=toolchain(builder.task, builder.interpreter),
        sandbox=sandbox_facts(builder.sandbox.facts),
        tools=tools(),
        tests={path: keep(text) for path, text in texts.items()},
        tests_left_out=len(wanted) - len(texts),
        test_target=tests.target if tests is not None else None,
        validated=validated,
    )


@cache
def machine() -> Machine:
    """Describes this machine."""
    return Machine(
        cpu=processor(),
        architecture=platform.machine(),
        cores=len(os.sched_getaffinity(0)),
        memory=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        kernel=platform.release(),
        system=system(),
    )


def toolchain(task: Task, interpreter: Interpreter) -> Toolchain:
    """Describes what runs a task's texts."""
    modules = sorted({name.partition(".")[0] for name in preloads(task)})
    version, executable, packages = _asked(interpreter.executable, tuple(modules))
    compiler = language_of_task(task).tool(task)
    return Toolchain(
        interpreter=version,
        interpreter_sha256=_hash(executable),
        packages=packages,
        compiler=None if compiler is None else _first_line([compiler, "--version"]),
        compiler_sha256=None if compiler is None else _hash(compiler),
        flags=task.flags,
    )


@cache
def _asked(executable: Path, modules: tuple[str, ...]) -> tuple[str, str, dict[str, str]]:
    command = [str(executable), "-s", "-c", ASK, *modules]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=ASK_SECONDS, check=True, cwd="/").stdout
    except subprocess.TimeoutExpired:
        raise UsageError(f"{executable} does not tell its version within {ASK_SECONDS:g} s") from None
    version, path, packages = json.loads(said)
    return version, path, packages


def _first_line(command: list[str]) -> str:
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=ASK_SECONDS, check=False).stdout
    except subprocess.TimeoutExpired:
        raise UsageError(f"{command[0]} does not tell its version within {ASK_SECONDS:g} s") from None
    return said.strip().partition("\n")[0]


def _hash(path: str) -> str:
    with Path(path).resolve().open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sandbox_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what may be told of a sandbox."""
    kept = {name: fact for name, fact in facts.items() if name not in PERSONAL}
    if not str(kept.get("image", REPOSITORY)).startswith(REPOSITORY):
        kept["image"] = "the user's own"
    return kept


@cache
def tools() -> Mapping[str, str]:
    """Returns the versions of whet and of what its figures rest on."""
    return {
        "whet": __version__,
        "harness": _harness(),
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in TOOLS},
    }


def _harness() -> str:
    """Returns a SHA-256 over whet's own modules: a version number alone does not tell a changed checkout."""
    root = PACKAGE
    total = hashlib.sha256()
    for path in sorted(root.rglob("*.py"), key=lambda path: path.relative_to(root).as_posix()):
        total.update(f"{path.relative_to(root).as_posix()}\0".encode())
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def _hidden(path: str) -> bool:
    # `.env` and its kin hold secrets more often than tests need them.
    return any(part.startswith(".") for part in PurePosixPath(path).parts)


def _texts(files: Mapping[str, bytes]) -> dict[str, str]:
    """Returns the files that are text, as far as they may travel."""
    found: dict[str, str] = {}
    total = 0
    for path, data in sorted(files.items()):
        total += len(data)
        if total > MOST_TESTS:
            break
        try:
            found[path] = data.decode("utf-8")
        except UnicodeDecodeError:
            continue
    return found
