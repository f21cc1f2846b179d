"""Sequences of calls: what a second call or another method shows, and what a rewrite may change of an object."""

from __future__ import annotations

import io

import pytest

from whet.core.measurement import Measurement, Outcome, Speedup
from whet.core.task import OracleRule
from whet.core.verdict import Reason, Rung, RungStatus, Verdict
from whet.evaluators.compare import difference
from whet.evaluators.differential import Compared, concluded
from whet.evaluators.finding import Inconclusive, Passed
from whet.evaluators.inputs.call_sequences import Calls, SequenceCall, code, simpler
from whet.evaluators.sequence_outcomes import came_of, differing
from whet.sandbox.inside.calls import call_in_sequence
from whet.sandbox.inside.capture import Capture
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.invocation import Target

COUNTER = """
class Counter:
    def __init__(self, wanted):
        self.wanted = wanted
        self.hits = 0

    def count(self, values):
        hits = {hits}
        self.hits {write} hits
        return hits
"""
WORKLOAD = """
sizes = [1, 8, 30]
def make_input(size, rng):
    return {"init": (rng.randrange(4),), "args": ([rng.randrange(4) for _ in range(size)],), "kwargs": {}}
"""
SLOW, FAST = "sum(1 for value in values if value == self.wanted)", "values.count(self.wanted)"


@pytest.mark.corpus(one_in=8)
def test_a_lost_sum_shows_at_the_second_call_and_is_told_as_code(rung):
    found = rung(
        COUNTER.format(hits=SLOW, write="+="), WORKLOAD, COUNTER.format(hits=FAST, write="="), symbol="Counter.count"
    )
    assert found.fault is not None
    assert found.fault.reason is Reason.WRONG_OUTPUT
    first, _, made, *calls = found.fault.detail.split("\n")
    assert first.startswith("after the call, self.hits: expected ")
    assert made.startswith("counter = Counter(")
    assert len(calls) == 2
    assert all(call.startswith("counter.count([") for call in calls)


def test_an_honest_rewrite_of_a_method_passes(rung):
    texts = (COUNTER.format(hits=hits, write="+=") for hits in (SLOW, FAST))
    found = rung(next(texts), WORKLOAD, next(texts), symbol="Counter.count")
    assert found.fault is None, found.fault.detail
    assert found.evidence["sequences"] > 10


def target(place, source, symbol):
    (place / "target.py").write_text(source)
    return Target(str(place), "target.py", symbol)


def came(place, source, symbol, *payloads):
    place.mkdir()
    loaded, capture = target(place, source, symbol), Capture(1000)
    return [came_of(call_in_sequence(loaded, payload, capture)[0]) for payload in payloads]


def met(place, ours, theirs, symbol, *sequences):
    """Returns where the last of some sequences differs."""
    payloads = [one.payload for one in sequences]
    sides = (came(place / name, text, symbol, *payloads)[-1] for name, text in (("ours", ours), ("theirs", theirs)))
    found = differing(*sides, OracleRule())
    return found and found.detail


def called(*names, init=()):
    return Calls(init, tuple(SequenceCall(name, ((1,),), {}) for name in names))


LIST = "class K:\n{shared}    def __init__(self):\n{own}\n    def put(self, x):\n        self.items.append(x[0])\n"
OWN = LIST.format(shared="", own="        self.items = []")
SHARED = LIST.format(shared="    _all = []\n", own="        self.items = K._all")
FAILS = "class K:\n    n = 0\n    def put(self, x):\n{lines}\n"
STATES = {
    "a list that all objects share": (OWN, SHARED, "K.put", "self.items: expected 0 items [], got 2 items [1, 1]"),
    "what a call that raises leaves": (
        FAILS.format(lines="        self.n = 1\n        raise ValueError"),
        FAILS.format(lines="        raise ValueError"),
        "K.put",
        "self: expected an attribute n",
    ),
    "an attribute of the class": (
        FAILS.format(lines="        K.n += 1"),
        FAILS.format(lines="        K.n = 1"),
        "K.put",
        "the class attribute K.n: expected 2, got 1",
    ),
    "a default": (
        "def put(x, kept=[]):\n    kept.append(x)\n",
        "def put(x, kept=[]):\n    pass\n",
        "put",
        "the default of put's parameter kept is as it was before: expected [(1,)]",
    ),
}


