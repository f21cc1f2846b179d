"""The new function of each Python edit behaves like the old one on random inputs."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

WORDS = st.text(alphabet="abc", max_size=3)
LISTS = st.lists(WORDS, max_size=12)
NUMBERS = st.lists(st.integers(-5, 5), max_size=12)

SAMPLES = {
    "list-membership": (
        """
        def f(events, muted, order=None):
            seen = []
            kept = [("start", 0)]
            late = []
            for n, event in enumerate(events):
                if event in muted and event not in seen:
                    seen.append(event)
                    continue
                if (event, n % 2) not in kept:
                    kept.append((event, n % 2))
                elif order is not None and event in order:
                    late.append(event)
            return kept, late, len(seen)
        """,
        st.tuples(LISTS, LISTS, st.none() | LISTS),
    ),
    "constant-membership": (
        """
        STOP = ["a", "b", "ab", "ca", "", "cc", "x", "y"]
        def f(words):
            return [w for w in words if w not in STOP or w in ("a", "", "bb", "c")]
        """,
        st.tuples(LISTS),
    ),
    "hoist-invariant-call": (
        """
        def f(values, others):
            out = []
            for v in values:
                if v in set(others) or v == sorted(others)[0]:
                    out.append(max(values) - min(values) + sum(others) * v)
            return out, [v for v in values if v < max(others)]
        """,
        st.tuples(NUMBERS, NUMBERS),
    ),
    "hoist-lookup": (
        """
        import math
        def f(values, others):
            i = 0
            out = []
            while i < len(values):
                out.append(math.floor(values[i] / 2) + len(others))
                i += 1
            return out
        """,
        st.tuples(NUMBERS, NUMBERS),
    ),
    "compile-pattern": (
        """
        import re
        def f(lines, word):
            out = []
            for line in lines:
                if re.match(r"(a+)(b?)", line) and not re.search(re.escape(word), line, re.I):
                    out.append(re.sub("A", "-", line, 2, re.I))
                out.extend(re.split("b", line, maxsplit=1))
            return out
        """,
        st.tuples(LISTS, WORDS),
    ),
    "join-strings": (
        """
        def f(rows, sep):
            text = "["
            back = ""
            for row in rows:
                line = ""
                for cell in row:
                    line += cell + sep
                text = text + line + "|"
                back = line + back
            return text, back
        """,
        st.tuples(st.lists(LISTS, max_size=5), WORDS),
    ),
    "list-to-deque": (
        """
        def f(items, steps):
            queue = list(items)
            front = [0]
            taken = []
            for step in steps:
                if step > 2 and queue:
                    taken.append(queue.pop(0))
                elif step > 0:
                    queue.append(step)
                    front.insert(0, step)
                elif step < -2:
                    front.pop()
                elif queue and queue[-1] in front:
                    queue.pop()
            return taken, front, len(queue), sorted(queue)
        """,
        st.tuples(NUMBERS, NUMBERS),
    ),
    "count-once": (
        """
        def f(words, text):
            letters = {}
            for c in text:
                letters[c] = text.count(c)
            most = max(set(words), key=words.count) if words else None
            return [w for w in words if words.count(w) > 1], letters, words.count(most)
        """,
        st.tuples(st.lists(st.just("a"), max_size=5), WORDS),
    ),
    "loop-to-comprehension": (
        """
        def f(rows, k):
            out = []
            for row in rows:
                if not row:
                    continue
                for cell in row:
                    out.append(cell + k)
            odd = set()
            for x in out:
                if x % 2:
                    odd.add(x)
            places = {}
            for i, x in enumerate(out):
                places[x, i % 2] = i
            signs = []
            for x in out:
                if x < 0:
                    signs.append("-")
                else:
                    signs.append("+")
            return out, odd, places, signs
        """,
        st.tuples(st.lists(NUMBERS, max_size=5), st.integers(-3, 3)),
    ),
    "cache-recursion": (
        """
        def paths(grid, r, c=0):
            if r < 0 or c >= len(grid):
                return 0
            if r == 0 and c == len(grid) - 1:
                return grid[c]
            return paths(grid, r - 1, c) + paths(grid, r, c + 1)

        def f(grid, start):
            def best(i, bonus=1):
                if i >= len(grid):
                    return 0
                return max(best(i + 1), grid[i] + best(i + 2, bonus=2))
            return best(0), paths(tuple(grid), min(start, 6))
        """,
        st.tuples(st.lists(st.integers(-5, 5), max_size=7), st.integers(0, 9)),
    ),
}


@pytest.mark.corpus
@pytest.mark.parametrize("name", SAMPLES)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_old_and_new_agree(propose, outcome, name, data):
    source, inputs = SAMPLES[name]
    source = textwrap.dedent(source)
    found = propose(name, source, symbol="f")
    args = data.draw(inputs)
    expected = outcome(source, args)
    for proposal in found:
        assert outcome(proposal.source, args) == expected


PLACES = {
    "list-membership": 4,
    "constant-membership": 2,
    "hoist-invariant-call": 6,
    "hoist-lookup": 3,
    "compile-pattern": 3,
    "join-strings": 3,
    "list-to-deque": 2,
    "count-once": 3,
    "loop-to-comprehension": 4,
    "cache-recursion": 2,
}


@pytest.mark.parametrize("name", SAMPLES)
def test_each_place_is_found(propose, name):
    source = textwrap.dedent(SAMPLES[name][0])
    found = propose(name, source, symbol="f")
    assert len(found) == PLACES[name]
    assert len({proposal.source for proposal in found}) == len(found)
