"""The edits of C and C++ functions: what they write, where they keep off, and that new and old agree."""

from __future__ import annotations

import ctypes
import multiprocessing
import platform
import random
import re
import shutil
import subprocess
from array import array
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from native_cases import CASES, HEADERS, KEEPS_OFF, Case

from whet.agents.catalogue.registry import EDITS, proposals
from whet.agents.models.base import Brief
from whet.evaluators.inputs.contract import generator_text
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.native_target import NativeTarget

NAMES = sorted({case.edit for case in CASES.values()})
LENGTHS = [*range(70), 127, 128, 129, 200]
FLAGS = {"O2": ["-O2"], "avx2": ["-O3", "-mavx2", "-mpopcnt"]}


def brief_of(case: Case, language: str) -> Brief:
    return Brief(language, "function", "f", case.source, signature=case.signature, open_flags=True)


def proposed(name: str, brief: Brief):
    edit = next(each for each in EDITS if each.name == name)
    return list(edit.propose(brief))


@pytest.mark.parametrize("language", ["c", "cpp"])
@pytest.mark.parametrize("case", CASES)
def test_it_writes(case, language):
    given = CASES[case]
    restrict = "restrict" if language == "c" else "__restrict"
    found = proposed(given.edit, brief_of(given, language))
    assert bool(found) == bool(given.written)
    for text in given.written:
        assert any(text.replace("{restrict}", restrict) in each.source for each in found)


@pytest.mark.parametrize("case", KEEPS_OFF)
def test_it_keeps_off_where(case):
    name, source = KEEPS_OFF[case]
    assert proposed(name, Brief("c", "function", "f", HEADERS + source, open_flags=True)) == []


@settings(max_examples=200, deadline=None)
@given(st.data())
@pytest.mark.corpus(one_in=8)
def test_a_damaged_text_is_no_error(data):
    case = data.draw(st.sampled_from(list(CASES.values())))
    start = data.draw(st.integers(0, len(case.source)))
    end = data.draw(st.integers(start, min(len(case.source), start + 12)))
    new = data.draw(st.text(alphabet="()[]{};+=<>*i, 0a", max_size=8))
    text = case.source[:start] + new + case.source[end:]
    for name in NAMES:
        for proposal in proposed(name, Brief("c", "function", "f", text, signature=case.signature, open_flags=True)):
            assert proposal.source != text


def test_programs_are_left_alone():
    for case in CASES.values():
        found = proposals(Brief("c", "program", None, case.source))
        assert {each.edit for each in found}.isdisjoint(NAMES)


def test_what_is_done_is_not_done_again():
    """The rest of a loop that was made faster is no loop to make faster."""
    once = {"vector-search", "vector-count", "vector-popcount", "vector-sum", "vector-small-dot", "vector-prefix-sum"}
    once |= {"several-accumulators", "branch-free-select", "vector-elementwise", "restrict-pointers", "assume-aligned"}
    for case in CASES.values():
        for change in proposals(replace(brief_of(case, "c"), open_flags=False)):
            if change.edit in once:
                again = Brief("c", "function", "f", change.source, signature=case.signature)
                assert change.edit not in {each.edit for each in proposals(again)}, change.source


def test_buffers_that_may_overlap_are_not_restricted():
    case = CASES["buffers lie apart"]
    contract = {**case.contract, "out": {"role": "out", "length": "n", "may_alias": ["a"]}}
    told = Case(case.edit, case.prototype, case.body, contract, ())
    assert proposed(case.edit, brief_of(told, "c")) == []
    assert proposed(case.edit, Brief("c", "function", "f", case.source)) == []


def test_restricted_pointers_are_aligned_too():
    case = CASES["buffers are aligned"]
    restricted = case.source.replace("float *a", "float *restrict a")
    assert proposed(case.edit, replace(brief_of(case, "c"), source=restricted))


def test_flags_that_the_task_pins_stay():
    case = CASES["a function has flags of its own"]
    pinned = replace(brief_of(case, "c"), open_flags=False)
    assert {each.edit for each in proposals(pinned)} == {"unroll-pragma"}


def test_what_native_code_may_use_is_named_by_the_task_alone():
    case = CASES["a function has flags of its own"]
    given = replace(brief_of(case, "c"), features=("avx2",))
    found = [each for name in ("pragma", case.edit) for each in proposed(name, given)]
    assert found
    assert not any("target(" in each.source for each in found)


