"""Rewrites whose floats differ from their baseline's: honest ones, and ones with fewer right digits.

``whet bench self floats`` and the tests judge the same ones.
"""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Draw = Callable[[random.Random], tuple[Any, ...]]
"""Makes the arguments of one call."""


@dataclass(frozen=True, slots=True)
class FloatRewrite:
    """A baseline and a rewrite of it, both a function ``f``, and inputs for both."""

    baseline: str
    rewrite: str
    draw: Draw

    @property
    def lacking(self) -> str:
        """How to get what the pair needs and this machine lacks; empty where it lacks nothing."""
        lacks = "import torch" in self.baseline and importlib.util.find_spec("torch") is None
        return "pip install whet[torch]" if lacks else ""


def _floats(count: int) -> Draw:
    return lambda rng: ([rng.gauss(0, 1) for _ in range(count)],)


def _array(*shape: int, kind: str = "f8") -> Draw:
    return lambda rng: (np.random.default_rng(rng.getrandbits(60)).standard_normal(shape).astype(kind),)


def _tensor(count: int, kind: str) -> Draw:
    def draw(rng: random.Random) -> tuple[Any, ...]:
        import torch

        seeded = torch.Generator().manual_seed(rng.getrandbits(40))
        return (torch.randn(count, generator=seeded, dtype=torch.float64).to(getattr(torch, kind)),)

    return draw


def _small_integers(rng: random.Random) -> tuple[int, int]:
    return rng.randrange(50, 500), rng.randrange(1000)


_SUM = "def f(xs):\n    s = 0.0\n    for x in xs:\n        s += x\n    return s\n"
_VARIANCE = """\
def f(xs):
    mean = sum(xs) / len(xs)
    return sum((x - mean) ** 2 for x in xs) / (len(xs) - 1)
"""
_HORNER = """\
def f(xs):
    r = []
    for x in xs:
        r.append(1.5 + 2.25 * x + 0.1 * x**2 - 0.7 * x**3 + 0.3 * x**4)
    return r
"""
_SOFTMAX = """\
import math
def f(xs):
    top = max(xs)
    es = [math.exp(x - top) for x in xs]
    total = sum(es)
    return [e / total for e in es]
"""
_NUMPY_SOFTMAX = """\
import numpy as np
def f(a):
    out = np.empty_like(a)
    for i in range(len(a)):
        e = np.exp(a[i] - a[i].max())
        out[i] = e / e.sum()
    return out
"""
_MATMUL = """\
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
_QUOTIENTS = "def f(n, c):\n    s = 0.0\n    for k in range(1, n):\n        s += 1 / (k * k + c)\n    return s\n"
_LOGS = "import math\ndef f(xs):\n    return {'l': sum(math.log(abs(x)) for x in xs), 'p': math.prod(xs)}\n"
_TORCH_SUM = """\
import torch
def f(t):
    s = torch.zeros((), dtype=t.dtype)
    for x in t:
        s = s + x
    return s
