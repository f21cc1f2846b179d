"""The manual as a reader follows it: the fenced blocks of a page, and a folder in which they are carried out.

How a block is meant stands on its fence, or in a comment before it that no reader sees:

- ``title="slow.py"`` on the fence names a file: the block is written there, or added to what the page put there before;
- ``<!-- not run: REASON -->`` on the line before the fence: it cannot be carried out in a test;
- ``<!-- as in: docs/PAGE.md -->``: another page says the same, line by line, and is followed there;
- any other block of ``sh``, ``console`` or ``python`` is carried out, ``toml`` and ``json`` are read.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from paths import ROOT

from whet.core.store import Store

FIRST = ROOT / "docs" / "quickstart.md"
PAGES = (FIRST, ROOT / "README.md", *sorted(page for page in (ROOT / "docs").glob("*.md") if page != FIRST))
FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<language>\S*) *(?P<info>[^`]*)$")
TITLE = re.compile(r'title="([^"]+)"')
NOTE = re.compile(r"^ *<!-- (not run|as in): (.+) -->$")
BUILTINS = {"cd", "export", "for", "do", "done", "if", "then", "else", "fi", "while", "echo", "cat", "test"}
OPTIONAL = re.compile(r"^ModuleNotFoundError: No module named '(torch|triton)\b", re.MULTILINE)
SHELL = """\
trap 'printf "%s\\t%s\\n" "$?" "$BASH_COMMAND" >> "$FAILURES"' ERR
"""
SECONDS = 600


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block.

    Attributes:
        page: the file that it stands in, from the root.
        line: of its fence, counted from 1.
        language: what stands behind the ticks.
        title: the file that it is.
        text: what stands in it.
        reason: why it is not run.
        twin: the page that says the same.
    """

    page: str
    line: int
    language: str
    title: str | None
    text: str
    reason: str | None = None
    twin: str | None = None

    @property
    def place(self) -> str:
        """Where it stands, as editors understand it."""
        return f"{self.page}:{self.line}"

    @property
    def script(self) -> str:
        """What is typed: of a console, what follows the prompt."""
        if self.language != "console":
            return self.text
        return "".join(f"{line[2:]}\n" for line in self.text.splitlines() if line.startswith(("$ ", "> ")))

    @property
    def is_followed(self) -> bool:
        """Whether it is carried out, written or read here."""
        return self.reason is None and self.twin is None


def blocks(path: Path) -> list[Block]:
    """Returns the fenced blocks of a page, in order."""
    return list(parse(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8").splitlines()))


def parse(page: str, lines: list[str]) -> Iterator[Block]:
    """Yields the fenced blocks among the lines of a page."""
    note = None
    number = 0
    while number < len(lines):
        if not (fence := FENCE.match(lines[number])):
            note = NOTE.match(lines[number]) or (note if not lines[number].strip() else None)
            number += 1
            continue
        end = lines.index(f"{fence['indent']}{fence['ticks']}", number + 1)
        text = textwrap.dedent("".join(f"{line}\n" for line in lines[number + 1 : end]))
        title = TITLE.search(fence["info"])
        said = {note[1]: note[2]} if note else {}
        yield Block(
            page, number + 1, fence["language"], title and title[1], text, said.get("not run"), said.get("as in")
        )
        note, number = None, end + 1


class Reader:
    """Follows pages in a folder of its own, which holds the files of the quick start.

    Attributes:
        folder: where commands run.
        environment: what they find: a home of their own, ``whet`` and ``python`` as installed, no keys.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        tools = folder / ".venv" / "bin"
        tools.mkdir(parents=True)
        for name, command in (("whet", "-m whet"), ("python", "")):
            (tools / name).write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {command} "$@"\n')
            (tools / name).chmod(0o755)
        self.home = folder / ".whet"
        kept = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
        kept.pop("WHET_MODEL", None)
        self.environment = kept | {
            "HOME": str(folder),
            "PATH": f"{tools}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "WHET_HOME": str(self.home),
        }
        for block in blocks(FIRST):
            if block.title is not None:
                self.write(block, afresh=True)
        self._own: set[str] = set()

    def follow(self, block: Block) -> None:
        """Writes, or carries out, one block.

        Raises:
            AssertionError: a command of it fails.
            Missing: a program that it names, or an optional package, is not installed.
        """
        if block.title is not None:
            self.write(block, afresh=block.title not in self._own)
            self._own.add(block.title)
        elif block.language == "python":
            self._program(block)
        elif block.language in ("sh", "console"):
            self._shell(block)

    def write(self, block: Block, afresh: bool) -> None:
        """Writes a block into the file that its title names, or adds it there."""
        assert block.title is not None
        path = self.folder / block.title
        path.parent.mkdir(parents=True, exist_ok=True)
        before = "" if afresh else path.read_text(encoding="utf-8") + "\n\n"
        path.write_text(before + block.text, encoding="utf-8")

    def newest(self, command: str) -> str:
        """Returns the id of the newest run of ``optimize`` or ``verify``; a short one is made where there is none."""
        for wanted in (True, False):
            store = Store(self.home)
            found = [run.id for run in store.runs() if run.command == command]
            store.close()
            if found or not wanted:
                return found[0]
            candidate = "--candidate rewrite.py" if command == "verify" else "--rounds 1"
            target = "slow.py::common --workload workload.py --until differential"
            done = self.run(["whet", command, *shlex.split(f"{target} {candidate}")])
            assert done.returncode == 3, done.stdout + done.stderr
        raise AssertionError("unreachable")

    def _shell(self, block: Block) -> None:
        script = re.sub(r"^.*\bID\b.*$", lambda line: self._with_run(line[0]), block.script, flags=re.MULTILINE)
        commands = [line.split()[0] for line in script.splitlines() if re.match(r"[a-z]\S*", line)]
        for command in commands:
            if command not in BUILTINS and shutil.which(command, path=self.environment["PATH"]) is None:
                raise Missing(command)
        failures = self.folder / ".failures"
        failures.write_text("")
        self.environment["FAILURES"] = str(failures)
        done = self.run(["bash", "-c", SHELL + script])
        said = f"{block.place}\n{script}\n{done.stdout}\n{done.stderr}"
        for failure in failures.read_text().splitlines():
            code, _, command = failure.partition("\t")
            # Whether a right rewrite is shown faster is up to how busy the machine is.
            unproven = code == "3" and re.match(r"whet (optimize|verify)\b", command)
            unproven = unproven and not re.search(r"^rejected: ", done.stdout, re.MULTILINE)
            assert unproven, f"exit code {code} of: {command}\n{said}"

    def _with_run(self, line: str) -> str:
        command = "verify" if "--evidence" in line else "optimize"
        return re.sub(r"\bID\b", lambda _: self.newest(command), line)

    def _program(self, block: Block) -> None:
        done = self.run([sys.executable, "-c", block.text])
        if lacking := OPTIONAL.search(done.stderr):
            raise Missing(lacking[1])
        assert done.returncode == 0, f"{block.place}\n{done.stdout}\n{done.stderr}"

    def run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        """Runs a command in the reader's folder."""
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            timeout=SECONDS,
            env=self.environment,
        )


class Missing(Exception):
    """What a block needs is not installed."""
