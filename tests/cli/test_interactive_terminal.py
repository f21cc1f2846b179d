"""``--interactive`` on a real pseudo-terminal: killed, resumed, replayed, interrupted, refused."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import sys
import termios
import time
from pathlib import Path

import pytest
from work import Work, answer, scripted, version

from whet.cli.interactive import Terminal
from whet.core.store import Store

SLOW = "def total(numbers):\n    numbers = list(numbers)\n    return sum([n for n in numbers])\n"
WRONG = "def total(numbers):\n    numbers = list(numbers)\n    return 0\n"
UNPINNED = "def total(numbers):\n    return sum(numbers)\n"


class Pseudo:
    """``whet`` on a pseudo-terminal of 40 columns."""

    def __init__(self, environment, *words):
        self.seen = ""
        self.process, self.end = pty.fork()
        if self.process == 0:
            os.execve(sys.executable, [sys.executable, "-m", "whet", *map(str, words)], environment)
        termios.tcsetwinsize(self.end, (24, 40))

    def until(self, pattern):
        """Reads up to a pattern and returns what stood before it."""
        limit = time.monotonic() + 120
        while not (found := re.search(pattern, self.seen)):
            assert time.monotonic() < limit, self.seen
            assert self._read(), f"it ended before {pattern!r}: {self.seen}"
        before, self.seen = self.seen[: found.start()], self.seen[found.end() :]
        return before

    def says(self, line):
        self.until("> ")
        os.write(self.end, f"{line}\n".encode())

    def interrupt(self):
        """Presses Ctrl-C at the prompt: one that comes right before Python reads the line is seen only after it."""
        self.until("> ")
        limit = time.monotonic() + 120
        while self._waits_for()[1:2] != ["0x0"]:  # the descriptor that it reads
            assert time.monotonic() < limit, self._waits_for()
            time.sleep(0.01)
        os.write(self.end, b"\x03")

    def _waits_for(self):
        return Path(f"/proc/{self.process}/syscall").read_text().split()

    def rest(self):
        while self._read():
            pass
        os.close(self.end)
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1]), self.seen

    def _read(self):
        if not select.select([self.end], [], [], 60)[0]:
            raise AssertionError(f"nothing for a minute: {self.seen}")
        try:
            data = os.read(self.end, 4096)
        except OSError:  # how a terminal ends whose programs are gone
            return False
        self.seen += data.decode().replace("\r\n", "\n")
        return bool(data)


@pytest.fixture
def place(tmp_path, whet):
    """A target, the answers of a model, an editor that makes the wrong candidate right, and the command."""
    (tmp_path / "total.py").write_text(SLOW)
    answers = tmp_path / "model"
    answers.mkdir()
    for number, source in enumerate((WRONG, UNPINNED), 1):
        (answers / f"{number:04}.answer.md").write_text(
            f"Change: \x1b[31mfaster\nKind: algorithm\n```python\n{source}```\n"
        )
    workload = tmp_path / "workload.py"
    workload.write_text("def make_input(size, rng):\n    return ([rng.randrange(100) for _ in range(size)],)\n")
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i 's/return 0/return sum(numbers)/' \"$1\"\n")
    editor.chmod(0o755)
    environment = {**whet.environment, "EDITOR": str(editor)}
    for name in ("VISUAL", "COLUMNS", "LINES"):  # they count for more than the editor and the terminal of this test
        environment.pop(name, None)
    words = ["optimize", f"{tmp_path}/total.py::total", "--interactive", "--model", f"manual:{answers}"]
    words += [
        "--workload",
        str(workload),
        "--judge-model",
        "catalogue",
        "--rounds",
        "3",
        "--candidates",
        "1",
        "--until",
        "differential",
    ]
    return environment, words


def shown(whet, run):
    done = whet("runs", "show", run, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def said(told):
    return [event["value"] for event in told["events"] if event.get("name", "").startswith("word:")]


@pytest.mark.corpus
def test_a_run_on_a_terminal_is_killed_while_somebody_types_resumed_and_replayed(whet, place):
    environment, words = place
    first = Pseudo(environment, *words)
    first.says("help")
    assert "begin the round" in first.until("original\\.\n")
    first.says("pin 2")
    first.says("pin 7-9")
    first.until("the original has lines 1 to 3")
    first.says("hint keep the copy")
    first.says("go")
    told = first.until("say go, hint")
    assert "wrong_output" in told
    assert "directive:" in told
    assert "pinned: line 2" in told
    assert "\x1b" not in told
    assert all(len(line) <= 40 for line in told.split("before round 2")[1].splitlines())
    first.says("shw 1")
    first.until("did you mean 'show'")
    first.says("show 1")
    assert "+    return 0" in first.until("> ")
    os.write(first.end, b"edit 1\n")
    first.says("hint half a li")
    first.until("> ")
    os.kill(first.process, signal.SIGKILL)
    first.rest()
    (run,) = json.loads(whet("runs", "list", "--json").stdout)
    assert run["status"] == "interrupted"
    alone = whet("runs", "resume", run["run"])
    assert (alone.returncode, alone.stderr.count("\n")) == (2, 1)
    assert "asks a person, and none is here" in alone.stderr

    second = Pseudo(environment, "runs", "resume", run["run"])
    assert "you said: hint half a li" in " ".join(second.until("say go, hint").split())
    second.says("go")
    again = second.until("say go, hint")
    assert re.search(r"1  [0-9a-f]{10}  person", again)
    assert "right, not timed" in again
    second.until("> ")
    os.write(second.end, b"\x04")
    code, end = second.rest()
    assert "goes on without you" in " ".join(end.split())
    assert code == 3, end

    told = shown(whet, run["run"])
    kinds = ["pin", "hint", "go", "edit", "hint", "go", "go"]
    assert [word["kind"] for word in said(told)] == kinds
    facts = {event["name"]: event["value"] for event in told["events"] if event["event"] == "fact"}
    batches = [facts[f"round:{number}"]["batch"] for number in (1, 2, 3)]
    assert facts[f"candidate:{batches[1][0]}"]["origin"] == "person"
    (screen,) = facts[f"verdict:{batches[2][0]}:check"]["rungs"]
    assert (screen["name"], screen["reason"]) == ("screen", "pinned")

    done = whet("runs", "replay", run["run"], "--json")
    assert done.returncode == code, done.stderr
    repeated = json.loads(done.stdout)
    assert said(shown(whet, repeated["run"])) == said(told)
    finished = json.loads(whet("runs", "resume", run["run"], "--json").stdout)
    ended = [{name: one[name] for name in one if name not in ("run", "seconds")} for one in (finished, repeated)]
    assert ended[0] == ended[1]


@pytest.mark.corpus
def test_an_interrupt_at_the_prompt_leaves_a_run_that_can_be_resumed(whet, place):
    environment, words = place
    terminal = Pseudo(environment, *words)
    terminal.says("hint one")
    terminal.interrupt()
    code, end = terminal.rest()
    assert code == 130
    (run,) = json.loads(whet("runs", "list", "--json").stdout)
    assert f"resume with: whet runs resume {run['run']}" in end
    assert [word["text"] for word in said(shown(whet, run["run"]))] == ["one"]


@pytest.mark.corpus
def test_nobody_is_asked_without_a_terminal(whet, place, tmp_path):
    _, words = place
    (tmp_path / "project").mkdir()
    for arguments, line in (
        (words, "stdin is no terminal"),
        ([*words, "--json"], "leave out --json"),
        (["optimize", tmp_path / "project", "--interactive"], "not with a repository's folder"),
    ):
        done = whet(*arguments)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert line in done.stderr


@pytest.mark.parametrize(
    ("editor", "line"),
    [
        ("false", "ended with 1"),
        ("/no/such/editor", "gave no text"),
        ("true", "the text is what it was"),
        ("'", "gave"),
    ],
)
def test_an_editor_that_fails_changes_nothing(tmp_path, monkeypatch, capsys, editor, line):
    work = Work(tmp_path)
    lines = iter(["edit 0", "go", "stop"])
    monkeypatch.setattr("builtins.input", lambda _: next(lines))
    monkeypatch.setenv("VISUAL", editor)
    work.optimize(scripted([answer(version(1))]), {}, person=Terminal())
    assert line in " ".join(capsys.readouterr().out.split())
    store = Store(work.home)
    assert [word["kind"] for word in store.facts(store.runs()[0].id, "word:").values()] == ["go", "stop"]
