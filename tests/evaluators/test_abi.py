"""Calls of native functions: what they are given, what is judged of what they leave, and what cannot be told."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from whet.core.errors import BaselineError
from whet.core.signature import Signature
from whet.core.task import Kind, Task, Tolerance, Workload
from whet.core.verdict import Reason
from whet.evaluators.abi.calls import CallTests
from whet.evaluators.abi.cases import COUNT, SMALL, Case, case_of, from_contract
from whet.evaluators.abi.conventions import CONVENTIONS, UnfitError, extended, places
from whet.evaluators.abi.deck import Deck, deal
from whet.evaluators.abi.judging import Judge
from whet.evaluators.abi.records import told
from whet.evaluators.abi.sourced import from_source
from whet.evaluators.abi.truth import widenable
from whet.evaluators.abi.wire import CLOSING, GREETING, NONE, read_record
from whet.evaluators.artifacts import Builder
from whet.evaluators.finding import Fault, Finding, Passed
from whet.evaluators.floats.judge import FloatJudge
from whet.evaluators.floats.native_reference import NativeReference, widened
from whet.evaluators.inputs.source import InputSource
from whet.evaluators.signature import SignatureTable, read_signature
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.protocol import Sandbox
from whet.sandbox.toolchains.driver import Driver, DriverRun
from whet.sandbox.toolchains.isas import ISAS, Isa
from whet.testing.native_objects import objects

EXACT = Tolerance()
INTERPRETER = find_interpreter(None)
SEEDS = count(1)
HEAD = "#include <stdint.h>\n#include <stddef.h>\n"


def contract(prototype: str, **tables: Any) -> Signature:
    name = prototype.partition("(")[0].split()[-1].lstrip("*")
    return read_signature(SignatureTable.model_validate({"prototype": prototype, **tables}), name, "whet.toml")


SUM = contract("int64_t sum(const int32_t *a, int64_t n)", a={"length": "n"}, n={"role": "size"})
SUM_C = HEAD + (
    "int64_t sum(const int32_t *a, int64_t n) { int64_t s = 0; for (int64_t i = 0; i < n; i++) s += a[i]; return s; }"
)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    opened = open_sandbox("bubblewrap", False)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def driver(sandbox: Sandbox) -> Driver:
    return Driver(sandbox, INTERPRETER, ISAS["x86_64"])


def compiled(sandbox: Sandbox, text: str, suffix: str = "c", isa: str = "x86_64") -> bytes:
    return objects(sandbox, INTERPRETER, isa, {"it": text}, suffix)["it"]


def checked(sandbox: Sandbox, driver: Driver, signature: Signature, reference: str, candidate: str) -> Finding:
    name = signature.prototype.partition("(")[0].split()[-1].lstrip("*")
    built = objects(sandbox, INTERPRETER, "x86_64", {"ours": reference, "theirs": candidate}, "c")
    cases = from_contract(signature, next(SEEDS), specials=False, count=400)
    return CallTests(driver, signature, name, built["ours"], cases, next(SEEDS), EXACT).check(built["theirs"])


# what a function is given

TYPES = {
    "int8": "int8_t", "uint8": "uint8_t", "int16": "int16_t", "uint16": "uint16_t", "int32": "int32_t",
    "uint32": "uint32_t", "int64": "int64_t", "uint64": "uint64_t", "float32": "float", "float64": "double",
}  # fmt: skip
MANY = (
    ["int8", "uint16", "int32", "uint32", "int64", "uint8", "int16", "uint64", "int32", "uint8", "int64"],
    ["float32", "int32", "float64", "float32", "uint8"] * 3,
    ["float64"] * 11 + ["int16", "uint32"] * 5,
)


@pytest.mark.corpus
@pytest.mark.parametrize("isa", ISAS)
def test_every_argument_arrives_wherever_the_convention_puts_it(sandbox: Sandbox, isa: str) -> None:
    if ISAS[isa].lacking():
        pytest.skip(str(ISAS[isa].lacking()))
    calls = Driver(sandbox, INTERPRETER, ISAS[isa])
    for kinds in MANY:
        names = [f"v{number}" for number in range(len(kinds))]
        written = ", ".join(f"{TYPES[kind]} {name}" for kind, name in zip(kinds, names, strict=True))
        signature = contract(f"uint64_t take({written})")
        terms = [
            f"{2 * number + 1}u * (uint64_t)(int64_t)({name}{' * 1048576.0' if kind.startswith('f') else ''})"
            for number, (kind, name) in enumerate(zip(kinds, names, strict=True))
        ]
        text = f"{HEAD}uint64_t take({written}) {{ return {' + '.join(terms)}; }}"
        cases = from_contract(signature, next(SEEDS), specials=False, count=60)
        deck = deal(signature, cases, CONVENTIONS[isa], next(SEEDS))
        found = told(deck, calls.run(compiled(sandbox, text, isa=isa), "take", deck.data, 10.0))
        assert found.end is None
        for laid, data in zip(deck.laid, found.records, strict=True):
            record = read_record(data, laid.lengths)
            assert record is not None
            assert record.returned == expected(kinds, laid.case), laid.case


def expected(kinds: list[str], case: Case) -> int:
    import numpy as np

    total = 0
    for number, kind in enumerate(kinds):
        value = case.numbers[f"v{number}"]
        if kind == "float32":
            value = float(np.float32(value))
        total += (2 * number + 1) * int(value * 1048576.0 if kind.startswith("f") else value)
    return total % 2**64


@given(st.integers(-(2**31), 2**31 - 1), st.integers(0, 2**64 - 1))
def test_a_register_holds_garbage_above_what_a_caller_extends(value: int, garbage: int) -> None:
    word = extended(value, "int32", CONVENTIONS["x86_64"], garbage)
    assert (word & 0xFFFFFFFF, word >> 32) == (value & 0xFFFFFFFF, garbage >> 32)
    assert extended(value, "int32", CONVENTIONS["riscv64"], garbage) == value % 2**64
    unsigned = extended(value % 2**32, "uint32", CONVENTIONS["riscv64"], garbage)
    assert unsigned == value % 2**64, "RISC-V extends 32 bits by their sign, whatever their type"


def test_more_arguments_than_there_are_places_for_are_refused() -> None:
    many = ", ".join(f"int a{n}" for n in range(30))
    with pytest.raises(UnfitError, match="30 arguments"):
        places(contract(f"int f({many})"), CONVENTIONS["x86_64"])


@pytest.mark.corpus
@pytest.mark.parametrize("kind", ["void", "int8_t", "uint16_t", "int32_t", "uint64_t", "float", "double"])
def test_a_result_is_read_as_wide_as_its_type_is(sandbox: Sandbox, driver: Driver, kind: str) -> None:
    signature = contract(f"{kind} f(int64_t x)")
    body = "(void)x;" if kind == "void" else f"return ({kind})(x * 3);"
    text = f"{HEAD}{kind} f(int64_t x) {{ {body} }}"
    assert isinstance(checked(sandbox, driver, signature, text, text), Passed)
    if kind != "void":
        found = checked(sandbox, driver, signature, text, text.replace("x * 3)", "x * 3 + (x == 1))"))
        assert isinstance(found, Fault)
        assert "expected" in found.detail


# cases


def test_every_small_size_comes_at_both_ends_and_within_its_bounds() -> None:
    signature = contract(
        "int f(const int16_t *a, uint32_t n, int8_t limit)",
        a={"length": "2 * n", "min": -5, "max": 300},
        n={"role": "size", "min": 3, "max": 90},
        limit={"min": -2, "max": 2},
    )
    cases = from_contract(signature, 7, specials=False)
    assert len(cases) == COUNT
    assert {(case.numbers["n"], case.at_end) for case in cases} == {(n, end) for n in range(3, 91) for end in (0, 1)}
    for case in cases:
        values = memoryview(case.contents["a"]).cast("h")
        assert len(values) == 2 * case.numbers["n"]
        assert all(-5 <= value <= 300 for value in values)
        assert -2 <= case.numbers["limit"] <= 2
    assert {case.numbers["limit"] for case in cases} == {-2, -1, 0, 1, 2}


def test_a_scalar_is_met_in_a_buffer_and_the_ends_of_types_come() -> None:
    signature = contract("int f(const int32_t *a, int64_t n, int32_t x)", a={"length": "n"}, n={"role": "size"})
    cases = from_contract(signature, 3, specials=False)
    met = [case for case in cases if case.numbers["x"] in memoryview(case.contents["a"]).cast("i").tolist()]
    assert len(met) > COUNT / 4
    seen = {value for case in cases for value in memoryview(case.contents["a"]).cast("i").tolist()}
    assert {-(2**31), 2**31 - 1, 0, -1, 1} <= seen


@pytest.mark.parametrize("specials", [False, True])
def test_floats_that_are_no_numbers_come_where_they_can_be_compared(specials: bool) -> None:
    signature = contract("double f(const double *a, int64_t n)", a={"length": "n"}, n={"role": "size"})
    cases = from_contract(signature, 5, specials=specials)
    values = [value for case in cases for value in memoryview(case.contents["a"]).cast("d").tolist()]
    assert any(map(math.isnan, values)) is specials
    assert any(map(math.isinf, values)) is specials


def test_several_sizes_run_through_all_small_values_each() -> None:
    signature = contract(
        "void f(float *to, const float *a, int64_t n, int64_t m)",
        to={"role": "out", "length": "n * m"}, a={"length": "n * m"}, n={"role": "size"}, m={"role": "size"},
    )  # fmt: skip
    cases = from_contract(signature, 11, specials=False)
    for name in ("n", "m"):
        assert {case.numbers[name] for case in cases} >= set(range(SMALL + 1))
    assert all(case.lengths["a"] == 4 * case.numbers["n"] * case.numbers["m"] for case in cases)


GENERATOR = """\
from array import array

