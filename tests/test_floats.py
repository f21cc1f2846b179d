"""Floats are judged by the baseline's own error: honest rewrites pass, fewer bits, shortcuts and zeros do not."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from whet.core.task import ERROR_RATIO, Kind, Task
from whet.evaluators.compare import Difference, difference
from whet.evaluators.finding import Fault
from whet.evaluators.floats.judge import FloatJudge
from whet.evaluators.floats.reference import Reference
from whet.evaluators.preloads import preloads
from whet.evaluators.subjects import Subject, Workshop
from whet.sandbox.backends import open_sandbox
from whet.sandbox.inside.codec import encode
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.protocol import Sandbox

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    opened = open_sandbox("bubblewrap", False)
    yield opened
    opened.close()


@dataclass(frozen=True)
class Pair:
    """A baseline and a candidate, and inputs for both."""

    baseline: str
    candidate: str
    draw: Callable[[random.Random], tuple[Any, ...]]


def judged(sandbox: Sandbox, pair: Pair, count: int = 6) -> tuple[list[Difference | None], Any]:
    """Returns what is found on that many inputs, and the evidence."""
    task = Task("t", "python", Kind.FUNCTION, Path("/t/t.py"), pair.baseline, "f", Path("/t"))
    workshop = Workshop(task, sandbox, find_interpreter(), preloads(task))
    judge = FloatJudge(ERROR_RATIO, Reference(workshop))
    sides = []
    for source in (pair.baseline, pair.candidate):
        subject = workshop.build(source)
        assert isinstance(subject, Subject)
        live = subject.start(worker=0)
        assert not isinstance(live, Fault), live
        sides.append(live)
    found: list[Difference | None] = []
    try:
        for number in range(count):
            payload = encode(pair.draw(random.Random(number)))
            outcomes = [live.call(payload, 20.0) for live in sides]
            assert not any(isinstance(one, Fault) for one in outcomes), outcomes
            expected, actual = (one[0] for one in outcomes if not isinstance(one, Fault))
            found.append(difference(expected, actual, task.oracle, partial(judge.where, payload)))
        return found, judge.evidence()
    finally:
        judge.close()
        for live in sides:
            live.close()


def floats(count: int) -> Callable[[random.Random], tuple[Any, ...]]:
    return lambda rng: ([rng.gauss(0, 1) for _ in range(count)],)


def array(*shape: int, kind: str = "f8") -> Callable[[random.Random], tuple[Any, ...]]:
    return lambda rng: (np.random.default_rng(rng.getrandbits(60)).standard_normal(shape).astype(kind),)


SUM = "def f(xs):\n    s = 0.0\n    for x in xs:\n        s += x\n    return s\n"
VARIANCE = """\
def f(xs):
    mean = sum(xs) / len(xs)
    return sum((x - mean) ** 2 for x in xs) / (len(xs) - 1)
"""
HORNER = """\
def f(xs):
    r = []
    for x in xs:
        r.append(1.5 + 2.25 * x + 0.1 * x**2 - 0.7 * x**3 + 0.3 * x**4)
    return r
"""
SOFTMAX = """\
import math
def f(xs):
    top = max(xs)
    es = [math.exp(x - top) for x in xs]
    total = sum(es)
    return [e / total for e in es]
"""
NUMPY_SOFTMAX = """\
import numpy as np
def f(a):
    out = np.empty_like(a)
    for i in range(len(a)):
        e = np.exp(a[i] - a[i].max())
        out[i] = e / e.sum()
    return out