"""

HONEST: Mapping[str, FloatRewrite] = {
    "a sum of 300 backwards": FloatRewrite(
        _SUM, "def f(xs):\n    s = 0.0\n    for x in xs[::-1]:\n        s += x\n    return s\n", _floats(300)
    ),
    "a sum of 3 backwards": FloatRewrite(_SUM, "def f(xs):\n    return 0.0 + xs[2] + xs[1] + xs[0]\n", _floats(3)),
    "`fsum` for a sum of 300": FloatRewrite(_SUM, "import math\ndef f(xs):\n    return math.fsum(xs)\n", _floats(300)),
    "numpy's sum for a loop": FloatRewrite(
        _SUM, "import numpy as np\ndef f(xs):\n    return float(np.sum(xs))\n", _floats(300)
    ),
    "`statistics.variance` for two passes": FloatRewrite(
        _VARIANCE, "import statistics\ndef f(xs):\n    return statistics.variance(xs)\n", _floats(50)
    ),
    "Horner's scheme for powers": FloatRewrite(
        _HORNER,
        "def f(xs):\n    return [1.5 + x * (2.25 + x * (0.1 + x * (-0.7 + x * 0.3))) for x in xs]\n",
        _floats(40),
    ),
    "softmax with one reciprocal": FloatRewrite(
        _SOFTMAX, _SOFTMAX.replace("total = sum(es)", "total = 1 / sum(es)").replace("e / t", "e * t"), _floats(50)
    ),
    "rows of a softmax at once, `float64`": FloatRewrite(
        _NUMPY_SOFTMAX,
        "import numpy as np\ndef f(a):\n    e = np.exp(a - a.max(axis=1, keepdims=True))\n"
        "    return e * (1 / e.sum(axis=1, keepdims=True))\n",
        _array(5, 40),
    ),
    "BLAS for three loops": FloatRewrite(_MATMUL, "import numpy as np\ndef f(a):\n    return a @ a.T\n", _array(9, 30)),
    "BLAS for three loops, `float32`": FloatRewrite(
        _MATMUL, "import numpy as np\ndef f(a):\n    return a @ a.T\n", _array(9, 30, kind="f4")
    ),
    "quotients of integers summed backwards": FloatRewrite(
        _QUOTIENTS,
        "def f(n, c):\n    return sum((1 / (k * k + c) for k in range(n - 1, 0, -1)), 0.0)\n",
        _small_integers,
    ),
    "`fsum` of logarithms, a product backwards": FloatRewrite(
        _LOGS,
        "import math\ndef f(xs):\n    p = math.prod(xs[::-1])\n"
        "    return {'l': math.fsum(math.log(abs(x)) for x in xs), 'p': p}\n",
        _floats(20),
    ),
    "torch's sum for a loop, `float32`": FloatRewrite(
        _TORCH_SUM, "import torch\ndef f(t):\n    return t.sum()\n", _tensor(200, "float32")
    ),
    "torch's sum backwards, `float64`": FloatRewrite(
        _TORCH_SUM, "import torch\ndef f(t):\n    return t.flip(0).sum()\n", _tensor(200, "float64")
    ),
}
"""By what they do."""

WRONG: Mapping[str, FloatRewrite] = {
    "`float32` within a sum": FloatRewrite(
        _SUM, "import numpy as np\ndef f(xs):\n    return float(np.sum(np.array(xs, dtype=np.float32)))\n", _floats(300)
    ),
    "zero for a sum": FloatRewrite(_SUM, "def f(xs):\n    return 0.0\n", _floats(300)),
    "`exp` as a series of eleven terms": FloatRewrite(
        "import math\ndef f(xs):\n    return [math.exp(x / 4) for x in xs]\n",
        "def f(xs):\n    r = []\n    for x in xs:\n        s = t = 1.0\n        for k in range(1, 11):\n"
        "            t *= x / 4 / k\n            s += t\n        r.append(s)\n    return r\n",
        _floats(30),
    ),
    "the cancelling formula of the variance": FloatRewrite(
        _VARIANCE,
        "def f(xs):\n    n = len(xs)\n    m = sum(xs) / n\n    return (sum(x * x for x in xs) - n * m * m) / (n - 1)\n",
        lambda rng: ([1e6 + rng.random() for _ in range(50)],),
    ),
    "a plain loop of 20,000 for `fsum`": FloatRewrite(
        "import math\ndef f(xs):\n    return math.fsum(xs)\n", _SUM, lambda rng: ([rng.random() for _ in range(20000)],)
    ),
    "zeros for a softmax over 400,000 classes": FloatRewrite(
        _NUMPY_SOFTMAX, "import numpy as np\ndef f(a):\n    return np.zeros_like(a)\n", _array(1, 400_000)
    ),
    "elements below 1e-15 of the largest set to zero": FloatRewrite(
        "import numpy as np\ndef f(a):\n    return np.exp(10 * a)\n",
        "import numpy as np\ndef f(a):\n    r = np.exp(10 * a)\n    r[r < 1e-15 * r.max()] = 0\n    return r\n",
        _array(2000),
    ),
    "`bfloat16` within torch's `float32` sum": FloatRewrite(
        _TORCH_SUM, "import torch\ndef f(t):\n    return t.to(torch.bfloat16).float().sum()\n", _tensor(200, "float32")
    ),
    "`float32` within torch's `float64` sum": FloatRewrite(
        _TORCH_SUM, "import torch\ndef f(t):\n    return t.float().sum().double()\n", _tensor(200, "float64")
    ),
    "zero for torch's `bfloat16` sum": FloatRewrite(
        _TORCH_SUM, "import torch\ndef f(t):\n    return torch.zeros((), dtype=t.dtype)\n", _tensor(200, "bfloat16")
    ),
    "infinities of the other sign": FloatRewrite(
        "def f(xs):\n    return [x * 1e308 * 1e10 for x in xs]\n",
        "def f(xs):\n    return [-x * 1e308 * 1e10 for x in xs]\n",
        _floats(3),
    ),
    "a finite number for an infinity": FloatRewrite(
        "def f(xs):\n    return [abs(x) * 1e308 * 1e10 for x in xs]\n",
        "def f(xs):\n    return [1.7e308 for x in xs]\n",
        _floats(3),
    ),
    "half of the terms of a sum over integers": FloatRewrite(
        _QUOTIENTS, _QUOTIENTS.replace("range(1, n)", "range(1, n // 2)"), _small_integers
    ),
}
"""By what they do wrong."""
