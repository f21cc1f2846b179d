"""Guaranteed Guess: translations of programs to AArch64, by Bringup-Bench's own expected output.

Its own rule for Bringup-Bench: the translated main file of a program is linked with the suite's small C library and
what else the program consists of, is run, and must print exactly what ``NAME.out`` holds. The published guide does so
on a Mac; here it is Debian's cross compiler and qemu. For HumanEval-C the published script computes an edit distance
and runs nothing, so that there is nothing to judge by: its rows are no part of this suite. Nothing is timed.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.results import Own, Row
from whet.benchmarks.suites.base import Figure, NoTarget, Origin, Problem, Reading, Score, Unusable
from whet.benchmarks.suites.files import json_of, text_of
from whet.benchmarks.suites.grouping import grouped, passed
from whet.benchmarks.suites.jsonl import digest
from whet.benchmarks.suites.samples import draws, mean_figure
from whet.core.errors import UsageError
from whet.evaluators.scores import common
from whet.evaluators.shell import opened, staged
from whet.sandbox.toolchains.isas import ISAS
from whet.sandbox.toolchains.native import is_assembly

ISA = ISAS["aarch64"]
OBJECTS = re.compile(r"^LOCAL_OBJS\s*=(.*)$", re.MULTILINE)
WORDS = re.compile(r"^\t-?(?:time )?\$\(TARGET_SIM\) \./\$\(TARGET_EXE\)([\w. -]*)>", re.MULTILINE)
"""What a Makefile gives a program on its command line."""
NAME = re.compile(r"[A-Za-z0-9][\w.+-]*")
LONGEST = 4 << 20
"""Bytes of a file that a program may come with."""
SECONDS = 300.0
"""Seconds that building a program, and running it under qemu, may take each. A smaller limit fails slow programs; a
larger one waits longer for one that hangs."""
FLAGS = "-O1 -w -DTARGET_HOST -I../common -I../target"


@dataclass(frozen=True, slots=True)
class GuaranteedGuess:
    """The suite."""

    name = "guaranteed-guess"
    title = "Guaranteed Guess: translations of Bringup-Bench's programs to AArch64, run under qemu"
    status = "real data read"
    origin = Origin(
        source="github.com/ahmedheakl/Guaranteed-Guess: its eval/bringup-bench is the given path",
        licence="see its LICENSE, and that of Bringup-Bench",
        files={
            "*/*.out": "what each program must print, beside NAME.c and Makefile",
            "common/libmin*.c": "the suite's C library",
            "target/libtarg.c": "what it asks of the machine",
        },
        notes=("AArch64 needs gcc-aarch64-linux-gnu and qemu-user", "HumanEval-C has no test that could be run"),
    )

    def read(self, root: Path) -> Reading:
        """See `whet.benchmarks.suites.base.Suite.read`."""
        if not (root / "common" / "libmin.h").is_file() or not (root / "target" / "libtarg.c").is_file():
            raise UsageError(
                f"no common/libmin.h and target/libtarg.c under {root}; see whet bench fetch-help {self.name}"
            )
        faults: list[str] = []
        problems: list[Problem] = []
        for expected in sorted(root.glob("*/*.out")):
            name = expected.parent.name
            if expected.stem != name:
                continue
            try:
                problems.append(_problem(root, name))
            except UsageError as why:
                faults.append(f"{name!a}: {why}")
        if not problems:
            raise UsageError(f"no program with its NAME.out under {root}")
        return Reading(tuple(problems), tuple(faults))

    def answers(self, file: Path, problems: Sequence[Problem]) -> Mapping[tuple[str, int], str]:
        """Returns predictions of ``eval_bringupbench.py``: lists ``files`` and ``pred``.

        Raises:
            UsageError: they cannot be read.
        """
        value = json_of(file)
        names, texts = (value.get("files"), value.get("pred")) if isinstance(value, dict) else (None, None)
        if not isinstance(names, list) or not isinstance(texts, list) or len(names) != len(texts):
            raise UsageError(f"{file} holds no lists 'files' and 'pred' of one length")
        return {(str(name).removesuffix(".s"), 0): str(text) for name, text in zip(names, texts, strict=True)}

    def write_target(self, problem: Problem, folder: Path) -> str:
        """See `whet.benchmarks.suites.base.Suite.write_target`."""
        raise NoTarget(
            f"{problem.id} is linked with a C library of the suite's: only its own rule judges answers to it"
        )

    def judge(self, problem: Problem, answer: str, lab: Lab) -> Own:
        """See `whet.benchmarks.suites.base.Suite.judge`; C is taken for its translation by the cross compiler."""
        reason = _printed(problem, answer, lab)
        if reason and answer != problem.unchanged and (why := _printed(problem, problem.unchanged, lab)):
            raise Unusable(f"the suite's own program fails here: {why}")
        if reason and answer == problem.unchanged:
            raise Unusable(f"the suite's own program fails here: {reason}")
        return Own(not reason, reason)

    def score(self, rows: Sequence[Row]) -> Score:
        """See `whet.benchmarks.suites.base.Suite.score`."""
        found = grouped(rows)
        kept, excluded = found.rows, found.excluded
        figures: list[Figure] = []
        for k in draws(found.fewest, (1, 5, 10)) or (1,):
            shares = [100.0 * common.pass_at_k(len(of), sum(map(passed, of)), k) for of in kept.values()]
            figures.append(mean_figure(f"accuracy@{k}", shares, "%", "prints what NAME.out holds", headline=k == 1))
        return Score(tuple(figures), (), found.failed, excluded)

    def export(self, rows: Sequence[Row], folder: Path) -> Path | None:
        """See `whet.benchmarks.suites.base.Suite.export`: the suite's results are folders of assembly."""
        return None

    def imported(self, file: Path) -> Score | None:
        """See `whet.benchmarks.suites.base.Suite.imported`: published results hold edit distances alone."""
        return None


