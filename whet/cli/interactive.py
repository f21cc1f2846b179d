"""The terminal side of ``--interactive``: shows what a round came to, and reads what the person says."""

from __future__ import annotations

import io
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whet.core.errors import UsageError, nearest
from whet.core.measurement import gain_in
from whet.core.text import count, one_line, printable, times

if TYPE_CHECKING:
    from whet.agents.dialogue import RoundPreview
    from whet.agents.person import Word

WIDEST = 100  # columns at which text is wrapped on wider terminals; longer lines are harder to read
SHORT = 10  # characters of a candidate's id that a line shows; fewer may be ambiguous, more only take room
LEAST_PREFIX = 4
"""Characters of an id that name a candidate."""
LONGEST_NUMBER = 9
"""Digits of a number that a person types. A candidate or a line has fewer, and Python refuses to convert thousands of
digits; text with more is not taken for a number."""
HELP = (
    "go           begin the round",
    "hint TEXT    tell both agents something",
    "show N       what candidate N changed",
    "edit N       change it in your editor; it is judged like any other",
    "reject N     neither build upon it nor choose it",
    "pin A-B      lines of the original that must not change",
    "stop         end the run with the best so far",
    "N is a number of the list, the beginning of an id, best, or 0 for the original.",
)
COMMANDS = ("go", "hint", "show", "edit", "reject", "pin", "stop", "help")


def terminal(*, as_json: bool) -> Terminal:
    """Returns the person at this terminal.

    Raises:
        UsageError: nobody can be asked.
    """
    if as_json:
        raise UsageError("an interactive run shows a dialogue, and --json nothing but the document; leave out --json")
    if not sys.stdin.isatty():
        raise UsageError("an interactive run asks a person, and stdin is no terminal")
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="backslashreplace")
    return Terminal()


class Terminal:
    """Whoever sits at the terminal; see `whet.agents.dialogue.Person`."""

    def __init__(self) -> None:
        self._told = 0
        self._gone = False

    def say(self, turn: RoundPreview) -> Word:
        """Reads lines until one is a word that can be taken.

        Once the input has ended, the answer is ``go`` for good.
        """
        from whet.agents.person import InputKind, Word

        if turn.number != self._told and not self._gone:
            self._told = turn.number
            _print(_shown(turn))
        while not self._gone:
            try:
                line = input("> ")
            except EOFError:
                self._gone = True
                _print(["", "the input has ended; the run goes on without you"])
                break
            word = self._read(turn, line.strip())
            if isinstance(word, str):
                _print([word] if word else ())
            elif refused := turn.refused(word):
                _print([refused])
            else:
                return word
        return Word(InputKind.GO)

    def _read(self, turn: RoundPreview, line: str) -> Word | str:
        """Returns the word of a line, or what to say where it is none."""
        from whet.agents.person import InputKind, Word

        command, _, rest = line.partition(" ")
        rest = rest.strip()
        match command:
            case "" | "help":
                _print(HELP)
                return ""
            case "go" | "stop" if not rest:
                return Word(InputKind(command))
            case "hint":
                return Word(InputKind.HINT, rest)
            case "pin":
                return _pin(rest)
            case "show" | "edit" | "reject":
                id = _named(turn, rest)
                if id is None:
                    return f"'{one_line(rest, 40)}' names no candidate; say such as: {command} 1"
                if command == "show":
                    _show(turn, id)
                    return ""
                return Word(InputKind.REJECT, candidate=id) if command == "reject" else _edited(turn, id)
        return f"'{one_line(command, 40)}' is not known{nearest(command, COMMANDS) or '; say help'}"


def _pin(rest: str) -> Word | str:
    from whet.agents.person import InputKind, Word

    first, _, last = rest.partition("-")
    if not (_is_number(first) and _is_number(last or first)):
        return "say such as: pin 12-20"
    return Word(InputKind.PIN, first=int(first), last=int(last or first))


def _is_number(text: str) -> bool:
    return text.strip().isdecimal() and len(text) <= LONGEST_NUMBER


def _named(turn: RoundPreview, name: str) -> str | None:
    """Returns the id of the candidate that a person means; None where that is not one."""
    if name == "best":
        return turn.best
    if _is_number(name) and int(name) <= len(turn.last):
        return turn.last[int(name) - 1]["candidate"] if int(name) else next(iter(turn.candidates))
    found = [id for id in turn.candidates if len(name) >= LEAST_PREFIX and id.startswith(name)]
    return found[0] if len(found) == 1 else None