sizes = [10, 100]

def make_input(size, rng):
    if size == 13:
        raise ValueError("no")
    return (array("i", sorted(rng.randrange(1000) for _ in range(size))), size)
"""


@pytest.mark.corpus(one_in=8)
def test_a_task_with_its_own_generator_meets_only_what_that_makes(sandbox: Sandbox, tmp_path: Path) -> None:
    workload = Workload(GENERATOR)
    task = Task("t", "c", Kind.FUNCTION, tmp_path / "t.c", SUM_C, "sum", tmp_path, workload=workload, signature=SUM)
    source = InputSource(task, sandbox, INTERPRETER)
    cases = from_source(SUM, source, 5, specials=False)
    source.close()
    assert {case.numbers["n"] for case in cases} >= set(range(SMALL + 1)) - {13}
    assert 13 not in {case.numbers["n"] for case in cases}
    assert len(cases) > COUNT - 100
    assert max(case.numbers["n"] for case in cases) > 400
    for case in cases:
        values = memoryview(case.contents["a"]).cast("i").tolist()
        assert values == sorted(values)


def test_what_a_generator_makes_outside_of_the_contract_is_left_out(sandbox: Sandbox, tmp_path: Path) -> None:
    bounded = tuple(replace(one, low=5, high=40) if one.name == "n" else one for one in SUM.arguments)
    signature = replace(SUM, arguments=bounded)
    workload = Workload(GENERATOR)
    task = Task(
        "t", "c", Kind.FUNCTION, tmp_path / "t.c", SUM_C, "sum", tmp_path, workload=workload, signature=signature
    )
    source = InputSource(task, sandbox, INTERPRETER)
    cases = from_source(signature, source, 5, specials=False)
    source.close()
    assert {case.numbers["n"] for case in cases} == set(range(5, 41)) - {13}


def test_a_generator_with_a_rule_lets_cases_of_the_contract_in_that_keep_to_it(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    rule = "\ndef valid(args):\n    return len(args[0]) == 0 or max(args[0]) < 2**30\n"
    workload = Workload(GENERATOR + rule)
    task = Task("t", "c", Kind.FUNCTION, tmp_path / "t.c", SUM_C, "sum", tmp_path, workload=workload, signature=SUM)
    source = InputSource(task, sandbox, INTERPRETER)
    cases = from_source(SUM, source, 5, specials=False)
    source.close()
    values = [memoryview(case.contents["a"]).cast("i").tolist() for case in cases]
    assert all(max(one, default=0) < 2**30 for one in values)
    assert any(one != sorted(one) for one in values)


# judging


def test_the_smallest_case_is_what_is_told(sandbox: Sandbox, driver: Driver) -> None:
    wrong = SUM_C.replace("return s;", "return s + (n > 7 && n % 2);")
    found = checked(sandbox, driver, SUM, SUM_C, wrong)
    assert isinstance(found, Fault)
    assert found.reason is Reason.WRONG_OUTPUT
    assert found.evidence["arguments"]["n"] == 9
    assert "(n=9)" in found.detail


@pytest.mark.parametrize(
    ("candidate", "reason", "said"),
    [
        ("extern int64_t lacking(const int32_t *, int64_t); int64_t sum(const int32_t *a, int64_t n)"
         " { return lacking(a, n); }", Reason.BUILD_ERROR, "lacking"),
        ("int64_t other(void) { return 1; }", Reason.BUILD_ERROR, "sum"),
        ("#include <stdlib.h>\nint64_t sum(const int32_t *a, int64_t n) { (void)a; if (n == 5) abort(); return 0; }",
         Reason.CRASH, "abort"),
        ("__attribute__((constructor)) static void first(void) { __builtin_trap(); }\n" + SUM_C,
         Reason.CRASH, "before its first call"),
    ],
    ids=["an unknown symbol", "no symbol", "abort", "dies while it is loaded"],
)  # fmt: skip
def test_what_cannot_be_called_is_a_verdict(
    sandbox: Sandbox, driver: Driver, candidate: str, reason: Reason, said: str
) -> None:
    reference = SUM_C.replace("s += a[i]", "s += 0 * a[i]") if reason is Reason.CRASH else SUM_C
    found = checked(sandbox, driver, SUM, reference, HEAD + candidate)
    assert isinstance(found, Fault)
    assert (found.reason, said in found.detail) == (reason, True), found


def test_code_that_is_not_position_independent_is_told_as_that(sandbox: Sandbox, driver: Driver) -> None:
    text = """\
    .globl sum
    .type sum, @function
