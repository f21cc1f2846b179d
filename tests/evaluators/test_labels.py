"""What kind of win a change is, from the change itself."""

from __future__ import annotations

import shutil
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import whet
from whet.core.candidate import Candidate
from whet.core.label import Label
from whet.core.profile import HotLine, Profile
from whet.core.result import Winner
from whet.core.task import Kind, Task
from whet.evaluators.labels.base import Derived
from whet.evaluators.labels.registry import evidence, labels

A, D, V, K = Label.ALGORITHM, Label.DATA_STRUCTURE, Label.VECTORISATION, Label.CUSTOM_KERNEL
L, F, P, C = Label.LIBRARY_CALL, Label.COMPILER_FLAG, Label.LOWER_PRECISION, Label.CACHING

UNIQUE = """
def f(items):
    out = []
    for x in items:
        if x not in out:
            out.append(x)
    return out
"""
PAIRS = """
def f(items, target):
    count = 0
    for i in range(len(items)):
        for j in range(i + 1, len(items)):
            if items[i] + items[j] == target:
                count += 1
    return count
"""
FIB = """
def f(n):
    if n < 2:
        return n
    return f(n - 1) + f(n - 2)
"""
PREFIX = """
def f(items):
    out = []
    for i in range(len(items)):
        out.append(sum(items[: i + 1]))
    return out
"""
TOTAL = """
def f(items):
    total = 0
    for x in items:
        total += x * x
    return total
"""
PRIMES = """
def f(n):
    for k in range(2, n):
        if n % k == 0:
            return False
    return True
"""
QUEUE = """
def f(start, edges):
    waiting = [start]
    seen = set()
    while waiting:
        here = waiting.pop(0)
        if here not in seen:
            seen.add(here)
            waiting.extend(edges[here])
    return len(seen)
"""
PRODUCT = "import numpy as np\ndef f(a, b):\n    return a @ b\n"
THREADS = """
from concurrent.futures import ThreadPoolExecutor
def f(items):
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(g, items))
"""
DEQUE = "from collections import deque\n" + QUEUE.replace("[start]", "deque([start])").replace("pop(0)", "popleft()")
TEXT = """
def f(rows):
    text = ""
    for row in rows:
        text += str(row) + ","
    return text
"""
DISTANCES = """
import numpy as np
def f(points):
    n = len(points)
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            out[i, j] = abs(points[i] - points[j])
    return out
"""
EXPENSIVE = """
def f(items):
    return [cost(x) for x in items]
def cost(n):
    return sum(k * k for k in range(n))
"""

