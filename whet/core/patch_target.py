"""Applies a unified diff to the one file that it is meant for, whatever made it, in whatever folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from whet.core.patch import LONGEST_SHOWN, Malformed, apply_patch, begins_file, hunk_body
from whet.core.text import one_line

NOTHING = "/dev/null"
"""What a diff names in the place of a file that is not there."""
COPIES = (".orig", ".old", ".bak", ".new", "~")
"""Endings of a copy that people and tools keep beside the file before they change it."""
OTHER_FORM = re.compile(r"^(?:\d+(?:,\d+)?[acd]\d|\*\*\* )", re.MULTILINE)
"""Lines of a diff that `diff` without -u, or with -c, writes."""
ESCAPED = re.compile(r'\\([0-7]{3}|[abtnvfr"\\])')
LETTERS = {"a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"}


@dataclass(frozen=True, slots=True)
class Head:
    """What a diff says of one file.

    Attributes:
        old: the file's name before, as it stands there.
        new: the name after.
        renames: whether the diff says so in so many words.
    """

    old: str
    new: str
    renames: bool = False

    def is_about(self, filename: str) -> bool:
        """Tells whether one of the names is the file's, in any folder, or that of a copy of it."""
        return not self.renames and filename in {base_name(self.old), base_name(self.new)}

    @property
    def compares_copies(self) -> bool:
        """Whether it compares two files of different names, as ``diff -u before.py after.py`` does."""
        return not self.renames and base_name(self.old) != base_name(self.new)


def apply_to(patch: str, filename: str, source: str) -> str | Malformed:
    """Returns the text that a unified diff makes of a file.

    The diff may come from ``git diff`` or ``diff -u``, from any folder, and may compare the file with a copy. Two
    files of other names are taken for versions of this one where the context fits.

    Args:
        patch: the diff.
        filename: of the file, without its folder.
        source: its text.
    """
    if not patch.strip():
        return Malformed("it is empty: the two files that it was made of are alike")
    heads = list(read_heads(patch))
    others = [head for head in heads if not head.is_about(filename)]
    if others and not (len(heads) == 1 and heads[0].compares_copies):
        name = _shown(others[0].old if others[0].new == NOTHING else others[0].new)
        return Malformed(f"it changes {name}; only the target, {filename}, may change")
    if any(head.old == NOTHING for head in heads):
        return Malformed(f"it makes {filename} as a new file; make it with: diff -u OLD NEW")
    if any(head.new == NOTHING for head in heads):
        return Malformed(f"it removes {filename}")
    changed = apply_patch(patch, source)
    return Malformed(_why(changed.complaint, patch, source, others)) if isinstance(changed, Malformed) else changed


def _why(complaint: str, patch: str, source: str, others: list[Head]) -> str:
    if not re.search("^@@", patch, re.MULTILINE) and OTHER_FORM.search(patch):
        return "it is no unified diff; make it with: diff -u OLD NEW"
    if isinstance(apply_patch(patch, source, backwards=True), str):
        return "it fits the other way round: the file has the change already, or OLD and NEW were swapped"
    if others:
        return f"it compares {_shown(others[0].old)} with {_shown(others[0].new)}, and {complaint}"
    return complaint


def read_heads(patch: str) -> Iterator[Head]:
    """Yields what a diff says of each file, in its order."""
    lines = [line.rstrip("\r") for line in patch.split("\n")]
    pending: Head | None = None
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith("@@"):
            # A removed line may look like the head of a file.
            at += len(hunk_body(lines, at))
        elif line.startswith("diff --git "):
            if pending is not None:
                yield pending
            pending = _of_git(line)
        elif line.startswith(("rename from ", "copy from ")) and pending is not None:
            pending = Head(pending.old, pending.new, renames=True)
        elif line.startswith("--- ") and begins_file(lines, at - 1):
            renames = pending is not None and pending.renames
            pending = None
            yield Head(_name(line[4:]), _name(lines[at][4:]), renames)
            at += 1
    if pending is not None:
        yield pending


def _of_git(line: str) -> Head:
    """Reads a line that stands alone for a file without hunks: one that is binary, empty or renamed."""
    _, _, new = line.rpartition(" b/")
    name = new or line.rpartition(" ")[2]
    return Head(_name(name), _name(name))


def _name(text: str) -> str:
    """Returns a name of a diff's head without the time after it, and without git's quotes."""
    name = text.split("\t")[0].strip()
    if len(name) < 2 or not name.startswith('"') or not name.endswith('"'):
        return name
    raw = ESCAPED.sub(lambda found: _letter(found[1]), name[1:-1])
    # git writes the bytes of UTF-8 one by one.
    return raw.encode("latin-1", "replace").decode("utf-8", "replace")


def _letter(code: str) -> str:
    return chr(int(code, 8) & 0xFF) if code[0] in "01234567" else LETTERS.get(code, code)


def _shown(name: str) -> str:
    return one_line(name[2:] if name.startswith(("a/", "b/")) else name, LONGEST_SHOWN)


def base_name(name: str) -> str:
    """Returns a file's name without its folder and without the ending of a copy."""
    base = PurePosixPath(name.replace("\\", "/")).name
    for ending in COPIES:
        if base.endswith(ending) and len(base) > len(ending):
            return base.removesuffix(ending)
    return base
