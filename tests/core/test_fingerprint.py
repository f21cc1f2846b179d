"""Texts that say the same have one fingerprint, all others one of their own."""

from __future__ import annotations

import io
import keyword
import tokenize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.core.candidate import content_id
from whet.evaluators.syntax.fingerprint import fingerprint
from whet.evaluators.syntax.native import Source

PYTHON = '''"""Counts words."""
import re
from collections import Counter as Bag

LIMIT = 10 * 2.5


class Words:
    """Of a text."""

    seen = {"a": [1, 2], 'b': ()}

    def __init__(self, text, *, fold=True):
        """Takes the text."""
        self.text = text.lower() if fold else text

    def count(self):
        found = Bag()
        for word in re.findall(r"\\w+", self.text):
            if word not in self.seen and -len(word) < LIMIT:
                found[word] += 1
        return f"{found!r:>{LIMIT}}", found, b"\\x00"


def total(numbers):
    return sum(number ** 2 for number in numbers)
'''
NATIVE = r"""#include <cstdio>
#include "other.h"
#define LIMIT 10 /* ten */
#define SQUARE(a) \
    ((a) * (a))
#if LIMIT > 5 && defined(LIMIT)
static const char *text = "a // no comment" "b\n";
#else
static const char *text = u8"c";
#endif

int total(const int *numbers, int n) {
    long sum = 0x10UL;
    for (int i = 0; i < n && i != LIMIT; ++i) sum += SQUARE(numbers[i]) % 1000007;
#pragma omp parallel for
    for (int i = n; i-- > 0;) if (numbers[i] == 'x' || numbers[i] == ' ') sum -= 1;
    return (int) sum;
}
"""
LAYOUT = [" ", "\t ", "  \n", " /* why */ ", " // why\n  "]


def tokens(source: str) -> list[tokenize.TokenInfo]:
    return list(tokenize.generate_tokens(io.StringIO(source).readline))


def offsets(source: str) -> list[int]:
    lines = source.splitlines(keepends=True)
    return [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]


def spliced(source: str, at: int, old: str, new: str) -> str:
    assert source[at:].startswith(old)
    return source[:at] + new + source[at + len(old) :]


@pytest.mark.corpus
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_comments_and_layout_of_python_do_not_count(data):
    starts, source, depth = offsets(PYTHON), PYTHON, 0
    inserts = []
    for token in tokens(PYTHON):
        at = starts[token.start[0] - 1] + token.start[1]
        if token.string in "([{" and token.type == tokenize.OP:
            depth += 1
        elif token.string in ")]}" and token.type == tokenize.OP:
            depth -= 1
        if token.type == tokenize.NEWLINE:
            inserts.append((at, ["", "  # why", " # type: ignore\n\n   # so"]))
        elif token.type == tokenize.OP and 'f"' not in token.line:
            inserts.append((at, ["", " ", "\n  # why\n" if depth > 0 and token.string not in "([{" else "\t"]))
    for at, choices in reversed(inserts):
        source = source[:at] + data.draw(st.sampled_from(choices)) + source[at:]
    assert fingerprint("python", source) == fingerprint("python", PYTHON)


