"""What whet has to know of a language to judge programs and functions written in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whet.core.events import Listener
from whet.core.options import Options
from whet.core.profile import Memory, Profile
from whet.core.task import Package, Task
from whet.evaluators.finding import Fault, Passed
from whet.evaluators.hints.base import HintMatch
from whet.evaluators.labels.base import Features
from whet.evaluators.mutants.base import Mutation
from whet.evaluators.task_file import TaskFile
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Sandbox


@dataclass(frozen=True, slots=True)
class TargetFile:
    """A file that is to become a task.

    Attributes:
        path: of the file.
        source: its text.
        symbol: the function that is meant; None for a program.
        sources: further ones that the settings name.
        options: as the user gave them.
    """

    path: Path
    source: str
    symbol: str | None
    sources: Sequence[Path]
    options: Options


@dataclass(frozen=True, slots=True)
class Around:
    """What a target's file needs besides; see `whet.core.task.Task`."""

    root: Path
    texts: Mapping[str, str] = field(default_factory=dict)
    package: Package | None = None


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """What is to be built.

    Attributes:
        sandbox: where to build.
        interpreter: runs our program inside.
        task: that the text answers.
        source: the text.
        name: for what is staged on the way; no other text of the task has it.
        extra: compiler flags after the task's own, and the words of a variant.
        layouts: the most layouts in memory to link it in.
    """

    sandbox: Sandbox
    interpreter: Interpreter
    task: Task
    source: str
    name: str
    extra: tuple[str, ...] = ()
    layouts: int = 1


@dataclass(frozen=True, slots=True)
class Made:
    """What a source text is run from.

    Attributes:
        files: path in its tree -> content.
        executable: whether these are programs.
        layouts: in how many layouts in memory it is there.
    """

    files: Mapping[str, bytes]
    executable: bool = False
    layouts: int = 1


def alone(wanted: TargetFile) -> Around:
    """Returns what a file needs that stands by itself: nothing."""
    return Around(wanted.path.parent)


def staged(order: BuildRequest) -> Made:
    """Returns a text that is run as it stands, with what the target loads."""
    return Made({path: text.encode() for path, text in order.task.files(order.source).items()})


def unread(task: Task, source: str) -> Passed:
    """Returns what a screen says that reads nothing."""
    return Passed("nothing to parse before the compiler does")


def _nothing(task: Task) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Language:
    """A language, or a form of tasks that has rules of its own, such as modules of torch.

    What has a default may be left out: whet then judges without it, and says so where a user would miss it.

    Attributes:
        name: what ``language =`` says in a whet.toml.
        suffixes: of the files that are targets of it by themselves.
        argv: the words that start a program, from the task, the interpreter, the folder that its tree is seen at, and
            the layout.
        read: the task of a file and a function of it ("" for none), where that is more than the two; None for others.
        read_folder: the same of a whet.toml.
        translates: whether texts can be translated to another instruction set.
        around: what a target's file needs besides.
        flags: of the compiler, where a task names none.
        target: what a function's process loads from its tree, from the task and the layout; see
            `whet.sandbox.inside.calls.open_target`. None where functions of it cannot be called.
        build: makes a source text ready.
        programs: what they are called where whet lacks something for them; empty for "programs in" it.
        tool: the path of what compiles or runs it, which evidence names by version and hash, from the task.
        ready: what is said of one that is: it "loads".
        comment: what a comment of one line begins with.
        parse: what is wrong with the text of a task's target, if whet can tell before it is built.
        screen: what the text of an answer shows before it is built; hints aside. A fault may also be raised, as a
            `whet.evaluators.finding.RungEndedError`.
        baseline: what the original is called that a candidate is timed against, from the task, the flags after its own
            and the version of the interpreter.
        commanded: whether a task's own commands build and start its programs.
        hints: what looks like a trick in a text.
        features: for labels, what a text does that another one does not.
        faults: the faults that can be made in a task's target, and what tells two texts apart.
        meaning: a hash that two texts share only if they mean the same; None where a text cannot be read.
        words: what `whet.evaluators.syntax.fingerprint.outline` finds in a text; None finds what it finds in C.
        profilers: take the hot lines of a source text on some inputs, the best first; from the builder.
        memory: takes the memory of its lines on one input.
        memory_beside: whether that is quick enough to be taken with each profile.
        advice: what a model of the processor says of a text, from the sandbox, the interpreter and the text.
        interpreted: whether it runs on the project's Python: then its interpreter is told, and starting a program takes
            as long as a cheap call.
        objects: whether its functions take and give Python's objects, which whet draws from type hints, edits, and
            follows.
        machine_code: whether what is built may use all that the processor has on which it was.
        sanitized: whether programs can be built so that faults of memory and races are seen.
        simulated: whether its instructions are counted by a simulator where the processor does not count them.
    """

    name: str
    argv: Callable[[Task, Interpreter, str, int], list[str]]
    suffixes: tuple[str, ...] = ()
    read: Callable[[Path, str, Options, Listener], Task | None] | None = None
    read_folder: Callable[[Path, TaskFile, str, Options], Task | None] | None = None
    translates: bool = False
    around: Callable[[TargetFile], Around] = alone
    flags: tuple[str, ...] = ()
    target: Callable[[Task, int], tuple[Any, ...]] | None = None
    build: Callable[[BuildRequest], Made | Fault] = staged
    programs: str = ""
    tool: Callable[[Task], str | None] = _nothing
    ready: str = "is there"
    comment: str = "#"
    parse: Callable[[Task], Fault | None] = _nothing
    screen: Callable[[Task, str], Fault | Passed] = unread
    baseline: Callable[[Task, tuple[str, ...], str], str] = lambda task, extra, version: "the original"
    hints: Callable[[str], Iterator[HintMatch]] | None = None
    features: Callable[[str, str], Features] | None = None
    faults: Callable[[Task], tuple[list[Mutation], Callable[[str], str | None]]] | None = None
    meaning: Callable[[str], str | None] | None = None
    words: re.Pattern[bytes] | None = None
    profilers: tuple[Callable[..., Profile], ...] = ()
    memory: Callable[..., Memory] | None = None
    memory_beside: bool = False
    advice: Callable[[Sandbox, Interpreter, str], str] | None = None
    commanded: bool = False
    interpreted: bool = False
    objects: bool = False
    machine_code: bool = False
    sanitized: bool = False
    simulated: bool = False

    @property
    def plural(self) -> str:
        """What programs in it are called."""
        return self.programs or f"programs in {self.name}"
