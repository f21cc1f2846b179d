"""Numbers and words that a stream reads one by one."""

from __future__ import annotations

from collections.abc import Iterator

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.cpp.edit import CppEdit, Replacement, Splice, before_all, include, whole
from whet.agents.catalogue.cpp.source import CppSource, Region

_OTHERS = (
    "scanf", "fscanf", "getchar", "gets", "fgets", "fread", "stdin", "getc", "fgetc", "getchar_unlocked", "istream",
    "istream_iterator", "istreambuf_iterator", "BlockInput",
)  # fmt: skip
_MANIPULATORS = frozenset({"noskipws", "hex", "oct", "boolalpha", "ws", "get_time", "quoted"})
READER = r"""
struct BlockInput {
    bool failed = false;
    int peek() {
        static char block[1 << 16];
        static std::size_t at = 0, end = 0;
        if (taken) {
            taken = false;
            if (at == end) {
                end = std::fread(block, 1, sizeof block, stdin);
                at = 0;
            }
            next = end == 0 ? EOF : (unsigned char)block[at++];
        }
        return next;
    }
    static bool blank(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
    static bool digit(int c) { return c >= '0' && c <= '9'; }
    bool start() {
        while (!failed && blank(peek())) taken = true;
        return !(failed = failed || peek() == EOF);
    }
    template <class T> BlockInput &operator>>(T &value) {
        static_assert(std::is_arithmetic<T>::value && !std::is_same<T, bool>::value, "read by the stream's own rules");
        if (!start()) return *this;
        if constexpr (std::is_same<T, char>::value) {
            value = (char)peek();
            taken = true;
        } else if constexpr (std::is_integral<T>::value) {
            static_assert(sizeof(T) > 1, "a character of another type");
            const bool minus = peek() == '-';
            if (minus || peek() == '+') taken = true;
            if (!(failed = !digit(peek()))) {
                const unsigned long long most = (unsigned long long)std::numeric_limits<T>::max();
                const unsigned long long limit = most + (minus && std::is_signed<T>::value ? 1 : 0);
                unsigned long long sum = 0;
                for (; digit(peek()); taken = true) {
                    const unsigned long long last = peek() - '0';
                    if (sum > (limit - last) / 10) failed = true;
                    sum = sum * 10 + last;
                }
                if (failed) value = minus && std::is_signed<T>::value ? std::numeric_limits<T>::min() : (T)most;
                else value = (T)(minus ? 0 - sum : sum);
            } else value = 0;
        } else {
            std::string word;
            auto take = [&] { word += (char)peek(); taken = true; };
            if (peek() == '-' || peek() == '+') take();
            while (digit(peek())) take();
            if (peek() == '.') take();
            while (digit(peek())) take();
            if (peek() == 'e' || peek() == 'E') {
                take();
                if (peek() == '-' || peek() == '+') take();
                while (digit(peek())) take();
            }
            char *end;
            const T found = (T)std::strtold(word.c_str(), &end);
            value = (failed = word.empty() || *end != 0) ? 0 : found;
        }
        return *this;
    }
    BlockInput &operator>>(std::string &word) {
        if (start()) {
            word.clear();
            for (; peek() != EOF && !blank(peek()); taken = true) word += (char)peek();
        }
        return *this;
    }
    friend BlockInput &getline(BlockInput &in, std::string &line) {
        if (in.failed) return in;
        line.clear();
        in.failed = in.peek() == EOF;
        for (; in.peek() != EOF && in.peek() != '\n'; in.taken = true) line += (char)in.peek();
        in.taken = true;
        return in;
    }
    explicit operator bool() const { return !failed; }
    bool operator!() const { return failed; }
    bool fail() const { return failed; }

private:
    bool taken = true;
    int next = 0;
};
static BlockInput block_input;
"""
HEADERS = ("cstdio", "cstdlib", "limits", "string", "type_traits")


class BlockInputs(CppEdit):
    """Reads stdin in blocks and parses it in the program, in the place of ``cin``."""

    name = "block-input"
    label = Label.LIBRARY_CALL
    summary = "reads stdin in blocks, and parses numbers and words without the stream's locale, locks and virtual calls"
    needs = "cin used with `>>` and getline alone, nothing else that reads stdin, C++17"
    unsafe = "a dialogue in which an answer follows each question; types of the program's own that are read"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change for the whole program."""
        splices: list[Splice] = []
        lines = []
        for index, token in enumerate(source.tokens):
            if _is_formatting(source, index):
                return
            if token.text == "cin" and source.words(range(index + 1, index + 3)) != [".", "tie"]:
                new = _replaced(source, index)
                if not new:
                    return
                splices += new
                lines.append(token.line)
        place = before_all(source)
        if not splices or place is None or source.has_name(*_OTHERS):
            return
        headers = [splice for header in HEADERS for splice in include(source, header)]
        why = "the stream asks its locale and buffer for each character of a number"
        yield Replacement(lines[0], [*headers, Splice(place, place, READER.lstrip()), *splices], why)


def _replaced(source: CppSource, index: int) -> list[Splice]:
    """Returns what reads from blocks instead of one mention of ``cin``; nothing where it is used otherwise."""
    first = index - 2 if source.word(index - 1) == "::" else index
    read = whole(source, Region(first, index + 1), "block_input")
    if source.words(range(index + 1, index + 3)) == [">", ">"]:
        return [read]
    if source.word(first - 1) != "(" or source.word(first - 2) != "getline" or source.word(index + 1) != ",":
        return []
    if len(list(source.split(Region(first, source.partner[first - 1])))) != 2:
        return []
    if source.word(first - 3) == "::":
        return [whole(source, Region(first - 4, first - 1), "getline"), read]
    return [read]


def _is_formatting(source: CppSource, index: int) -> bool:
    """Whether a token is a manipulator that is read, or begins an operator that reads a type of the file."""
    if source.word(index) == "operator":
        return source.word(index + 1) == ">" and source.word(index + 2) == ">"
    first = index - 2 if source.word(index - 1) == "::" else index
    return source.word(index) in _MANIPULATORS and source.word(first - 1) == ">"
