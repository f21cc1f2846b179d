"""What a native function keeps between calls: what counts of it, and what an honest rewrite may change."""

from __future__ import annotations

import struct
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from whet.core.signature import Argument, Role, Signature
from whet.core.task import Kind, Task, Tolerance
from whet.evaluators.inputs.call_sequences import Calls, SequenceCall
from whet.evaluators.native_readers import Reader, readers
from whet.evaluators.native_state import NativeState
from whet.evaluators.native_variables import FLOATS, Variable
from whet.evaluators.sequence_outcomes import came_of
from whet.sandbox.inside.calls import call_in_sequence
from whet.sandbox.inside.capture import Capture
from whet.sandbox.inside.exported_data import exported, keeps_state
from whet.sandbox.inside.native_target import NativeTarget

SIGNATURE = Signature(
    "long f(const long *v, long n)",
    "int64",
    (Argument("v", "int64", Role.IN, "n"), Argument("n", "int64", Role.SIZE)),
)
BODY = "long f(const long *v, long n) {{ long s = 0; for (long i = 0; i < n; i++) s += v[i]; {} return s; }}"


def built(place: Path, name: str, source: str) -> Path:
    path = place / f"{name}.so"
    command = ["gcc", "-O2", "-shared", "-fPIC", "-x", "c", "-", "-o", str(path)]
    subprocess.run(command, input=source, text=True, check=True)
    return path


def task(source: str) -> Task:
    file = Path("/t/f.c")
    return Task("f", "c", Kind.FUNCTION, file, source, "f", file.parent, signature=SIGNATURE)


@pytest.fixture
def difference(tmp_path):
    """Returns where a rewrite's state differs from the original's after three calls; empty where it does not."""

    def differing(ours: str, theirs: str, errno: bool = False) -> str:
        known = task(ours)
        floats = tuple(one for one in FLOATS if one.words.search(ours))
        state = NativeState(known, tuple(readers(known)), floats, errno)
        given = [([3, 4], 2), ([], 0), ([-5, 1, 9], 3)]
        calls = Calls(None, tuple(SequenceCall("", args, {}) for args in given), state.readers)
        came = []
        for name, source in (("ours", ours), ("theirs", theirs)):
            library = built(tmp_path, name, source)
            target = NativeTarget(str(tmp_path), library.name, "f", "int64", SIGNATURE.plain)
            came.append(came_of(call_in_sequence(target, calls.payload, Capture(1000))[0]))
        fault = state.differing(*came)
        return "" if fault is None else fault.detail

    return differing


def state(declared: str, kept: str, before: str = "") -> str:
    return f"#include <errno.h>\n#include <stdlib.h>\n{declared}\n{BODY.format(kept)}\n{before}"


@pytest.mark.parametrize(
    ("ours", "theirs", "said"),
    [
        (state("long hits;", "hits += n;"), state("long hits;", "hits = n;"), "the global hits: expected 2, got 0"),
        (state("long a, b;", "a = n; b = s;"), state("long a, b;", "b = n; a = s;"), "the global a: expected 2, got 7"),
        (
            state("static long all;", "all += s;", "long sum(void) { return all; }"),
            state("static long all;", "all = s;", "long sum(void) { return all; }"),
            "sum(): expected 7, got 0",
        ),
        (
            state("char *last;", "last = n ? (char *)v : 0;"),
            state("char *last;", "last = (char *)v;"),
            "the global last: expected null, got an address",
        ),
        (
            state("__thread short code;", "code = n == 0;"),
            state("__thread short code;", ""),
            "the global code: expected 1, got 0",
        ),
        (
            state("double mean;", "mean = n ? (double)s / n : 0;"),
            state("double mean;", "mean = (double)s / (n + 1);"),
            "the global mean: expected 3.5, got 2.33333333",
        ),
    ],
)
def test_state_that_evolves_otherwise_is_told(difference, ours, theirs, said):
    assert difference(ours, theirs) == f"after the call, {said}"


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        pytest.param(state("long hits;", "hits += n;"), state("", ""), id="a variable that is no longer exported"),
        pytest.param(state("long hits;", "hits += n;"), state("int hits;", "hits = 9;"), id="of another size"),
        pytest.param(state("", ""), state("long calls; static long kept;", "kept = calls++;"), id="new ones"),
        pytest.param(state("long f_cache;", "f_cache = s;"), state("long f_cache;", ""), id="a cache"),
        pytest.param(state("long tmp[4];", "tmp[1] = s;"), state("long tmp[4];", ""), id="scratch"),
        pytest.param(
            state("void *p;", "if (!p) p = malloc(8);"), state("static long x; void *p;", "p = &x;"), id="an address"
        ),
        pytest.param(
            state("struct {void *at; long room;} all;", "all.at = &all; all.room = 8;"),
            state("struct {void *at; long room;} all;", "all.at = &errno; all.room = 16;"),
            id="a capacity beside an address",
        ),
        pytest.param(
            state("struct {char a; long b;} pair;", "pair.a++; pair.b = n;"),
            state("struct {char a; long b;} pair;", "pair.a++; pair.b = n; 3[(char *)&pair] = 7;"),
            id="padding",
        ),
        pytest.param(
            state("double sum;", "sum += s / 3.0;"), state("double sum;", "sum += s * (1 / 3.0);"), id="the last bits"
        ),
        pytest.param(
            state("double mean;", "mean = s / (double)n;"),
            state("double mean;", "mean = n ? s / (double)n : -(0.0 / 0.0 * n);"),
            id="the sign of NaN",
        ),
        pytest.param(state("long table[2];", "table[0] = 5;"), state("long table[2] = {5};", ""), id="filled earlier"),
        pytest.param(
            state("", "if (n == 0) errno = EINVAL;"),
            state("", "errno = n ? ERANGE : EINVAL;"),
            id="errno after success",
        ),
    ],
)
def test_what_a_rewrite_may_change_is_no_difference(difference, ours, theirs):
    assert difference(ours, theirs, errno=True) == ""


