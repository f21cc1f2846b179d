"""Applies a unified diff to one text, by its context rather than by its line numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from whet.core.text import one_line

MOST_HUNKS = 500
"""Matching costs the length of the text for each hunk."""
LONGEST_SHOWN = 120
"""Characters of a line that a complaint shows."""

HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")


@dataclass(frozen=True, slots=True)
class Malformed:
    """Why a text cannot be used.

    Attributes:
        complaint: one line that says what to mend.
    """

    complaint: str


@dataclass(frozen=True, slots=True)
class Hunk:
    """One change: the lines that must stand in the text, and those that replace them.

    Attributes:
        start: index of the first old line as the diff states it; None where it states nothing.
        old: context and removed lines.
        new: context and added lines.
        ends: whether the last line of the new text ends in a newline, where the diff says so.
    """

    start: int | None
    old: tuple[str, ...]
    new: tuple[str, ...]
    ends: bool | None


def apply_patch(patch: str, source: str, *, backwards: bool = False) -> str | Malformed:
    """Returns the text that a unified diff makes of ``source``.

    Context must match exactly; the line numbers may be wrong where only one place fits. Line ends follow
    the source.

    Args:
        patch: the diff.
        source: the text.
        backwards: undo the change instead.
    """
    return keeping_line_ends(partial(_apply, backwards=backwards), patch, source)


def files_changed(patch: str) -> set[str]:
    """Returns the names of the files that a unified diff changes, makes, removes or renames."""
    lines = [line.rstrip("\r") for line in patch.split("\n")]
    names: set[str] = set()
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith("@@"):
            # A removed line may look like the head of a file.
            at += len(hunk_body(lines, at))
        elif line.startswith("--- ") and begins_file(lines, at - 1):
            names |= {_file_name(line[4:]), _file_name(lines[at][4:])}
        elif line.startswith(("rename from ", "rename to ", "copy to ")):
            names.add(line.partition(" ")[2].partition(" ")[2])
        elif line.startswith("diff --git ") and " b/" in line:
            names.add(line.rpartition(" b/")[2])
    return names - {"/dev/null"}


def _file_name(text: str) -> str:
    name = text.split("\t")[0].strip()
    return name[2:] if name.startswith(("a/", "b/")) else name


def keeping_line_ends(change: Callable[[str, str], str | Malformed], text: str, source: str) -> str | Malformed:
    """Calls ``change(text, source)`` with newlines alone, and gives the outcome the source's line ends.

    A source that mixes line ends is taken as it is.
    """
    if "\r" not in source:
        return change(text.replace("\r\n", "\n"), source)
    if not source.count("\r\n") == source.count("\n") == source.count("\r"):
        return change(text, source)
    changed = change(text.replace("\r\n", "\n"), source.replace("\r\n", "\n"))
    return changed if isinstance(changed, Malformed) else changed.replace("\n", "\r\n")


def split_lines(text: str) -> tuple[list[str], bool]:
    """Returns the lines without their newlines, and whether the last one has a newline.

    Only a newline divides lines here, unlike in `str.splitlines`. An empty text counts as ended.
    """
    lines = text.split("\n")
    if lines[-1] == "":
        return lines[:-1], True
    return lines, False


def join_lines(lines: Sequence[str], ended: bool) -> str:
    """Undoes `split_lines`."""
    return "\n".join(lines) + ("\n" if ended and lines else "")


def occurrences(lines: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Returns every index at which ``wanted`` stands in ``lines``, in time linear in both."""
    if not wanted:
        return []
    # Knuth-Morris-Pratt: these texts are hostile, and the plain search is quadratic on repetitive ones.
    fallback = [0] * len(wanted)
    matched = 0
    for index in range(1, len(wanted)):
        while matched and wanted[index] != wanted[matched]:
            matched = fallback[matched - 1]
        matched += wanted[index] == wanted[matched]
        fallback[index] = matched
    found, matched = [], 0
    for index, line in enumerate(lines):
        while matched and (matched == len(wanted) or line != wanted[matched]):
            matched = fallback[matched - 1]
        matched += line == wanted[matched]
        if matched == len(wanted):
            found.append(index + 1 - matched)
    return found


