"""Where edits of loops, helpers, copies and classes keep off."""

from __future__ import annotations

import textwrap

import pytest

KEEPS_OFF = {
    "the total is text": (
        "loop-to-builtin",
        "def f(xs):\n    s = ''\n    for x in xs:\n        s += x\n    return s\n",
    ),
    "the total is read in the loop": (
        "loop-to-builtin",
        "def f(xs):\n    n = 0\n    for x in xs:\n        n += x * n\n    return n\n",
    ),
    "the last element is read": (
        "loop-to-builtin",
        "def f(xs):\n    n = 0\n    for x in xs:\n        n += 1\n    return n, x\n",
    ),
    "the loop does more than search": (
        "loop-to-builtin",
        "def f(xs):\n    for x in xs:\n        print(x)\n        if x:\n            return True\n    return False\n",
    ),
    "an update waits": (
        "loop-to-builtin",
        "async def f(xs):\n    n = 0\n    for x in xs:\n        n += await x\n    return n\n",
    ),
    "the helper changes its argument": (
        "cache-helper",
        "def g(x, seen):\n    for s in x:\n        seen.append(s)\n    return 1\n"
        "def f(xs, seen):\n    return [g(x, seen) for x in xs]\n",
    ),
    "the helper prints": (
        "cache-helper",
        "def g(x):\n    for s in x:\n        print(s)\n    return 1\ndef f(xs):\n    return [g(x) for x in xs]\n",
    ),
    "the helper gives a list": (
        "cache-helper",
        "def g(x):\n    out = []\n    for s in x:\n        out.append(s)\n    return out\n"
        "def f(xs):\n    return [g(x) for x in xs]\n",
    ),
    "the helper changes rows of its argument": (
        "cache-helper",
        "def g(rows):\n    for row in rows:\n        row.append(1)\n    return 1\n"
        "def f(xs):\n    return [g(x) for x in xs]\n",
    ),
    "the helper reads what changes": (
        "cache-helper",
        "seen = []\ndef g(x):\n    return sum(s for s in x) + len(seen)\n"
        "def f(xs):\n    seen.append(1)\n    return [g(x) for x in xs]\n",
    ),
    "the helper is defined twice": (
        "cache-helper",
        "def g(x):\n    return sum(s for s in x)\ndef g(x):\n    return 1\ndef f(xs):\n    return [g(x) for x in xs]\n",
    ),
    "the argument is a slice": (
        "cache-helper",
        "def g(x):\n    return sum(s for s in x)\ndef f(xs: list):\n    return [g(xs) for i in xs if xs.append(1)]\n",
    ),
    "the argument is reduced like a list": (
        "cache-helper",
        "def g(xs):\n    return max(xs) + sum(x for x in xs)\ndef f(rows):\n    return [g(row) for row in rows]\n",
    ),
    "a key function has the name": (
        "hoist-expression",
        "def f(rows):\n    return sorted(rows, key=lambda row: (row[1], row.name))\n",
    ),
    "the data changes between totals": (
        "running-totals",
        "def g(xs, n):\n    t = 0\n    for i in range(n):\n        t += xs[i]\n    return t\n"
        "def f(xs):\n    for i in range(9):\n        xs[0] = g(xs, i)\n    return xs\n",
    ),
    "the term reads the count": (
        "running-totals",
        "def g(xs, n):\n    t = 0\n    for i in range(n):\n        t += xs[i] / n\n    return t\n"
        "def f(xs):\n    return [g(xs, i) for i in range(9)]\n",
    ),
    "the row is replaced": (
        "hoist-expression",
        "def f(grid, n):\n    for i in range(n):\n        for j in range(n):\n            grid[i] = grid[i] + [j]\n",
    ),
    "the element is read under a condition": (
        "hoist-expression",
        "def f(d, k, xs):\n    return [x for x in xs if k in d and d[k] == x]\n",
    ),
    "a method rebinds the attribute": (
        "hoist-expression",
        "class A:\n    def step(self):\n        self.n = self.n + 1\n"
        "    def run(self):\n        while self.n < 9:\n            self.step()\n",
    ),
    "a property is read": (
        "hoist-expression",
        "class A:\n    @property\n    def n(self):\n        return next(self.it)\n"
        "    def run(self, xs):\n        return [self.read(x, self.n) for x in xs]\n",
    ),
    "the elements are replaced": (
        "index-to-element",
        "def f(xs):\n    for i in range(len(xs)):\n        xs[i] = xs[i] + 1\n",
    ),
    "the number is read later": (
        "index-to-element",
        "def f(xs):\n    for i in range(len(xs)):\n        print(xs[i])\n    return i\n",
    ),
    "it is a dictionary": (
        "index-to-element",
        "def f(xs: dict):\n    for i in range(len(xs)):\n        print(xs[i])\n",
    ),
    "the default is another": (
        "map-builtin",
        "def f(text, t):\n    return ''.join(t.get(c, '?') for c in text), [int(x, 2) for x in text if x]\n",
    ),
    "the list shrinks in the loop": (
        "avoid-copy",
        "def f(xs):\n    for x in list(xs):\n        xs.remove(x)\n",
    ),
    "the copy is kept": ("avoid-copy", "def f(xs):\n    return list(xs)\n"),
    "the key may raise": (
        "tried-lookup",
        "def f(d, xs):\n    for x in xs:\n        try:\n"
        "            y = d[g(x)]\n        except KeyError:\n            y = 0\n",
    ),
    "other errors are caught": (
        "tried-lookup",
        "def f(d, xs):\n    for x in xs:\n        try:\n"
        "            y = d[x]\n        except Exception:\n            y = 0\n",
    ),
    "the class has a base": ("add-slots", "class A(B):\n    def __init__(self):\n        self.x = 1\n"),
    "a subclass exists": (
        "add-slots",
        "class A:\n    def __init__(self):\n        self.x = 1\nclass B(A):\n    x = 2\n",
    ),
    "a stranger adds an attribute": (
        "add-slots",
        "class A:\n    def __init__(self):\n        self.x = 1\ndef f(a):\n    a.y = 2\n",
    ),
    "an attribute has a default": ("add-slots", "class A:\n    x = 0\n    def up(self):\n        self.x = 1\n"),
}


@pytest.mark.parametrize("case", KEEPS_OFF)
def test_it_keeps_off_where(propose, case):
    name, source = KEEPS_OFF[case]
    compile(textwrap.dedent(source), case, "exec")
    assert propose(name, source) == []
