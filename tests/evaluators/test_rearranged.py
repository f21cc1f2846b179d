"""Recorded cases with their values in other places: what stays, that honest rewrites pass, that tables do not."""

from __future__ import annotations

import random
from itertools import islice

import pytest

from whet.evaluators.inputs.rearranged import rearranged

READ = "import sys\nlines = sys.stdin.read().split('\\n')\n"


def cases_of(make, sizes=(2, 5, 9, 30, 31)):
    return [make(size, random.Random(size)).encode() for size in sizes]


def numbers(n, rng):
    return " ".join(str(rng.randrange(-99, 99)) for _ in range(n)) + "\n"


def counted(n, rng):
    return f"{n}\n" + " ".join(str(rng.randrange(10)) for _ in range(n)) + "\n"


def in_lines(n, rng):
    return f"{n}\n" + "".join(f"{rng.randrange(99)}\n" for _ in range(n))


def tree(n, rng):
    edges = [(rng.randrange(v), v) for v in range(1, n)]
    rng.shuffle(edges)
    return f"{n} {n - 1}\n" + "".join(f"{u} {v}\n" for u, v in edges)


def graph(n, rng):
    edges = {tuple(sorted(rng.sample(range(n), 2))) for _ in range(2 * n)}
    return f"{n} {len(edges)}\n" + "".join(f"{u} {v}\n" for u, v in rng.sample(sorted(edges), len(edges)))


def grid(n, rng):
    rows = [
        "#" * (n + 2),
        *("#" + "".join(rng.choice("#...") for _ in range(n)) + "#" for _ in range(n)),
        "#" * (n + 2),
    ]
    return f"{n + 2} {n + 2}\n" + "\n".join(rows) + "\n"


def words(n, rng):
    return "\n".join(" ".join(rng.choice(("red", "blue", "x")) for _ in range(rng.randrange(1, 7))) for _ in range(n))


def searched(n, rng):
    values = " ".join(map(str, sorted(rng.randrange(99) for _ in range(n))))
    return f"{n} {n + 3}\n{values}\n" + "".join(f"{rng.randrange(99)}\n" for _ in range(n + 3))


def intervals(n, rng):
    ends = [sorted(rng.sample(range(99), 2)) for _ in range(n)]
    return f"{n}\n" + "".join(f"{low} {high}\n" for low, high in ends)


def several(n, rng):
    lists = [[rng.randrange(9) for _ in range(rng.randrange(1, 6))] for _ in range(n)]
    return f"{n}\n" + "".join(f"{len(one)}\n{' '.join(map(str, one))}\n" for one in lists)


def ended(n, rng):
    return "".join(f"{rng.randrange(1, 9)} {rng.randrange(1, 9)}\n" for _ in range(n)) + "0 0\n"


def knapsack(n, rng):
    weights, values = ([rng.randrange(*span) for _ in range(n)] for span in ((1, 9), (100, 999)))
    return f"{n} {2 * n}\n{' '.join(map(str, weights))}\n{' '.join(map(str, values))}\n"


def table(n, rng):
    return "name,amount\n" + "".join(f"{rng.choice(('ann', 'bob'))},{rng.randrange(99)}\n" for _ in range(n))


def parents(n, rng):
    return f"{n}\n" + " ".join(str(rng.randrange(v)) for v in range(1, n)) + "\n"


