"""Edits of loops, helpers, copies and classes: what they write, and that it behaves alike."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

WORDS = st.text(alphabet="abc", max_size=3)
NUMBERS = st.lists(st.integers(-5, 5), max_size=10)
GRIDS = st.integers(0, 4).flatmap(
    lambda size: st.lists(st.lists(st.integers(-5, 5), min_size=size, max_size=size), min_size=size, max_size=size)
)

WRITES = {
    "a sum": (
        "loop-to-builtin",
        """
        def f(rows, k):
            total = 0
            for row in rows:
                if row > k:
                    total += row * k
            return total
        """,
        ["total = sum([row * k for row in rows if row > k], total)"],
    ),
    "a largest element": (
        "loop-to-builtin",
        """
        def f(rows):
            best = rows[0]
            for row in rows:
                if best < row:
                    best = row
            return best
        """,
        ["best = max([best, *[row for row in rows]])"],
    ),
    "a search for an equal element": (
        "loop-to-builtin",
        """
        def f(rows, k):
            # is it there?
            for row in rows:
                if row == k:
                    return False
            return True
        """,
        ["    # is it there?\n    return k not in rows\n"],
    ),
    "a helper with an argument that stays": (
        "cache-helper",
        """
        def weight(word, table):
            total = 0
            for letter in word:
                total += table.get(letter, 0)
            return total

        def f(words, table):
            return [weight(word, table) for word in words]
        """,
        [
            "@cache\n    def weight_cached(word):\n        return weight(word, table)",
            "[weight_cached(word) for word in words]",
        ],
    ),
    "dates": (
        "cache-helper",
        """
        import datetime as dt

        def f(rows):
            return [dt.datetime.strptime(row, "%Y") for row in rows]
        """,
        ["strptime_cached = cache(dt.datetime.strptime)", '[strptime_cached(row, "%Y") for row in rows]'],
    ),
    "totals up to an index": (
        "running-totals",
        """
        def upto(rows, count):
            total = 0.5
            for i in range(count):
                total += rows[i] * 2
            return total

        def f(rows):
            return [upto(rows, k) for k in range(len(rows))]
        """,
        ["totals = [0.5]", "def upto_kept(count, rows=rows):", "[upto_kept(k) for k in range(len(rows))]"],
    ),
    "rows of grids": (
        "hoist-expression",
        """
        def f(grid, out, n):
            for i in range(n):
                for j in range(n):
                    out[i][j] = grid[i][j]
        """,
        ["        out_i = out[i]\n        grid_i = grid[i]\n        for j", "out_i[j] = grid_i[j]"],
    ),
    "attributes that only the constructor binds": (
        "hoist-expression",
        """
        class Table:
            def __init__(self, rows, scale):
                self.rows = rows
                self.scale = scale

            def total(self, keys):
                return sum(self.read(key) * self.scale for key in keys)

            def read(self, key):
                return self.rows[key]
        """,
        ["self_scale = self.scale\n", "self.read(key) * self_scale for"],
    ),
    "two levels instead of all": (
        "avoid-copy",
        """
        import copy

        def f(board):
            other = copy.deepcopy(board)
            other[0][0] = 1
            return other
        """,
        ["other = [copy.copy(each) for each in board]"],
    ),
    "one level instead of all": (
        "avoid-copy",
        """
        import json

        def f(words):
            other = json.loads(json.dumps(words))
            other.append(1)
            print(other[0])
        """,
        ["from copy import copy", "other = copy(words)"],
    ),
    "no copy for what is only read": (
        "avoid-copy",
        """
        from copy import deepcopy

        def f(words):
            other = deepcopy(words)
            return len(other)
        """,
        ["other = words\n"],
    ),
    "a counter that is tried": (
        "tried-lookup",
        """
        def f(words):
            counts = {}
            for word in words:
                try:
                    counts[word] += 1
                except KeyError:
                    counts[word] = 1
            return counts
        """,
        ["        counts[word] = counts.get(word, 0) + 1\n"],
    ),
    "elements with their numbers": (
        "index-to-element",
        """
        def f(xs):
            return_ = 0
            for i in range(len(xs)):
                return_ += xs[i] * i
            return return_
        """,
        ["for i, xs_i in enumerate(xs):\n        return_ += xs_i * i"],
    ),
    "conversions": (
        "map-builtin",
        """
        def f(xs):
            return [int(x) for x in xs]
        """,
        ["return list(map(int, xs))"],
    ),
    "a class": (
        "add-slots",
        """
        class Point:
            '''A place.'''
            kind = "point"
            def __init__(self, x, y):
                self.x, self.y = x, y
        """,
        ["'''A place.'''\n    __slots__ = (\"x\", \"y\")\n    kind"],
    ),
}


@pytest.mark.parametrize("case", WRITES)
def test_it_writes(propose, case):
    name, source, expected = WRITES[case]
    found = propose(name, source)
    assert found
    for text in expected:
        assert text in found[0].source


SAMPLES = {
    "loop-to-builtin": (
        8,
        """
        def below(xs, k):
            for x in xs:
                if x >= k:
                    return False
            return True
        def has(xs, k):
            for x in xs:
                if k == x:
                    return True
            return False
        def f(xs, k):
            n = 0
            count = 3
            high = low = k
            for x in xs:
                for y in xs:
                    if x < y:
                        count += x * y
            for x in xs:
                n = n + 1
            best = k
            for i, x in enumerate(xs):
                if x * i > best:
                    best = x * i
            for x in xs:
                low = min(low, x - 1)
            for x in xs:
                if not x:
                    continue
                if high < x:
                    high = x
            return count, best, low, high, below(xs, k), has(xs, k), n
        """,
        st.tuples(NUMBERS, st.integers(-3, 3)),
    ),
    "cache-helper": (
        2,
        """
        from fractions import Fraction
        SCALE = 3
        def cost(text, k):
            total = len(text) * SCALE
            for c in text:
                total += ord(c) ** k
            return total
        def f(words, k):
            out = []
            for w in words:
                out.append((cost(w, k), Fraction(len(w), 7), cost(w, 1)))
            return out, [cost(w[:1], k) for w in words]
        """,
        st.tuples(st.lists(WORDS, max_size=8), st.integers(0, 2)),
    ),
    "running-totals": (
        1,
        """
        import math
        def root(x):
            return math.sqrt(abs(x))
        def walked(n, path, scale):
            total = 0
            for i in range(n):
                total += root(path[i]) * scale
            return total
        def f(path, steps):
            return [walked(step, path, 0.1) for step in steps]
        """,
        st.tuples(NUMBERS, NUMBERS),
    ),
    "hoist-expression": (
        4,
        """
        import math
        def area(xs):
            return sum(x * x for x in xs)
        def f(grid, k, out):
            n = len(grid)
            for i in range(n):
                for j in range(n):
                    out.append(grid[i][j] * (k * k) + math.floor(k) + area(grid))
                    if j:
                        grid[j][i] = out[k] if k < len(out) else 7
            return [k + 1 for x in out if x]
        """,
        st.tuples(GRIDS, st.integers(0, 3), st.just([])),
    ),
    "avoid-copy": (
        4,
        """
        from copy import deepcopy
        def f(xs, d):
            flat = deepcopy(xs)
            flat[:] = [1]
            kept = deepcopy(d)
            seen = 0
            for x in list(xs):
                if x in d.keys():
                    seen += kept[x]
            for x in list(xs):
                xs.remove(x)
            return seen, sum(list(flat)), xs
        """,
        st.tuples(NUMBERS, st.dictionaries(st.integers(-5, 5), st.integers(0, 9), max_size=5)),
    ),
    "index-to-element": (
        4,
        """
        def f(xs, d):
            ys = [x + 1 for x in xs]
            out = []
            for i in range(len(xs)):
                out.append(xs[i] + ys[i])
            for i in range(len(xs)):
                for j in range(len(ys)):
                    if i < j and xs[i] < ys[j]:
                        out.append(xs[j] - i)
            for i in range(len(ys)):
                if ys[i] in d:
                    break
                out.append(ys[i])
            else:
                out.append(0)
            for i in range(len(xs)):
                xs[i] = ys[i] + xs[i - 1]
            return out
        """,
        st.tuples(NUMBERS, st.dictionaries(st.integers(-5, 5), st.integers(0, 9), max_size=5)),
    ),
    "map-builtin": (
        3,
        """
        def f(words, table):
            text = "".join(words)
            return [len(word) for word in words], "".join(table.get(c, c) for c in text), [str(w) for w in [1, words]]
        """,
        st.tuples(st.lists(WORDS, max_size=6), st.dictionaries(st.sampled_from("abx"), WORDS)),
    ),
    "tried-lookup": (
        2,
        """
        def f(xs, d):
            out = []
            for x in xs:
                try:
                    y = d[x]
                except KeyError:
                    y = None
                out.append(y)
                try:
                    d[x] += 2
                except KeyError:
                    d[x] = 2
            return out
        """,
        st.tuples(NUMBERS, st.dictionaries(st.integers(-5, 5), st.integers(0, 9), max_size=5)),
    ),
    "add-slots": (
        1,
        """
        class Node:
            def __init__(self, value):
                self.value = value
                self.next = None
            def push(self, value):
                self.next = Node(value)
                self.next.value += 1
                return self.next
        def f(xs):
            first = last = Node(0)
            for x in xs:
                last = last.push(x)
            out = []
            while first:
                out.append(first.value)
                first = first.next
            return out
        """,
        st.tuples(NUMBERS),
    ),
}


@pytest.mark.corpus
@pytest.mark.parametrize("name", SAMPLES)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_old_and_new_agree(propose, outcome, name, data):
    _, source, inputs = SAMPLES[name]
    args = data.draw(inputs)
    expected = outcome(source, args)
    for proposal in propose(name, source, symbol="f"):
        assert outcome(proposal.source, args) == expected


@pytest.mark.parametrize("name", SAMPLES)
def test_each_place_is_found(propose, name):
    count, source, _ = SAMPLES[name]
    found = propose(name, source, symbol="f")
    assert len(found) == count
    assert len({proposal.source for proposal in found}) == count


def test_the_best_known_pattern_of_a_track_is_within_reach(propose, outcome):
    """Totals of a helper in a helper are kept, floats to the last bit."""
    source = """
    def step(one, other):
        return (other[0] - one[0]) * 0.1 + (other[1] - one[1]) * 0.7

    def upto(track, index):
        '''Adds up.'''
        total = 0.0
        for i in range(index):
            total += step(track[i], track[i + 1])
        return total

    def f(track):
        return [upto(track, i) for i in range(len(track))]
    """
    track = [(i * 0.3, i * i * 0.01) for i in range(30)]
    found = propose("running-totals", source, symbol="f")
    assert len(found) == 1
    assert outcome(found[0].source, (track,)) == outcome(source, (track,))
