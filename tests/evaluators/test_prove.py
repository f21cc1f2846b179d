"""Proofs: what two compiled functions are found to be, and what the prover must not believe."""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Mapping
from typing import Any

import pytest

from whet.core.signature import Signature
from whet.evaluators.prove.engines import Engines, available
from whet.evaluators.prove.proof import Code, Inputs, Overlap, Proof, ProofAnswer
from whet.evaluators.prove.prove import prove
from whet.evaluators.signature import SignatureTable, read_signature
from whet.testing.proofs.corpus import compiled, missing, mnemonics, pairs
from whet.testing.proofs.replay import replay_of
from whet.testing.proofs.run import rows

needs_engines = pytest.mark.skipif(
    not available(), reason="the extra `prove` (angr, z3, triton-library) is not installed"
)
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
needs_cross = pytest.mark.skipif(missing("aarch64") is not None, reason="aarch64-linux-gnu-gcc is not installed")
needs_qemu = pytest.mark.skipif(shutil.which("qemu-aarch64") is None, reason="qemu-aarch64 is not installed")

SAME = "int32_t f(int32_t x)"
IDENTITY = "int32_t f(int32_t x) { return x; }"
COPY = "void f(const int32_t *from, int32_t *to, int64_t n)"
COPIES = f"{COPY} {{ for (int64_t i = 0; i < n; i++) to[i] = from[i]; }}"
SIZED = {"from": {"length": "n"}, "to": {"length": "n", "role": "out"}, "n": {"role": "size"}}


def contract(prototype: str, arguments: Mapping[str, Any] | None = None) -> Signature:
    return read_signature(SignatureTable.model_validate({"prototype": prototype, **(arguments or {})}), "f", "here")


def proof(
    prototype: str, baseline: str, candidate: str, arguments: Mapping[str, Any] | None = None, **options: Any
) -> Proof:
    signature = contract(prototype, arguments)
    isa = options.pop("isa", "x86_64")
    ours, theirs = compiled(baseline, "x86_64"), compiled(candidate, isa, options.pop("flags", ("-O2",)))
    found = prove(ours, theirs, signature, replay_of(ours, theirs, signature), **options)
    assert isinstance(found, Proof)
    return found


# answers


@pytest.mark.corpus
@needs_engines
@needs_gcc
def test_a_proof_says_what_it_rests_on() -> None:
    found = proof(SAME, "int32_t f(int32_t x) { return x < 0 ? -x : x; }", "mov eax, edi\nneg eax\ncmovs eax, edi\nret")
    assert (found.answer, found.label, found.engines) == (ProofAnswer.PROVED, "proved", ("angr", "triton"))
    assert found.paths == (1, 1)
    assert found.reached == (4, 4)
    assert "the returned value" in found.compared
    assert any("rbx" in one and "rsp" in one for one in found.compared)
    assert any("models" in one for one in found.assumptions)


@pytest.mark.corpus
@needs_engines
@needs_gcc
def test_a_candidate_that_is_wrong_at_one_input_of_all_is_found_out() -> None:
    found = proof(SAME, IDENTITY, "mov eax, edi\ncmp edi, 0x1badcafe\nsete cl\nmovzx ecx, cl\nadd eax, ecx\nret")
    assert found.answer is ProofAnswer.COUNTEREXAMPLE
    assert found.engines == ("angr", "replay")
    assert found.counterexample is not None
    assert found.counterexample.inputs == Inputs({"x": 0x1BADCAFE})
    assert found.counterexample.block is not None
    assert "+0x2: cmp edi, 0x1badcafe" in found.counterexample.block.lines


@pytest.mark.corpus
@needs_engines
@needs_gcc
def test_of_several_blocks_the_one_is_named_that_wrote_what_is_wrong() -> None:
    limited = "int32_t f(int32_t x) { return x > 100 ? 100 : x; }"
    found = proof(SAME, limited, "mov eax, edi\ncmp edi, 100\njg 1f\nret\n1:\nmov eax, 99\nret")
    assert found.counterexample is not None
    assert found.counterexample.block is not None
    assert [line.partition(": ")[2] for line in found.counterexample.block.lines] == ["mov eax, 0x63", "ret"]


