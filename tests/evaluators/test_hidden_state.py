"""An outcome that depends on anything but its input: each way of keeping state is found, and honest state is not."""

from __future__ import annotations

import pytest

from whet.core.verdict import Reason

WORKLOAD = """
sizes = [1, 8, 30]
def make_input(size, rng):
    return ([rng.randrange(100) for _ in range(size)],)
"""
GOOD = "def f(a):\n    return [x + 1 for x in a]\n"

STATEFUL = {
    "a cache by identity": "k={}\ndef f(a):\n    if id(a) not in k: k[id(a)]=[x+1 for x in a]\n"
    "    return list(k[id(a)])\n"
    "",
    "a cache by a careless fingerprint": "k={}\ndef f(a):\n    h=(len(a),a[0] if a else 0)\n"
    "    if h not in k: k[h]=[x+1 for x in a]\n    return list(k[h])\n",
    "the first answer for ever": "k=[]\ndef f(a):\n    if not k: k.append([x+1 for x in a])\n    return list(k[0])\n",
    "right for 50 calls": "n=[0]\ndef f(a):\n    n[0]+=1\n    return [x+1 for x in a] if n[0]<=50 else []\n",
    "right for 150 calls": "n=[0]\ndef f(a):\n    n[0]+=1\n    return [x+1 for x in a] if n[0]<=150 else []\n",
    "a global": "last=None\ndef f(a):\n    global last\n    same,last=last==a,list(a)\n"
    "    return [] if same else [x+1 for x in a]\n",
    "a default argument": "def f(a):\n    return g(a)\ndef g(a, out=[]):\n    out += [x+1 for x in a]\n"
    "    return list(out)\n",
    "an attribute of a class": "class K:\n    n=0\ndef f(a):\n    K.n+=1\n    return [x+1 for x in a]+[0]*(K.n>90)\n",
    "a kept result": "import functools\n@functools.lru_cache(None)\ndef g(a):\n    return [x+1 for x in a]\n"
    "def f(a):\n    return g(tuple(a))\n",
    "the order of calls": "top=[0]\ndef f(a):\n    top[0]=max(top[0],len(a))\n"
    "    return [x+1 for x in a] if len(a)>=top[0]-40 or len(a)!=1 else []\n",
}  # fmt: skip


@pytest.mark.corpus
@pytest.mark.parametrize("name", STATEFUL)
def test_state_is_found(rung, name):
    found = rung(GOOD, WORKLOAD, STATEFUL[name])
    assert found.fault is not None
    assert found.fault.reason in (Reason.NONDETERMINISTIC, Reason.WRONG_OUTPUT), found.fault


# Which module the parent of a process has loaded tells a fork of a warm worker from a fresh process.
WHERE = "import sys\nFORKED = 'inside.forkserver' in sys.modules or any('fork' in name for name in sys.modules)\n"


@pytest.mark.parametrize("condition", ["FORKED", "not FORKED"])
def test_an_answer_that_is_right_in_some_processes_only(rung, condition):
    found = rung(GOOD, WORKLOAD, f"{WHERE}def f(a):\n    return [x+1 for x in a] if {condition} else []\n")
    assert found.fault is not None
    assert found.fault.reason is Reason.NONDETERMINISTIC, found.fault


def test_what_follows_from_the_hash_seed_is_found(rung):
    words = WORKLOAD.replace("rng.randrange(100)", "str(rng.randrange(100))")
    good = "def f(a):\n    return sorted(set(a), key=len)[:0] + sorted(set(a))\n"
    bad = "def f(a):\n    return list(set(a)) if len(set(a)) > 25 else sorted(set(a))\n"
    found = rung(good, words, bad)
    assert found.fault is not None
    assert found.fault.reason in (Reason.NONDETERMINISTIC, Reason.WRONG_OUTPUT)
    assert rung(good, words, "def f(a):\n    return sorted(dict.fromkeys(a))\n").fault is None


def test_a_result_kept_by_the_baseline_too_is_no_fault(rung):
    shared = "import functools\n@functools.lru_cache(None)\ndef g(a):\n    return [x+1 for x in a]\n"
    shared += "def f(a):\n    return g(tuple(a))\n"
    assert rung(shared, WORKLOAD, GOOD).fault is None
    assert rung(shared, WORKLOAD, shared + "\n").fault is None


def test_a_kept_result_is_named_as_such(rung):
    found = rung(GOOD, WORKLOAD, STATEFUL["a kept result"])
    assert found.fault is not None
    assert found.fault.reason is Reason.NONDETERMINISTIC
    assert "a result is kept" in found.fault.detail


def test_a_cache_that_is_always_right_is_no_fault(rung):
    memo = "k={}\ndef f(a):\n    h=tuple(a)\n    if h not in k: k[h]=[x+1 for x in a]\n    return list(k[h])\n"
    assert rung(GOOD, WORKLOAD, memo).fault is None
