"""Numbers and words that a stream writes one by one."""

from __future__ import annotations

from collections.abc import Iterator

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.cpp.edit import CppEdit, Replacement, Splice, before_all, include, whole
from whet.agents.catalogue.cpp.source import CppSource, Region
from whet.agents.catalogue.cpp.variables import variable

_OTHERS = (
    "printf", "puts", "putchar", "fputs", "fwrite", "stdout", "putc", "fputc", "ostream", "ostream_iterator", "abort",
    "_exit", "quick_exit", "_Exit", "fork", "terminate", "complex", "bitset", "putchar_unlocked", "BlockOutput",
)  # fmt: skip
_MANIPULATORS = frozenset({
    "setw", "setfill", "setprecision", "fixed", "scientific", "hex", "oct", "boolalpha", "showpos", "showpoint",
    "internal", "uppercase", "put_money", "put_time", "flush", "unitbuf", "ends", "quoted", "left", "right", "setbase",
})  # fmt: skip
WRITER = r"""
struct BlockOutput {
    std::string waiting;
    void flush() {
        std::fwrite(waiting.data(), 1, waiting.size(), stdout);
        waiting.clear();
    }
    template <class T> BlockOutput &operator<<(const T &value) {
        if constexpr (std::is_convertible<const T &, std::string_view>::value) waiting += std::string_view(value);
        else if constexpr (std::is_same<T, bool>::value) waiting += value ? '1' : '0';
        else if constexpr (std::is_integral<T>::value && sizeof(T) == 1) waiting += (char)value;
        else if constexpr (std::is_integral<T>::value) {
            char digits[24];
            waiting.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr - digits);
        } else if constexpr (std::is_floating_point<T>::value) {
            char digits[64];
            waiting.append(digits, std::snprintf(digits, sizeof digits, "%Lg", (long double)value));
        } else {
            static_assert(!std::is_pointer<T>::value, "written by the stream's own rules");
            *this << +value;
        }
        if (waiting.size() >= 1 << 16) flush();
        return *this;
    }
    ~BlockOutput() { flush(); }
};
static BlockOutput block_output;
"""
HEADERS = ("charconv", "cstdio", "string", "string_view", "type_traits")


class BlockOutputs(CppEdit):
    """Collects the output in a string and writes that in blocks, in the place of ``cout``."""

    name = "block-output"
    label = Label.LIBRARY_CALL
    summary = "collects what is written to cout in a string that goes out in blocks"
    needs = "cout used with `<<` alone, without manipulators but endl, nothing else that writes to stdout, C++17"
    unsafe = "a dialogue in which each line must be seen before the next is read; a crash loses more output"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change for the whole program."""
        splices: list[Splice] = []
        lines = []
        for index, token in enumerate(source.tokens):
            if token.text == "cout":
                if source.word(index + 1) != "<<" or source.word(index - 1) in ("&", "."):
                    return
                first = index - 2 if source.word(index - 1) == "::" else index
                splices.append(whole(source, Region(first, index + 1), "block_output"))
                lines.append(token.line)
            elif token.text == "endl":
                first = index - 2 if source.word(index - 1) == "::" else index
                splices.append(whole(source, Region(first, index + 1), r"'\n'"))
            elif _is_formatting(source, index):
                return
        place = before_all(source)
        if not lines or place is None or source.has_name(*_OTHERS):
            return
        headers = [splice for header in HEADERS for splice in include(source, header)]
        why = "the stream formats and checks its state for each piece that is written"
        yield Replacement(lines[0], [*headers, Splice(place, place, WRITER.lstrip()), *splices], why)


def _is_formatting(source: CppSource, index: int) -> bool:
    """Whether a token is a manipulator that is written, or begins an operator that writes a type of the file."""
    if source.word(index) == "operator":
        return source.word(index + 1) == "<<"
    first = index - 2 if source.word(index - 1) == "::" else index
    is_written = source.word(index) in _MANIPULATORS and source.word(first - 1) == "<<"
    return is_written and variable(source, source.word(index), index) is None
