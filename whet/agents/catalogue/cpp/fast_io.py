"""Standard streams that flush on each line, or keep in step with C's."""

from __future__ import annotations

from collections.abc import Iterator

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.cpp.edit import CppEdit, Replacement, Splice, indentation, newline
from whet.agents.catalogue.cpp.source import CppSource

_STDIO = (
    "printf", "scanf", "puts", "putchar", "getchar", "gets", "fgets", "fputs", "fread", "fwrite", "putc", "getc",
    "fprintf", "fscanf", "fflush", "stdin", "stdout", "getchar_unlocked", "putchar_unlocked",
)  # fmt: skip


class FastStreams(CppEdit):
    """Writes ``'\\n'`` for ``endl``, and frees the streams from C's where the program does not use those."""

    name = "fast-io"
    label = Label.LIBRARY_CALL
    summary = "ends lines without flushing, and unties the standard streams from C's and from each other"
    needs = "`endl`, or cin and cout in a program with main and without printf, scanf and the like"
    unsafe = "a dialogue in which each line must be seen before the next is read; a crash loses unflushed output"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change for the whole program."""
        splices = []
        lines = []
        for index, token in enumerate(source.tokens):
            if token.text == "endl" and (start := _manipulator(source, index)) is not None:
                splices.append(Splice(start, token.end, r"'\n'"))
                lines.append(token.line)
        main = next((each for each in source.functions if each.name == "main" and each.body), None)
        if main is not None and main.body is not None and _can_untie(source):
            brace = source.tokens[main.body.first - 1]
            indent = indentation(source, main.body.first) or "    "
            calls = ("std::ios::sync_with_stdio(false);", "std::cin.tie(nullptr);")
            text = "".join(f"{newline(source)}{indent}{call}" for call in calls)
            splices.append(Splice(brace.end, brace.end, text))
            lines.append(brace.line)
        if splices:
            yield Replacement(
                lines[0], splices, "the streams flush on each line or keep in step with C's; neither is needed"
            )


def _manipulator(source: CppSource, index: int) -> int | None:
    """Returns the offset at which ``endl`` or ``std::endl`` begins, where it is written to a stream."""
    first = index - 2 if source.word(index - 1) == "::" and source.word(index - 2) == "std" else index
    return source.tokens[first].start if source.word(first - 1) == "<<" else None


def _can_untie(source: CppSource) -> bool:
    has_streams = source.includes("iostream", "bits/stdc++.h") and source.has_name("cin", "cout")
    return has_streams and not source.has_name("sync_with_stdio", *_STDIO)