@pytest.mark.parametrize("name", STATES)
def test_state_is_compared_after_each_call(tmp_path, name):
    ours, theirs, symbol, wanted = STATES[name]
    sequence = called("put", "put") if "." in symbol else called("", "", init=None)
    before = [sequence] * ("share" in name)
    assert wanted in met(tmp_path, ours, theirs, symbol, *before, sequence)


CACHES = {
    "a new private attribute": ("self.n = 1", "self.n = 1; self._table = [[1]]", True),
    "a new public one": ("self.n = 1", "self.n = 1; self.table = []", False),
    "another cache": ("self._cache = {1: 2}", "self._cache = {}", True),
    "a lost cache": ("self._cache = {1: 2}", "pass", True),
    "a private attribute that is lost": ("self._n = 1", "pass", False),
    "a private attribute with another value": ("self._n = 1", "self._n = 2", False),
    "a new one that shares a list": ("self.n = [1]", "self.n = [1]; self._n = self.n", True),
}


@pytest.mark.parametrize("name", CACHES)
def test_what_a_rewrite_may_keep_in_an_object(tmp_path, name):
    ours, theirs, right = CACHES[name]
    texts = (f"class K:\n    def put(self, x):\n        {text}\n        return [x, x]\n" for text in (ours, theirs))
    assert (met(tmp_path, *texts, "K.put", called("put")) is None) is right


@pytest.mark.parametrize(
    "hostile",
    [3, (), (["n"], [(10**15, [])]), (["n"], [(b"", [("n", 10**15)])]), ([3], []), (["n"], [(b"", [(3, b"")])])],
)
def test_what_is_no_outcome_of_a_sequence_is_refused(hostile):
    with pytest.raises((TypeError, ValueError)):
        came_of(encode(hostile))


def test_files_are_told_by_contents_and_position():
    read, unread = io.StringIO("ab"), io.StringIO("ab")
    read.read()
    ours, theirs = (encode(("value", ((file,), {}), None, None, "")) for file in (read, unread))
    assert difference(ours, ours, OracleRule()) is None
    assert difference(ours, theirs, OracleRule()).detail == "after the call, argument 1, position: expected 2, got 0"


def test_sequences_are_made_simpler_and_written_as_code():
    sequence = Calls(
        (3,), (SequenceCall("put", ([5],), {}), SequenceCall("size", None, None), SequenceCall("put", ([],), {"at": 1}))
    )
    assert code("a.Box.put", [sequence]) == "box = a.Box(3)\nbox.put([5])\nbox.size\nbox.put([], at=1)"
    assert {one.calls[-1].name for one in simpler(sequence)} == {"put"}
    assert min(len(one.calls) for one in simpler(sequence)) == 2


def compared(inputs, source="generator"):
    return Compared(None, {"inputs": inputs, "sources": {source: inputs}, "cut": {}})


@pytest.mark.parametrize(
    ("found", "kind", "said"),
    [
        (compared(4), Inconclusive, "too few inputs to tell: 4 fresh inputs agree, and 5 are needed"),
        (compared(6), Passed, "weak: only 6 fresh inputs agree"),
        (compared(20), Passed, "20 fresh inputs agree"),
        (compared(2, "case"), Passed, "weak: only 2 inputs agree: only recorded cases, which are public"),
    ],
)
def test_few_inputs_are_said_and_too_few_tell_nothing(found, kind, said):
    concluded_so = concluded(found, [])
    assert (type(concluded_so), concluded_so.detail) == (kind, said)


@pytest.mark.parametrize(("status", "improved"), [(RungStatus.INCONCLUSIVE, False), (RungStatus.PASSED, True)])
def test_what_met_too_few_inputs_is_no_improvement(status, improved):
    speedup = Speedup(2.0, 1.9, 2.1, 0.99, "time", 10, 100, (0.99, 1.01), "itself", ())
    verdict = Verdict("c", (Rung("differential", status),), Measurement(Outcome.FASTER, speedup, 0.001))
    assert verdict.improved is improved
