"""Reads a Coder's answer: one fenced whole file, search/replace blocks or a unified diff.

The text is hostile data. Its exact bytes matter: the candidate that comes of it is named by their hash.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath

from whet.agents.catalogue.base import Label
from whet.core.patch import (
    Malformed,
    apply_patch,
    files_changed,
    join_lines,
    keeping_line_ends,
    occurrences,
    split_lines,
)

LABELS = tuple(label.value for label in Label if label is not Label.DECOY_KERNEL)
"""What kind of change an author may call a candidate; a decoy is one only by what a GPU shows."""

LONGEST = 1 << 20
"""Characters of the longest answer, and of the longest file that may come of one."""
LONGEST_NOTE = 300
"""Characters of an answer's note that are kept. Prompts quote as many, so more would only be stored; fewer cut the
author's reason short."""
MOST_BLOCKS = 200
"""Search/replace blocks of an answer. Each is searched for in the whole file, so more cost more time; an answer with
more is refused, and the model is asked for the whole file."""
MOST_DIVIDERS = 16
"""Lines of ``=======`` in a block that are tried as its divider. Each costs a search of the file; fewer fail on code
that itself holds such lines."""

TAGS = {"python": ("python", "py", "python3"), "c": ("c", "h"), "cpp": ("cpp", "c++", "cc", "cxx", "hpp")}
TAGS["native"] = (*TAGS["c"], *TAGS["cpp"], "asm", "s", "gas", "assembly", "x86asm", "armasm", "nasm", "ptx")
"""A function with a contract may be answered in any of them."""