def test_an_error_number_counts_where_the_target_sets_it(difference):
    ours, theirs = state("", "if (n == 0) errno = EINVAL;"), state("", "")
    assert difference(ours, theirs, errno=True) == "after the call, errno: expected 22, got 0"
    assert difference(ours, theirs, errno=False) == ""


def test_without_floats_in_the_text_integers_are_compared_to_the_last_bit():
    held = [(struct.pack("<i", 0), False), (struct.pack("<i", 1_000_000_000), False)]
    other = struct.pack("<i", 1_000_000_001), False
    assert Variable(held, (), Tolerance()).difference(1, other) == ": expected 1000000000, got 1000000001"
    assert Variable(held, FLOATS, Tolerance()).difference(1, other) == ""


@pytest.mark.parametrize("other", [(1, False), (b"\0" * 4,), None, "ab"])
def test_a_hostile_variable_is_an_error_that_the_harness_expects(other):
    with pytest.raises((TypeError, ValueError)):
        Variable([(b"\0" * 4, False)] * 2, FLOATS, Tolerance()).difference(1, other)


def test_exported_variables_are_found_by_size_and_constants_are_not(tmp_path):
    source = """
    long hits = 3; static long own; __thread int code; const long limit = 5; long table[20000]; void *const at = &own;
    long f(void) { static int calls; own += hits; return own + calls++ + code; }
    """
    file = built(tmp_path, "all", source).read_bytes()
    assert exported(file) == {"hits": 8, "code": 4}
    assert keeps_state(file)
    assert keeps_state(built(tmp_path, "own", "long f(void) { static int calls; return calls++; }").read_bytes())
    assert not keeps_state(built(tmp_path, "none", "const long limit = 5; long f(long n) { return n; }").read_bytes())
    with pytest.raises(ValueError, match="ELF"):
        exported(b"#!/bin/sh")


def test_readers_neither_write_nor_call():
    source = """
    static long hits, last, rows[9]; static double sum;
    long f(const long *v, long n, int key) { hits += n; rows[key] = 1; return n; }
    long hits_so_far(void) { return hits; }
    double mean(void) { return hits == 0 ? 0 : sum / (double)(hits); }
    unsigned
    long most (void)
    {
        return hits > last ? hits : last; // whichever is more
    }
    long filled(void) { long all = 0; for (int i = 0; i < 9; i++) all += rows[i]; return all; }
    long row(const int key) { return rows[key]; }
    long next(void) { return last++; }
    long drained(void) { long was = hits; hits = 0; return was; }
    long reset(void) { return hits = 0; }
    long cleared(int key) { long *at = rows; at[key] = 0; return 0; }
    long counted(void) { static long calls; calls += 1; return calls; }
    long asked(void) { return f(0, 0, 0); }
    long at(long i) { return hits + i; }
    long wide(long key) { return rows[key]; }
    long sized(long n) { return rows[n]; }
    static long hidden(void) { return hits; }
    void nothing(void) { return; }
    const char *name(void) { return "f"; }
    """
    key = Argument("key", "int32", Role.SCALAR)
    known = replace(task(source), signature=replace(SIGNATURE, arguments=(*SIGNATURE.arguments, key)))
    assert list(readers(known)) == [
        Reader("hits_so_far", "int64"),
        Reader("mean", "float64"),
        Reader("most", "uint64"),
        Reader("filled", "int64"),
        Reader("row", "int64", ((2, "int32"),)),
    ]


def test_readers_in_cpp_ask_containers():
    source = """
    static std::map<int, long> kept;
    extern "C" long f(const long *v, long n) { kept[int(n)] = 1; return n; }
    extern "C" long known(void) { return kept.size(); }
    extern "C" std::size_t all() { std::size_t sum = 0; for (const auto &one : kept) sum += one.second; return sum; }
    extern "C" double mean() { return std::max<double>(static_cast<double>(kept.size()), double(1)); }
    extern "C" long dropped() { for (auto &one : kept) one.second = 0; return 0; }
    extern "C" long gone() { auto &one = kept; return one.erase(3); }
    extern "C" long changed() { auto &one = kept[0]; one = 3; return one; }
    long mangled() { return kept.size(); }
    """
    known = replace(task(source), language="cpp")
    assert list(readers(known)) == [Reader("known", "int64"), Reader("all", "uint64"), Reader("mean", "float64")]
