"""What is known of GPU kernels without running them: what compilers say, machine code, occupancy, Nsight Compute."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.errors import UsageError
from whet.core.options import ARCHS
from whet.evaluators.profilers import ncu
from whet.evaluators.profilers.occupancy import LIMITS, occupancy
from whet.evaluators.profilers.ptxas import Complaint, Resources, complaints, dumped, resources
from whet.evaluators.profilers.sass import mixes
from whet.evaluators.profilers.static_facts import facts, lines

# As nvcc 13.0 and ptxas 12.9 wrote it of kernels of ours; the second kernel's figures were changed by hand.
SAID = """\
ptxas info    : 28 bytes gmem
ptxas info    : Compiling entry function '_Z5scalePffi' for 'sm_90'
ptxas info    : Function properties for _Z5scalePffi
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 1 barriers, 1024 bytes smem, 544 bytes cmem[0]
ptxas info    : Compile time = 44.330 ms
ptxas info    : Compiling entry function '_Z4heavyPf' for 'sm_90'
ptxas info    : Function properties for helper
    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Function properties for _Z4heavyPf
    48 bytes stack frame, 36 bytes spill stores, 40 bytes spill loads
ptxas info    : Used 255 registers, 48 bytes cumulative stack size, 544 bytes cmem[0], 16 bytes cmem[2]
"""
ERRORS = """\
answer.cu(3): warning #177-D: variable "x" was declared but never referenced
answer.cu(1): error: expected an expression
answer.cu:7:10: fatal error: nothing.h: No such file or directory
ptxas /tmp/tmpxft.ptx, line 31; error   : Feature 'wgmma' requires .target sm_90a
ptxas fatal   : Ptx assembly aborted due to errors
"""
# As cuobjdump 12.9 writes it; the opcodes were chosen by us.
SASS = """\
\tcode for sm_90
\t\tFunction : first
\t.headerflags\t@"EF_CUDA_SM90"
        /*0000*/                   LDC R1, c[0x0][0x28] ;              /* 0x00000a00ff017b82 */
                                                                       /* 0x000fe20000000800 */
        /*00b0*/              @!P0 LDG.E.128 R4, desc[UR6][R2.64] ;    /* 0x0000000602008981 */
        /*00c0*/                   LDG.E R0, desc[UR6][R2.64] ;        /* 0x0000000602008981 */
        /*00d0*/                   LDS.64 R4, [R5] ;                   /* 0x0000000005007388 */
        /*00e0*/                   STS [R5], R0 ;                      /* 0x0000000005007388 */
        /*00f0*/                   FFMA R0, R1, R2, R3 ;               /* 0x0000000005007388 */
        /*0100*/                   HMMA.16816.F32 R4, R8, R10, R4 ;    /* 0x0000000005007388 */
        /*0110*/                   LDGSTS.E.BYPASS.128 [R5], desc[UR6][R2.64] ; /* 0x00 */
        /*0120*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;       /* 0x0000000005007388 */
        /*0130*/             @!UP0 BRA 0x50 ;                          /* 0x0000000005007388 */
        /*0140*/                   LDSM.16.M88.4 R4, [R5] ;            /* 0x0000000005007388 */
        /*0150*/                   MUFU.EX2 R4, R5 ;                   /* 0x0000000005007388 */
        /*0160*/                   NOP;                                /* 0x0000000005007388 */
\t\tFunction : second
        /*0000*/                   HGMMA.64x128x16.F32 R24, gdesc[UR4], R24 ; /* 0x00 */
        /*0010*/                   STG.E.U16 desc[UR6][R2.64], R0 ;    /* 0x00 */
        /*0020*/                   EXIT ;                              /* 0x00 */
