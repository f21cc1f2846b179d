"""Honest rewrites of varied targets agree with them on all inputs, edges and all; small faults in them show."""

from __future__ import annotations

import pytest

INTS = """
sizes = [0, 1, 8, 30]
def make_input(size, rng):
    return ([rng.randrange(2 * size + 1) for _ in range(size)],)
"""
FLOATS = """
sizes = [1, 8, 30]
def make_input(size, rng):
    return ([rng.uniform(-5, 5) for _ in range(size)],)
"""
WORDS = """
sizes = [0, 1, 8, 30]
def make_input(size, rng):
    return (" ".join(rng.choice(("red", "Blue", "x", "green")) for _ in range(size)),)
"""
GRAPH = """
sizes = [1, 5, 20]
def make_input(size, rng):
    return size, [(rng.randrange(size), rng.randrange(size)) for _ in range(2 * size)]
"""
TWO = """
sizes = [0, 1, 8, 30]
def make_input(size, rng):
    return ([rng.randrange(size + 1) for _ in range(size)], [rng.randrange(size + 1) for _ in range(size)])
"""
ROWS = """
sizes = [0, 1, 8, 30]
def make_input(size, rng):
    return ([{"name": rng.choice("abcde"), "amount": rng.randrange(50)} for _ in range(size)],)
"""
GRID = """
sizes = [1, 2, 5, 9]
def make_input(size, rng):
    return (["".join(rng.choice("#..") for _ in range(size)) for _ in range(size)],)
"""
SORTED = """
sizes = [0, 1, 8, 30]
def make_input(size, rng):
    return (sorted(rng.randrange(99) for _ in range(size)), rng.randrange(99))
"""
NUMPY = """
import numpy as np
sizes = [1, 8, 30]
def make_input(size, rng):
    return (np.array([rng.randrange(-9, 9) / 4 for _ in range(size)]),)
"""
KTH = """
sizes = [1, 8, 30]
def make_input(size, rng):
    return ([rng.randrange(99) for _ in range(size)], rng.randrange(size))
"""
CHUNKS = """
sizes = [0, 1, 8, 30]
def make_input(size, rng):
    return ([rng.randrange(99) for _ in range(size)], rng.randrange(1, 6))
"""

HONEST = {
    "list to dict": (INTS, "seen=[]\nfor x in a:\n  if x not in seen: seen.append(x)\nreturn seen",
                     "return list(dict.fromkeys(a))"),
    "bubble sort to sorted": (INTS, "a=list(a)\nfor i in range(len(a)):\n  for j in range(len(a)-1-i):\n"
                              "    if a[j]>a[j+1]: a[j],a[j+1]=a[j+1],a[j]\nreturn a", "return sorted(a)"),
    "bubble sort of floats": (FLOATS, "a=list(a)\nfor i in range(len(a)):\n  for j in range(len(a)-1-i):\n"
                              "    if a[j]>a[j+1]: a[j],a[j+1]=a[j+1],a[j]\nreturn a", "return sorted(a)"),
    "count to Counter": (WORDS, "return {w: a.split().count(w) for w in a.split()}",
                         "import collections\nreturn dict(collections.Counter(a.split()))"),
    "sorting to a set": (INTS, "b=sorted(a)\nfor x,y in zip(b,b[1:]):\n  if x==y: return True\nreturn False",
                         "return len(set(a)) < len(a)"),
    "prefix sums by itertools": (INTS, "return [sum(a[:i+1]) for i in range(len(a))]",
                                 "import itertools\nreturn list(itertools.accumulate(a))"),
    "adjacency matrix to lists": (GRAPH, "n,edges=a,b\nm=[[0]*n for _ in range(n)]\nfor u,v in edges: m[u][v]=1\n"
                                  "return [sum(row) for row in m]",
                                  "out=[set() for _ in range(a)]\nfor u,v in b: out[u].add(v)\n"
                                  "return [len(s) for s in out]"),
    "degrees by a dictionary": (GRAPH, "d=[0]*a\nfor u,v in b:\n  d[u]+=1\n  d[v]+=1\nreturn d",
                                "import collections\nc=collections.Counter()\nfor u,v in b: c.update((u,v))\n"
                                "return [c[i] for i in range(a)]"),
    "intersection by a set": (TWO, "return [x for x in a if x in b]", "s=set(b)\nreturn [x for x in a if x in s]"),
    "group by name": (ROWS, "names=[]\nfor r in a:\n  if r['name'] not in names: names.append(r['name'])\n"
                      "return {n: sum(r['amount'] for r in a if r['name']==n) for n in names}",
                      "t={}\nfor r in a: t[r['name']]=t.get(r['name'],0)+r['amount']\nreturn t"),
    "walls of a grid": (GRID, "n=0\nfor r in range(len(a)):\n  for c in range(len(a[0])):\n"
                        "    if a[r][c]=='#': n+=1\nreturn n", "return sum(row.count('#') for row in a)"),
    "bisection": (SORTED, "for i,x in enumerate(a):\n  if x>=b: return i\nreturn len(a)",
                  "import bisect\nreturn bisect.bisect_left(a,b)"),
    "numpy for a loop": (NUMPY, "out=np.zeros(len(a))\nfor i in range(len(a)): out[i]=a[i]*2\nreturn out",
                         "return a*2"),
    "clip by numpy": (NUMPY, "b=a.copy()\nb[b<0]=0\nreturn b", "return np.where(a<0,0.0,a)"),
    "unique by numpy": (INTS, "out=[]\nfor x in sorted(a):\n  if not out or out[-1]!=x: out.append(x)\nreturn out",
                        "return np.unique(a).tolist() if a else []"),
    "kth by a heap": (KTH, "return sorted(a)[b]", "import heapq\nreturn heapq.nsmallest(b+1,a)[-1]"),
    "chunks by itertools": (CHUNKS, "out=[]\ni=0\nwhile i<len(a):\n  out.append(a[i:i+b])\n  i+=b\nreturn out",
                            "import itertools\nit=iter(a)\nout=[]\nwhile piece:=list(itertools.islice(it,b)):\n"
                            "  out.append(piece)\nreturn out"),
    "join for concatenation": (WORDS, "s=''\nfor w in a.split(): s+=w[::-1]+'-'\nreturn s",
                               "return ''.join(w[::-1]+'-' for w in a.split())"),
    "parsing by a regular expression": (WORDS, "return [w for w in a.split(' ') if w.startswith('B')]",
                                        "import re\nreturn re.findall(r'(?:(?<= )|^)(B[^ ]*)',a)"),
    "largest by max": (FLOATS, "m=a[0]\nfor x in a:\n  if x>m: m=x\nreturn m", "return max(a)"),
    "refusing what is negative": (CHUNKS, "if b<=0: raise ValueError('b')\nreturn sum(a)//b",
                                  "if b<1: raise ValueError('b')\ns=0\nfor x in a: s+=x\nreturn s//b"),
    "a dispatch table": (ROWS, "n=0\nfor r in a:\n  if r['name']=='a': n+=1\n  elif r['name']=='b': n+=2\nreturn n",
                         "t={'a':1,'b':2}\nreturn sum(t.get(r['name'],0) for r in a)"),
}  # fmt: skip


