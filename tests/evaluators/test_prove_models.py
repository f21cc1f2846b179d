"""The engine's models of instructions against the machine. A proof rests on them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from paths import ROOT

from whet.evaluators.prove.engines import available
from whet.testing.proofs.corpus import missing
from whet.testing.proofs.forms import forms

MOST_NOT_FOLLOWED = {"x86_64": 20, "aarch64": 60}

needs_engines = pytest.mark.skipif(
    not available(), reason="the extra `prove` (angr, z3, triton-library) is not installed"
)


def told(isa: str, *part: str) -> str:
    if (compiler := missing(isa)) is not None:
        pytest.skip(f"{compiler} is not installed")
    if isa == "aarch64" and shutil.which("qemu-aarch64") is None:
        pytest.skip("qemu-aarch64 is not installed")
    if isa == "x86_64" and " avx2 " not in Path("/proc/cpuinfo").read_text():
        pytest.skip("this processor has no AVX2")
    # The engines are loaded in a process of their own.
    return subprocess.run(
        [sys.executable, "-m", "whet.testing.proofs.models", isa, *part],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip


@pytest.mark.corpus
@needs_engines
@pytest.mark.parametrize("isa", ["x86_64", "aarch64"])
def test_some_instructions_are_what_the_engine_takes_them_for(isa: str) -> None:
    assert told(isa, "0", "8").splitlines()[-1] == "8 forms: 8 the same, 0 differ, 0 not followed"


@pytest.mark.exhaustive
@needs_engines
@pytest.mark.parametrize("isa", ["x86_64", "aarch64"])
def test_no_instruction_differs_from_what_the_engine_takes_it_for(isa: str) -> None:
    said = told(isa)
    counted = re.search(r"(\d+) forms: \d+ the same, (\d+) differ, (\d+) not followed", said)
    assert counted is not None
    every, differing, unknown = map(int, counted.groups())
    assert every == len(forms(isa)) >= 400
    assert differing == 0, said
    assert unknown <= MOST_NOT_FOLLOWED[isa], said