"""
MATMUL = """\
import numpy as np
def f(a):
    out = np.zeros((a.shape[0], a.shape[0]), dtype=a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            s = a.dtype.type(0)
            for k in range(a.shape[1]):
                s += a[i, k] * a[j, k]
            out[i, j] = s
    return out
"""
HARMONIC = "def f(n):\n    s = 0.0\n    for k in range(1, n):\n        s += 1 / (k * k)\n    return s\n"
LOGS = "import math\ndef f(xs):\n    return {'l': sum(math.log(abs(x)) for x in xs), 'p': math.prod(xs)}\n"
TORCH_SUM = """\
import torch
def f(t):
    s = torch.zeros((), dtype=t.dtype)
    for x in t:
        s = s + x
    return s
"""


def tensor(count: int, kind: str) -> Callable[[random.Random], tuple[Any, ...]]:
    def draw(rng: random.Random) -> tuple[Any, ...]:
        torch = pytest.importorskip("torch", reason="torch is not installed: pip install whet[torch]")
        torch_seed = torch.Generator().manual_seed(rng.getrandbits(40))
        return (torch.randn(count, generator=torch_seed, dtype=torch.float64).to(getattr(torch, kind)),)

    return draw


HONEST = {
    "reversed sum": Pair(
        SUM, "def f(xs):\n    s = 0.0\n    for x in xs[::-1]:\n        s += x\n    return s\n", floats(300)
    ),
    "reversed sum of three": Pair(SUM, "def f(xs):\n    return 0.0 + xs[2] + xs[1] + xs[0]\n", floats(3)),
    "fsum": Pair(SUM, "import math\ndef f(xs):\n    return math.fsum(xs)\n", floats(300)),
    "numpy's sum": Pair(SUM, "import numpy as np\ndef f(xs):\n    return float(np.sum(xs))\n", floats(300)),
    "one pass": Pair(VARIANCE, "import statistics\ndef f(xs):\n    return statistics.variance(xs)\n", floats(50)),
    "Horner": Pair(
        HORNER, "def f(xs):\n    return [1.5 + x * (2.25 + x * (0.1 + x * (-0.7 + x * 0.3))) for x in xs]\n", floats(40)
    ),
    "reciprocal": Pair(
        SOFTMAX, SOFTMAX.replace("total = sum(es)", "total = 1 / sum(es)").replace("e / t", "e * t"), floats(50)
    ),
    "whole rows": Pair(
        NUMPY_SOFTMAX,
        "import numpy as np\ndef f(a):\n    e = np.exp(a - a.max(axis=1, keepdims=True))\n"
        "    return e * (1 / e.sum(axis=1, keepdims=True))\n",
        array(5, 40),
    ),
    "BLAS": Pair(MATMUL, "import numpy as np\ndef f(a):\n    return a @ a.T\n", array(9, 30)),
    "BLAS in float32": Pair(MATMUL, "import numpy as np\ndef f(a):\n    return a @ a.T\n", array(9, 30, kind="f4")),
    "integers, backwards": Pair(
        HARMONIC,
        "def f(n):\n    return sum((1 / (k * k) for k in range(n - 1, 0, -1)), 0.0)\n",
        lambda r: (r.randrange(50, 500),),
    ),
    "log of the product": Pair(
        LOGS,
        "import math\ndef f(xs):\n    p = math.prod(xs[::-1])\n"
        "    return {'l': math.fsum(math.log(abs(x)) for x in xs), 'p': p}\n",
        floats(20),
    ),
    "torch": Pair(TORCH_SUM, "import torch\ndef f(t):\n    return t.sum()\n", tensor(200, "float32")),
    "torch in double": Pair(TORCH_SUM, "import torch\ndef f(t):\n    return t.flip(0).sum()\n", tensor(200, "float64")),
}


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_rewrite_passes(sandbox: Sandbox, name: str) -> None:
    found, evidence = judged(sandbox, HONEST[name], 3 if "torch" in name else 6)
    assert found == [None] * len(found)
    assert evidence["inputs_with_other_bits"] > 0, "it is no test if the bits never differ"
    assert evidence["worst_share_of_allowed"] <= 1


SINGLE = "import numpy as np\ndef f(xs):\n    return float(np.sum(np.array(xs, dtype=np.float32)))\n"
WRONG = {
    "float32 within": Pair(SUM, SINGLE, floats(300)),
    "zero": Pair(SUM, "def f(xs):\n    return 0.0\n", floats(300)),
    "truncated series": Pair(
        "import math\ndef f(xs):\n    return [math.exp(x / 4) for x in xs]\n",
        "def f(xs):\n    r = []\n    for x in xs:\n        s = t = 1.0\n        for k in range(1, 11):\n"
        "            t *= x / 4 / k\n            s += t\n        r.append(s)\n    return r\n",
        floats(30),
    ),
    "cancelling variance": Pair(
        VARIANCE,
        "def f(xs):\n    n = len(xs)\n    m = sum(xs) / n\n    return (sum(x * x for x in xs) - n * m * m) / (n - 1)\n",
        lambda rng: ([1e6 + rng.random() for _ in range(50)],),
    ),
    "naive for fsum": Pair(
        "import math\ndef f(xs):\n    return math.fsum(xs)\n", SUM, lambda rng: ([rng.random() for _ in range(20000)],)
    ),
    "zeros of a softmax": Pair(
        NUMPY_SOFTMAX, "import numpy as np\ndef f(a):\n    return np.zeros_like(a)\n", array(1, 400_000)
    ),
    "small elements dropped": Pair(
        "import numpy as np\ndef f(a):\n    return np.exp(10 * a)\n",
        "import numpy as np\ndef f(a):\n    r = np.exp(10 * a)\n    r[r < 1e-15 * r.max()] = 0\n    return r\n",
        array(2000),
    ),
    "bfloat16 within": Pair(
        TORCH_SUM, "import torch\ndef f(t):\n    return t.to(torch.bfloat16).float().sum()\n", tensor(200, "float32")
    ),
    "float32 in double": Pair(
        TORCH_SUM, "import torch\ndef f(t):\n    return t.float().sum().double()\n", tensor(200, "float64")
    ),
    "zeros of a tensor": Pair(
        TORCH_SUM, "import torch\ndef f(t):\n    return torch.zeros((), dtype=t.dtype)\n", tensor(200, "bfloat16")
    ),
    "wrong sign of infinity": Pair(
        "def f(xs):\n    return [x * 1e308 * 1e10 for x in xs]\n",
        "def f(xs):\n    return [-x * 1e308 * 1e10 for x in xs]\n",
        floats(3),
    ),
    "huge for infinite": Pair(
        "def f(xs):\n    return [abs(x) * 1e308 * 1e10 for x in xs]\n",
        "def f(xs):\n    return [1.7e308 for x in xs]\n",
        floats(3),
    ),
    "half of the steps": Pair(
        HARMONIC, HARMONIC.replace("range(1, n)", "range(1, n // 2)"), lambda r: (r.randrange(50, 500),)
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_has_fewer_right_digits_does_not_pass(sandbox: Sandbox, name: str) -> None:
    found, _ = judged(sandbox, WRONG[name], 1)
    assert any(found)
    assert "expected" in next(one.detail for one in found if one)