def _show(turn: RoundPreview, id: str) -> None:
    candidate = turn.candidates[id]
    if candidate.parent is None:
        # With the numbers that `pin` takes.
        lines = candidate.source.removesuffix("\n").split("\n")
        print("\n".join(f"{number:4} {printable(line)}" for number, line in enumerate(lines, 1)))
        return
    print(printable(candidate.diff(turn.candidates[candidate.parent].source, turn.task.filename)).rstrip("\n"))


def _edited(turn: RoundPreview, id: str) -> Word | str:
    """Opens a candidate in the person's editor and returns the word for what they made of it, or why there is none."""
    from whet.agents.person import InputKind, Word

    if turn.room < 1:
        return "this round takes no further candidate"
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="whet-edit-") as folder:
        file = Path(folder, Path(turn.task.filename).name)
        file.write_bytes(turn.candidates[id].source.encode("utf-8"))
        # Ctrl-C is the editor's while it is open; a handler of ours, unlike an ignored signal, is not its own too.
        before = signal.signal(signal.SIGINT, lambda *_: None)
        try:
            code = subprocess.call([*shlex.split(editor), str(file)])
            text = file.read_bytes().decode("utf-8")
        except (OSError, ValueError) as error:
            return f"the editor '{one_line(editor, 60)}' gave no text: {one_line(str(error), 120)}"
        finally:
            signal.signal(signal.SIGINT, before)
    if code:
        return f"the editor '{one_line(editor, 60)}' ended with {code}; nothing was changed"
    return Word(InputKind.EDIT, text, id)


def _shown(turn: RoundPreview) -> Iterator[str]:
    """Yields what a person is told before a round."""
    yield ""
    yield f"before round {turn.number} of {turn.rounds}: {turn.task.name}"
    if (diagnosis := turn.diagnosis) is not None:
        drawn = " (by rule)" if diagnosis.by_rule else ""
        yield f"judge{drawn}: {one_line(diagnosis.bottleneck, 300)}"
        yield from (f"  {one_line(line, 200)}" for line in diagnosis.evidence[:5])
        yield f"directive: {one_line(diagnosis.directive, 1000)}"
        if not diagnosis.by_rule:
            yield f"it expects {times(diagnosis.expected_gain)}, with a chance of {diagnosis.confidence:.0%}"
        if diagnosis.stop:
            yield "the judge sees nothing left to try"
    for number, record in enumerate(turn.last, 1):
        yield from _candidate(number, record)
    if turn.complaints:
        yield f"{count(len(turn.complaints), 'answer')} could not be used: {one_line(turn.complaints[-1], 200)}"
    original = next(iter(turn.candidates))
    yield f"built upon: {'the original' if turn.best == original else turn.best[:SHORT]}"
    yield from (f"pinned: {pin.where}" for pin in turn.said.pins)
    yield from (f"you said: {_retold(word)}" for word in turn.words)
    yield "say go, hint, show, edit, reject, pin, stop or help"


def _candidate(number: int, record: Mapping[str, Any]) -> Iterator[str]:
    yield f"{number}  {record['candidate'][:SHORT]}  {one_line(record['origin'], 40)}"
    if record["note"]:
        yield f"  {one_line(record['note'], 200)}"
    reason = record["reason"] or gain_in(record["metric"] or "time")
    if record["ratio"] is not None:
        yield f"  {reason}  {times(record['ratio'])} ({times(record['low'])} to {times(record['high'])})"
    elif record["correct"]:
        yield "  right, not timed"
    else:
        yield f"  {reason} at {record['rung']}: {one_line(record['detail'], 300)}"


def _retold(word: Word) -> str:
    lines = f"{word.first}-{word.last}" if word.first else ""
    text = one_line(word.text, 200) if word.kind == "hint" else ""
    return " ".join(filter(None, (word.kind.value, word.candidate[:SHORT], lines, text)))


def _print(lines: Iterator[str] | tuple[str, ...] | list[str]) -> None:
    width = min(WIDEST, shutil.get_terminal_size().columns)
    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()))
        print(textwrap.fill(line, width, subsequent_indent=f"{indent}  ", drop_whitespace=True) or "", flush=True)