def _problem(root: Path, name: str) -> Problem:
    folder = root / name
    if not NAME.fullmatch(name) or not folder.resolve().is_relative_to(root.resolve()):
        raise UsageError("no name of a folder")
    source, expected = text_of(folder / f"{name}.c"), text_of(folder / f"{name}.out")
    makefile = text_of(folder / "Makefile")
    found, words = OBJECTS.search(makefile), WORDS.search(makefile)
    objects = found[1].split() if found else []
    if (
        f"{name}.o" not in objects
        or not all(NAME.fullmatch(one) and one.endswith(".o") for one in objects)
        or not words
    ):
        raise UsageError("its Makefile does not say what it consists of, or how it is run")
    files = {
        f"{place.name}/{file.name}": file.read_text(encoding="utf-8", errors="replace")
        for place in (folder, root / "common", root / "target")
        for file in sorted(place.iterdir())
        if file.is_file() and not file.is_symlink() and file.stat().st_size <= LONGEST and file.suffix != ".out"
    }
    data = {
        "files": files,
        "objects": [one for one in objects if one != f"{name}.o"],
        "expected": expected,
        "words": words[1].split(),
    }
    return Problem(name, name, "asm", source, None, data, digest(data), "bringup-bench", ISA.tool("gcc"))


def _printed(problem: Problem, text: str, lab: Lab) -> str:
    """Returns why a program does not print what it must; empty where it does."""
    name = problem.id
    main = f"{name}/answer.s" if is_assembly(text) else f"{name}/answer.c"
    others = " ".join(shlex.quote(one.removesuffix(".o") + ".c") for one in problem.data["objects"])
    files = {path: content.encode() for path, content in {**problem.data["files"], main: text}.items()}
    with staged(lab, files) as tree, opened(lab, tree) as shell:
        gcc = f"{ISA.tool('gcc')} {FLAGS}"
        place = f"cp -R {shlex.quote(shell.tree)}/. /work/suite && cd /work/suite/{shlex.quote(name)}"
        sources = f"{shlex.quote(Path(main).name)} {others} ../common/libmin_*.c ../target/libtarg.c"
        built = shell.run(f"{place} && {gcc} -static {sources} -o program", SECONDS)
        if not built.well:
            return f"it does not build: {built.why}"
        ran = shell.run(
            f"cd suite/{shlex.quote(name)} && exec {shlex.join([*ISA.runner, './program', *problem.data['words']])}",
            SECONDS,
        )
    if ran.code is None:
        return ran.why
    return "" if ran.stdout == problem.data["expected"] else "it prints something else"


SUITE = GuaranteedGuess()
