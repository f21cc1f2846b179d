"""What becomes of the engines' answers, and which cases they are asked about: no engine is needed for these."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paths import ROOT

from whet.core.signature import Signature
from whet.evaluators.prove.cases import cases
from whet.evaluators.prove.engines import Engines
from whet.evaluators.prove.judging import judged
from whet.evaluators.prove.proof import Inputs, ProofAnswer
from whet.evaluators.signature import SignatureTable, read_signature

COPY = {
    "prototype": "void f(const int32_t *from, int32_t *to, int64_t n)",
    "from": {"length": "n"},
    "to": {"length": "n", "role": "out"},
    "n": {"role": "size"},
}


def contract(**changes: Any) -> Signature:
    return read_signature(SignatureTable.model_validate({**COPY, **changes}), "f", "here")


def found(number: int, **changes: Any) -> dict[str, Any]:
    second = {"agrees": True, "how": "triton"}
    return {
        "case": number, "wrong": None, "paths": [1, 1], "compared": ["the contents of to"], "reached": [0, 4],
        "floats": False, "second": second, **changes,
    }  # fmt: skip


WRONG = {"values": {"from": [1], "to": [0], "n": 1}, "what": "to[0] is 2, and must be 1", "block": None}


# cases


def test_sizes_begin_with_the_smallest_and_leap_beyond_the_bound() -> None:
    wanted = cases(contract(), 8)
    assert [one.sizes["n"] for one in wanted.all] == [*range(9), 16, 17, 32, 33, 64]
    assert [one.sizes["n"] for one in wanted.all if one.further] == [16, 17, 32, 33, 64]
    assert (wanted.bounds, wanted.whole) == ({"n": 8}, False)


@given(low=st.integers(0, 50), more=st.integers(0, 70), most=st.integers(1, 12))
def test_sizes_keep_to_the_contract(low: int, more: int, most: int) -> None:
    wanted = cases(contract(n={"role": "size", "min": low, "max": low + more}), most)
    sizes = [one.sizes["n"] for one in wanted.all]
    assert sizes == sorted(set(sizes))
    assert (sizes[0], sizes[-1] <= low + more) == (low, True)
    assert wanted.whole is (more <= most)


def test_a_contract_without_sizes_has_no_cases() -> None:
    assert cases(contract(n={"role": "size", "min": 5, "max": 4}), 8).all == ()


def test_products_of_sizes_stay_small() -> None:
    signature = contract(
        prototype="void f(const int32_t *from, int32_t *to, int64_t n, int64_t m)",
        **{"from": {"length": "n * m"}, "to": {"length": "n", "role": "out"}, "m": {"role": "size"}},
    )
    assert max(one.sizes["n"] * one.sizes["m"] for one in cases(signature, 8).all) <= 9


def test_sizes_at_which_a_length_comes_to_less_than_nothing_are_left_out() -> None:
    assert cases(contract(to={"length": "n - 1", "role": "out"}), 4).all[0].sizes == {"n": 1}


def test_buffers_overlap_only_where_they_may_and_where_it_matters() -> None:
    may = {"length": "n", "may_alias": ["to"]}
    apart = [one for one in cases(contract(), 4).all if one.overlap]
    assert apart == []
    shared = [one for one in cases(contract(**{"from": may}), 4).all if one.sizes["n"] == 2 and one.overlap]
    assert [one.overlap.offset for one in shared if one.overlap] == [0, 4, -4]
    read = contract(
        prototype="int64_t f(const int32_t *from, const int32_t *to, int64_t n)", to={"length": "n"}, **{"from": may}
    )
    assert [one for one in cases(read, 4).all if one.overlap] == []


# judging


def said(*lines: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"instructions": 2}, *lines]


def test_all_cases_make_a_bounded_proof() -> None:
    wanted = cases(contract(), 2)
    proof = judged(said(*(found(i) for i in range(len(wanted.all)))), wanted, contract(), None)
    assert (proof.answer, proof.label, proof.engines) == (
        ProofAnswer.PROVED,
        "bounded-proved(n<=2)",
        ("angr", "triton"),
    )


@pytest.mark.parametrize(
    ("done", "label"), [(0, ""), (1, ""), (2, "bounded-proved(n<=1)"), (3, "bounded-proved(n<=2)")]
)
def test_time_that_is_over_makes_the_bound_smaller_but_no_proof_of_nothing(done: int, label: str) -> None:
    lines = said(*(found(i) for i in range(done)), {"undecided": "time was over", "late": True})
    proof = judged(lines, cases(contract(), 8), contract(), None)
    assert proof.label == label
    assert proof.answer is (ProofAnswer.PROVED if label else ProofAnswer.INCONCLUSIVE)
    assert "time was over" in proof.reason


@pytest.mark.parametrize("done", [0, 3, 8])
def test_what_is_not_understood_within_the_bound_leaves_nothing_proved(done: int) -> None:
    lines = said(*(found(i) for i in range(done)), {"undecided": "the candidate: vpabsd", "late": False})
    proof = judged(lines, cases(contract(), 8), contract(), None)
    assert (proof.answer, proof.label) == (ProofAnswer.INCONCLUSIVE, "")
    assert f"n={done}" in proof.reason


def test_a_process_that_died_proves_what_it_had_said() -> None:
    assert judged([], cases(contract(), 8), contract(), None).answer is ProofAnswer.INCONCLUSIVE
    proof = judged(said(found(0), found(1), found(2)), cases(contract(), 8), contract(), None)
    assert proof.label == "bounded-proved(n<=2)"


def test_engines_that_disagree_prove_nothing() -> None:
    wanted = cases(contract(), 2)
    against = {"agrees": False, "how": "Triton finds inputs on which they differ"}
    lines = said(*(found(i, second=against) if i == 1 else found(i) for i in range(len(wanted.all))))
    proof = judged(lines, wanted, contract(), None)
    assert (proof.answer, proof.label) == (ProofAnswer.INCONCLUSIVE, "")
    assert "the engines disagree (n=1)" in proof.reason


@pytest.mark.parametrize(
    ("confirmed", "answer"),
    [(True, ProofAnswer.COUNTEREXAMPLE), (False, ProofAnswer.INCONCLUSIVE), (None, ProofAnswer.INCONCLUSIVE)],
)
def test_a_counterexample_is_believed_when_it_was_seen(confirmed: bool | None, answer: ProofAnswer) -> None:
    asked: list[Inputs] = []

    def replay(inputs: Inputs) -> bool | None:
        asked.append(inputs)
        return confirmed

    proof = judged(said(found(0), found(1, wrong=WRONG)), cases(contract(), 2), contract(), replay)
    assert proof.answer is answer
    assert asked == [Inputs({"from": (1,), "to": (0,), "n": 1})]
    assert WRONG["what"] in proof.reason


def test_a_proof_by_one_engine_says_that_it_is_one() -> None:
    wanted = cases(contract(), 1)
    alone = {"agrees": None, "how": "Triton does not know vpmaxsd"}
    proof = judged(said(*(found(i, second=alone) for i in range(len(wanted.all)))), wanted, contract(), None)
    assert proof.engines == ("angr",)
    assert any("vpmaxsd" in one for one in proof.assumptions)


# without the extra


def test_without_the_engines_a_proof_is_skipped_and_says_what_to_install() -> None:
    text = (
        "from whet.core.signature import Signature\n"
        "from whet.evaluators.prove.proof import Code\n"
        "from whet.evaluators.prove.prove import prove\n"
        "code = Code(b'', 'f', 'x86_64')\n"
        "print(prove(code, code, Signature('void f(void)', None, ())))\n"
    )
    # -S: no installed package is found.
    done = subprocess.run(
        [sys.executable, "-S", "-c", text], env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert "tool_missing" in done.stdout
    assert "pip install 'whet[prove]'" in done.stdout


def workplace(process: Path) -> Path | None:
    """Returns where a process that we started stands; its command would be told some microseconds late."""
    try:
        parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
        return (process / "cwd").readlink() if parent == os.getpid() else None
    except OSError:
        return None


def test_engines_that_nobody_asked_end_with_all_that_they_had() -> None:
    engines = Engines()
    places = {process: workplace(process) for process in Path("/proc").glob("[0-9]*")}
    ((child, home),) = ((one, place) for one, place in places.items() if place and "whet-prove-" in place.name)
    assert home.is_dir()
    engines.close()
    assert not child.exists()
    assert not home.exists()
    engines.close()


def test_what_asks_for_a_proof_does_not_load_the_engines() -> None:
    text = (
        "import sys, whet.evaluators.prove.prove\n"
        "print([name for name in ('angr', 'pyvex', 'z3', 'claripy') if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", text], env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "[]"