@pytest.mark.skipif(shutil.which("bwrap") is None or shutil.which("gcc") is None, reason="no bubblewrap, or no gcc")
def test_compilers_propose_their_own_output(tmp_path):
    case = CASES["a line is added to another"]
    given = replace(brief_of(case, "c"), features=("avx2",))
    found = proposed("compiler-choice", given)
    if platform.machine() != "x86_64":
        assert found == []
        return
    assert len({each.source for each in found}) == len(found) >= 2
    assert not any("prefer-vector-width" in each.why for each in found)
    for number, each in enumerate(found):
        assert "\t.globl\tf" in each.source
        text, made = tmp_path / f"{number}.s", tmp_path / f"{number}.so"
        text.write_text(each.source)
        subprocess.run(["gcc", "-shared", "-o", made, text], check=True, timeout=60)
        x, y = (ctypes.c_float * 9)(*range(9)), (ctypes.c_float * 9)(*[1] * 9)
        ctypes.CDLL(str(made)).f(y, x, ctypes.c_float(2), 9)
        assert list(y) == [2 * number + 1 for number in range(9)]
    assert proposed("compiler-choice", replace(given, open_flags=False)) == []
    assert proposed("compiler-choice", replace(given, isa="riscv64")) == []
    assert proposed("compiler-choice", replace(given, source="#error\n" + case.source)) == []


def library(versions: list[tuple[Case, str]], compiler: str, flags: list[str], folder: Path) -> Path:
    """Returns a shared object with the function of version 7 as ``f_7``: one compilation for all."""
    parts = [HEADERS, "#include <immintrin.h>\n"]
    for number, (_, source) in enumerate(versions):
        text = re.sub(r"#include.*\n", "", source)
        if compiler == "g++":
            text = f'extern "C" {{\n{text}\n}}'
        parts.append(f"#define f f_{number}\n{text}\n#undef f\n")
    path = folder / ("all.cpp" if compiler == "g++" else "all.c")
    path.write_text("".join(parts))
    made = folder / "all.so"
    # clang warns of GCC's attributes, which it does without
    strict = ["-w"] if compiler == "clang" else ["-Werror"]
    subprocess.run([compiler, *flags, *strict, "-shared", "-fPIC", "-o", made, path, "-lm"], check=True, timeout=120)
    return made


def compare(path: Path, versions: list[tuple[Case, str]]) -> None:
    """Calls each version and the original, the first of its case, on the same inputs between guard pages."""
    drawn: dict[str, list[bytes]] = {}
    expected: dict[str, list[object]] = {}
    for number, (case, source) in enumerate(versions):
        if case.source not in drawn:
            drawn[case.source] = inputs(case)
        arguments = [(one.name, one.type, one.role.value, one.length, one.align) for one in case.signature.arguments]
        target = NativeTarget(str(path.parent), path.name, f"f_{number}", case.signature.returns, arguments)
        outcomes = [outcome(target, payload) for payload in drawn[case.source]]
        assert expected.setdefault(case.source, outcomes) == outcomes, source


def inputs(case: Case) -> list[bytes]:
    space: dict = {}
    exec(generator_text(case.signature, [4], "test"), space)
    drawn = [space["make_input"](size, random.Random(size + turn)) for size in LENGTHS for turn in range(2)]
    return [encode(tuple(map(rounded, given))) for given in drawn]


def rounded(value):
    """Returns floats without a fraction, of which the order of additions makes no difference."""
    if isinstance(value, array) and value.typecode in "fd":
        return array(value.typecode, map(round, value))
    return float(round(value)) if isinstance(value, float) else value


def outcome(target: NativeTarget, payload: bytes) -> object:
    prepared = target.read(payload)
    _, value = target.call((), prepared, {})
    return encode(target.outcome("value", value))


@pytest.mark.corpus
@pytest.mark.parametrize(("compiler", "flags"), [("gcc", "O2"), ("gcc", "avx2"), ("g++", "O2"), ("clang", "avx2")])
def test_new_and_old_agree(compiler, flags, tmp_path):
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    if flags == "avx2" and "avx2" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("no AVX2 here")
    versions = []
    for case in CASES.values():
        versions.append((case, case.source))
        # other compilers read the same texts, and need not see all of them
        names = NAMES if compiler == "gcc" else [case.edit]
        brief = brief_of(case, "cpp" if compiler == "g++" else "c")
        versions += [(case, each.source) for name in names for each in proposed(name, brief)]
    path = library(versions, compiler, FLAGS[flags], tmp_path)
    # a version that reads beyond a buffer ends its process
    child = multiprocessing.get_context("fork").Process(target=compare, args=(path, versions))
    child.start()
    child.join(60)
    assert child.exitcode == 0
