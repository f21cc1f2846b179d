"""Where the instructions of a C or C++ repository's command go, by source file: callgrind on all of its processes.

Compilers are given ``-g`` by programs of their names that stand first on the path, for CMake and make alike.
"""

from __future__ import annotations

import shlex
import shutil
from collections import Counter
from contextlib import closing
from pathlib import Path, PurePosixPath

from whet.core.errors import BaselineError, UsageError
from whet.core.profile import Profile
from whet.core.repository import Survey
from whet.evaluators.finding import Fault
from whet.evaluators.profilers.callgrind import TOOL, parse
from whet.evaluators.profilers.stacks import StackCost, hot_functions, hot_lines, is_file
from whet.evaluators.repository.running import OUT, Hook, run
from whet.evaluators.repository.trees import Ground, copied, snapshot
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Sandbox
from whet.sandbox.staging import PATH

COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "clang++")
SOURCES = (".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx")
PROFILED = "/usr/bin/valgrind --quiet --tool=callgrind --trace-children=yes --callgrind-out-file"
HEAD = "# callgrind format"
"""How each report begins."""


def native_shares(survey: Survey, command: str, sandbox: Sandbox, interpreter: Interpreter) -> list[tuple[str, float]]:
    """Returns source files of the repository and their shares of all instructions, largest first.

    Raises:
        UsageError: valgrind is not installed.
        BaselineError: the repository does not build, or the command fails.
    """
    if shutil.which("valgrind", path="/usr/bin") is None:
        raise UsageError("the time of a C or C++ repository is told by valgrind, which is missing; install valgrind")
    hook = Hook(shims=compilers_with("-g"))
    profiled = f'{PROFILED}="$WHET_PLACE/{OUT}/%p" /bin/sh -c {shlex.quote(command)}'
    ran = run(survey, profiled, sandbox, interpreter, hook)
    if ran.fault:
        raise BaselineError(f"'{command}' does not come through before any change: {ran.fault}", "command_failed")
    counts: Counter[str] = Counter()
    for report in ran.told.values():
        for (_, file), cost in parse(report.decode("utf-8", "replace"), "").own.items():
            counts[_within(file, survey.root)] += cost
    whole = counts.total()
    shares = [(path, count / whole) for path, count in counts.most_common() if path]
    if not shares:
        raise BaselineError(f"'{command}' ran no code of this repository that could be told by file", "too_short")
    return shares


def compilers_with(flags: str) -> dict[str, str]:
    """Returns what stands for the compilers, so that each is given further flags: name -> text of a shell."""
    found = {name: shutil.which(name, path=PATH) for name in COMPILERS}
    return {name: f'exec {path} {flags} "$@"' for name, path in found.items() if path is not None}


def profiled(ground: Ground, command: str, filename: str, source: str) -> Profile:
    """Returns the hot lines of a source file in a command's run.

    Args:
        ground: where; the root of its survey holds the project.
        command: of the project.
        filename: of the file, from the root.
        source: its text, which need not be the one in the project.
    """
    if shutil.which("valgrind", path="/usr/bin") is None:
        return Profile((), TOOL, "valgrind is not installed: apt-get install valgrind")
    built = snapshot(ground, ground.survey.root, replaced={filename: source}, compilers=compilers_with("-g"))
    if isinstance(built, Fault):
        return Profile((), TOOL, built.detail[:300])
    watched = f"{PROFILED}=/work/told.%p --dump-line=yes /bin/sh -c {shlex.quote(command)}"
    with closing(built), copied(ground, built) as copy:
        ran = copy.run(f"{watched} >/dev/null 2>&1; cat /work/told.*")
    if not ran.well:
        return Profile((), TOOL, f"it did not come through: {ran.why}")
    lines: Counter[int] = Counter()
    costs: dict[tuple[str, str, int | None], StackCost] = {}
    for text in ran.stdout.split(HEAD)[1:]:
        found = parse(text, filename)
        lines += found.lines
        for (name, file), total in found.total.items():
            key = (name, filename if is_file(file, filename) else file, found.starts.get((name, file)))
            known = costs.get(key, StackCost(0, 0))
            costs[key] = StackCost((known.own or 0) + found.own[name, file], (known.total or 0) + total)
    whole = sum(cost.own or 0 for cost in costs.values())
    if not lines:
        return Profile((), TOOL, f"the command ran no line of {filename} that could be told")
    return Profile(hot_lines(source, lines), TOOL, "", hot_functions(costs, whole), "instructions")


def _within(file: str, root: Path) -> str:
    """Returns the path from the root of a source that a report names as the sandbox saw it; empty for any other."""
    parts = PurePosixPath(file).parts
    if not file.endswith(SOURCES) or ".." in parts:
        return ""
    endings = ("/".join(parts[i:]) for i in range(len(parts)) if parts[i] != "/")
    return next((path for path in endings if (root / path).is_file()), "")
