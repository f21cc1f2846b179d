"""A C or C++ file as tokens: brackets, functions and loops, with comments and strings out of the way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from whet.agents.models.base import Brief

_TOKEN = re.compile(
    r"""
    (?P<space>\s+|\\\n)
  | (?P<comment>//(?:[^\n\\]|\\.)*|/\*.*?\*/)
  | (?P<directive>\#(?:[^\n\\]|\\.)*)
  | (?P<raw>(?:u8|u|U|L)?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")
  | (?P<string>(?:u8|u|U|L)?"(?:[^"\\\n]|\\.)*"|(?:u8|u|U|L)?'(?:[^'\\\n]|\\.)*')
  | (?P<name>[A-Za-z_]\w*)
  | (?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)
  | (?P<operator><<=|>>=|<=>|->\*|\.\.\.|::|->|\+\+|--|<<|&&|\|\||[-+*/%&|^!=<>]=|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_OPENING = {"(": ")", "[": "]", "{": "}"}
_NOT_FUNCTIONS = frozenset({"if", "for", "while", "switch", "catch", "return", "sizeof", "do", "else"})


@dataclass(frozen=True, slots=True)
class Token:
    """A word, literal or operator.

    Attributes:
        text: as written.
        kind: name, number, string or operator.
        start: offset of its first character in the file.
        line: counted from 1.
    """

    text: str
    kind: str
    start: int
    line: int

    @property
    def end(self) -> int:
        """Offset behind its last character."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Region:
    """Tokens from index ``first`` up to, not including, index ``end``."""

    first: int
    end: int

    def __contains__(self, index: int) -> bool:
        return self.first <= index < self.end

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.first, self.end))


@dataclass(frozen=True, slots=True)
class Function:
    """A function's definition or declaration.

    Attributes:
        name: without its class.
        params: one region a parameter.
        body: the tokens between its braces; None for a declaration.
        at: index of the name.
    """

    name: str
    params: tuple[Region, ...]
    body: Region | None
    at: int


@dataclass(frozen=True, slots=True)
class LoopStatement:
    """A ``for`` or ``while`` loop; ``do`` loops are left out.

    Attributes:
        at: index of the keyword.
        header: the tokens between its round brackets.
        body: its statement, braces included.
    """

    at: int
    header: Region
    body: Region


class CppSource:
    """A tokenised file.

    Attributes:
        text: the file.
        symbol: the function that others call, whose signature has to stay.
        is_cpp: whether it is C++ rather than C.
        tokens: all but comments, blanks and preprocessor lines.
        directives: the preprocessor lines.
        partner: index of each bracket's other half.
        functions: definitions and declarations at any depth, in the order of the text.
        loops: all loops, in the order of the text.
    """

    def __init__(
        self, text: str, tokens: list[Token], directives: list[Token], symbol: str | None, *, is_cpp: bool
    ) -> None:
        self.text = text
        self.symbol = symbol
        self.is_cpp = is_cpp
        self.tokens = tokens
        self.directives = directives
        self.partner = _match_brackets(tokens)
        self.functions = tuple(self._find_functions())
        self.loops = tuple(self._find_loops())

    def word(self, index: int) -> str:
        """Returns a token's text; an empty string beyond the ends."""
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def words(self, region: Iterable[int]) -> list[str]:
        """Returns the texts of some tokens."""
        return [self.word(index) for index in region]

    def slice(self, region: Region) -> str:
        """Returns the text of a region, blanks and comments included."""
        if region.first >= region.end:
            return ""
        return self.text[self.tokens[region.first].start : self.tokens[region.end - 1].end]

    def occurrences(self, name: str, region: Iterable[int] | None = None) -> list[int]:
        """Returns the indices of a variable; members ``x.name`` and ``x->name`` are other things."""
        where = range(len(self.tokens)) if region is None else region
        return [index for index in where if self.word(index) == name and self.word(index - 1) not in (".", "->")]

    def has_name(self, *names: str) -> bool:
        """Whether one of these names occurs anywhere in the code."""
        return any(token.kind == "name" and token.text in names for token in self.tokens)

    def includes(self, *headers: str) -> bool:
        """Whether one of these headers is included."""
        return any(
            re.match(rf"#\s*include\s*[<\"]{re.escape(header)}[>\"]", each.text)
            for each in self.directives
            for header in headers
        )

    def fresh(self, wish: str) -> str:
        """Returns a name like ``wish`` that the file does not use."""
        name, count = wish, 2
        while name in self.text:
            name, count = f"{wish}{count}", count + 1
        return name

    def template_end(self, index: int) -> int | None:
        """Returns the index of the ``>`` that ends template arguments opened at ``index``; None if there is none."""
        depth = 0
        for here in range(index, len(self.tokens)):
            word = self.word(here)
            if word == "<":
                depth += 1
            elif word == ">":
                depth -= 1
            elif word in (";", "{", "}", "(", "&&", "||", "<<"):
                return None
            if depth == 0:
                return here
        return None

    def block_around(self, index: int) -> Region:
        """Returns the tokens between the innermost braces around a token, or all of them."""
        for here in range(index - 1, -1, -1):
            if self.word(here) == "{" and self.partner.get(here, -1) > index:
                return Region(here + 1, self.partner[here])
        return Region(0, len(self.tokens))

    def statement_end(self, index: int) -> int:
        """Returns the index behind the statement that begins at ``index``."""
        word = self.word(index)
        if word == "{":
            return self.partner.get(index, len(self.tokens) - 1) + 1
        if word in ("for", "while", "if", "switch") and self.word(index + 1) == "(":
            end = self.statement_end(self.partner.get(index + 1, index + 1) + 1)
            return self.statement_end(end + 1) if word == "if" and self.word(end) == "else" else end
        here = index
        while here < len(self.tokens) and self.word(here) not in (";", "}"):
            here = self.partner.get(here, here) + 1 if self.word(here) in _OPENING else here + 1
        return here + 1 if self.word(here) == ";" else here

    def _find_loops(self) -> Iterator[LoopStatement]:
        for index, token in enumerate(self.tokens):
            is_loop = token.text in ("for", "while") and self.word(index + 1) == "("
            if is_loop and index + 1 in self.partner and not self._ends_do(index):
                close = self.partner[index + 1]
                body = Region(close + 1, self.statement_end(close + 1))
                yield LoopStatement(index, Region(index + 2, close), body)

    def _ends_do(self, index: int) -> bool:
        return self.word(index - 1) == "}" and self.word(self.partner.get(index - 1, 0) - 1) == "do"

    def _find_functions(self) -> Iterator[Function]:
        for index, token in enumerate(self.tokens):
            is_head = token.kind == "name" and token.text not in _NOT_FUNCTIONS and self.word(index + 1) == "("
            if not is_head or index + 1 not in self.partner or not self._follows_type(index):
                continue
            close = self.partner[index + 1]
            after = close + 1
            while self.word(after) in ("const", "noexcept", "override", "final"):
                after += 1
            params = tuple(self.split(Region(index + 2, close)))
            if self.word(after) == "{" and after in self.partner:
                yield Function(token.text, params, Region(after + 1, self.partner[after]), index)
            elif self.word(after) == ";" and params:
                yield Function(token.text, params, None, index)

    def _follows_type(self, index: int) -> bool:
        before = index - 1
        while self.word(before) == "::":
            before -= 2
        previous = self.tokens[before] if before >= 0 else None
        if previous is None or previous.text in ("return", "new", "else", "delete", "throw", "case", "goto"):
            return False
        return previous.kind == "name" or previous.text in ("*", "&", ">", "&&")

    def split(self, region: Region) -> Iterator[Region]:
        """Yields the parts of a list that commas separate outside all brackets."""
        first = here = region.first
        while here < region.end:
            word = self.word(here)
            if word in _OPENING and here in self.partner:
                here = self.partner[here]
            elif word == "<":
                here = self.template_end(here) or here
            elif word == ",":
                yield Region(first, here)
                first = here + 1
            here += 1
        if first < region.end:
            yield Region(first, region.end)


def read(brief: Brief) -> CppSource | None:
    """Returns a brief's source as tokens, or None where its brackets do not match."""
    return _read(brief.source, brief.symbol, brief.language == "cpp")


@lru_cache(maxsize=4)
def _read(text: str, symbol: str | None, is_cpp: bool) -> CppSource | None:
    tokens: list[Token] = []
    directives: list[Token] = []
    line = 1
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "operator"
        piece = match.group()
        if kind == "directive":
            directives.append(Token(piece, kind, match.start(), line))
        elif kind not in ("space", "comment"):
            tokens.append(Token(piece, "string" if kind == "raw" else kind, match.start(), line))
        line += piece.count("\n")
    source = CppSource(text, tokens, directives, symbol, is_cpp=is_cpp)
    brackets = [i for i, token in enumerate(tokens) if token.text in "()[]{}" and token.kind == "operator"]
    return source if all(index in source.partner for index in brackets) else None


def _match_brackets(tokens: list[Token]) -> dict[int, int]:
    partner: dict[int, int] = {}
    open_brackets: list[int] = []
    for index, token in enumerate(tokens):
        if token.kind != "operator":
            continue
        if token.text in _OPENING:
            open_brackets.append(index)
        elif open_brackets and _OPENING[tokens[open_brackets[-1]].text] == token.text:
            opening = open_brackets.pop()
            partner[opening], partner[index] = index, opening
    return partner
