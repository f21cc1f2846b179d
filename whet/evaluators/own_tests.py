"""The target's own tests, run on a clean copy of the project with the candidate in place."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from whet.core.candidate import content_id
from whet.core.errors import UsageError
from whet.core.parts import parts
from whet.core.task import MIB, Limits, Task
from whet.core.verdict import Reason
from whet.evaluators.finding import Fault, Passed, RungEndedError, sound
from whet.evaluators.project import import_root, project_files, project_root
from whet.sandbox.inside import suite
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Incident, Job, Sandbox, Session

LIMITS = Limits(seconds=600.0, memory=4096 * MIB, processes=128)
"""Of one run of the tests: wall seconds, bytes of memory, processes and threads. Smaller limits fail suites that are
slow or run in parallel; with larger ones a candidate that hangs or grows takes more of the machine before it fails."""
COUNTS = (re.compile(r"(\d+) passed"), re.compile(r"^Ran (\d+) tests?", re.MULTILINE))
HARNESS = re.compile(r"conftest\.py|test_.*\.py|.*_test\.py|(site|user)customize\.py|setup\.py|pytest\.py|unittest\.py")
"""Files that steer the tests rather than being what they test."""
STEERING = (".py", ".pth", ".so", ".cfg", ".toml", ".ini")
"""Files that a later import or a later process of the tests would read."""
PROJECT, RUNNER = "project", "runner/suite.py"
IMPORTS = 'if [ -n "$2" ]; then export PYTHONPATH="$PWD/$2"; fi && shift 2 && exec "$@"'
IN_PLACE = f'cd "$1" && {IMPORTS}'
IN_COPY = f'cp -r "$1" tree && cd tree && {IMPORTS}'
LISTING = """
import hashlib, json, os
found = {}
for folder, _, names in os.walk("tree"):
    for name in names:
        path = os.path.join(folder, name)
        if os.path.isfile(path) and "__pycache__" not in path:
            found[os.path.relpath(path, "tree")] = hashlib.sha256(open(path, "rb").read()).hexdigest()