sum:
    movslq table(,%rsi,4), %rax
    ret
    .size sum, . - sum
    .data
table: .zero 1024
    .section .note.GNU-stack, "", @progbits
"""
    cases = from_contract(SUM, 1, specials=False, count=20)
    tests = CallTests(driver, SUM, "sum", compiled(sandbox, SUM_C), cases, 2, EXACT)
    found = tests.check(compiled(sandbox, text, "s"))
    assert isinstance(found, Fault)
    assert found.reason is Reason.BUILD_ERROR
    assert "recompile with -fPIC" in found.detail


def test_contents_that_end_like_the_memory_behind_them_arrive_whole(sandbox: Sandbox, driver: Driver) -> None:
    signature = contract(
        "void copy(const uint8_t *a, uint8_t *b, int64_t n)",
        a={"length": "n"}, b={"role": "out", "length": "n"}, n={"role": "size"},
    )  # fmt: skip
    text = HEAD + "void copy(const uint8_t *a, uint8_t *b, int64_t n) { while (n--) *b++ = *a++; }"
    cases = [case_of(signature, {"a": [first, *[value] * 12], "n": 13}) for value in range(256) for first in (value, 7)]
    deck = deal(signature, cases, CONVENTIONS["x86_64"], 1)  # a seed by which some do
    found = told(deck, driver.run(compiled(sandbox, text), "copy", deck.data, 10.0))
    assert found.end is None
    assert any(laid.fill == laid.case.contents["a"][-1] for laid in deck.laid)
    for laid, data in zip(deck.laid, found.records, strict=True):
        record = read_record(data, laid.lengths)
        assert record is not None
        assert record.written == ((NONE, laid.case.contents["a"]),)


@pytest.mark.parametrize(
    "reference",
    [
        SUM_C.replace("i < n", "i <= n"),
        SUM_C.replace("s += a[i]", "((int32_t *)a)[i] = 0"),
        SUM_C.replace("{ int64_t s", '{ __asm__ volatile("mov $1, %%r12" : : : "memory"); int64_t s'),
    ],
    ids=["over-read", "const", "register"],
)
def test_a_reference_that_breaks_its_own_contract_is_no_candidates_fault(
    sandbox: Sandbox, driver: Driver, reference: str
) -> None:
    with pytest.raises(BaselineError, match="the reference itself fails its contract"):
        checked(sandbox, driver, SUM, reference, SUM_C)


@pytest.fixture(scope="module")
def played(sandbox: Sandbox, driver: Driver) -> tuple[Deck, Judge, bytes]:
    """A deck, its judge, and what a right candidate's run wrote."""
    deck = deal(SUM, from_contract(SUM, 1, specials=False, count=40), CONVENTIONS["x86_64"], 2)
    ours = driver.run(compiled(sandbox, SUM_C), "sum", deck.data, 10.0)
    return deck, Judge(deck, "sum", CONVENTIONS["x86_64"], told(deck, ours), EXACT, None, None), ours.output


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(data=st.data())
def test_no_output_but_the_drivers_own_passes(played: tuple[Deck, Judge, bytes], data: st.DataObject) -> None:
    deck, judge, output = played
    assert judge.fault(told(deck, DriverRun(0, output))) is None
    at = data.draw(st.integers(GREETING.size, len(output) - 1))
    change = data.draw(st.sampled_from(["flip", "cut", "insert", "repeat", "zero the rest"]))
    mangled = {
        "flip": output[:at] + bytes([output[at] ^ data.draw(st.integers(1, 255))]) + output[at + 1 :],
        "cut": output[:at],
        "insert": output[:at] + data.draw(st.binary(min_size=1, max_size=400)) + output[at:],
        "repeat": output + output[at:],
        "zero the rest": output[:at] + bytes(len(output) - at),
    }[change]
    if mangled != output:
        assert judge.fault(told(deck, DriverRun(0, mangled))) is not None
    assert judge.fault(told(deck, DriverRun(1, output))) is not None
    assert told(deck, DriverRun(0, output[: -CLOSING.size])).end is not None


