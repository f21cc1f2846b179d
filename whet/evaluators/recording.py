"""Calls of a target that a command makes, as inputs: the command runs once, in the sandbox, under a recorder.

What comes out of there is plain data to us. Each call is repeated, in two processes of the baseline: only those that
give the same again are of use.
"""

from __future__ import annotations

import json
import os
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from whet.core.errors import UsageError
from whet.core.task import MIB, Limits, Task
from whet.evaluators.project import import_root, project_files, project_root
from whet.sandbox import inside
from whet.sandbox.inside import recorder
from whet.sandbox.inside.codec import CodecError
from whet.sandbox.inside.decode import decode
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Incident, Job, Sandbox
from whet.sandbox.staging import PATH

SECONDS = 300.0
"""What the command may take."""
LIMITS = Limits(seconds=SECONDS, memory=4096 * MIB, processes=128, output=256 * MIB)
"""Of the command: bytes of memory, processes and threads, and bytes of a file that it writes and of an answer, such as
all its calls. Smaller limits fail larger test suites; larger ones let the command use more of the machine."""
FEW_CALLS, MOST_CALLS, SHARE = 128, 1024, 100
"""Calls that are taken: one in so many of all that were made, but not below the first nor above the second. What is
called often takes little each time, and only many of its calls together can be timed."""
MOST_BYTES = 16 * MIB
"""Bytes of all calls that are taken: they travel with the task and its evidence. With fewer, large calls are left out;
more are kept in memory and handed over in every examination."""
PROJECT, RECORDER = "project", "recorder"
OUT = "recorded"
PACKAGE = "whet_inside"
NEEDED = ("__init__.py", "codec_base.py", "codec.py", "layouts.py", "arrays.py", "recorder.py")
HOOK = f"from {PACKAGE}.recorder import begin\n\ncompiled = begin()\n"
AS_SCRIPT = f"from {PACKAGE}.recorder import main\n\nmain()\n"
RUN = (
    f': > {OUT} && export {recorder.PLACE}="$PWD" PYTHONPATH="$2${{3:+:$PWD/tree/$3}}" && cp -r "$1" tree'
    ' && chmod -R u+w tree && cd tree && shift 3 && exec "$@"'
)
ENDED, KILLED, UNKNOWN = 124, 137, (126, 127)
"""Exit codes of timeout(1): it ended the command, killed it, or could not start it."""


@dataclass(frozen=True, slots=True)
class Recording:
    """What the recorder saw.

    Attributes:
        code: the command's exit code.
        said: the end of what it printed.
        payloads: distinct calls, encoded as `make_input` gives them.
        seen: how many calls were made.
        skipped: how many could not be stored, by the reason.
        loaded: whether the target was loaded at all.
        others: files that were loaded under the target's name.
    """

    code: int
    said: str
    payloads: tuple[bytes, ...] = ()
    seen: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    loaded: bool = False
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordedCommand:
    """A command as the user gave it, and how it is run.

    Attributes:
        shown: as it is told.
        words: that are run.
        root: the folder whose copy it runs in.
    """

    shown: str
    words: tuple[str, ...]
    root: Path

    @classmethod
    def of(cls, text: str, task: Task, interpreter: Interpreter, project: Path | None = None) -> RecordedCommand:
        """Reads a command.

        Args:
            text: as the user gave it.
            task: whose target it calls.
            interpreter: that ``python`` means.
            project: the folder that it runs in; None finds it.

        Raises:
            UsageError: it is none, or names a file outside the folder that it runs in.
        """
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise UsageError(f"--record {text!r} cannot be read: {error}") from None
        if not words:
            raise UsageError("--record is empty; give a command such as 'pytest -q' or 'python script.py'")
        here = project or Path.cwd()
        meant = project is not None or any((here / word).is_file() for word in words)
        root = here if meant else project_root(task.path)
        given = [_within(word, root, here) for word in words]
        if given[0] in ("pytest", "py.test"):
            given[:1] = ["python", "-m", "pytest"]
        if given[0] in ("python", "python3"):
            given[0] = str(interpreter.executable)
            # Python starts a script without asking any hook.
            if len(given) > 1 and (root / given[1]).resolve() == task.path:
                given.insert(1, f"{{tree}}/{RECORDER}/as_script.py")
        return cls(text, tuple(given), root)