print(json.dumps(found))
"""
ENVIRONMENT = {"PYTHONNOUSERSITE": "1", "PYTHONDONTWRITEBYTECODE": "1"}
ENDS_AT_ONCE = "import os\nos._exit(0)\n"


@dataclass(frozen=True, slots=True)
class Mode:
    """How the tests are run.

    Attributes:
        copied: in a copy that they may write to, rather than in a read-only tree.
        plugins: with whatever pytest plugins are installed, rather than with those that the project names.
    """

    copied: bool = False
    plugins: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """What one run of the tests said.

    Attributes:
        passed: name of each test that passed, with a digest of the code that ran; none where only an exit code tells.
        count: how many tests passed, as the output has it, where nothing better is known.
        plugins: pytest plugins at the end.
        ended: the file that ended a script of tests, if anything did.
        altered: functions of the test framework that were changed.
        written: files of the copy that were changed or made, and that later imports would read.
    """

    passed: Mapping[str, str] = field(default_factory=dict)
    count: int | None = None
    plugins: tuple[str, ...] = ()
    ended: str = ""
    altered: tuple[str, ...] = ()
    written: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OwnTests:
    """A test command with the project that it belongs to.

    Attributes:
        command: as it is shown.
        kind: ``pytest``, ``unittest``, ``script`` or ``module``, which our runner starts, else ``command``.
        args: its words, for the runner.
        files: the clean copy.
        target: the target's path in it.
        others: paths of the other files that a candidate may change, as the task has them -> in it.
        imports: where the target's package is imported from, in it; empty where it is in none.
        mode: the strictest in which the baseline passes.
        expected: what the tests said of the baseline.
        blind: whether the tests pass with a target that ends the process at once, so that their exit code says little.
    """

    command: tuple[str, ...]
    kind: str
    args: tuple[str, ...]
    files: Mapping[str, bytes]
    target: str
    others: Mapping[str, str] = field(default_factory=dict)
    imports: str = ""
    mode: Mode = Mode()
    expected: Report = Report()
    blind: bool = False

    @classmethod
    def of(cls, task: Task, interpreter: Interpreter) -> OwnTests:
        """Reads the project that the task's test command is for.

        Raises:
            UsageError: the target is a part of the tests, or the project is too large.
        """
        assert task.tests is not None
        root = task.project or project_root(task.path)
        target = task.path.relative_to(root).as_posix()
        if HARNESS.fullmatch(task.path.name):
            raise UsageError(
                f"{target} steers the tests, so a rewrite of it cannot be judged by them; leave out --tests"
            )
        words = [_relative(word, root) for word in task.tests]
        kind, args = runner_of(words)
        if words[0] in ("python", "python3"):
            words = [str(interpreter.executable), *words[1:]]
        others = {name: (task.root / name).relative_to(root).as_posix() for name in task.others}
        return cls(tuple(words), kind, tuple(args), project_files(root), target, others, import_root(task, root))

    def validated(self, sandbox: Sandbox, interpreter: Interpreter, baseline: str) -> OwnTests | Fault:
        """Finds the strictest mode in which the baseline passes, and keeps what the tests say of it there."""
        modes = [Mode(copied, plugins) for copied in (False, True) for plugins in (False, True)]
        fault = Fault(Reason.TEST_FAILURE, "")
        for mode in modes if self.kind == "pytest" else [Mode(), Mode(copied=True)]:
            tests = replace(self, mode=mode)
            found = tests._run(sandbox, interpreter, baseline)
            if isinstance(found, Report):
                blind = self.kind == "command" and self.target.endswith(".py")
                blind = blind and isinstance(tests._run(sandbox, interpreter, ENDS_AT_ONCE), Report)
                return replace(tests, expected=found, blind=blind)
            fault = found
            if fault.reason is Reason.TIMEOUT:
                break
        return fault

    def check(self, sandbox: Sandbox, interpreter: Interpreter, source: str) -> Passed:
        """Runs the tests on a candidate; they must say of it what they said of the baseline.

        Raises:
            RungEndedError: they do not.
        """
        found = self._run(sandbox, interpreter, source)
        if isinstance(found, Fault) and found.reason is Reason.TIMEOUT:
            found = replace(found, reason=Reason.TEST_FAILURE)
        report = sound(found)
        if fault := compared(self.expected, report):
            raise RungEndedError(replace(fault, evidence=self.evidence))
        tests = f"{len(report.passed)} tests pass" if report.passed else "the test command passes"
        return Passed(f"{tests} (an early exit would pass too)" if self.blind else tests, self.evidence)

    @property
    def evidence(self) -> dict[str, object]:
        """What was run, and how."""
        tree = hashlib.sha256()
        for path in sorted(self.files):
            if path not in (self.target, *self.others.values()):
                tree.update(f"{path}\0{hashlib.sha256(self.files[path]).hexdigest()}\n".encode())
        return {
            "command": list(self.command),
            "tree_sha256": tree.hexdigest(),
            "tests": len(self.expected.passed) or self.expected.count,
            "tree": "copy" if self.mode.copied else "read-only",
            "plugins": "installed" if self.mode.plugins else "named",
            "counted_by": "exit code" if self.kind == "command" else "report",
            "early_exit_passes": self.blind,
        }

    def _run(self, sandbox: Sandbox, interpreter: Interpreter, source: str) -> Report | Fault:
        replaced = parts(source, (self.target, *self.others))
        files = {**self.files, **{self.others.get(name, name): text.encode() for name, text in replaced.items()}}
        staged = {f"{PROJECT}/{path}": data for path, data in files.items()}
        staged[RUNNER] = Path(suite.__file__).read_bytes()
        tree = sandbox.stage(f"tests-{content_id(source)}", staged)
        key = secrets.token_bytes(32)
        python = [str(interpreter.executable), "-s", "-B"]
        session = sandbox.open(Job("programs", interpreter, tree, LIMITS))
        try:
            plugins = {} if self.mode.plugins else {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
            job = {"kind": self.kind, "args": self.args, "environment": ENVIRONMENT | plugins, "key": key.hex()}
            command, stdin = [*python, f"{session.tree}/{RUNNER}"], json.dumps(job).encode()
            if self.kind == "command":
                command, stdin = ["/usr/bin/env", *(f"{name}={value}" for name, value in ENVIRONMENT.items())], b""
                command += self.command
            place = IN_COPY if self.mode.copied else IN_PLACE
            argv = ["/bin/sh", "-c", place, "sh", f"{session.tree}/{PROJECT}", self.imports, *command]
            session.ask("prepare", argv, stdin, seconds=10.0)
            answer, _ = session.ask("go", seconds=LIMITS.seconds)
            (_, stdout, stderr), _ = session.ask("output", seconds=30.0)
            written = _written(session, python, files) if self.mode.copied else ()
        except Incident as incident:
            reason = Reason.TIMEOUT if incident.kind == "timeout" else Reason.TEST_FAILURE
            return Fault(reason, f"the tests did not end: {incident}")
        finally:
            session.close()
        if not self.mode.copied and (touched := _touched(tree / PROJECT, files)):
            return Fault(Reason.CHEATING, f"the tests' files changed while they ran: {', '.join(touched[:5])}")
        said = (stdout + b"\n" + stderr).decode("utf-8", "replace")
        if answer[0] == "error":
            return Fault(Reason.TEST_FAILURE, f"the tests failed ({answer[2]})")
        if self.kind == "command":
            count = next((int(m[-1]) for m in (count.findall(said) for count in COUNTS) if m), None)
            return Report(count=count, written=written) if answer[1] == 0 else _failed(answer[1], said)
        return _read(stdout, key, written, said)


def signed(stdout: bytes, key: bytes) -> tuple[dict[str, Any], bytes] | None:
    """Returns the one report of `whet.sandbox.inside.suite` that was signed with the key, and its line."""
    for line in stdout.split(b"\n"):
        mark, _, rest = line.partition(b" ")
        mac, _, body = rest.partition(b" ")
        ours = hmac.new(key, body, "sha256").hexdigest().encode()
        if mark == suite.MARK.encode() and hmac.compare_digest(mac, ours):
            return json.loads(body), line
    return None


def report_of(told: Mapping[str, Any], written: tuple[str, ...] = ()) -> Report:
    """Returns what a signed report says."""
    return Report(told["passed"], None, tuple(told["plugins"]), told["ended"], tuple(told["altered"]), written)


def _read(stdout: bytes, key: bytes, written: tuple[str, ...], said: str) -> Report | Fault:
    found = signed(stdout, key)
    if found is None:
        return Fault(Reason.TEST_FAILURE, f"the tests ended early, without their report:\n{_tail(said)}")
    told, line = found
    if told["code"] != 0:
        return _failed(told["code"], said.replace(line.decode("utf-8", "replace"), ""))
    return report_of(told, written)


def compared(expected: Report, found: Report) -> Fault | None:
    """Returns why the tests do not say of a candidate what they said of the baseline, if so."""
    if more := sorted({*found.altered} - {*expected.altered}):
        return Fault(Reason.CHEATING, f"the test framework was changed while the tests ran: {', '.join(more[:5])}")
    if more := sorted({*found.plugins} - {*expected.plugins}):
        return Fault(Reason.CHEATING, f"plugins were added while the tests ran: {', '.join(more[:5])}")
    if more := sorted({*found.written} - {*expected.written}):
        return Fault(Reason.CHEATING, f"the tests' files changed while they ran: {', '.join(more[:5])}")
    if found.ended != expected.ended:
        return Fault(Reason.TEST_FAILURE, f"the tests were ended by {found.ended or 'nothing'}: not so on the baseline")
    if other := sorted(name for name in expected.passed if found.passed.get(name) is None):
        passed = f"{len(found.passed)} tests passed, {len(expected.passed)} do on the baseline"
        return Fault(Reason.TEST_FAILURE, f"{passed}; without {', '.join(other[:5])}")
    if other := sorted(name for name, code in expected.passed.items() if found.passed[name] != code):
        return Fault(Reason.CHEATING, f"tests were replaced while they ran: {', '.join(other[:5])}")
    if len(found.passed) > len(expected.passed):
        more = sorted(found.passed.keys() - expected.passed.keys())
        return Fault(Reason.TEST_FAILURE, f"tests pass that the baseline does not pass: {', '.join(more[:5])}")
    if (found.count or 0) < (expected.count or 0):
        # An early exit with code 0 proves nothing.
        return Fault(Reason.TEST_FAILURE, f"{found.count or 0} tests passed, {expected.count} do on the baseline")
    return None


def _written(session: Session, python: Sequence[str], files: Mapping[str, bytes]) -> tuple[str, ...]:
    """Returns the files of the copy that are not as they were; nothing of the tests runs any more."""
    session.ask("prepare", [python[0], "-I", "-S", "-B", "-c", LISTING], b"", seconds=10.0)
    session.ask("go", seconds=60.0)
    (_, stdout, _), _ = session.ask("output", seconds=30.0)
    try:
        found = json.loads(stdout)
    except ValueError:
        return ("(not to be listed)",)
    changed = [path for path, data in files.items() if found.get(path) != hashlib.sha256(data).hexdigest()]
    return tuple(changed + [path for path in found if path not in files and path.endswith(STEERING)])


def _touched(folder: Path, files: Mapping[str, bytes]) -> list[str]:
    """Returns the files of a staged tree that are not as they were staged."""
    there = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    there = {name: path for name, path in there.items() if "__pycache__" not in name}
    other = [name for name, data in files.items() if name not in there or there[name].read_bytes() != data]
    return sorted({*other, *(there.keys() - files.keys())})


def runner_of(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Returns which runner runs a command, and the words for it."""
    first = Path(words[0]).name
    if first in ("pytest", "py.test"):
        return "pytest", words[1:]
    if first in ("python", "python3") and len(words) > 1:
        if words[1] == "-m" and len(words) > 2:
            return (words[2], words[3:]) if words[2] in ("pytest", "unittest") else ("module", words[2:])
        if words[1].endswith(".py"):
            return "script", words[1:]
    return "command", words


def _relative(word: str, root: Path) -> str:
    path = Path(word)
    return path.relative_to(root).as_posix() if path.is_absolute() and path.is_relative_to(root) else word


def _failed(code: int, said: str) -> Fault:
    return Fault(Reason.TEST_FAILURE, f"the tests failed (exit code {code}):\n{_tail(said)}")


def _tail(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-25:])[-3000:]
