"""Edits of PTX without a GPU: what ptxas says of them by line, and what they do to the machine code of each kernel."""

from __future__ import annotations

import json
import re
import shutil
import stat
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from whet.core.verdict import Reason
from whet.evaluators.finding import Fault, Skipped
from whet.evaluators.ptx.assembling import assemble_ptx
from whet.evaluators.ptx.examine import PtxReport, build_finding, examine, report_lines
from whet.evaluators.ptx.sass_diff import compare_sass, instructions
from whet.evaluators.ptx.text import Kernel, kernels, screen
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import Interpreter, find_interpreter
from whet.sandbox.protocol import Sandbox
from whet.sandbox.toolchains.cuda import find_tool
from whet.sandbox.toolchains.native import Diagnostics
from whet.sandbox.toolchains.ptx import DISASSEMBLERS, compile_to_ptx, disassemble

ARCH = "sm_80"
CUDA = r"""
extern "C" __global__ void scale(const float *in, float *out, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a * in[i];
}
struct Pair { int first, second; };
extern "C" __global__ void total(const int *in, int *out, Pair range) {
    __shared__ int part[128];
    int sum = 0;
    for (int i = range.first + threadIdx.x; i < range.second; i += 128) sum += in[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < 128; k++) sum += part[k];
        *out = sum;
    }
}
"""
KERNELS = (Kernel("scale", (".u64", ".u64", ".f32", ".u32")), Kernel("total", (".u64", ".u64", ".b8[8]")))
# As cuobjdump and nvdisasm print the same kernel of ours; the bytes of the instructions were left out.
DUMPED = """
\t\tFunction : loop
        /*0000*/                   ISETP.GE.AND P0, PT, R5, c[0x0][0x170], PT ; /* 0x00005c0005007a0c */
                                                                                /* 0x001fda0003f06270 */
        /*0010*/               @P0 BRA 0x40 ;                                   /* 0x0000071000000947 */
        /*0020*/                   LDG.E R0, [R2.64] ;                          /* 0x0000071000000947 */
        /*0030*/                   BRA 0x20 ;                                   /* 0x0000071000000947 */
        /*0040*/                   EXIT ;                                       /* 0x000000000000794d */
        /*0050*/                   BRA 0x50;                                    /* 0x0000000000007947 */
        /*0060*/                   NOP;                                         /* 0x0000000000007918 */
"""
SECTIONED = """
.text.loop:
        /*0000*/                   ISETP.GE.AND P0, PT, R5, c[0x0][0x170], PT ;
        /*0010*/               @P0 BRA `(.L_x_7) ;
.L_x_3:
        /*0020*/                   LDG.E R0, [R2.64] ;
        /*0030*/                   BRA `(.L_x_3) ;
.L_x_7:
        /*0040*/                   EXIT ;
.L_x_8:
        /*0050*/                   BRA `(.L_x_8);
        /*0060*/                   NOP;
"""


@pytest.fixture(scope="module")
def interpreter() -> Interpreter:
    return find_interpreter(None)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    opened = open_sandbox("bubblewrap", False)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def baseline(sandbox: Sandbox, interpreter: Interpreter) -> str:
    nvcc = find_tool("nvcc", interpreter)
    if nvcc is None or find_tool("ptxas", interpreter) is None:
        pytest.skip("no nvcc, or no ptxas")
    made = compile_to_ptx(sandbox, interpreter, nvcc, CUDA, ARCH)
    assert isinstance(made, str)
    return made


@pytest.fixture
def judged(sandbox: Sandbox, interpreter: Interpreter, baseline: str):
    """Returns what becomes of an edit of the baseline."""
    return lambda source: examine(sandbox, interpreter, source, baseline, ARCH)


needs_disassembler = pytest.mark.skipif(
    not any(find_tool(name, find_interpreter(None)) for name in ("cuobjdump", "nvdisasm")), reason="no disassembler"
)


# what is read from the text


def test_kernels_and_their_parameters_are_read(baseline: str) -> None:
    assert kernels(baseline) == KERNELS


def test_comments_and_strings_declare_nothing() -> None:
    assert kernels('// .entry a()\n/* .entry b()\n*/ .file 1 ".entry c()"\n.entry d\n{ ret; }') == (Kernel("d", ()),)


SMALL = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry f(.param .u64 .ptr .global p)\n{\n\tret;\n}\n"