PYTHON = {
    "set beside a list": (UNIQUE, """
        def f(items):
            seen, out = set(), []
            for x in items:
                if x not in seen:
                    seen.add(x)
                    out.append(x)
            return out
        """, {D}),
    "keys of a dict": (UNIQUE, "def f(items):\n    return list(dict.fromkeys(items))\n", {D}),
    "two loops become one and a dict": (PAIRS, """
        def f(items, target):
            counts = {}
            found = 0
            for x in items:
                found += counts.get(target - x, 0)
                counts[x] = counts.get(x, 0) + 1
            return found
        """, {D, A}),
    "recursion becomes a loop": (FIB, """
        def f(n):
            a, b = 0, 1
            for _ in range(n):
                a, b = b, a + b
            return a
        """, {A}),
    "recursion with a cache inside": (FIB, """
        import functools
        def f(n):
            @functools.cache
            def go(k):
                return k if k < 2 else go(k - 1) + go(k - 2)
            return go(n)
        """, {C}),
    "a dict of results inside": (EXPENSIVE, """
        def f(items):
            known = {}
            for x in items:
                if x not in known:
                    known[x] = cost(x)
            return [known[x] for x in items]
        def cost(n):
            return sum(k * k for k in range(n))
        """, {C}),
    "running sum": (PREFIX, """
        def f(items):
            out, total = [], 0
            for x in items:
                total += x
                out.append(total)
            return out
        """, {A}),
    "accumulate": (PREFIX, """
        from itertools import accumulate
        def f(items):
            return list(accumulate(items))
        """, {L}),
    "sum over a generator": (TOTAL, "def f(items):\n    return sum(x * x for x in items)\n", {L}),
    "numpy expression": (TOTAL, """
        import numpy as np
        def f(items):
            a = np.array(items)
            return int(np.add.reduce(a * a))
        """, {V}),
    "numpy dot": (TOTAL, """
        import numpy as np
        def f(items):
            a = np.asarray(items)
            return int(np.dot(a, a))
        """, {V, L}),
    "broadcasting": (DISTANCES, """
        import numpy as np
        def f(points):
            return np.abs(np.subtract.outer(points, points))
        """, {V}),
    "another library": (DISTANCES, """
        import numpy as np
        from scipy.spatial.distance import squareform, pdist
        def f(points):
            return squareform(pdist(points.reshape(-1, 1)))
        """, {L}),
    "numba": (TOTAL, """
        import numba
        @numba.njit
        def f(items):
            total = 0
            for x in items:
                total += x * x
            return total
        """, {K}),
    "up to the square root": (PRIMES, PRIMES.replace("range(2, n)", "range(2, int(n ** 0.5) + 1)"), {A}),
    "closed form": ("def f(n):\n    t = 0\n    for i in range(n):\n        t += i\n    return t\n",
                    "def f(n):\n    return n * (n - 1) // 2\n", {A}),
    "deque": (QUEUE, DEQUE, {D}),
    "heap": ("def f(items, k):\n    return sorted(items)[:k]\n",
             "import heapq\ndef f(items, k):\n    return heapq.nsmallest(k, items)\n", {D}),
    "joined text": (TEXT, "def f(rows):\n    return ''.join([str(row) + ',' for row in rows])\n", {L}),
    "smaller floats": (PRODUCT, PRODUCT.replace("a @ b", "(a.astype(np.float32) @ b.astype('f4')) * 1.0"), {P}),
    "torch.compile": ("import torch\ndef f(x):\n    return x.relu() + 1\n",
                      "import torch\n@torch.compile\ndef f(x):\n    return x.relu() + 1\n", {F}),
    "tf32": ("import torch\ndef f(x):\n    return x @ x\n",
             "import torch\ntorch.backends.cuda.matmul.allow_tf32 = True\ndef f(x):\n    return x @ x\n", {P}),
    "local name": (TOTAL, TOTAL.replace("total = 0", "total = 0\n    square = int.__mul__"), set()),
    "renamed": (PAIRS, PAIRS.replace("count", "found").replace("target", "wanted"), set()),
    "comprehension": ("def f(items):\n    out = []\n    for x in items:\n        out.append(x + 1)\n    return out\n",
                      "def f(items):\n    return [x + 1 for x in items]\n", set()),
    "threads": ("def f(items):\n    return [g(x) for x in items]\n", THREADS, set()),
    "comment": (TOTAL, TOTAL + "# faster\n", set()),
    "cache across calls": (FIB, "import functools\n@functools.lru_cache(None)" + FIB, set()),
}  # fmt: skip