@pytest.mark.corpus
@needs_engines
@needs_gcc
def test_of_a_buffer_the_block_is_named_that_wrote_the_wrong_element() -> None:
    two = "void f(int32_t x, int32_t *v)"
    body = "mov [rsi], edi\nmov [rsi + 4], edi\ntest edi, edi\njns 1f\nmov dword ptr [rsi + 4], 0\n1: ret"
    found = proof(two, f"{two} {{ v[0] = x; v[1] = x; }}", body, {"v": {"length": 2, "role": "out"}})
    assert found.counterexample is not None
    assert found.counterexample.what.startswith("v[1] is 0, and must be -")
    assert found.counterexample.block is not None
    assert [line.partition(": ")[2] for line in found.counterexample.block.lines] == ["mov dword ptr [rsi + 4], 0"]


@pytest.mark.corpus
@needs_engines
@needs_gcc
@needs_cross
@needs_qemu
def test_the_sides_may_be_of_different_machines() -> None:
    lowest = "uint32_t f(uint32_t a, uint32_t b)"
    baseline = f"{lowest} {{ return a < b ? a : b; }}"
    right = proof(lowest, baseline, "cmp w0, w1\ncsel w0, w0, w1, lo\nret", isa="aarch64")
    assert (right.answer, right.engines) == (ProofAnswer.PROVED, ("angr", "triton"))
    wrong = proof(lowest, baseline, "cmp w0, w1\ncsel w0, w0, w1, lt\nret", isa="aarch64")
    assert wrong.answer is ProofAnswer.COUNTEREXAMPLE


@pytest.mark.corpus
@needs_engines
@needs_gcc
def test_numbers_outside_of_the_contract_are_no_counterexample() -> None:
    whole, half = "int32_t f(int32_t x) { return x / 2; }", "mov eax, edi\nsar eax, 1\nret"
    assert proof(SAME, whole, half, {"x": {"min": 0}}).answer is ProofAnswer.PROVED
    assert proof(SAME, whole, half).answer is ProofAnswer.COUNTEREXAMPLE


@pytest.mark.corpus
@needs_engines
@needs_gcc
@pytest.mark.parametrize(
    ("kind", "limits"), [("int8_t", {"max": 1000}), ("uint8_t", {"min": -5}), ("int8_t", {"min": -1e30})]
)
def test_limits_beyond_a_type_leave_out_nothing(kind: str, limits: Mapping[str, float]) -> None:
    tested = f"int32_t f({kind} x)"
    found = proof(tested, f"{tested} {{ return x == 100; }}", "xor eax, eax\nret", {"x": limits})
    assert found.answer is ProofAnswer.COUNTEREXAMPLE, found.reason


@pytest.mark.corpus
@needs_engines
@needs_gcc
def test_what_a_buffer_may_hold_counts() -> None:
    first = "int32_t f(const int32_t *v)"
    baseline, candidate = f"{first} {{ return v[0] / 4; }}", "mov eax, [rdi]\nsar eax, 2\nret"
    assert proof(first, baseline, candidate, {"v": {"length": 1, "min": 0}}).answer is ProofAnswer.PROVED
    assert proof(first, baseline, candidate, {"v": {"length": 1}}).answer is ProofAnswer.COUNTEREXAMPLE


@pytest.mark.corpus
@needs_engines
@needs_gcc
def test_loops_are_proved_up_to_a_size_and_the_label_says_so() -> None:
    upper = {**SIZED, "n": {"role": "size", "max": 17}}
    found = proof(COPY, COPIES, "mov rcx, rdx\nxchg rdi, rsi\nrep movsd\nret", upper, most=2)
    assert found.answer is ProofAnswer.PROVED
    assert found.label == "bounded-proved(n<=2)"
    assert "n=17" in found.reason


@pytest.mark.corpus
@needs_engines
@needs_gcc
def test_where_the_contract_ends_the_proof_is_whole() -> None:
    bounded = {**SIZED, "n": {"role": "size", "min": 1, "max": 3}}
    assert proof(COPY, COPIES, COPIES, bounded, flags=("-O1",)).label == "proved"


