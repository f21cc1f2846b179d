"""Each Python edit on small sources: where it applies, and what it writes."""

from __future__ import annotations

import textwrap

import pytest

FIRES = {
    "a list that is only asked becomes a set": (
        "list-membership",
        """
        def f(events):
            seen: list = []
            for event in events:
                if event not in seen:
                    seen.append(event)
        """,
        ["seen = set()", "seen.add(event)"],
    ),
    "a list that is needed gets a set beside it": (
        "list-membership",
        """
        def f(events):
            kept = []
            for event in events:
                if event.key not in kept:
                    kept.append(event.key)
            return kept
        """,
        ["kept_set = set()", "if event.key not in kept_set:", "kept_set.add(kept[-1])", "return kept\n"],
    ),
    "an argument is converted before the loops in which it stays": (
        "list-membership",
        """
        def f(groups, allowed: list):
            for group in groups:
                for x in group:
                    if x in allowed:
                        yield x
        """,
        ["    allowed_set = set(allowed)\n    for group", "if x in allowed_set:"],
    ),
    "an argument that may be None is still converted": (
        "list-membership",
        """
        def f(xs, allowed=None):
            return [x for x in xs if allowed is None or x in allowed]
        """,
        ["allowed_set = set(allowed or ())", "allowed is None or x in allowed_set]"],
    ),
    "a constant of the file gets a frozenset beside it": (
        "constant-membership",
        """
        STOP = ["a", "an", "the", "of"]

        def f(words):
            return [w for w in words if w not in STOP]
        """,
        ["STOP_SET = frozenset(STOP)", "if w not in STOP_SET]"],
    ),
    "a written-out list becomes a set": (
        "constant-membership",
        """
        def f(words):
            return [w for w in words if w in ("a", "an", "the", "of")]
        """,
        ['if w in {"a", "an", "the", "of"}]'],
    ),
    "the maximum is computed once": (
        "hoist-invariant-call",
        """
        def f(values):
            return [v / max(values) for v in values]
        """,
        ["max_values = max(values, default=None)", "[v / max_values for v in values]"],
    ),
    "a length and a module's function are kept": (
        "hoist-lookup",
        """
        import math

        def f(xs, n):
            while n < len(xs):
                n += math.sqrt(n)
            return n
        """,
        ["    len_xs = len(xs)\n    while n < len_xs:"],
    ),
    "a constant pattern moves to the top, with its flags": (
        "compile-pattern",
        """
        import re

        def f(lines):
            return [re.sub(r"a+", "b", line, count=1, flags=re.I) for line in lines]
        """,
        ['import re\n\n_PATTERN = re.compile(r"a+", re.I)', '_PATTERN.sub("b", line, count=1)'],
    ),
    "a variable pattern moves before the loop": (
        "compile-pattern",
        """
        import re

        def f(lines, word):
            return [line for line in lines if re.search(word + "$", line)]
        """,
        ['word_pattern = re.compile(word + "$")', "word_pattern.search(line)"],
    ),
    "pieces of a string are joined": (
        "join-strings",
        """
        def f(rows):
            text = ""
            for row in rows:
                text = text + row + ";"
            return text
        """,
        ["text_parts = []", 'text_parts.extend((row, ";"))', '    text = "".join(text_parts)\n    return text'],
    ),
    "bytes are joined by bytes": (
        "join-strings",
        """
        def f(chunks):
            data = b""
            for chunk in chunks:
                data += chunk
            return data
        """,
        ['data = b"".join(data_parts)'],
    ),
    "a queue becomes a deque": (
        "list-to-deque",
        """
        def f(graph, start):
            queue = [start]
            order = list()
            while queue:
                node = queue.pop(0)
                order.insert(0, node)
                queue.extend(graph[node])
            return order
        """,
        ["from collections import deque", "queue = deque([start])", "node = queue.popleft()"],
    ),
    "elements are counted once": (
        "count-once",
        """
        def f(words):
            return {w: words.count(w) for w in words}
        """,
        ["words_counts = Counter(words)", "{w: words_counts[w] for w in words}"],
    ),
    "a counting key is looked up": (
        "count-once",
        """
        def f(words):
            best = max(set(words), key=words.count)
            return best
        """,
        ["max(set(words), key=words_counts.__getitem__)"],
    ),
    "a loop with a guard and a condition becomes a comprehension": (
        "loop-to-comprehension",
        """
        def f(rows, k):
            # the cells
            out = []
            for row in rows:
                if row is None:
                    continue
                for cell in row:
                    if cell > k:
                        out.append(cell * 2)
            return out
        """,
        ["    # the cells\n    out = [cell * 2 for row in rows if not (row is None) for cell in row if cell > k]\n"],
    ),
    "a filled dictionary becomes a comprehension": (
        "loop-to-comprehension",
        """
        def f(rows):
            by_key = {}
            for i, row in enumerate(rows):
                by_key[row, i] = row
            return by_key
        """,
        ["by_key = {(row, i): row for i, row in enumerate(rows)}"],
    ),
    "a recursive function is cached for the length of a call": (
        "cache-recursion",
        """
        def lcs(a, b, i=0, j=0):
            '''The length.'''
            if i == len(a) or j == len(b):
                return 0
            if a[i] == b[j]:
                return 1 + lcs(a, b, i + 1, j + 1)
            return max(lcs(a, b, i + 1, j), lcs(a, b, i, j=j + 1))
        """,
        ["    '''The length.'''\n    @cache\n    def lcs_cached(i=0, j=0):", "return lcs_cached(i, j)\n"],
    ),
    "an inner recursive function is cached": (
        "cache-recursion",
        """
        def change(coins, amount):
            def ways(rest, k):
                if rest == 0:
                    return 1
                return sum(ways(rest - coins[i], i) for i in range(k, len(coins)) if coins[i] <= rest)
            return ways(amount, 0)
        """,
        ["    @cache\n    def ways(rest, k):"],
    ),
}


