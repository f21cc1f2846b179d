"""C's standard streams, locked for each character and flushed every few kilobytes."""

from __future__ import annotations

from collections.abc import Iterator

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.cpp.edit import CppEdit, Replacement, Splice, include, indentation, newline
from whet.agents.catalogue.cpp.source import CppSource

_UNLOCKED = {
    "getchar": "getchar_unlocked", "putchar": "putchar_unlocked", "fgetc": "getc_unlocked", "getc": "getc_unlocked",
    "putc": "putc_unlocked", "fputc": "putc_unlocked",
}  # fmt: skip
_WRITES = ("printf", "puts", "putchar", "fputs", "fwrite", "putc", "fputc", "putchar_unlocked", "putc_unlocked")
_THREADS = ("thread", "jthread", "async", "pthread_create", "thrd_create", "fork")
BUFFER = 1 << 16
"""Bytes of the buffer that stdout gets, which is more than a page. A larger one calls the system less often, but takes
more memory and loses more output in a crash; a smaller one gains less."""


class UnlockedCharacters(CppEdit):
    """Reads and writes characters without taking the stream's lock for each."""

    name = "unlocked-stdio"
    languages: tuple[str, ...] = ("c", "cpp")
    label = Label.LIBRARY_CALL
    summary = "reads and writes single characters of C's streams without locking"
    needs = "getchar, putchar, getc or putc in a program without threads, on a POSIX system"
    unsafe = "several threads that use one stream; a strict C standard, whose headers hide the functions"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change for the whole file."""
        if source.has_name(*_THREADS) or any(each.name in _UNLOCKED for each in source.functions):
            return
        splices: list[Splice] = []
        lines = []
        for index, token in enumerate(source.tokens):
            is_call = token.text in _UNLOCKED and source.word(index + 1) == "("
            if not is_call or source.word(index - 1) in (".", "->"):
                continue
            qualified = source.word(index - 1) == "::"
            first = source.tokens[index - 2] if qualified and source.word(index - 2) == "std" else token
            splices.append(Splice(first.start, token.end, _UNLOCKED[token.text]))
            lines.append(token.line)
        if splices:
            yield Replacement(lines[0], splices, "each character takes and gives back the lock of its stream")


class WideOutput(CppEdit):
    """Gives stdout a buffer that holds more than a page."""

    name = "output-buffer"
    languages: tuple[str, ...] = ("c", "cpp")
    label = Label.LIBRARY_CALL
    summary = "gives stdout a wide buffer, so that the program calls the system less often"
    needs = "printf, puts or the like in a loop of a program with main, without fflush and setvbuf"
    unsafe = "a dialogue in which each line must be seen before the next is read; a crash loses more output"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change for the whole program."""
        main = next((each for each in source.functions if each.name == "main" and each.body), None)
        written = next((token for token in source.tokens if token.text in _WRITES), None)
        if main is None or main.body is None or written is None or not source.loops:
            return
        if source.has_name("setvbuf", "setbuf", "fflush", "fork", "_exit", "abort", "cout"):
            return
        brace = source.tokens[main.body.first - 1]
        indent = indentation(source, main.body.first) or "    "
        name = source.fresh("output_buffer")
        calls = (f"static char {name}[{BUFFER}];", f"setvbuf(stdout, {name}, _IOFBF, sizeof {name});")
        text = "".join(f"{newline(source)}{indent}{call}" for call in calls)
        header = [] if source.includes("stdio.h") else include(source, "cstdio" if source.is_cpp else "stdio.h")
        why = "what is written goes to the system in small pieces"
        yield Replacement(written.line, [*header, Splice(brace.end, brace.end, text)], why)