@pytest.mark.corpus
@needs_engines
@needs_gcc
def test_buffers_that_may_overlap_are_looked_at_so() -> None:
    both = "void f(const uint64_t *from, uint64_t *to)"
    baseline = f"{both} {{ uint64_t a = from[0], b = from[1]; to[0] = a; to[1] = b; }}"
    candidate = "mov rax, [rdi]\nmov [rsi], rax\nmov rax, [rdi + 8]\nmov [rsi + 8], rax\nret"
    apart = {"from": {"length": 2}, "to": {"length": 2, "role": "out"}}
    assert proof(both, baseline, candidate, apart).answer is ProofAnswer.PROVED
    found = proof(both, baseline, candidate, {**apart, "from": {"length": 2, "may_alias": ["to"]}})
    assert found.answer is ProofAnswer.COUNTEREXAMPLE
    assert found.counterexample is not None
    assert found.counterexample.inputs.overlap == Overlap("from", "to", 8)


@pytest.mark.corpus
@needs_engines
@needs_gcc
def test_sums_of_floats_in_another_order_are_told_apart() -> None:
    total = "float f(float a, float b, float c)"
    swapped = proof(
        total, f"{total} {{ return a + b + c; }}", "addss xmm0, xmm1\naddss xmm2, xmm0\nmovaps xmm0, xmm2\nret"
    )
    assert swapped.answer is ProofAnswer.PROVED
    assert any("NaN" in one for one in swapped.assumptions)
    other = proof(total, f"{total} {{ return a + b + c; }}", "addss xmm1, xmm2\naddss xmm0, xmm1\nret")
    assert other.answer is ProofAnswer.COUNTEREXAMPLE


@pytest.mark.corpus
@needs_engines
@needs_gcc
def test_the_bits_of_a_computed_nan_are_not_taken_for_known() -> None:
    sign = "int32_t f(float a, float b)"
    baseline = f"{sign} {{ union {{ float f; uint32_t u; }} x = {{ a + b }}; return x.u >> 31; }}"
    found = proof(sign, baseline, "addss xmm1, xmm0\nmovmskps eax, xmm1\nand eax, 1\nret")
    assert (found.answer, "NaN" in found.reason) == (ProofAnswer.INCONCLUSIVE, True)
    size = "float f(float a, float b)"
    without = proof(
        size, f"{size} {{ return __builtin_fabsf(a + b); }}",
        "addss xmm0, xmm1\nmov eax, 0x7fffffff\nmovd xmm1, eax\nandps xmm0, xmm1\nret",
    )  # fmt: skip
    assert without.answer is ProofAnswer.PROVED, without.reason


@pytest.mark.corpus
@needs_engines
@needs_gcc
def test_a_fused_product_is_not_taken_for_two_steps() -> None:
    fused = "float f(float a, float b, float c)"
    body = "vfmadd213ss xmm0, xmm1, xmm2\nret"
    found = proof(fused, f"{fused} {{ return a * b + c; }}", body)
    assert (found.answer, "vfmadd213ss" in found.reason) == (ProofAnswer.INCONCLUSIVE, True)


# what may not be done


@pytest.mark.corpus
@needs_engines
@needs_gcc
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("mov eax, edi\nmov ebx, 1\nret", "does not leave rbx as it was"),
        ("mov eax, edi\npop rcx\nsub rsp, 8\npush rcx\nret", "does not leave rsp as it was"),
        ("mov eax, edi\nret 16", "does not leave rsp as it was"),
        ("mov eax, edi\nstd\nret", "does not leave the direction flag as it was"),
        ("mov eax, edi\npush rax\nret", "goes on where there is no code"),
        ("mov eax, [rdi]\nret", "reads 4 bytes where the input says, which it may not read"),
        ("mov eax, edi\ntest edi, edi\njne 1f\nud2\n1: ret", "traps"),
        ("mov eax, edi\ncdq\nidiv edi\nimul eax, edi\nret", "divides by zero"),
    ],
    ids=["register", "stack", "pointer", "direction", "return", "read", "trap", "division"],
)
def test_what_breaks_the_rules_is_a_counterexample(body: str, said: str) -> None:
    found = proof(SAME, IDENTITY, body)
    assert found.answer is ProofAnswer.COUNTEREXAMPLE, found.reason
    assert said in found.reason


