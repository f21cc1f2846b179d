"""Where each Python edit must not apply, since the new text could behave otherwise or gain nothing."""

from __future__ import annotations

import textwrap

import pytest

KEEPS_OFF = {
    "the list is changed in another way": (
        "list-membership",
        """
        def f(xs):
            seen = []
            for x in xs:
                if x in seen:
                    seen.pop()
                seen.append(x)
        """,
    ),
    "the list is handed on": (
        "list-membership",
        """
        def f(xs, g):
            seen = []
            for x in xs:
                if x not in seen:
                    seen.append(x)
                    g(seen)
        """,
    ),
    "an inner function shares the list": (
        "list-membership",
        """
        def f(xs):
            seen = []
            def g():
                seen.clear()
            for x in xs:
                if x not in seen:
                    seen.append(x)
                    g()
        """,
    ),
    "it is a string": (
        "list-membership",
        """
        def f(xs, text: str):
            return [x for x in xs if x in text]
        """,
    ),
    "it is a dictionary": (
        "list-membership",
        """
        def f(xs, table):
            return [table[x] for x in xs if x in table]
        """,
    ),
    "there is no loop": (
        "list-membership",
        """
        def f(x, xs):
            return x in xs
        """,
    ),
    "the list is new in each turn": (
        "list-membership",
        """
        def f(rows):
            for row in rows:
                cells = row.split()
                if 1 in cells:
                    yield row
        """,
    ),
    "the constant is changed": (
        "constant-membership",
        """
        NAMES = ['a', 'b', 'c', 'd']
        def f(xs):
            NAMES.append('e')
            return [x for x in xs if x in NAMES]
        """,
    ),
    "the constants are few": (
        "constant-membership",
        """
        def f(xs):
            return [x for x in xs if x in (1, 2)]
        """,
    ),
    "the loop changes the variable": (
        "hoist-invariant-call",
        """
        def f(xs):
            while xs:
                xs.remove(max(xs))
        """,
    ),
    "the call is tried": (
        "hoist-invariant-call",
        """
        def f(xs, ys):
            for x in xs:
                try:
                    x += max(ys)
                except ValueError:
                    pass
        """,
    ),
    "a new list is kept": (
        "hoist-invariant-call",
        """
        def f(xs, ys):
            out = []
            for x in xs:
                out.append(sorted(ys))
            return out
        """,
    ),
    "the length changes": (
        "hoist-lookup",
        """
        def f(xs):
            while len(xs) < 9:
                xs.append(1)
        """,
    ),
    "the pattern changes": (
        "compile-pattern",
        """
        import re
        def f(xs):
            p = ''
            for x in xs:
                p += x
                re.match(p, x)
        """,
    ),
    "the string is read in the loop": (
        "join-strings",
        """
        def f(xs):
            s = ''
            for x in xs:
                s += x
                if len(s) > 9:
                    break
            return s
        """,
    ),
    "it is a number": (
        "join-strings",
        """
        def f(xs):
            s = 0
            for x in xs:
                s += x
            return s
        """,
    ),
    "the queue is an argument": (
        "list-to-deque",
        """
        def f(queue):
            while queue:
                queue.pop(0)
        """,
    ),
    "the queue is sliced": (
        "list-to-deque",
        """
        def f(xs):
            queue = list(xs)
            while queue[1:]:
                queue.pop(0)
        """,
    ),
    "the stack is no queue": (
        "list-to-deque",
        """
        def f(xs):
            q = list(xs)
            while q:
                q.pop()
        """,
    ),
    "parts of a string are counted": (
        "count-once",
        """
        def f(text, words):
            return [text.count('ab') for w in words] + [text.upper() for w in words]
        """,
    ),
    "a string is asked for words": (
        "count-once",
        """
        def f(text: str, words):
            return [text.count(w) for w in words]
        """,
    ),
    "the container is read in the loop": (
        "loop-to-comprehension",
        """
        def f(xs):
            out = []
            for x in xs:
                if x not in out:
                    out.append(x)
            return out
        """,
    ),
    "the loop's variable is read afterwards": (
        "loop-to-comprehension",
        """
        def f(xs):
            out = []
            for x in xs:
                out.append(x)
            return out, x
        """,
    ),
    "the loop does more": (
        "loop-to-comprehension",
        """
        def f(xs):
            out = []
            for x in xs:
                print(x)
                out.append(x)
            return out
        """,
    ),
    "the function changes what it is given": (
        "cache-recursion",
        """
        def f(n, seen):
            seen.add(n)
            return f(n - 1, seen) + f(n - 2, seen)
        """,
    ),
    "the function calls something unknown": (
        "cache-recursion",
        """
        def f(n):
            return g(f(n - 1)) + f(n - 2)
        """,
    ),
    "the function calls itself once": (
        "cache-recursion",
        """
        def f(n):
            return n * f(n - 1) if n else 1
        """,
    ),
    "the function reads what changes": (
        "cache-recursion",
        """
        total = []
        def f(n):
            return len(total) + f(n - 1) + f(n - 2)
        def g():
            total.append(1)
        """,
    ),
}


@pytest.mark.parametrize("case", KEEPS_OFF)
def test_it_keeps_off_where(propose, case):
    name, source = KEEPS_OFF[case]
    compile(textwrap.dedent(source), case, "exec")
    assert propose(name, source) == []