@pytest.mark.parametrize(
    ("change", "reason", "said"),
    [
        ((".entry f", ".entry f2"), Reason.BUILD_ERROR, "it defines no kernel f"),
        ((".u64 .ptr", ".u32 .ptr"), Reason.BUILD_ERROR, "changed from (.u64) to (.u32)"),
        (("ret;", "ret; }\n.global .u32 kept;\n.func g() {"), Reason.FORBIDDEN_CONSTRUCT, "line 7: memory"),
        (("ret;", ".reg .b64 t;\nmov.u64 t, %globaltimer;"), Reason.FORBIDDEN_CONSTRUCT, "line 7: it reads a clock"),
        (("ret;", ".reg .b32 t;\nmov.u32 t, %clock;"), Reason.FORBIDDEN_CONSTRUCT, "a clock"),
        (("ret;", ".reg .b32 t;\nmov.u32 t, %pm0;"), Reason.FORBIDDEN_CONSTRUCT, "a counter"),
        ((".visible", ".extern .func g();\n.visible"), Reason.FORBIDDEN_CONSTRUCT, "line 4: what stands outside"),
        ((".version 8.0", "int f;"), Reason.BUILD_ERROR, "no .version"),
        (("ret;", "ret;\0"), Reason.SYNTAX_ERROR, "NUL"),
    ],
)
def test_what_a_candidate_may_not_do(change: tuple[str, str], reason: Reason, said: str) -> None:
    found = screen(SMALL.replace(*change), SMALL)
    assert found is not None
    assert found.reason is reason
    assert said in found.detail
    assert "\n" not in found.detail


def test_dynamic_shared_memory_is_no_ones_but_the_launchs() -> None:
    assert screen(SMALL.replace(".visible", ".extern .shared .align 4 .b8 part[];\n.visible"), SMALL) is None


def test_what_the_baseline_has_is_no_fault() -> None:
    with_memory = SMALL.replace("ret;", "ret; }\n.global .u32 kept;\n.func g() {")
    assert screen(with_memory, with_memory) is None
    assert screen(SMALL.replace("ret;", "ld.global.u32 a, [p]; // .global x\nret;"), SMALL) is None


# what comes of the machine code


def test_both_disassemblers_tell_the_same() -> None:
    bodies = [instructions(text.partition("\n")[2]) for text in (DUMPED, SECTIONED)]
    assert [one.text for one in bodies[0]] == [
        "ISETP.GE.AND P0, PT, R5, c[0x0][0x170], PT", "@P0 BRA L0", "L1:", "LDG.E R0, [R2.64]", "BRA L1", "L0:",
        "EXIT", "L2:", "BRA L2",
    ]  # fmt: skip
    assert bodies[0] == bodies[1]
    assert [change.changed for change in compare_sass(DUMPED, SECTIONED)] == [False]