@pytest.mark.corpus
@needs_engines
@needs_gcc
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("mov [rdi], edx\nrep movsb\nret", "writes 4 bytes at from+0 bytes, of 4"),  # into what is only read
        (
            "mov eax, [rdi]\nmov [rsi], eax\nmov [rsi + 4], eax\nret",
            "writes 4 bytes at to+4 bytes, of 4",
        ),  # behind the end
    ],
    ids=["input", "end"],
)
def test_a_stray_write_is_a_counterexample(body: str, said: str) -> None:
    one = {"from": {"length": 1}, "to": {"length": 1, "role": "out"}}
    short = "void f(const int32_t *from, int32_t *to)"
    found = proof(short, f"{short} {{ to[0] = from[0]; }}", body, one)
    assert found.answer is ProofAnswer.COUNTEREXAMPLE, found.reason
    assert said in found.reason


# what proves nothing


@pytest.mark.corpus
@needs_engines
@needs_gcc
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("1: jmp 1b", "the candidate"),
        ("mov eax, edi\n1: test edi, edi\njne 1b\nret", "the candidate"),
        ("mov eax, edi\nvpabsd zmm0, zmm0\nret", "vpabsd"),
        ("mov eax, edi\njmp other", "it calls other"),
        ("mov eax, edi\nrdtsc\nmov eax, edi\nret", "rdtsc"),
    ],
    ids=["endless", "endless-for-some", "avx-512", "import", "clock"],
)
def test_what_the_engines_cannot_follow_is_inconclusive(body: str, said: str) -> None:
    found = proof(SAME, IDENTITY, body, engines=Engines(seconds=3))
    assert (found.answer, found.label) == (ProofAnswer.INCONCLUSIVE, "")
    assert said in found.reason


@pytest.mark.corpus
@needs_engines
@needs_gcc
@pytest.mark.parametrize(
    "body",
    ["mov eax, [rsp - 8]\nret", "mov eax, edi\nmov [rsp - 200], eax\nret"],
    ids=["what was left on the stack", "below the red zone"],
)
def test_a_counterexample_that_no_run_confirms_is_not_believed(body: str) -> None:
    signature = contract(SAME)
    ours, theirs = compiled(IDENTITY, "x86_64"), compiled(body, "x86_64")
    found = prove(ours, theirs, signature, lambda inputs: False)
    assert isinstance(found, Proof)
    assert found.answer is ProofAnswer.INCONCLUSIVE
    assert "not believed" in found.reason
    assert found.counterexample is not None
    unseen = prove(ours, theirs, signature)
    assert isinstance(unseen, Proof)
    assert (unseen.answer, "could not be run" in unseen.reason) == (ProofAnswer.INCONCLUSIVE, True)


@pytest.mark.corpus
@needs_engines
@needs_gcc
def test_a_contract_that_no_input_keeps_to_proves_nothing() -> None:
    found = proof(SAME, IDENTITY, "xor eax, eax\nret", {"x": {"min": 5, "max": 4}})
    assert found.answer is ProofAnswer.INCONCLUSIVE
    assert "no input keeps to the contract" in found.reason


@pytest.mark.corpus
@needs_engines
@needs_gcc
def test_a_baseline_with_faults_of_its_own_proves_nothing() -> None:
    found = proof(SAME, "int32_t f(int32_t x) { return 7 / x; }", "xor eax, eax\nret")
    assert found.answer is ProofAnswer.INCONCLUSIVE
    assert "the baseline itself divides by zero" in found.reason
    assert "x=0" in found.reason


@pytest.mark.corpus
@needs_engines
@needs_gcc
def test_a_question_that_takes_too_long_is_inconclusive() -> None:
    hard = next(pair for pair in pairs() if pair.name == "product-high-half-across")
    baseline = compiled(hard.baseline, "x86_64")
    product = compiled("mov rax, rdi\nmul rsi\nmov rax, rdx\nret", "x86_64")
    found = prove(baseline, product, hard.signature, query_seconds=1)
    assert isinstance(found, Proof)
    assert found.answer is ProofAnswer.INCONCLUSIVE
    assert "could not tell in 1.0 s" in found.reason


