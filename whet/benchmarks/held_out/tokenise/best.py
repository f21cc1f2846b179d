"""Splits the source text of a small language into tokens."""

import re

KEYWORDS = frozenset("let if else while for fn return true false nil and or not import".split())
TOKEN = re.compile(
    r"""(?P<line>\n)
    |(?P<blank>(?:[ \t\r]+|\#[^\n]*)+)
    |(?P<name>[a-zA-Z_][a-zA-Z_0-9]*)
    |(?P<number>[0-9]+(?:\.[0-9]+)?)
    |"(?P<string>(?:\\["\\nt]|\\(?!["\\nt])|[^"\\\n])*+)"
    |(?P<operator><<=|>>=|->|&&|\|\||<<|>>|[=!<>]=|[-+*]=|[-+*/%<>=!(){}\[\],;:.])""",
    re.VERBOSE,
)
ESCAPE = re.compile(r"""\\(["\\nt])""")
ESCAPED = {'"': '"', "\\": "\\", "n": "\n", "t": "\t"}


def tokenise(source):
    tokens = []
    line = 1
    begin = -1  # so that the first column is 1
    at = 0
    match_at = TOKEN.match
    while at < len(source):
        match = match_at(source, at)
        if match is None:
            if source[at] == '"':
                raise SyntaxError(f"string in line {line} does not end")
            raise SyntaxError(f"unexpected {source[at]!r} in line {line}, column {at - begin}")
        kind = match.lastgroup
        if kind == "line":
            line += 1
            begin = at
        elif kind != "blank":
            text = match[kind]
            if kind == "name" and text in KEYWORDS:
                kind = "keyword"
            elif kind == "string" and "\\" in text:
                text = ESCAPE.sub(lambda found: ESCAPED[found[1]], text)
            tokens.append((kind, text, line, at - begin))
        at = match.end()
    return tokens
