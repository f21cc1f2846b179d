"""Hot spots of native programs by perf: samples of time, taken from outside.

What perf recorded is read inside a sandbox: to name functions and lines it parses the profiled binary, which is
hostile.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle
from pathlib import Path

from whet.core.profile import Profile
from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.source import Input
from whet.evaluators.processes import FunctionProcess, Pass
from whet.evaluators.profilers.inside import report
from whet.evaluators.profilers.stacks import Frame, Stack, from_stacks
from whet.evaluators.program_process import ProgramProcess
from whet.sandbox.counters.process import Silent
from whet.sandbox.protocol import Incident
from whet.sandbox.sampling import inner, sample
from whet.sandbox.toolchains import native

TOOL = "perf"
PATH = "/usr/bin/perf"
RATE = "499"
READY = b"Events enabled"
DEBUG = ("-g",)
RECORD = (
    *("record", "--no-buildid", "--no-buildid-cache", "--event", "cpu-clock:u", "--freq", RATE),
    *("--call-graph", "dwarf,8192", "--delay", "1"),
)
DATA = "perf.data"
ROUNDS_SECONDS, MOST_REPEATS = 0.05, 4**8
"""How long a native function is repeated on one input, and how often at most."""
READ = (
    f'cd /tmp && exec {PATH} script --force --input "$1/{DATA}" --fields ip,sym,dso,srcline --inline '
    '--full-source-path >"$2" 2>/dev/null'
)
CALLED = re.compile(r"\t\s*[0-9a-f]+ (.*?)(?: \(([/\[].*)\))?$")
PLACE = re.compile(r"\s+(.+):(\d{1,9})(?: \(inlined\))?$")


def profile(builder: Builder, source: str, inputs: Sequence[Input]) -> Profile:
    """Returns the hot spots of a native program on some inputs."""
    if shutil.which(PATH) is None:
        return Profile((), TOOL, "it is not installed: apt install linux-perf")
    artifact = builder.build(source, DEBUG)
    if isinstance(artifact, Fault):
        return Profile((), TOOL, artifact.detail)
    try:
        recorded = _recorded(builder, artifact, inputs)
        program = native.PROGRAM.format(layout=0)
        files = {program: (artifact.tree / program).read_bytes(), DATA: recorded}
        tree = builder.sandbox.stage(f"{artifact.source_id}-perf", files, executable=True)
        argv = ["/bin/sh", "-c", READ, "sh", "{tree}", "{report}"]
        text = report(builder, replace(artifact, tree=tree, layouts=1), argv, Input("", b""))
    except (Silent, Incident) as error:
        return Profile((), TOOL, str(error))
    return from_stacks(TOOL, parse(text), native.source_name(builder.task, source), builder.task.filename, source, {})


def _recorded(builder: Builder, artifact: Artifact, inputs: Sequence[Input]) -> bytes:
    """Returns what perf recorded of a program, or a function, that runs again and again."""
    process = artifact.start()
    if isinstance(process, Fault):
        raise Silent(process.detail)
    assert isinstance(process, ProgramProcess | FunctionProcess)
    payloads = cycle([item.payload for item in inputs])
    limit, repeats = builder.task.limits.seconds, 0 if builder.task.signature is None else 1

    def work() -> float:
        """Runs an input; a native function again and again, for most of one call is the way to it and back."""
        payload = next(payloads)
        answer = process.timed([payload], limit, repeats) if repeats else process.call(payload, limit)
        if isinstance(answer, Fault):
            raise Silent(answer.detail)
        return answer.inside if isinstance(answer, Pass) else answer[1]

    with tempfile.TemporaryDirectory(prefix="whet-profile-") as folder:
        data = Path(folder, DATA)
        try:
            spent = work()  # what has answered once is there to be found
            while repeats and spent < ROUNDS_SECONDS and repeats < MOST_REPEATS:
                repeats *= 4
                spent = work()
            sample(
                [PATH, *RECORD, "--output", str(data), "--pid", str(inner(process.session))],
                READY,
                work,
            )
            return data.read_bytes()
        except OSError:
            raise Silent("it wrote no report") from None
        finally:
            process.close()


def parse(text: str) -> Counter[Stack]:
    """Reads what ``perf script`` says of each sample: its functions, innermost first, each with its place below."""
    stacks: Counter[Stack] = Counter()
    frames: list[Frame] = []
    for row in (*text.splitlines(), ""):
        if called := CALLED.match(row):
            frames.append(Frame(called[1], called[2] or "", 0))
        elif frames and (place := PLACE.match(row)):
            frames[-1] = Frame(frames[-1].name, place[1], int(place[2]))
        elif frames and not row:
            stacks[tuple(frames)] += 1
            frames = []
    return stacks
