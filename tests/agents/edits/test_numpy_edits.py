"""Loops over the elements of arrays: the new function behaves like the old one, and dependent turns stay a loop."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

NUMBERS = st.one_of(st.floats(-50, 50).map(lambda x: round(x, 3)), st.just(float("nan")), st.just(0.0))

SAMPLES = {
    "arithmetic, temporaries and conditions": (
        1,
        """
        def f(a, b, n):
            out = np.zeros(n)
            count = 0
            for i in range(n):
                d = a[i] - b[i]
                out[i] = d * d + math.fabs(d) * n
                if d > 0 and not math.isnan(b[i]):
                    out[i] += 1
                    count += 1
                elif_ = a[i] if a[i] < 3 else -b[i]
                out[i] -= elif_
            return out, count
        """,
    ),
    "a swap": (
        1,
        """
        def f(a, b, n):
            for i in range(n):
                t = a[i]
                a[i] = b[i]
                b[i] = t
            return a, b
        """,
    ),
    "neighbours": (
        1,
        """
        def f(a, b, n):
            out = np.zeros(n + 1)
            for i in range(1, n - 1):
                out[i] = a[i + 1] - 2 * a[i] + a[i - 1]
            return out
        """,
    ),
    "branches": (
        1,
        """
        def f(a, b, n):
            out = np.ones(n)
            for i in range(n):
                if a[i] < b[i]:
                    out[i] = a[i]
                else:
                    if b[i] > 2:
                        out[i] = b[i] * i
            return out
        """,
    ),
    "guards and lists": (
        1,
        """
        def f(a, b, n):
            xs = []
            for i in range(n):
                if math.isnan(a[i]) or math.isnan(b[i]):
                    continue
                xs.append(float(a[i]))
            return xs
        """,
    ),
    "extremes": (
        2,
        """
        def f(a, b, n):
            low, high = 0.0, 1.5
            for i in range(n):
                if b[i] < low:
                    low = b[i]
            for i in range(n):
                if b[i] * 2 > high:
                    high = b[i] * 2
            return float(low), float(high)
        """,
    ),
    "two loops": (
        2,
        """
        def f(a, b, n):
            grid = np.outer(a, b)
            out = np.zeros((n, n))
            for i in range(n):
                for j in range(n):
                    out[i, j] = grid[i][j] * b[j] + grid[j, i] * a[i] + i - j
            return out
        """,
    ),
}


def same(one, other):
    """Whether two outcomes agree, in the types of their numbers too."""
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and one.dtype == other.dtype and np.array_equal(one, other, equal_nan=True)
    if isinstance(one, list | tuple):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and (one == other or (one != one and other != other))


def with_imports(source):
    return "import math\nimport numpy as np\n" + textwrap.dedent(source)


@pytest.mark.parametrize("case", SAMPLES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
@pytest.mark.corpus(one_in=8)
def test_old_and_new_agree(propose, outcome, case, data):
    count, source = SAMPLES[case]
    source = with_imports(source)
    n = data.draw(st.integers(0, 6))
    a, b = (np.array(data.draw(st.lists(NUMBERS, min_size=n, max_size=n))) for _ in "ab")
    if case == "extremes":  # which of NaN and a number is larger is a matter of order
        a, b = np.nan_to_num(a), np.nan_to_num(b)
    found = propose("numpy-expression", source, symbol="f")
    assert len(found) == count
    expected = outcome(source, (a, b, n))
    for proposal in found:
        assert same(expected, outcome(proposal.source, (a, b, n))), proposal.source


@pytest.mark.parametrize("size", [0, 1, 3, 1000])
def test_sums_agree_but_for_rounding(propose, outcome, size):
    source = with_imports(
        """
        def f(a, n):
            total, counted, squares = 0.0, 0, 0
            for i in range(n):
                total += math.sqrt(a[i]) * a[i]
                if a[i] > 0.5:
                    counted += 2
                    squares += float(a[i] * a[i])
            return total, counted, squares
        """
    )
    found = propose("numpy-expression", source, symbol="f")
    assert len(found) == 1
    a = np.random.default_rng(size).random(size)
    (_, old), _ = outcome(source, (a, size))
    (_, new), _ = outcome(found[0].source, (a, size))
    assert new == pytest.approx(old)
    assert list(map(type, new)) == list(map(type, old))


KEEPS_OFF = {
    "a turn needs the one before": "for i in range(1, n):\n        a[i] = a[i] + a[i - 1]",
    "a total is read": "t = 0\n    for i in range(n):\n        t += a[i]\n        b[i] = t",
    "the written array is read elsewhere": "for i in range(n):\n        a[i] = a[0] + 1",
    "the written array is read whole": "for i in range(n):\n        a[i] = len(a) + b[i]",
    "something unknown is called": "for i in range(n):\n        a[i] = g(b[i])",
    "something random is called": "for i in range(n):\n        a[i] = b[i] + rng.random()",
    "the index wraps": "for i in range(n):\n        a[i] = b[i - 1]",
    "the loop stops early": "for i in range(n):\n        if b[i] > 0:\n            break\n        a[i] = 1",
    "it is a list": "xs = [0.0] * n\n    for i in range(n):\n        xs[i] = a[i]",
    "a temporary is read later": "for i in range(n):\n        d = b[i]\n        a[i] = d\n    print(d)",
    "the index is read later": "for i in range(n):\n        a[i] = b[i]\n    print(i)",
    "the bound changes": "for i in range(n):\n        a[i] = b[i]\n        n = 3",
    "elements go elsewhere": "for i in range(n):\n        a[i // 2] = b[i]",
}


@pytest.mark.parametrize("case", KEEPS_OFF)
def test_it_keeps_off_where(propose, case):
    source = f"def f(a, b, n, g, rng):\n    {KEEPS_OFF[case]}\n    return a, b\n"
    assert propose("numpy-expression", with_imports(source)) == []


def test_a_file_without_numpy_is_left_alone(propose):
    assert propose("numpy-expression", "def f(a, b):\n    for i in range(9):\n        a[i] = b[i] * 2\n") == []