def test_a_function_in_cpp_finds_its_library(sandbox: Sandbox, driver: Driver) -> None:
    text = (
        "#include <cstdint>\n#include <numeric>\n#include <vector>\n"
        'extern "C" int64_t sum(const int32_t *a, int64_t n)'
        " { std::vector<int64_t> all(a, a + n); return std::accumulate(all.begin(), all.end(), int64_t(0)); }"
    )
    cases = from_contract(SUM, 8, specials=False, count=100)
    tests = CallTests(driver, SUM, "sum", compiled(sandbox, SUM_C), cases, 9, EXACT)
    assert isinstance(tests.check(compiled(sandbox, text, "cpp")), Passed)


# overlapping buffers

MOVE = contract(
    "void move(uint8_t *to, const uint8_t *from, int64_t n)",
    to={"role": "out", "length": "n"}, **{"from": {"length": "n", "may_alias": ["to"]}}, n={"role": "size"},
)  # fmt: skip
BACKWARDS = HEAD + "void move(uint8_t *to, const uint8_t *from, int64_t n) { while (n--) to[n] = from[n]; }"
BOTH = BACKWARDS.replace("while", "if (to < from) for (int64_t i = 0; i < n; i++) to[i] = from[i]; else while")


def test_buffers_overlap_only_where_the_contract_lets_them(sandbox: Sandbox, driver: Driver) -> None:
    found = checked(sandbox, driver, MOVE, BOTH, BACKWARDS)
    assert isinstance(found, Fault)
    assert found.reason is Reason.WRONG_OUTPUT
    assert "bytes from to" in found.detail
    apart = contract(MOVE.prototype, to={"role": "out", "length": "n"}, **{"from": {"length": "n"}}, n={"role": "size"})
    assert isinstance(checked(sandbox, driver, apart, BOTH, BACKWARDS), Passed)


