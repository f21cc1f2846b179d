"""Where the Python edits that change how time grows must not apply."""

from __future__ import annotations

import textwrap

import pytest

KEEPS_OFF = {
    "no loop repeats the search": (
        "nested-loop-join",
        "def f(rows, key):\n    return [row for row in rows if row.key == key]",
    ),
    "the inner collection belongs to the outer element": (
        "nested-loop-join",
        "def f(groups, key):\n    return [[row for row in group.rows if row.key == key] for group in groups]",
    ),
    "the inner collection changes": (
        "nested-loop-join",
        """
        def f(xs, rows):
            for x in xs:
                for row in rows:
                    if row.key == x:
                        rows.remove(row)
                        break
        """,
    ),
    "the keys change": (
        "nested-loop-join",
        """
        def f(xs, rows):
            for x in xs:
                for row in rows:
                    if row.key == x.old:
                        row.key = x.new
        """,
    ),
    "the inner element is read after the loop": (
        "nested-loop-join",
        """
        def f(xs, rows):
            for x in xs:
                for row in rows:
                    if row.key == x:
                        print(x)
                print(row)
        """,
    ),
    "the inner loop does more": (
        "nested-loop-join",
        """
        def f(xs, rows):
            for x in xs:
                for row in rows:
                    if row.key == x:
                        print(x)
                    print(row)
        """,
    ),
    "what does not fit is treated too": (
        "nested-loop-join",
        """
        def f(xs, rows):
            for x in xs:
                for row in rows:
                    if row.key == x:
                        print(x)
                    else:
                        print(row)
        """,
    ),
    "the order of keys is asked": (
        "nested-loop-join",
        "def f(xs, rows):\n    return [row for x in xs for row in rows if row.key < x]",
    ),
    "both sides are of the inner element": (
        "nested-loop-join",
        "def f(xs, rows):\n    return [row for x in xs for row in rows if row.key == row.old]",
    ),
    "an iterator is gone through once": (
        "nested-loop-join",
        """
        def f(xs, path):
            lines = open(path)
            return [line for x in xs for line in lines if line == x]
        """,
    ),
    "one position is asked": ("first-positions", "def f(xs, x):\n    return xs.index(x)"),
    "the list loses elements": (
        "first-positions",
        """
        def f(xs, ys):
            for y in ys:
                xs.pop(xs.index(y))
        """,
    ),
    "a position in a string": (
        "first-positions",
        "def f(text: str, words):\n    return [text.index(word) for word in words]",
    ),
    "a position from a start": (
        "first-positions",
        "def f(xs, ys):\n    return [xs.index(y, 1) for y in ys]",
    ),
    "a missing element is caught": (
        "first-positions",
        """
        def f(xs, ys):
            for y in ys:
                try:
                    print(xs.index(y))
                except ValueError:
                    pass
        """,
    ),
    "the summed list changes": (
        "prefix-sums",
        """
        def f(xs):
            for i in range(len(xs)):
                xs[i] = sum(xs[:i])
        """,
    ),
    "a bound may be negative": (
        "prefix-sums",
        "def f(xs, w):\n    return [sum(xs[i - w : i]) for i in range(len(xs))]",
    ),
    "a slice has steps": ("prefix-sums", "def f(xs):\n    return [sum(xs[:i:2]) for i in range(len(xs))]"),
    "an extreme of a middle part": (
        "prefix-sums",
        "def f(xs):\n    return [max(xs[i : i + 3]) for i in range(len(xs))]",
    ),
    "the list also shrinks": (
        "total-of-growing-list",
        """
        def f(xs):
            taken = []
            for x in xs:
                taken.append(x)
                while sum(taken) > 9:
                    taken.pop()
        """,
    ),
    "the list is complete": (
        "total-of-growing-list",
        """
        def f(xs):
            taken = []
            for x in xs:
                taken.append(x)
            return sum(taken)
        """,
    ),
    "the middle of a sorted list": ("sort-for-extreme", "def f(xs):\n    return sorted(xs)[len(xs) // 2]"),
    "the last of equal ones": ("sort-for-extreme", "def f(xs):\n    return sorted(xs, key=len)[-1]"),
    "the order is needed": (
        "sort-for-extreme",
        """
        def f(xs):
            ordered = sorted(xs)
            print(ordered[0])
            return ordered
        """,
    ),
    "all but the last": ("sort-for-extreme", "def f(xs):\n    return sorted(xs)[:-1]"),
    "an empty list is caught": (
        "sort-for-extreme",
        """
        def f(xs):
            try:
                return sorted(xs)[0]
            except IndexError:
                return None
        """,
    ),
    "the largest is taken": (
        "heap-for-minimum",
        """
        def f(xs):
            queue = list(xs)
            while queue:
                queue.sort()
                print(queue.pop())
                queue.append(1)
        """,
    ),
    "the key looks elsewhere": (
        "heap-for-minimum",
        """
        def f(nodes, distance):
            queue = list(nodes)
            while queue:
                node = min(queue, key=lambda node: distance[node])
                queue.remove(node)
                distance[node] = 0
        """,
    ),
    "the queue is gone through": (
        "heap-for-minimum",
        """
        def f(xs):
            queue = list(xs)
            while queue:
                queue.sort()
                print(queue.pop(0))
                for x in queue:
                    print(x)
        """,
    ),
    "something is added between sort and pop": (
        "heap-for-minimum",
        """
        def f(xs):
            queue = list(xs)
            while queue:
                queue.sort()
                queue.append(0)
                print(queue.pop(0))
        """,
    ),
    "the list is not sorted at first": (
        "insert-in-order",
        """
        def f(xs, seen):
            for x in xs:
                seen.append(x)
                seen.sort()
        """,
    ),
    "elements are overwritten": (
        "insert-in-order",
        """
        def f(xs):
            seen = []
            for x in xs:
                seen.append(x)
                seen.sort()
                seen[0] = x
        """,
    ),
    "the counted list grows": (
        "count-by-bisect",
        """
        def f(xs):
            seen = []
            for x in xs:
                print(sum(1 for y in seen if y < x))
                seen.append(x)
        """,
    ),
    "other things are counted": (
        "count-by-bisect",
        "def f(xs, ys):\n    return [sum(1 for x in xs if x.key < y) + sum(1 for x in xs if x == y) for y in ys]",
    ),
    "what is added up is no count": (
        "count-by-bisect",
        "def f(xs, ys):\n    return [sum(x for x in xs if x < y) for y in ys]",
    ),
    "the list belongs to the element": (
        "membership-of-made-list",
        "def f(rows, x):\n    return [x in [cell.key for cell in row] for row in rows]",
    ),
    "the question depends on the element": (
        "membership-of-made-list",
        "def f(xs, ys):\n    return [any(y == x + y for y in ys) for x in xs]",
    ),
    "a set of a list is no copy only": ("membership-of-made-list", "def f(xs, x):\n    return x in set(xs)"),
    "another list keeps the list": (
        "append-in-place",
        """
        def f(xs):
            steps = []
            path = []
            for x in xs:
                path = path + [x]
                steps.append(path)
            return steps
        """,
    ),
    "the list is an argument": (
        "append-in-place",
        """
        def f(xs, out):
            for x in xs:
                out = out + [x]
            return out
        """,
    ),
    "a number grows": (
        "append-in-place",
        """
        def f(xs):
            total = 0
            for x in xs:
                total = total + x
            return total
        """,
    ),
    "a tuple grows": (
        "append-in-place",
        """
        def f(xs):
            out = ()
            for x in xs:
                out = out + (x,)
            return out
        """,
    ),
}


@pytest.mark.parametrize("case", KEEPS_OFF)
def test_it_keeps_off_where(propose, case):
    name, source = KEEPS_OFF[case]
    compile(textwrap.dedent(source), case, "exec")
    assert propose(name, source) == []