def record(
    task: Task, command: RecordedCommand, sandbox: Sandbox, interpreter: Interpreter, seconds: float = SECONDS
) -> Recording:
    """Runs a command once, on a copy of its folder, and returns the calls of the target that it makes.

    Args:
        task: whose target it is.
        command: to run.
        sandbox: to run it in.
        interpreter: that ``python`` means.
        seconds: that it may take.

    Raises:
        UsageError: the folder is too large.
    """
    files = project_files(command.root)
    staged = {f"{PROJECT}/{path}": data for path, data in files.items()}
    for name in NEEDED:
        staged[f"{RECORDER}/{PACKAGE}/{name}"] = (Path(inside.__file__).parent / name).read_bytes()
    staged |= {f"{RECORDER}/sitecustomize.py": HOOK.encode(), f"{RECORDER}/as_script.py": AS_SCRIPT.encode()}
    paths = [str(task.path)]
    if task.path.is_relative_to(command.root):
        paths.append(f"tree/{task.path.relative_to(command.root).as_posix()}")
    tree = sandbox.stage("recorded", staged)
    job = {"paths": paths, "symbol": task.symbol, "module": module_name(task), "out": OUT}
    session = sandbox.open(Job("programs", interpreter, tree, LIMITS))
    try:
        variables = {
            "PATH": f"{interpreter.executable.parent}:{PATH}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONNOUSERSITE": "1",
            recorder.JOB: json.dumps(job),
        }
        words = [word.replace("{tree}", session.tree) for word in command.words]
        argv = ["/usr/bin/env", *(f"{name}={value}" for name, value in variables.items())]
        argv += ["timeout", "--signal=INT", "--kill-after=5", f"{seconds:g}", *words]
        places = [f"{session.tree}/{PROJECT}", f"{session.tree}/{RECORDER}", import_root(task, command.root)]
        session.ask("prepare", ["/bin/sh", "-c", RUN, "sh", *places, *argv], b"", seconds=10.0)
        answer, _ = session.ask("go", seconds=seconds + 60.0)
        (_, stdout, stderr), _ = session.ask("output", seconds=30.0)
        (_, written), _ = session.ask("read", OUT, seconds=60.0)
    except Incident as incident:
        return Recording(KILLED, str(incident))
    finally:
        session.close()
    said = (stdout + b"\n" + stderr).decode("utf-8", "replace")
    return _read(answer[1], said, written)


def module_name(task: Task) -> str:
    """Returns what the target's module is called where its calls are repeated; see `whet.sandbox.inside.loading`."""
    parts = task.filename.removesuffix(".py").split("/")
    package = len(parts) > 1 and all(
        (task.root.joinpath(*parts[:n]) / "__init__.py").is_file() for n in range(1, len(parts))
    )
    if not package:
        return parts[-1]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def chosen(payloads: Sequence[bytes], seen: int) -> list[bytes]:
    """Returns not too many of some calls, large and small ones alike.

    Args:
        payloads: that were recorded.
        seen: how many calls were made.
    """
    most = min(max(FEW_CALLS, seen // SHARE), MOST_CALLS)
    sizes: dict[int, list[bytes]] = {}
    for payload in dict.fromkeys(payloads):
        sizes.setdefault(len(payload).bit_length(), []).append(payload)
    found: list[bytes] = []
    left = MOST_BYTES
    for turn in range(max(map(len, sizes.values()), default=0)):
        for size in sorted(sizes, reverse=True):
            if turn < len(sizes[size]) and len(found) < most and len(sizes[size][turn]) <= left:
                found.append(sizes[size][turn])
                left -= len(found[-1])
    return found


def _within(word: str, root: Path, here: Path) -> str:
    """Returns a word of a command, which is meant to be given from some folder, as it is in a copy of the root."""
    path = Path(os.path.normpath(here / word))
    if not path.is_file():
        return word
    if path.is_relative_to(root):
        return path.relative_to(root).as_posix() if Path(word).is_absolute() else word
    if Path(word).is_absolute() and path.is_relative_to("/usr"):
        return word
    raise UsageError(f"--record names {word}, which lies outside {root}; run whet from a folder above both")


def _read(code: int, said: str, written: bytes) -> Recording:
    payloads: list[bytes] = []
    skipped: Counter[str] = Counter()
    seen, loaded = 0, False
    others: list[str] = []
    for kind, data in _records(written):
        try:
            if kind == recorder.CALL:
                decode(data)
                payloads.append(data)
            elif kind == recorder.NOTES:
                notes = json.loads(data)
                seen += int(notes["calls"])
                loaded |= bool(notes["loaded"])
                others += map(str, notes["others"])
                skipped.update({str(reason): int(count) for reason, count in notes["skipped"].items()})
        except (CodecError, ValueError, KeyError, TypeError, AttributeError):
            continue  # the command may write there too
    return Recording(
        code, said, tuple(payloads), max(seen, len(payloads)), skipped, loaded, tuple(dict.fromkeys(others))
    )


def _records(written: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 0
    while at + 9 <= len(written):
        end = at + 9 + int.from_bytes(written[at + 1 : at + 9], "little")
        if end > len(written):
            return
        yield written[at : at + 1], written[at + 9 : end]
        at = end