@pytest.mark.parametrize(("shift", "wrong"), [(1, True), (0, False), (-1, False)])
def test_a_given_case_can_be_called_again(sandbox: Sandbox, driver: Driver, shift: int, wrong: bool) -> None:
    case = case_of(MOVE, {"from": [1, 2, 3, 4], "n": 4}, overlap=("from", "to", shift))
    built = objects(sandbox, INTERPRETER, "x86_64", {"ours": BOTH, "theirs": BACKWARDS}, "c")
    found = CallTests(driver, MOVE, "move", built["ours"], [case], 1, EXACT).check(built["theirs"])
    assert isinstance(found, Fault) is wrong, found


# floats

DOT = contract(
    "float dot(const float *a, const float *b, int64_t n)", a={"length": "n"}, b={"length": "n"}, n={"role": "size"}
)
DOT_C = (
    HEAD + "float dot(const float *a, const float *b, int64_t n)"
    " { float s = 0; for (int64_t i = 0; i < n; i++) s += a[i] * b[i]; return s; }"
)
RATIO = Tolerance(error_ratio=4.0)


@pytest.mark.corpus(one_in=8)
def test_floats_are_judged_by_the_references_own_error(sandbox: Sandbox, driver: Driver, tmp_path: Path) -> None:
    path = tmp_path / "dot.c"
    task = Task("dot", "c", Kind.FUNCTION, path, DOT_C, "dot", tmp_path, flags=("-O2",), signature=DOT)
    judge = FloatJudge(4.0, NativeReference(Builder(task, sandbox, INTERPRETER)))
    texts = {
        "ours": DOT_C,
        "wide": widened(DOT_C, "c", DOT)[0],
        "reordered": DOT_C.replace("i = 0; i < n; i++", "i = n - 1; i >= 0; i--"),
        "coarse": DOT_C.replace("a[i] * b[i]", "(float)(_Float16)(a[i] * b[i])"),
    }
    built = objects(sandbox, INTERPRETER, "x86_64", texts, "c")
    cases = from_contract(DOT, 3, specials=False, count=300)
    tests = CallTests(driver, DOT, "dot", built["ours"], cases, 4, RATIO, judge, built["wide"])
    assert isinstance(tests.check(built["reordered"]), Passed)
    looked = judge.evidence().get("inputs_with_other_bits", 0)
    assert looked < 20, "most are settled by the run with wider floats"
    found = tests.check(built["coarse"])
    judge.close()
    assert isinstance(found, Fault)
    assert found.reason is Reason.WRONG_OUTPUT