NESTED = """
#include <vector>
int f(const std::vector<int>& a, int t) {
  int c = 0;
  for (size_t i = 0; i < a.size(); i++)
    for (size_t j = i + 1; j < a.size(); j++)
      if (a[i] + a[j] == t) c++;
  return c;
}
"""
SUM = """
#include <vector>
double f(const std::vector<double>& a) {
  double s = 0;
  for (size_t i = 0; i < a.size(); i++) s += a[i];
  return s;
}
"""
READ = """
#include <iostream>
int main() {
  int n, x; long s = 0;
  std::cin >> n;
  for (int i = 0; i < n; i++) { std::cin >> x; s += x; }
  std::cout << s << std::endl;
}
"""
NATIVE = {
    "hash map": (NESTED, """
        #include <vector>
        #include <unordered_map>
        int f(const std::vector<int>& a, int t) {
          std::unordered_map<int, int> seen;
          int c = 0;
          for (int x : a) { auto it = seen.find(t - x); if (it != seen.end()) c += it->second; seen[x]++; }
          return c;
        }
        """, {D, A}),
    "intrinsics": (SUM, """
        #include <vector>
        #include <immintrin.h>
        double f(const std::vector<double>& a) {
          __m256d v = _mm256_setzero_pd();
          for (size_t i = 0; i + 4 <= a.size(); i += 4) v = _mm256_add_pd(v, _mm256_loadu_pd(&a[i]));
          return v[0] + v[1] + v[2] + v[3];
        }
        """, {V}),
    "simd pragma": (SUM, SUM.replace("  for", "#pragma omp simd reduction(+:s)\n  for"), {V}),
    "optimize pragma": (SUM, '#pragma GCC optimize("O3,unroll-loops")\n' + SUM, {F}),
    "target attribute": (SUM, SUM.replace("double f", '__attribute__((target("avx2"))) double f'), {F}),
    "float": (SUM, SUM.replace("double s", "float s"), {P}),
    "accumulate": (SUM, """
        #include <vector>
        #include <numeric>
        double f(const std::vector<double>& a) { return std::accumulate(a.begin(), a.end(), 0.0); }
        """, {L}),
    "fast input": (READ, READ.replace("int n", "std::ios::sync_with_stdio(false); std::cin.tie(0);\n  int n"), {L}),
    "assembly": (SUM, SUM.replace("s += a[i]", '{ s += a[i]; asm("" ::: ); }'), {K}),
    "reserve": (SUM, SUM.replace("double s = 0", "double s = 0.0"), set()),
    "memo": ("long f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }", """
        long table[100];
        long f(int n) {
          if (n < 2) return n;
          if (table[n]) return table[n];
          return table[n] = f(n - 1) + f(n - 2);
        }
        """, {C}),
    "set becomes vector": ("#include <set>\nint f(std::set<int> s) { return s.size(); }",
                           "#include <vector>\nint f(std::vector<int> s) { return s.size(); }", {D}),
}  # fmt: skip


@pytest.mark.parametrize("name", PYTHON)
def test_python_changes(name: str) -> None:
    before, after, expected = PYTHON[name]
    found = labels("python", dedent(after), dedent(before))
    assert {one.label for one in found} == expected, found
    assert all(one.why for one in found)


@pytest.mark.parametrize("name", NATIVE)
def test_native_changes(name: str) -> None:
    before, after, expected = NATIVE[name]
    found = labels("cpp", dedent(after), dedent(before))
    assert {one.label for one in found} == expected, found


@settings(deadline=None, max_examples=50)
@given(st.text(max_size=100), st.text(max_size=100), st.sampled_from(["python", "c", "cpp"]))
def test_any_texts_can_be_compared(after: str, before: str, language: str) -> None:
    labels(language, after, before)
    assert labels(language, after, after) == ()


def test_a_share_is_that_of_the_lines_that_do_the_work() -> None:
    profile = Profile((HotLine(2, 0.6, ""), HotLine(3, 0.3, ""), HotLine(5, 0.1, "")), "py-spy")
    one = Derived(L, "numpy.dot called anew", frozenset({2, 3}))
    assert evidence((one, Derived(A, "fewer loops")), lambda: profile) == [
        {"label": "library call", "why": "numpy.dot called anew", "share": 0.9},
        {"label": "algorithm", "why": "fewer loops", "share": None},
    ]
    assert evidence((one,), lambda: Profile((), "none"))[0]["share"] is None


def test_what_was_found_goes_before_what_is_claimed() -> None:
    task = Task("t", "python", Kind.FUNCTION, Path("/t.py"), "x = 1\n", "f", Path("/"))
    candidate = Candidate("x = 2\n", labels=("vectorisation",))
    winner = Winner.of(candidate, task)
    assert (winner.labels, winner.claimed) == (("vectorisation",), ("vectorisation",))


@pytest.mark.usefixtures("figures")
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
@pytest.mark.corpus(one_in=8)
def test_a_confirmed_win_has_its_labels_in_the_evidence(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(UNIQUE)
    (tmp_path / "workload.py").write_text(
        "sizes = [10, 600, 1800]\ndef make_input(size, rng):\n"
        "    return ([rng.randrange(2 * size) for _ in range(size)],)\n"
    )
    (tmp_path / "good.py").write_text("def f(items):\n    return list(dict.fromkeys(items))\n")
    result = whet.verify(f"{tmp_path}/slow.py::f", candidate=tmp_path / "good.py", home=tmp_path / "home")
    assert result.status == "improved", result.message
    assert result.candidate is not None
    assert result.candidate.labels == ("data structure",)
    assert result.rungs[-1].evidence["labels"] == [{"label": "data structure", "why": "uses dict", "share": None}]