CHANGEABLE = [
    token
    for token in tokens(PYTHON)
    if token.type in (tokenize.NAME, tokenize.NUMBER)
    or (token.type == tokenize.OP and token.string in "+-*/<>=.,:")
    or (token.type == tokenize.STRING and '"""' not in token.string)
]


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(CHANGEABLE))
def test_any_other_token_of_python_counts(token):
    other = {tokenize.NUMBER: "77", tokenize.STRING: "'zz'", tokenize.OP: " @ "}.get(token.type, f"{token.string}_x")
    if keyword.iskeyword(token.string):
        other = "x"
    changed = spliced(PYTHON, offsets(PYTHON)[token.start[0] - 1] + token.start[1], token.string, other)
    assert fingerprint("python", changed) != fingerprint("python", PYTHON)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x = 1", "x = 0x1"),
        ("x = 'a'", 'x = "a"'),
        ("x = (1,\n 2)", "x = 1, 2"),
        ('def f():\n    """Old."""\n    return 1', 'def f():\n    """New."""\n    return 1'),
        ('"""Old."""\nx = 1', "x = 1"),
        ("# -*- coding: utf-8 -*-\nx = 'é'", "x = 'é'"),
        ("x = 1  # __doc__ and __file__", "x = 1"),
    ],
)
def test_texts_of_python_that_say_the_same(one, other):
    assert fingerprint("python", one) == fingerprint("python", other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x = 1", "x = 1.0"),
        ("x = 1", "x = True"),
        ("x = []", "x = [[]]"),
        ("x = ['a', 'b']", "x = ['ab']"),
        ("f(a, b)", "f((a, b))"),
        ("x = 'a'", "x = b'a'"),
        ("x = 0.0", "x = -0.0"),
        ("x = []  # type: list[int]", "x = []  # type: list[str]"),
        ("# -*- coding: latin-1 -*-\nx = 'é'", "x = 'é'"),
        ('def f():\n    """Old."""\nx = f.__doc__', 'def f():\n    """New."""\nx = f.__doc__'),
        ('def f():\n    """1"""\ng = getattr(f, "__doc__")', 'def f():\n    """2"""\ng = getattr(f, "__doc__")'),
        ('"""1"""\nimport doctest', '"""2"""\nimport doctest'),
        ("x = open(__file__).read()", "x = open(__file__).read()  # longer"),
        ("import inspect\nx = 1", "import inspect\n\nx = 1"),
        ("if a:\n    b\n    c", "if a:\n    b\nc"),
        ("x = (", "x =  ("),
    ],
)
def test_texts_of_python_that_do_not(one, other):
    assert fingerprint("python", one) != fingerprint("python", other)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_comments_and_layout_of_c_do_not_count(data):
    parts, directive = [], False
    for kind, text, before in Source.parse("cpp", NATIVE).leaves():
        gap = before.decode()
        if kind == "\n" or "\n" in gap.replace("\\\n", ""):
            directive = False
        elif gap and not directive:
            gap = data.draw(st.sampled_from(LAYOUT))
        elif gap == " ":
            gap = data.draw(st.sampled_from([" ", "\t", " /* why */ "]))
        directive = directive or kind.startswith("#") or kind == "preproc_directive"
        if kind.startswith("#"):
            gap = data.draw(st.sampled_from(["\n", "\n\n  ", "\n/* a\n b */ "])) if gap else gap
        parts += [gap, "" if kind == "comment" and data.draw(st.booleans()) else text.decode()]
    source = "".join(parts)
    assert fingerprint("cpp", source) == fingerprint("cpp", NATIVE)


LEAVES = [
    (number, text.decode())
    for number, (kind, text, _) in enumerate(Source.parse("cpp", NATIVE).leaves())
    if kind != "comment" and text.strip()
]


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(LEAVES), st.sampled_from(["", "{0}{0}", "{0} x", "x"]))
def test_any_other_token_of_c_counts(leaf, form):
    number, text = leaf
    changed = form.format(text)
    source = "".join(
        before.decode() + (changed if at == number else each.decode())
        for at, (_, each, before) in enumerate(Source.parse("cpp", NATIVE).leaves())
    )
    if changed != text:
        assert fingerprint("cpp", source) != fingerprint("cpp", NATIVE)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("int x;", "int\n x ; // why"),
        ("#define A 1 // one\nint x;", "#define   A   1\nint x;"),
        ("#define A (1 \\\n   + 2) // three\n", "#define A (1 + 2)\n"),
    ],
)
def test_texts_of_c_that_say_the_same(one, other):
    assert fingerprint("c", one) == fingerprint("c", other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("char x = ' ';", "char x = '\t';"),
        ('char *x = "  ";', 'char *x = " ";'),
        ("int a; int b;", "int a, b;"),
        ("#define A\nint x;\n", "#define A int x;\n"),
        ("#define A (b)\n", "#define A(b)\n"),
        ("#pragma once\nint x;\n", "#pragma once int x;\n"),
        ("#define S(a) #a\nchar *x = S(1 + 2);\n", "#define S(a) #a\nchar *x = S(1+2);\n"),
        ("int x = __LINE__;", "int x =\n__LINE__;"),
        ("int ab;", "int a\\\nb;"),
        ("int a b;", "int a\\\nb;"),
        ('#define A "a  b"\n', '#define A "a b"\n'),
        ("int x = (;", "int x  = (;"),
    ],
)
def test_texts_of_c_that_do_not(one, other):
    assert fingerprint("c", one) != fingerprint("c", other)


def test_other_texts_count_by_their_bytes():
    assert fingerprint("asm", "ret\n") == content_id("ret\n")
    assert fingerprint("python", "x = (") == content_id("x = (")
    assert fingerprint("python", "x = 1\0") == content_id("x = 1\0")
    assert fingerprint("python", "#" * (1 << 19)) == content_id("#" * (1 << 19))


@pytest.mark.parametrize("deep", ["-" * 5_000 + "1", "[" * 150 + "]" * 150, "x" + " + 1" * 20_000])
def test_what_is_nested_deeply_has_one_too(deep):
    assert fingerprint("python", f"x = {deep}") == fingerprint("python", f"x = {deep}")
    assert fingerprint("c", f"int x = {deep};")