"""
# CSV of the form that NVIDIA documents for `ncu --import FILE --csv --page raw`. Made by us; no device was asked.
RAW = """\
==PROF== Connected to process 4711 (/usr/bin/python3)
"ID","Process ID","Kernel Name","Block Size","Grid Size","dram__bytes_read.sum","sm__cycles_active.avg",\
"launch__registers_per_thread","lts__t_sector_hit_rate.pct","not__wanted"
"","","","","","Mbyte","cycle","register/thread","%",""
"0","4711","rows(const float *, int)","(256, 1, 1)","(4,096, 1, 1)","67.11","12,345.67","32","n/a","1"
"1","4711","rows(const float *, int)","(256, 1, 1)","(4,096, 1, 1)","1,067.11","12,400","32","48.5","1"
"""
HEADER = Path("/usr/local/cuda/include/cuda_occupancy.h")
ORACLE = """\
#include <stdio.h>
#include <stdlib.h>
#include "cuda_occupancy.h"
int main(int count, char **word) {
    cudaOccDeviceProp card = {0};
    cudaOccFuncAttributes kernel = {0};
    cudaOccDeviceState state = {0};
    cudaOccResult found;
    card.computeMajor = atoi(word[1]);
    card.computeMinor = atoi(word[2]);
    card.maxThreadsPerBlock = 1024;
    card.maxThreadsPerMultiprocessor = atoi(word[3]) * 32;
    card.regsPerBlock = card.regsPerMultiprocessor = 65536;
    card.warpSize = 32;
    card.sharedMemPerBlock = 49152;
    card.sharedMemPerMultiprocessor = atoi(word[4]);
    card.sharedMemPerBlockOptin = atoi(word[5]);
    card.reservedSharedMemPerBlock = atoi(word[6]);
    card.numSms = 100;
    kernel.maxThreadsPerBlock = 1024;
    kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
    int threads, registers, shared;
    while (scanf("%d %d %d", &threads, &registers, &shared) == 3) {
        kernel.numRegs = registers;
        kernel.maxDynamicSharedSizeBytes = shared;
        int error = cudaOccMaxActiveBlocksPerMultiprocessor(&found, &card, &kernel, &state, threads, shared);
        printf("%d\\n", error ? -error : found.activeBlocksPerMultiprocessor);
    }
    return 0;
}
"""


def test_what_ptxas_says_of_kernels_is_read() -> None:
    assert resources(SAID) == (
        Resources("_Z5scalePffi", "sm_90", 8, shared=1024, constant=544, barriers=1),
        Resources("_Z4heavyPf", "sm_90", 255, 48, 36, 40, constant=560),
    )
    assert resources("ptxas info : 0 bytes gmem") == ()


def test_errors_come_first_with_their_lines() -> None:
    found = complaints(ERRORS)
    assert [(one.line, one.kind) for one in found] == [
        (1, "error"), (7, "fatal error"), (31, "error"), (0, "error"), (3, "warning"),
    ]  # fmt: skip
    assert found[0] == Complaint("answer.cu", 1, "error", "expected an expression")


def test_resources_of_a_cubin_leave_out_what_the_system_takes() -> None:
    text = " Function softmax:\n  REG:19 STACK:8 SHARED:1024 LOCAL:0 CONSTANT[0]:568 TEXTURE:0\n"
    assert dumped(text, "sm_90") == (Resources("softmax", "sm_90", 19, 8),)


def test_instructions_are_counted_by_what_they_do() -> None:
    first, second = mixes(SASS)
    assert (first.kernel, first.total) == ("first", 12)
    assert first.loads == {"global 128": 1, "global 32": 1, "shared 64": 1, "shared 128": 1}
    assert first.stores == {"shared 32": 1}
    assert (first.fma, first.tensor, first.async_copies, first.special) == (1, 1, 1, 1)
    assert (first.branches, first.barriers) == (1, 1)
    assert (second.tensor, second.stores, second.branches) == (1, {"global 16": 1}, 0)
    assert mixes("no disassembly") == ()


def test_nvdisasm_names_kernels_by_their_sections() -> None:
    text = ".text.softmax:\n        /*0000*/                   FFMA R0, R1, R2, R3 ;\n"
    assert [(mix.kernel, mix.fma) for mix in mixes(text)] == [("softmax", 1)]


@pytest.mark.parametrize(
    ("arch", "threads", "registers", "shared", "blocks", "limited"),
    [
        ("sm_80", 256, 32, 0, 8, ("warps", "registers")),  # 64 warps of 1024 registers fill the file just so
        ("sm_80", 1024, 64, 0, 1, ("registers",)),
        ("sm_80", 1024, 65, 0, 0, ("registers",)),  # 65 registers round up to 72 a thread
        ("sm_86", 128, 32, 0, 12, ("warps",)),
        ("sm_86", 32, 16, 0, 16, ("blocks",)),
        ("sm_89", 32, 16, 0, 24, ("blocks",)),
        ("sm_90", 32, 16, 0, 32, ("blocks",)),
        ("sm_90", 128, 32, 227 * 1024, 1, ("shared memory",)),
        ("sm_90", 128, 32, 227 * 1024 + 1, 0, ("shared memory",)),
        ("sm_90a", 128, 168, 0, 3, ("registers",)),
        ("sm_100", 384, 168, 0, 1, ("registers",)),
        ("sm_90", 1025, 32, 0, 0, ("warps",)),
        ("sm_90", 32, 256, 0, 0, ("registers",)),
    ],
)
def test_occupancy_of_known_cases(
    arch: str, threads: int, registers: int, shared: int, blocks: int, limited: tuple[str, ...]
) -> None:
    found = occupancy(arch, threads, registers, shared)
    assert (found.blocks, found.limited_by) == (blocks, limited)


@pytest.mark.skipif(not HEADER.exists() or not shutil.which("gcc"), reason="no cuda_occupancy.h, or no gcc")
@pytest.mark.parametrize("arch", LIMITS)
def test_occupancy_is_that_of_nvidias_own_calculation(arch: str, tmp_path: Path) -> None:
    (tmp_path / "oracle.c").write_text(ORACLE)
    subprocess.run(
        ["gcc", "-w", f"-I{HEADER.parent}", "oracle.c", "-o", "oracle"], cwd=tmp_path, check=True, timeout=60
    )
    limits, version, rng = LIMITS[arch], arch.removeprefix("sm_"), random.Random(arch)
    cases = [
        (rng.randint(1, 1024), rng.randint(1, 255), rng.choice((0, rng.randint(0, limits.shared_block))))
        for _ in range(2000)
    ]
    words = (version[:-1], version[-1], limits.warps, limits.shared, limits.shared_block, limits.reserved)
    answers = subprocess.run(
        [tmp_path / "oracle", *map(str, words)],
        input="".join(f"{threads} {registers} {shared}\n" for threads, registers, shared in cases),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout.split()
    assert [int(answer) for answer in answers] == [occupancy(arch, *case).blocks for case in cases]


@given(st.sampled_from(sorted(LIMITS)), st.integers(1, 1024), st.integers(1, 254), st.integers(0, 60000))
def test_more_registers_and_memory_never_let_more_in(arch: str, threads: int, registers: int, shared: int) -> None:
    found = occupancy(arch, threads, registers, shared)
    assert found.blocks >= occupancy(arch, threads, registers + 1, shared).blocks
    assert found.blocks >= occupancy(arch, threads, registers, shared + 1024).blocks
    assert 0.0 <= found.share <= 1.0


def test_the_limits_of_every_architecture_that_can_be_named_are_known() -> None:
    assert {arch.rstrip("a") for arch in ARCHS} == set(LIMITS)


def test_a_block_without_threads_is_refused() -> None:
    with pytest.raises(ValueError, match="0 threads"):
        occupancy("sm_90", 0, 32)


def test_lines_for_the_judge_say_where_they_come_from() -> None:
    told = facts(resources(SAID), "ptxas", mixes(SASS.replace("first", "_Z5scalePffi")), {"_Z4heavyPf": (256, 2048)})
    text = lines(told)
    assert text[0] == "_Z5scalePffi (sm_90): 8 registers, 1024 B shared memory [ptxas]"
    assert "100% at 128 threads" in text[1]
    assert "[calculated]" in text[1]
    assert "1 loads global 128 bit" in text[2]
    assert "[SASS" in text[2]
    assert "spills 36 B out and 40 B in, 48 B stack" in text[3]
    assert text[4] == "  theoretical occupancy 12% at 256 threads [calculated]"


def test_a_raw_page_of_nsight_compute_is_read_by_its_headers() -> None:
    first, second = ncu.read_csv(RAW)
    assert (first.id, first.kernel, first.block) == (0, "rows(const float *, int)", "(256, 1, 1)")
    assert first.metrics == {
        "sm__cycles_active.avg": ncu.Metric(12345.67, "cycle"),
        "launch__registers_per_thread": ncu.Metric(32.0, "register/thread"),
        "dram__bytes_read.sum": ncu.Metric(67.11, "Mbyte"),
    }
    assert second.metrics["dram__bytes_read.sum"].value == 1067.11
    assert second.metrics["lts__t_sector_hit_rate.pct"] == ncu.Metric(48.5, "%")
    assert len(set(ncu.METRICS)) == 24


def test_columns_in_another_order_read_the_same() -> None:
    table = [line.split('","') for line in RAW.splitlines()[1:]]
    turned = "\n".join('"' + '","'.join(cell.strip('"') for cell in reversed(row)) + '"' for row in table)
    assert ncu.read_csv(turned) == ncu.read_csv(RAW)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission", "CAP_PERFMON"),
        ("", "no raw page"),
        ('"ID","Kernel Name"\n', "no raw page"),
        ("name,time\nrows,3\n", "no raw page"),
    ],
)
def test_what_is_no_raw_page_is_told_in_a_line(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as told:
        ncu.read_csv(text)
    assert "\n" not in str(told.value)


def test_a_report_that_cannot_be_read_is_told_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"ncu-report"):
        ncu.read_report(tmp_path / "none.ncu-rep")