HEADER = re.compile(r"[ \t*_]*(Change|Kind|Edit)[ \t*_]*:[ \t*_]*(.*?)[ \t]*$", re.IGNORECASE)
EDIT = re.compile(r"[a-z0-9][a-z0-9._+-]{0,199}")
FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*([^\s`~]*)[^`]*$")
SEARCH = re.compile(r"<{5,9} ?SEARCH\s*$")
DIVIDER = re.compile(r"={5,9}\s*$")
REPLACE = re.compile(r">{5,9} ?REPLACE\s*$")
DIFF = re.compile(r"diff --git |--- .*\n\+\+\+ |@@(?: .*)?\n[ +-]")
BARE_DIFF = re.compile(r"^(?:diff --git |--- .*\n\+\+\+ |@@ -\d)", re.MULTILINE)
THINKING = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Answer:
    """What an answer proposes.

    Attributes:
        source: the whole new text of the file.
        note: what it changes and why, in the author's words, as one line.
        labels: those of `LABELS` that the author claims.
        edit: name of the catalogue's edit that made it, if any; of several, with + between them.
    """

    source: str
    note: str = ""
    labels: tuple[str, ...] = ()
    edit: str = ""


@dataclass(frozen=True, slots=True)
class Fenced:
    """A fenced block: the word after its fence, its lines, and whether its closing fence was seen."""

    tag: str
    lines: tuple[str, ...]
    closed: bool


def parse_answer(text: str, parent: str, language: str, filename: str = "") -> Answer | Malformed:
    """Returns the file that an answer makes of its parent's text.

    Header lines before the code (``Change:``, ``Kind:``, ``Edit:``) are optional. Line ends, and whether the
    last line has one, follow the parent.

    Args:
        text: the whole answer.
        parent: the text that the Coder was shown.
        language: of the target; tells the file from other fenced blocks.
        filename: of the target; a diff that names another file is malformed.
    """
    if len(text) > LONGEST:
        return Malformed(f"the answer is longer than {LONGEST} characters; send the changed parts only")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return Malformed("the answer holds characters that are no valid Unicode text")
    text = THINKING.sub("", text, count=1)
    source = keeping_line_ends(partial(_change, language=language, filename=filename), text, parent)
    if isinstance(source, Malformed):
        return source
    if len(source) > LONGEST:
        return Malformed(f"the new file is longer than {LONGEST} characters")
    heads = _headers(text)
    kinds = {word.strip().lower() for word in heads.get("kind", "").split(",")}
    edit = heads.get("edit", "").strip("`")
    return Answer(
        source,
        note=" ".join(heads.get("change", "").split())[:LONGEST_NOTE],
        labels=tuple(label for label in LABELS if label in kinds),
        edit=edit if EDIT.fullmatch(edit) else "",
    )


def _change(text: str, parent: str, language: str, filename: str) -> str | Malformed:
    lines = text.split("\n")
    if "SEARCH" in text and any(SEARCH.match(line) for line in lines):
        return _replace_blocks(lines, parent)
    blocks = list(fenced_blocks(lines))
    if not blocks:
        if bare := BARE_DIFF.search(text):
            return _patched(text[bare.start() :], parent, filename)
        return Malformed(
            "no code was found; send the whole file in one fenced block, search/replace blocks or a unified diff"
        )
    if not blocks[-1].closed:
        return Malformed("the answer ends inside a fenced block; send it whole, or only the changed parts")
    diffs = [block for block in blocks if _is_diff(block)]
    if diffs:
        # Each block is a part of one diff.
        return _patched("\n".join(line for block in diffs for line in block.lines), parent, filename)
    if len(blocks) > 1:
        blocks = [block for block in blocks if block.tag.lower() in TAGS.get(language, (language,))]
        if len(blocks) != 1:
            return Malformed("more than one fenced block was found; send the whole file in exactly one")
    whole = blocks[0].lines
    return join_lines(whole, parent.endswith("\n") or not parent)


def _patched(diff: str, parent: str, filename: str) -> str | Malformed:
    target = PurePosixPath(filename).name
    if target and (others := sorted(name for name in files_changed(diff) if _names_another(name, target))):
        return Malformed(
            f"the diff changes {others[0]}; only {target} may change, so put all that is needed there: other files "
            "stay as they are"
        )
    return apply_patch(diff, parent)


def _names_another(name: str, target: str) -> bool:
    """Tells whether a diff's head is about another file; a word without a suffix, such as "original", names none."""
    path = PurePosixPath(name)
    return bool(path.suffix) and path.name.split(" ")[0] != target.split(" ")[0]


def _headers(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in text.split("\n"):
        line = line.rstrip("\r")
        if FENCE.match(line) or SEARCH.match(line) or BARE_DIFF.match(line):
            break
        if head := HEADER.match(line):
            found.setdefault(head[1].lower(), head[2])
    return found


def fenced_blocks(lines: list[str]) -> Iterator[Fenced]:
    """Yields the fenced blocks; a block ends at the first bare fence at least as long as its own."""
    at = 0
    while at < len(lines):
        opening = FENCE.match(lines[at])
        at += 1
        if opening is None:
            continue
        start, fence = at, opening[1]
        while at < len(lines) and not (lines[at].startswith(fence) and lines[at].rstrip().strip(fence[0]) == ""):
            at += 1
        yield Fenced(opening[2], tuple(lines[start:at]), closed=at < len(lines))
        at += 1


def _is_diff(block: Fenced) -> bool:
    return block.tag.lower() in ("diff", "patch") or bool(DIFF.match("\n".join(block.lines[:2])))


def _replace_blocks(lines: list[str], parent: str) -> str | Malformed:
    current, ended = split_lines(parent)
    at = count = 0
    while at < len(lines):
        at += 1
        if not SEARCH.match(lines[at - 1]):
            continue
        count += 1
        if count > MOST_BLOCKS:
            return Malformed(f"more than {MOST_BLOCKS} search/replace blocks; send the whole file instead")
        end = next((i for i in range(at, len(lines)) if REPLACE.match(lines[i])), None)
        if end is None:
            return Malformed(f"block {count} has no line '>>>>>>> REPLACE'")
        changed = _replace(current, lines[at:end])
        if isinstance(changed, str):
            return Malformed(f"block {count} {changed}")
        current, at = changed, end + 1
    return join_lines(current, ended)


def _replace(current: list[str], block: list[str]) -> list[str] | str:
    """Returns the lines with one block replaced, or what is wrong with the block."""
    dividers = [i for i, line in enumerate(block) if DIVIDER.match(line)]
    if not dividers:
        return "has no line '=======' between the old lines and the new"
    complaint = ""
    # The code itself may hold such a line (an underlined heading): the longest part that stands in it is meant.
    for divider in reversed(dividers[:MOST_DIVIDERS]):
        search = block[:divider]
        places = occurrences(current, search)
        if len(places) == 1:
            return [*current[: places[0]], *block[divider + 1 :], *current[places[0] + len(search) :]]
        if not search:
            complaint = "searches for nothing; copy the lines that it replaces"
        elif places:
            complaint = f"searches for lines that stand in the file {len(places)} times; add lines around them"
        else:
            complaint = "searches for lines that do not stand in the file; copy them exactly, blanks too"
    return complaint
