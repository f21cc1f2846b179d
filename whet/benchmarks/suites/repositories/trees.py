"""Copies of a checkout in sandboxes of their own: as it is, with an answer's patch, with the expert's."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.suites.base import Problem, Unusable
from whet.evaluators.finding import Fault
from whet.evaluators.shell import LineResult, Shell, opened, staged

PREPARE_SECONDS = 1800.0
"""Seconds that copying, patching or rebuilding a checkout may take each: a build may take half an hour. A smaller limit
fails slow builds, and excludes a row whose base is slow; a larger one waits longer for a build that hangs."""
TEST_SECONDS = 3600.0
"""Seconds of one run of pytest. A smaller limit fails slow tests, and excludes a row whose base is slow; a larger one
waits longer for a patch that hangs."""
PLUGIN = "whet_outcomes"
OUTCOMES = """\
import json


def pytest_runtest_logreport(report):
    with open("/work/outcomes", "a") as file:
        line = {"test": report.nodeid, "when": report.when, "outcome": report.outcome, "duration": report.duration}
        file.write(json.dumps(line) + "\\n")
"""
"""A plugin of pytest that writes down what came of each test."""
APPLY = """\
cat > ../answer.diff
[ -s ../answer.diff ] || exit 0
git apply --whitespace=nowarn ../answer.diff && exit 0
patch --batch --fuzz=5 -p1 -i ../answer.diff
"""
"""As the suites do: git first, then patch. Where some hunks do not apply none counts."""


@dataclass(frozen=True, slots=True)
class TestResult:
    """What came of one test.

    Attributes:
        passed: whether it was set up, ran and was torn down well.
        seconds: that its call took, as pytest says.
    """

    passed: bool
    seconds: float


class Tree:
    """A copy of a checkout in a sandbox. See `trees`."""

    def __init__(self, shell: Shell, interpreter: Path) -> None:
        self.shell = shell
        self._python = shlex.quote(str(interpreter))

    def prepare(self, patch: str, rebuild: str) -> str:
        """Copies the checkout, applies a patch and rebuilds it; returns why that is not possible, or nothing."""
        copied = self.shell.run(f"cp -R {shlex.quote(self.shell.tree)}/repo repo && chmod -R u+w repo", PREPARE_SECONDS)
        if not copied.well:
            raise Unusable(f"the checkout cannot be copied: {copied.why}")
        applied = self.run(APPLY, PREPARE_SECONDS, patch.encode())
        if not applied.well:
            return f"the patch does not apply: {applied.why}"
        if rebuild and not (built := self.run(rebuild, PREPARE_SECONDS)).well:
            return f"it does not build: {built.why}"
        return ""

    def run(self, line: str, seconds: float, stdin: bytes = b"", cores: Sequence[int] = ()) -> LineResult:
        """Runs a line in the copy, on some processors alone where it is measured."""
        places = f"/work/repo:/work/repo/src:/work/repo/lib:{self.shell.tree}/scripts"
        pinned = f"taskset -cp {','.join(map(str, cores))} $$ >/dev/null || exit\n" if cores else ""
        return self.shell.run(f"{pinned}cd repo && export PYTHONPATH={shlex.quote(places)}\n{line}", seconds, stdin)

    def python(self, words: Sequence[str], seconds: float, cores: Sequence[int] = ()) -> LineResult:
        """Runs the prepared environment's python in the copy."""
        return self.run(f"{self._python} -B {shlex.join(words)}", seconds, cores=cores)

    def test(self, words: Sequence[str], cores: Sequence[int] = ()) -> dict[str, TestResult] | str:
        """Runs pytest in the copy: test -> what came of it, or why nothing did.

        Args:
            words: files and tests.
            cores: that it may run on; none for all.
        """
        self.shell.run("rm -f outcomes", PREPARE_SECONDS)
        options = ["-m", "pytest", "-q", "--tb=no", "-p", "no:cacheprovider", "-p", PLUGIN]
        ran = self.python([*options, *words], TEST_SECONDS, cores)
        if ran.code is None:
            return ran.why
        content = self.shell.read("/work/outcomes") if self.shell.run("test -f outcomes", 30.0).well else b""
        if isinstance(content, Fault) or not content:
            return f"no test ran: {ran.why}"
        return outcomes(content.decode("utf-8", "replace"))


def outcomes(text: str) -> dict[str, TestResult]:
    """Returns what the plugin wrote; lines in another form are no outcomes."""
    found: dict[str, TestResult] = {}
    for line in text.splitlines():
        try:
            told = json.loads(line)
            test, well, seconds = str(told["test"]), told["outcome"] == "passed", float(told["duration"])
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
        before = found.get(test, TestResult(True, 0.0))
        found[test] = TestResult(
            before.passed and well, before.seconds + (seconds if told.get("when") == "call" else 0.0)
        )
    return found


@contextmanager
def trees(
    lab: Lab, problem: Problem, patches: Mapping[str, str], scripts: Mapping[str, str]
) -> Iterator[dict[str, Tree | str]]:
    """Opens copies of a problem's checkout, each in a sandbox of its own.

    They are made on any core: what builds for half an hour must not keep others from measuring. What is measured in
    them is given its cores line by line.

    Args:
        lab: where.
        problem: its ``data`` has ``checkout`` and ``rebuild``.
        patches: name of a copy -> patch that is applied to it; empty for none.
        scripts: files beside the checkout: name -> text.

    Yields:
        name -> the copy, or why there can be none.
    """
    checkout = Path(problem.data["checkout"])
    given = {f"scripts/{name}": text.encode() for name, text in {f"{PLUGIN}.py": OUTCOMES, **scripts}.items()}
    if not checkout.is_dir():
        raise Unusable("its checkout is gone")
    with ExitStack() as stack:
        tree = stack.enter_context(staged(lab, given, {"repo": checkout}))
        made: dict[str, Tree | str] = {}
        for name, patch in patches.items():
            copy = Tree(stack.enter_context(opened(lab, tree)), lab.interpreter.executable)
            made[name] = copy.prepare(patch, problem.data["rebuild"]) or copy
        yield made


def usable(made: Mapping[str, Tree | str], name: str) -> Tree:
    """Returns a copy that does not depend on the answer.

    Raises:
        Unusable: there is none.
    """
    copy = made[name]
    if isinstance(copy, str):
        raise Unusable(f"{name}: {copy}")
    return copy


def added(patch: str) -> Iterator[tuple[str, str]]:
    """Yields (file, line) of the lines that a patch adds."""
    file = ""
    for line in patch.splitlines():
        if line.startswith("+++ "):
            file = line[4:].split("\t")[0].strip().removeprefix("b/")
        elif line.startswith("+"):
            yield file, line[1:]


def proper(value: Any) -> bool:
    """Whether a value is a number of seconds above 0."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0.0 < value < float("inf")