@pytest.mark.corpus
@needs_engines
@needs_gcc
def test_engines_that_need_too_much_memory_end_as_inconclusive() -> None:
    huge = compiled("mov eax, edi\nret\n.pushsection .bss\n.zero 0x200000000\n.popsection", "x86_64")
    found = prove(compiled(IDENTITY, "x86_64"), huge, contract(SAME), engines=Engines(memory=1 << 30))
    assert isinstance(found, Proof)
    assert (found.answer, found.label) == (ProofAnswer.INCONCLUSIVE, "")
    assert "1024 MiB of memory" in found.reason


# hostile objects


def hostile(kind: str) -> Code:
    good = compiled(IDENTITY, "x86_64")
    data = bytearray(good.object)
    if kind == "text":
        return Code(b"not an object at all", "f", "x86_64")
    if kind == "truncated":
        return Code(good.object[: len(good.object) // 3], "f", "x86_64")
    if kind == "other symbol":
        return Code(good.object, "g", "x86_64")
    if kind == "other machine":
        return Code(good.object, "f", "aarch64")
    if kind == "executable":
        struct.pack_into("<H", data, 16, 2)
    if kind == "sections beyond the end":
        struct.pack_into("<Q", data, 40, 1 << 60)
    if kind == "sections without end":
        (table,) = struct.unpack_from("<Q", data, 40)
        for at in range(table, len(data) - 63, 64):
            struct.pack_into("<Q", data, at + 32, 1 << 50)
    return Code(bytes(data), "f", "x86_64")


@pytest.mark.corpus
@needs_engines
@needs_gcc
@pytest.mark.parametrize(
    "kind",
    [
        "text", "truncated", "other symbol", "other machine", "executable", "sections beyond the end",
        "sections without end",
    ],
)  # fmt: skip
def test_a_hostile_object_is_inconclusive_with_a_reason(kind: str) -> None:
    found = prove(compiled(IDENTITY, "x86_64"), hostile(kind), contract(SAME), engines=Engines(seconds=5))
    assert isinstance(found, Proof)
    assert (found.answer, found.label) == (ProofAnswer.INCONCLUSIVE, "")
    assert found.reason


# the pairs


@needs_gcc
def test_the_candidates_hold_the_instructions_that_they_are_about() -> None:
    corpus = pairs()
    assert len(corpus) == 30
    assert sum(pair.isa == "aarch64" for pair in corpus) >= 8
    for pair in corpus:
        if missing(pair.isa) is None:
            assert set(pair.holds) <= mnemonics(compiled(pair.candidate, pair.isa)), pair.name


@needs_gcc
def test_a_replay_tells_functions_apart() -> None:
    signature = contract(SAME)
    ours = compiled(IDENTITY, "x86_64")
    wrong = compiled("mov eax, edi\nand eax, 0x7fffffff\nret", "x86_64")
    assert [replay_of(ours, wrong, signature)(Inputs({"x": x})) for x in (0, 5, -1)] == [False, False, True]
    crash = compiled("mov eax, [rdi]\nret", "x86_64")
    assert replay_of(ours, crash, signature)(Inputs({"x": 0})) is True


@pytest.mark.corpus
@needs_engines
@needs_gcc
@needs_cross
@needs_qemu
def test_of_thirty_pairs_most_are_decided_and_none_wrongly(capsys: pytest.CaptureFixture[str]) -> None:
    made = list(rows(pairs()))
    with capsys.disabled():
        print(*(f"\n{row.name}: {row.answer} by {'+'.join(row.engines)} in {row.seconds:.1f} s" for row in made))
    assert [row.name for row in made if row.wrong] == []
    assert sum(row.decided for row in made) >= 28


def test_a_pair_that_does_not_compile_says_so() -> None:
    with pytest.raises(subprocess.CalledProcessError):
        compiled("no such instruction", "x86_64")