@pytest.mark.corpus
@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_120"])
def test_both_disassemblers_tell_the_same_of_real_code(sandbox, interpreter, baseline: str, tmp_path, arch) -> None:
    tools = {name: find_tool(name, interpreter) for name in DISASSEMBLERS}
    if None in tools.values():
        pytest.skip("not both disassemblers")
    made = assemble_ptx(sandbox, interpreter, baseline, arch)
    (tmp_path / "made.cubin").write_bytes(made.cubin)
    texts = [
        subprocess.run(
            [tools[name], *options, "made.cubin"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
        ).stdout
        for name, options in DISASSEMBLERS.items()
    ]
    changes = compare_sass(*texts)
    assert {one.kernel: one.diff for one in changes} == {"scale": "", "total": ""}


def test_code_that_only_moved_is_unchanged() -> None:
    moved = re.sub(r"0x([2-5])0 ;|0x50;", lambda match: f"0x{match[1] or 5}80 ;", DUMPED)
    moved = re.sub(r"/\*00(\d)0\*/", lambda match: f"/*0{match[1]}80*/", moved)
    assert moved != DUMPED
    (change,) = compare_sass(DUMPED, moved)
    assert not change.changed


def test_kernels_that_come_or_go_are_changes() -> None:
    (change,) = compare_sass("", DUMPED)
    assert change.changed
    assert change.opcodes["LDG.E"] == (0, 1)


# through the tools


@needs_disassembler
def test_a_cache_hint_is_seen_in_its_kernel_alone(judged, baseline: str) -> None:
    report = judged(baseline.replace("ld.global.f32", "ld.global.L1::no_allocate.f32"))
    assert isinstance(report, PtxReport)
    assert report.changed == ("scale",)
    assert {one.kernel: one.changed for one in report.changes} == {"scale": True, "total": False}
    (scale,) = (one for one in report.changes if one.changed)
    assert scale.opcodes == {"LDG.E": (1, 0), "LDG.E.NA": (0, 1)}
    text = "\n".join(report_lines(report))
    assert "total: machine code unchanged" in text
    assert "scale: machine code changed; LDG.E 1 -> 0, LDG.E.NA 0 -> 1" in text
    assert re.search(r"^\+.*LDG\.E\.NA R\d+", text, re.MULTILINE)
    passed = build_finding(report)
    assert passed.detail.startswith("ptxas assembles ")
    assert passed.detail.splitlines()[0].endswith(f"for {ARCH}; the machine code of scale changed")
    assert json.loads(json.dumps(passed.evidence))["changed"] == ["scale"]
    assert "0x" not in "".join(line for line in scale.diff.splitlines() if "BRA" in line)


@needs_disassembler
@pytest.mark.corpus(one_in=8)
def test_the_read_only_path_is_seen_and_all_loads_of_a_loop_count(judged, baseline: str) -> None:
    report = judged(re.sub(r"ld\.global\.([bu]32)", r"ld.global.nc.\1", baseline))
    assert report.changed == ("total",)
    (total,) = (one for one in report.changes if one.changed)
    loads = total.opcodes["LDG.E.CONSTANT"]
    assert loads[0] == 0 < loads[1]
    assert total.opcodes["LDG.E"] == (loads[1], 0)


@needs_disassembler
@pytest.mark.corpus(one_in=8)
def test_an_edit_that_matches_nothing_is_told(judged, baseline: str) -> None:
    report = judged(baseline.replace("ld.global.v4.f32", "ld.global.nc.v4.f32") + "\n// faster\n")
    assert report.changed == ()
    assert "the machine code of no kernel changed: the edit does nothing for this GPU" in report_lines(report)


@pytest.mark.corpus(one_in=8)
def test_resources_are_told_before_and_after(judged, baseline: str) -> None:
    report = judged(baseline.replace("[512]", "[1024]"))
    kernel = next(one for one in report.kernels if one.resources.kernel == "total")
    assert kernel.resources.shared == 1024
    assert kernel.resources.registers > 0
    assert "total: 512 -> 1024 B shared memory [ptxas, before -> after]" in report_lines(report)


def test_errors_come_with_the_line_and_its_text(judged, baseline: str) -> None:
    found = judged(baseline.replace("ld.global.f32", "ld.global.f33", 1))
    assert isinstance(found, Fault)
    assert found.reason is Reason.BUILD_ERROR
    number = baseline[: baseline.index("ld.global.f32")].count("\n") + 1
    first = found.detail.splitlines()[0]
    assert re.fullmatch(rf"line {number}: Unknown modifier '\.f33': ld\.global\.f33\s.*", first)
    assert "aborted" not in found.detail


def test_many_errors_are_cut(judged, baseline: str) -> None:
    found = judged(re.sub(r"\badd\.s32", "addd.s32", re.sub(r"\bmov\.u32", "moov.u32", baseline)))
    rows = found.detail.splitlines()
    assert len(rows) == 11
    assert re.fullmatch(r"and \d+ more", rows[-1])


def test_a_newer_version_is_told_in_words(judged, baseline: str) -> None:
    found = judged(re.sub(r"\.version [\d.]+", ".version 99.9", baseline))
    assert re.fullmatch(
        r"line \d+: the ptxas that is installed reads PTX up to \.version [\d.]+, and this is 99\.9: \.version 99\.9",
        found.detail,
    )


def test_a_kernel_of_another_name_falls_before_ptxas(judged, baseline: str) -> None:
    found = judged(baseline.replace(".entry scale(", ".entry scael("))
    assert (found.reason, found.detail) == (Reason.BUILD_ERROR, "it defines no kernel scale; did you mean 'scael'?")


def test_a_gpu_that_ptxas_does_not_know_is_no_fault(sandbox: Sandbox, interpreter: Interpreter, baseline: str) -> None:
    found = assemble_ptx(sandbox, interpreter, baseline, "sm_20")
    assert found == Skipped(Reason.TOOL_MISSING, "the ptxas that is installed knows no sm_20")


def test_a_baseline_that_ptxas_refuses_is_no_fault_of_the_candidate(sandbox, interpreter, baseline: str) -> None:
    broken = baseline.replace("ld.global.f32", "ld.global.f33", 1)
    found = examine(sandbox, interpreter, baseline, broken, ARCH)
    assert isinstance(found, Skipped)
    assert "refuses the baseline: line" in found.detail


def test_cuda_that_does_not_compile_is_told(sandbox: Sandbox, interpreter: Interpreter, baseline: str) -> None:
    found = compile_to_ptx(sandbox, interpreter, find_tool("nvcc", interpreter), "__global__ void f() { x; }", ARCH)
    assert isinstance(found, Diagnostics)
    assert '"x" is undefined' in found.text


@needs_disassembler
def test_machine_code_that_is_none_has_no_text(sandbox: Sandbox, interpreter: Interpreter) -> None:
    assert disassemble(sandbox, interpreter, b"nothing").text == ""


def test_a_missing_tool_is_skipped_by_name(sandbox: Sandbox, tmp_path: Path) -> None:
    """An interpreter without packages, on a machine whose system has no tools of NVIDIA's beside nvcc's."""
    bare = tmp_path / "python3"
    bare.write_text("#!/bin/sh\necho '{}'\n")
    bare.chmod(bare.stat().st_mode | stat.S_IXUSR)
    empty = replace(find_interpreter(None), executable=bare)
    if find_tool("cuobjdump", empty) or find_tool("nvdisasm", empty):
        pytest.skip("the system has a disassembler")
    assert disassemble(sandbox, empty, b"") is None