def function(body, workload):
    one = "return (" in workload and ",)" in workload
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return f"import numpy as np\ndef f({'a' if one else 'a, b'}):\n{lines}\n"


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_rewrite_passes(rung, name):
    workload, slow, fast = HONEST[name]
    found = rung(function(slow, workload), workload, function(fast, workload))
    assert found.fault is None, found.fault.detail
    assert found.evidence["sources"]["edges"] > 20, found.evidence


GRID = """\
sizes = [2, 5, 9]
def make_input(size, rng):
    return ([[rng.randrange(9) for _ in range(3)] for _ in range(size)],)
"""
DEEP = "import copy\ndef f(a):\n    return copy.deepcopy(a)\n"


@pytest.mark.parametrize(
    ("candidate", "right"),
    [
        ("def f(a):\n    return [list(row) for row in a]\n", True),
        ("def f(a):\n    return list(a)\n", False),
    ],
)
def test_a_copy_is_one_of_what_callers_give_and_need_not_keep_what_an_edit_made_one(rung, candidate, right):
    found = rung(DEEP, GRID, candidate)
    assert (found.fault is None) is right, found.fault and found.fault.detail
    if not right:  # on inputs that were drawn, callers would see that the rows are theirs
        assert "edited input" not in found.fault.detail.split("\n")[1]


FAULTY = {
    "negative numbers": (INTS, "return sorted(a)", "return sorted(a, key=abs)"),
    "ties": (FLOATS, "return a.index(max(a, default=0)) if a else 0",
             "return max(range(len(a)), key=lambda i: (a[i], i), default=0)"),
    "more than 32 bits": (INTS, "return max(a, default=0)", "return max((x & 0x7fffffff for x in a), default=0)"),
    "letters beyond ASCII": (WORDS, "return a.upper()", "return a.encode('ascii','replace').decode().upper()"),
    "a doubled blank": (WORDS, "return a.split()", "return a.split(' ') if a else []"),
    "infinities": (FLOATS, "return [x*2 for x in a]", "return [x*2 if x-x==0 else 0.0 for x in a]"),
    "NaN": (FLOATS, "return [x*2 for x in a]", "return [x*2 if x==x else 0.0 for x in a]"),
    "a constant of the source": (CHUNKS, "return [x for x in a if x != 77777]", "return list(a)"),
    "a check removed": (CHUNKS, "if b==0: raise ValueError('b')\nreturn sum(a)//b", "return sum(a)//(b or 1)"),
    "all equal": (FLOATS, "return len({int(x*9) for x in a})", "return len({int(x*9) for x in a}) if len(a)<9 or "
                  "len(set(a))>1 else 2"),
    "cells of an array": (NUMPY, "return np.nan_to_num(a)", "return a.copy()"),
    "one list twice": (TWO, "c=list(a)\nb.clear()\nreturn a+c",
                       "c=list(a)\nif a is not b: b.clear()\nelse: a=[]\nreturn a+c"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTY)
def test_what_only_an_edge_shows(rung, name):
    workload, good, bad = FAULTY[name]
    found = rung(function(good, workload), workload, function(bad, workload))
    assert found.fault is not None
    assert found.evidence["sources"].get("edges", 0) > 0, "a drawn input showed it already"
