"""One name for all texts that say the same to their language: layout, comments and idle docstrings aside."""

from __future__ import annotations

import ast
import hashlib
import re
from typing import TYPE_CHECKING, Any

from whet.core.candidate import content_id
from whet.core.trees import parse_python
from whet.evaluators.languages import registry
from whet.evaluators.syntax.native import LONGEST, Source

if TYPE_CHECKING:
    from hashlib import _Hash

DOC_READERS = re.compile(r"__doc__|getdoc|doctest|docopt|^help$|^ply$", re.MULTILINE)
"""Names and strings of code that may read docstrings."""
TEXT_READERS = re.compile(r"__file__|linecache|get_?source|findsource|inspect|lineno|co_lines|co_positions|traceback")
"""Names and strings of code that may read its own text, or where in it something stands."""
PLACE_READERS = (b"__LINE__", b"source_location")
LAYOUT_MATTERS = re.compile(rb"R\"|\d'")
"""In a macro, texts that hold a raw string or a digit separator are not divided into tokens."""
MACRO_PART = re.compile(
    rb"(?P<kept>\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*')|(?://(?:\\\r?\n|[^\n])*|/\*.*?\*/|\\\r?\n|\s)+", re.DOTALL
)

WORDS = re.compile(
    rb"([^\W\d]\w*)[^\w\"'/]*|\d\w*[^\w\"'/]*|\"(?:\\.|[^\\\n\"])*\"|'(?:\\.|[^\\\n'])*'|//[^\n]*|/\*.*?\*/", re.DOTALL
)
"""Of C, and of languages that say nothing else: comments, literals, and in the group what is neither: names, keywords,
and what a string begins with. A word takes what follows it, where no other can begin: to look there would take most of
the time. Letters are those of ASCII, which are found in less time; whatever else is in a name divides it."""

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def fingerprint(language: str, source: str) -> str:
    """Returns a hash that two texts share only if they mean the same.

    Python goes by its syntax tree: without positions, comments, and docstrings unless the code may read them; type
    comments stay, and an encoding line counts through what it makes of the strings. C and C++ go by their tokens;
    preprocessor lines keep their line structure, and a comment in the midst of one counts. A text that does not
    parse, that is too long, or that may read its own lines has the hash of its bytes.
    """
    if len(source) > LONGEST:
        return content_id(source)
    known = registry.language(language)
    return (known.meaning(source) if known is not None and known.meaning is not None else None) or content_id(source)


def outline(language: str, source: str) -> bytes:
    """Returns what two texts of one fingerprint share, at a hundredth of its cost: their names in their order.

    Texts that share it may say different things. A text may be misread here; then it is only thought to differ from one
    that says the same.
    """
    known = registry.language(language)
    words = (known.words if known is not None else None) or WORDS
    return b" ".join(filter(None, words.findall(source.encode("utf-8"))))


def of_python(source: str) -> str | None:
    """Returns the fingerprint of a Python text; None for one that does not parse, or may read its own lines."""
    try:
        # From bytes: an encoding line decides what the strings are.
        tree = parse_python(source.encode("utf-8"), type_comments=True)
        return _of_tree(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _of_tree(tree: ast.Module) -> str | None:
    """Hashes a tree in the order of its fields, without recursion: how deep a text may nest is then no matter."""
    parts: list[str] = []  # a line each: a `repr` has no line end, and what a node's fields are follows from its type
    words: set[str] = set()
    docstrings: list[tuple[int, str]] = []
    waiting: list[Any] = _undocumented(tree, 0, docstrings)[::-1]
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.AST):
            parts.append(type(part).__name__)
            if isinstance(part, Documented):
                body = _undocumented(part, len(parts), docstrings)
                waiting += [body if name == "body" else getattr(part, name, None) for name in reversed(part._fields)]
            else:
                waiting += [getattr(part, name, None) for name in reversed(part._fields)]
        elif isinstance(part, list):
            parts.append(f"list of {len(part)}")
            waiting += reversed(part)
        else:
            parts.append(f"{type(part).__name__} {part!r}")
            if isinstance(part, str):
                words.add(part)
    said = "\n".join(words)
    if TEXT_READERS.search(said):
        return None
    if DOC_READERS.search(said):
        parts.append(repr(docstrings))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _undocumented(node: Documented, place: int, docstrings: list[tuple[int, str]]) -> list[ast.stmt]:
    """Returns a body without its docstring, which is put to the others."""
    text = ast.get_docstring(node, clean=False)
    if text is None:
        return node.body
    docstrings.append((place, text))
    return node.body[1:]


def of_native(language: str, source: str) -> str | None:
    """Returns the fingerprint of a text in C or C++; None for one that cannot be read, or may read its own lines."""
    parsed = Source.parse(language, source)
    if parsed is None or parsed.broken:
        return None
    digest = hashlib.sha256(language.encode())
    gap, directive = b"\n", b""
    for kind, text, before in parsed.leaves():
        gap += before
        if kind == "comment" or not kind.strip():
            gap += b"" if kind == "comment" else text
            continue
        new_line = b"\n" in gap.replace(b"\\\n", b"").replace(b"\\\r\n", b"")
        if directive and new_line:
            _add(digest, "end of line", b"")
            directive = b""
        if kind.startswith("#") or kind == "preproc_directive":
            directive = text
            _add(digest, "directive", str(new_line).encode())
        if kind == "preproc_arg":
            text = _macro(text)
            if directive.endswith(b"define") and b"#" in text:
                return None  # it may make a string of its arguments, as they stand
        if any(reader in text for reader in PLACE_READERS):
            return None
        # What is neither a token nor a blank, such as a line spliced within a name.
        _add(digest, "gap", b"".join(gap.split()))
        _add(digest, kind, text)
        gap = b""
    return digest.hexdigest()


def _macro(text: bytes) -> bytes:
    """Returns what stands behind a directive, with one blank for each comment and run of blanks."""
    if LAYOUT_MATTERS.search(text):
        return text
    return MACRO_PART.sub(lambda part: part["kept"] or b" ", text).strip()


def _add(digest: _Hash, kind: str, data: bytes) -> None:
    digest.update(f"{kind} {len(data)}\0".encode())
    digest.update(data)