HONEST = {
    "sum": (numbers, "print(sum(map(int, lines[0].split())))",
            "t = 0\nfor w in lines[0].split(): t += int(w)\nprint(t)"),
    "sort": (in_lines, "a = [int(x) for x in lines[1:int(lines[0]) + 1]]\nfor i in range(len(a)):\n"
             "  for j in range(i): \n    if a[i] < a[j]: a[i], a[j] = a[j], a[i]\nprint(*a)",
             "print(*sorted(int(x) for x in lines[1:] if x))"),
    "histogram": (counted, "a = lines[1].split()\nfor d in range(10): print(a.count(str(d)))",
                  "h = [0] * 10\nfor w in lines[1].split()[:int(lines[0])]: h[int(w)] += 1\nprint(*h, sep='\\n')"),
    "edges of a tree": (tree, "n = int(lines[0].split()[0])\nd = {0: 0}\nwhile len(d) < n:\n  for l in lines[1:]:\n"
                        "    if l:\n      u, v = map(int, l.split())\n      if u in d: d[v] = d[u] + 1\n"
                        "print(max(d.values()))",
                        "p = dict(map(int, reversed(l.split())) for l in lines[1:] if l)\nd = {0: 0}\n"
                        "for v in sorted(p): d[v] = d[p[v]] + 1\nprint(max(d.values()))"),
    "edges of a graph": (graph, "n = int(lines[0].split()[0])\nm = [[0] * n for _ in range(n)]\nfor l in lines[1:]:\n"
                         "  if l:\n    u, v = map(int, l.split())\n    m[u][v] = m[v][u] = 1\nprint(*map(sum, m))",
                         "d = [0] * int(lines[0].split()[0])\nfor l in lines[1:]:\n  for x in l.split():\n"
                         "    d[int(x)] += 1\nprint(*d)"),
    "walls of a grid": (grid, "g = [l for l in lines[1:] if l]\nprint(sum(1 for i in range(len(g))"
                        " for j in range(len(g[0]))"
                        " if g[i][j] == '.' and '#' in (g[i-1][j], g[i+1][j], g[i][j-1], g[i][j+1])))",
                        "h, w = map(int, lines[0].split())\ng = ''.join(lines[1:h+1])\nprint(sum(g[k] == '.' and '#' in"
                        " g[k-w] + g[k+w] + g[k-1] + g[k+1] for k in range(w, len(g) - w)))"),
    "words": (words, "w = ' '.join(lines).split()\nfor x in sorted(set(w)): print(x, w.count(x), w.index(x))",
              "f, c = {}, {}\nfor i, x in enumerate(' '.join(lines).split()):\n  f.setdefault(x, i)\n"
              "  c[x] = c.get(x, 0) + 1\nfor x in sorted(c): print(x, c[x], f[x])"),
    "bisection": (searched, "a = list(map(int, lines[1].split()))\nfor l in lines[2:]:\n"
                  "  if l: print(sum(x < int(l) for x in a))",
                  "import bisect\na = list(map(int, lines[1].split()))\nfor l in lines[2:]:\n"
                  "  if l: print(bisect.bisect_left(a, int(l)))"),
    "intervals": (intervals, "print(sum(len(range(*map(int, l.split()))) for l in lines[1:] if l))",
                  "print(sum(-eval(l.replace(' ', '-')) for l in lines[1:] if l))"),
    "several": (several, "i = 1\nfor _ in range(int(lines[0])):\n  print(max(map(int, lines[i + 1].split())))\n"
                "  i += 2",
                "it = iter(' '.join(lines).split())\nfor _ in range(int(next(it))):\n"
                "  print(max(int(next(it)) for _ in range(int(next(it)))))"),
    "ended": (ended, "for l in lines:\n  if l == '0 0': break\n  a, b = map(int, l.split())\n  print(a // b)",
              "for l in lines[:-2]:\n  a, b = map(int, l.split())\n  print((a - a % b) // b)"),
    "knapsack": (knapsack, "n, c = map(int, lines[0].split())\nw, v = (list(map(int, l.split())) for l in lines[1:3])\n"
                 "b = {0: 0}\nfor x, y in zip(w, v):\n  for s, t in list(b.items()):\n"
                 "    if s + x <= c: b[s + x] = max(b.get(s + x, 0), t + y)\nprint(max(b.values()))",
                 "n, c = map(int, lines[0].split())\nw, v = (list(map(int, l.split())) for l in lines[1:3])\n"
                 "assert max(w) < 9\nb = [0] * (c + 1)\nfor x, y in zip(w, v):\n  for s in range(c, x - 1, -1):\n"
                 "    b[s] = max(b[s], b[s - x] + y)\nprint(b[c])"),
    "table": (table, "t = {}\nfor l in lines[1:]:\n  if l:\n    a, b = l.split(',')\n    t[a] = t.get(a, 0) + int(b)\n"
              "for a in sorted(t): print(a, t[a])",
              "import csv, collections\nt = collections.Counter()\nfor r in csv.DictReader(lines): t[r['name']] +="
              " int(r['amount'])\nfor a, b in sorted(t.items()): print(a, b)"),
    "parents": (parents, "p = list(map(int, lines[1].split()))\nm = 0\nfor v in range(len(p) + 1):\n  d = 0\n"
                "  while v: v = p[v - 1]; d += 1\n  m = max(m, d)\nprint(m)",
                "d = [0]\nfor p in map(int, lines[1].split()): d.append(d[p] + 1)\nprint(max(d))"),
}  # fmt: skip


QUICK = ("edges of a tree", "bisection", "walls of a grid")


@pytest.mark.corpus
@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.corpus) for n in HONEST])
def test_an_honest_rewrite_passes_and_a_table_of_the_cases_does_not(rung, name):
    make, original, rewrite = HONEST[name]
    cases = cases_of(make)
    compared = rung(READ + original, None, READ + rewrite, symbol=None, cases=cases)
    assert compared.fault is None, compared.fault
    assert compared.evidence["sources"]["edges"] > len(cases)
    known = f"known = {[*map(bytes.decode, cases)]!r}\nif '\\n'.join(lines) not in known: sys.exit(print(-1))\n"
    assert rung(READ + original, None, READ + known + original, symbol=None, cases=cases).fault is not None


@pytest.mark.parametrize("name", HONEST)
def test_values_change_places_and_none_is_lost(name):
    cases = cases_of(HONEST[name][0])
    made = list(islice(rearranged(cases, 1), 60))
    shapes = {tuple(len(line.split()) for line in case.splitlines()) for case in cases}
    for edge in made:
        assert edge.payload not in cases
        assert sorted(edge.payload) in list(map(sorted, cases))
        assert tuple(len(line.split()) for line in edge.payload.splitlines()) in shapes
    assert [edge.payload for edge in made] != [edge.payload for edge in islice(rearranged(cases, 2), 60)]


@pytest.mark.parametrize(
    "make",
    [
        lambda n, rng: " ".join(map(str, range(n))),  # sorted
        lambda n, rng: "".join(rng.choice("ab") for _ in range(n)),  # one word
        lambda n, rng: "".join(rng.choice(("push 1\n", "push 2\n", "pop\n")) for _ in range(4 * n)),  # commands
        lambda n, rng: f'{{"a": {n}, "b": {rng.random()}}}',  # more than tokens
    ],
)
def test_nothing_is_made_up_where_no_value_can_change_its_place(make):
    assert list(rearranged(cases_of(make), 1)) == []


def test_bytes_that_are_no_text_are_left_alone():
    assert list(rearranged([b"\xff\xfe 1 2", b"\xff 3"], 1)) == []


def test_a_rung_without_fresh_inputs_shows_cases_alone(rung):
    cases = [b"1 2 3\n", b"2 3 4 5\n"]
    compared = rung(READ + "print(lines[0][-1])", None, READ + "print(lines[0][-1:])", symbol=None, cases=cases)
    assert compared.fault is None
    assert compared.evidence["sources"] == {"case": 2}