def test_a_tolerance_is_kept_to_without_any_reference(sandbox: Sandbox, driver: Driver) -> None:
    built = objects(
        sandbox, INTERPRETER, "x86_64", {"ours": DOT_C, "off": DOT_C.replace("return s", "return s * 1.001f")}, "c"
    )
    cases = from_contract(DOT, 3, specials=False, count=300)
    for rtol, passes in ((0.01, True), (0.0001, False)):
        tests = CallTests(driver, DOT, "dot", built["ours"], cases, 4, Tolerance(rtol=rtol))
        found = tests.check(built["off"])
        assert isinstance(found, Passed) is passes, found


def test_only_narrow_floats_can_be_widened() -> None:
    assert widenable(DOT)
    assert not widenable(SUM)
    assert not widenable(contract("double f(float x)"))


# where it runs


def test_a_tool_that_is_not_there_is_named_with_its_package() -> None:
    missing = Isa("s390x", "gcc-s390x-linux-gnu", "libc6-dev-s390x-cross", "max").lacking()
    assert missing is not None
    assert "apt-get install gcc-s390x-linux-gnu" in str(missing)


def test_it_runs_without_a_sandbox_too() -> None:
    sandbox = open_sandbox("none", unsafe=True)
    try:
        found = checked(sandbox, Driver(sandbox, INTERPRETER, ISAS["x86_64"]), SUM, SUM_C, SUM_C)
    finally:
        sandbox.close()
    assert isinstance(found, Passed)