@pytest.mark.parametrize("case", FIRES)
def test_it_writes(propose, case):
    name, source, expected = FIRES[case]
    found = propose(name, source)
    assert found
    for text in expected:
        assert text in found[0].source
    assert found[0].edit == name


def test_pieces_in_front_come_out_in_reverse(propose):
    source = "def f(xs):\n    s = '<'\n    n = 0\n    for x in xs:\n        s = x + s\n    return s\n"
    space = {}
    exec(propose("join-strings", source)[0].source, space)
    assert space["f"](["a", "b", "c"]) == "cba<"


def test_only_the_target_and_what_it_reaches_are_edited(propose):
    text = "def {}(xs):\n    return [x / max(xs) for x in xs]\n"
    source = text.format("helper") + text.format("stranger") + "def f(rows):\n    return [helper(r) for r in rows]\n"
    found = propose("hoist-invariant-call", source, symbol="f")
    assert [proposal.line for proposal in found] == [2]
    assert len(propose("hoist-invariant-call", source)) == 2


def test_a_method_is_found_by_its_class(propose):
    source = """
    class Table:
        def share(self, values):
            return [v / sum(values) for v in values]

        def other(self, values):
            return [v / sum(values) for v in values]
    """
    found = propose("hoist-invariant-call", source, symbol="Table.share")
    assert [proposal.line for proposal in found] == [4]
    assert propose("hoist-invariant-call", source, symbol="Table.none") == []


def test_line_ends_and_the_last_line_stay(propose):
    source = "def f(xs):\r\n    s = ''\r\n    for x in xs:\r\n        s += x\r\n    return s"
    new = propose("join-strings", source)[0].source
    assert not new.endswith("\n")
    assert "\n" not in new.replace("\r\n", "")


@pytest.mark.parametrize(
    "source",
    [
        "def f(:\n",
        "x = '\n",
        "def f():\n\treturn 1\n        return 2\n",
        "\0",
        "(" * 500 + ")" * 500,
        "x = " + " and ".join(["y"] * 20_000),
        "x = " + "+".join(["1"] * 5_000),
        "",
    ],
)
def test_what_cannot_be_read_gives_nothing(propose, source):
    from whet.agents.catalogue.registry import proposals
    from whet.agents.models.base import Brief

    assert proposals(Brief("python", "program", None, textwrap.dedent(source))) == []