def _apply(patch: str, source: str, *, backwards: bool) -> str | Malformed:
    hunks = _read_hunks(split_lines(patch)[0])
    if isinstance(hunks, Malformed):
        return hunks
    if backwards:
        hunks = [replace(hunk, start=None, old=hunk.new, new=hunk.old, ends=None) for hunk in hunks]
    lines, ended = split_lines(source)
    out: list[str] = []
    done = drift = 0
    for number, hunk in enumerate(hunks, 1):
        place = _place(hunk, lines, done, drift)
        if isinstance(place, str):
            return Malformed(f"hunk {number} of the diff {place}")
        if hunk.start is not None:
            drift = place - hunk.start
        out += [*lines[done:place], *hunk.new]
        done = place + len(hunk.old)
        ended = ended if hunk.ends is None else hunk.ends
    return join_lines([*out, *lines[done:]], ended)


def _place(hunk: Hunk, lines: Sequence[str], done: int, drift: int) -> int | str:
    """Returns where the hunk belongs at or after ``done``, or what is wrong with it."""
    stated = None if hunk.start is None else hunk.start + drift
    if not hunk.old:
        if stated is not None and done <= stated <= len(lines):
            return stated
        return "has no context and no usable line number; give the lines around it"
    places = [place for place in occurrences(lines, hunk.old) if place >= done]
    if not places:
        return f"does not fit: {_misfit(hunk.old, lines)}"
    if len(places) == 1:
        return places[0]
    exact = next((place for place in (stated, hunk.start) if place in places), None)
    return f"fits in {len(places)} places; give more context" if exact is None else exact


def _misfit(wanted: Sequence[str], lines: Sequence[str]) -> str:
    there = set(lines)
    absent = next((line for line in wanted if line not in there), None)
    which = "" if absent is None else f"; the file has no line: {one_line(absent, LONGEST_SHOWN)}"
    return f"its context and removed lines must stand in the file exactly, in this order{which}"


def _read_hunks(lines: Sequence[str]) -> list[Hunk] | Malformed:
    hunks: list[Hunk] = []
    at = 0
    while at < len(lines):
        if hunks and begins_file(lines, at):
            return Malformed("the diff changes more than one file; only the target may change")
        if not lines[at].startswith("@@"):
            at += 1
            continue
        if len(hunks) == MOST_HUNKS:
            return Malformed(f"the diff has more than {MOST_HUNKS} hunks; send the whole file instead")
        header = HUNK.match(lines[at])
        body = _body(lines, at + 1, header)
        if not any(line.startswith(("+", "-")) for line in body):
            return Malformed(f"hunk {len(hunks) + 1} of the diff changes nothing")
        hunks.append(_hunk(header, body))
        at += 1 + len(body)
    return hunks or Malformed("the diff has no hunk; each begins with a line '@@ -1,2 +1,2 @@'")


def hunk_body(lines: Sequence[str], start: int) -> Sequence[str]:
    """Returns the lines of the hunk whose header is the line before ``start``."""
    return _body(lines, start, HUNK.match(lines[start - 1]))


def _body(lines: Sequence[str], start: int, header: re.Match[str] | None) -> Sequence[str]:
    """Returns the lines of a hunk: as many as its header counts, else as far as they look like some."""
    if header is not None:
        old, new = (int(count or 1) for count in header.group(2, 4))
        end = start
        while end < len(lines) and (old > 0 or new > 0 or lines[end].startswith("\\")):
            sign = lines[end][:1] or " "
            if sign not in " +-\\":
                break
            old -= sign in " -"
            new -= sign in " +"
            end += 1
        if old == new == 0 and (end == len(lines) or not lines[end].strip() or _ends_hunk(lines, end)):
            return lines[start:end]
    end = start
    while end < len(lines) and not _ends_hunk(lines, end):
        end += 1
    while end > start and not lines[end - 1]:
        end -= 1
    return lines[start:end]


def _ends_hunk(lines: Sequence[str], at: int) -> bool:
    return (lines[at][:1] or " ") not in " +-\\" or begins_file(lines, at)


def begins_file(lines: Sequence[str], at: int) -> bool:
    """Tells whether the part of a diff that is about one file begins with a line."""
    if lines[at].startswith("diff --git "):
        return True
    return lines[at].startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")


def _hunk(header: re.Match[str] | None, body: Sequence[str]) -> Hunk:
    old: list[str] = []
    new: list[str] = []
    ends: bool | None = None
    sign = " "
    for line in body:
        if line.startswith("\\"):
            # A marker after a removed line alone says that the new text, unlike the old, ends in a newline.
            ends = sign == "-" and ends is None
            continue
        sign, text = line[:1] or " ", line[1:]
        if sign in " -":
            old.append(text)
        if sign in " +":
            new.append(text)
    start = None
    if header is not None:
        # A hunk without old lines names the line that it follows, any other the line that it begins at.
        start = int(header[1]) - (1 if old else 0)
    return Hunk(start, tuple(old), tuple(new), ends)
