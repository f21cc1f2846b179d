"""Kernels in PTX as targets: what their task says, and what is told of candidates where there is no GPU."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import whet
from whet.agents.answers import parse_answer
from whet.agents.coder import coder_request
from whet.agents.situation import Situation
from whet.core.candidate import Candidate
from whet.core.circumstances import Circumstances
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.core.profile import Profile
from whet.core.result import Result, Status
from whet.core.verdict import Reason, RungStatus
from whet.evaluators.targets import read_task
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.nvml import Gpu, find_gpu
from whet.sandbox.toolchains.cuda import find_tool
from whet.sandbox.toolchains.native import language_of

TASKS = Path(whet.__file__).parent / "benchmarks" / "tasks" / "ptx"
NAMES = sorted(path.parent.name for path in TASKS.glob("*/whet.toml"))
ARCH = "sm_80"
SYSTEM = Path("/usr/bin/python3")
needs_tools = pytest.mark.skipif(
    any(shutil.which(tool) is None for tool in ("bwrap", "gcc"))
    or any(find_tool(tool, find_interpreter(None)) is None for tool in ("ptxas", "cuobjdump")),
    reason="no bubblewrap, gcc, ptxas or cuobjdump",
)
without_gpu = pytest.mark.skipif(isinstance(find_gpu(), Gpu), reason="a GPU is here: kernels run")


def folder(tmp_path: Path, name: str = "saxpy", **changes: str) -> Path:
    """Returns a copy of a task with its smallest sizes alone, and texts replaced in its whet.toml."""
    made = tmp_path / name
    shutil.copytree(TASKS / name, made, dirs_exist_ok=True)
    toml = (made / "whet.toml").read_text().replace(", 1048576, 4194304]", ", 5000]")
    for old, new in changes.items():
        assert old in toml, old
        toml = toml.replace(old, new)
    (made / "whet.toml").write_text(toml)
    return made


def judged(task: Path, text: str, **options: Any) -> Result:
    candidate = task / "candidate.ptx"
    candidate.write_text(text)
    return whet.verify(str(task), candidate=candidate, home=task / "home", arch=ARCH, **options)


# the task


@pytest.mark.parametrize("name", NAMES)
def test_a_task_names_a_kernel_its_reference_and_its_launch(name: str) -> None:
    task = read_task(str(TASKS / name), Options())
    assert task.launch is not None
    assert (task.isa, task.emulated, task.untimed) == ("ptx", False, False)
    assert language_of(task, task.source) == "ptx"
    assert task.original[1] == language_of(task, task.original[0]) == "c"
    assert "n" in task.launch.grid[0]
    assert task.launch.grid[1:] == ("1", "1")
    assert task.launch.block == ("256", "1", "1")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[launch]\n", "[lunch]\n", "unknown key 'lunch'; did you mean 'launch'?"),
        ('isa = "ptx"', 'isa = "x86_64"', 'isa = "ptx" goes with [launch]'),
        ('grid = "(n + 1023) / 1024"\nblock = 256\n', "block = 256\n", "launch.grid"),
        ("(n + 1023) / 1024", "(m + 1023) / 1024", "names m, which is no whole number given"),
        ("(n + 1023) / 1024", "(a + 1023) / 1024", "names a, which is no whole number given"),
        ("(n + 1023) / 1024", "(n + 1023", "a parenthesis is not closed"),
        ("block = 256", "block = [8, 8, 2, 2]", "block has 4 dimensions"),
        ("void saxpy", "float saxpy", "a kernel returns nothing"),
        ("void saxpy(float a", "void saxpy(double a", "the parameters of saxpy are (.f32, .u64, .u64, .u64)"),
        ("saxpy.ptx", "saxpi.ptx", "no file saxpi.ptx"),
    ],
)
def test_a_task_that_does_not_fit_is_told_in_a_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    made = folder(tmp_path, **{old: new})
    with pytest.raises(UsageError) as caught:
        read_task(str(made), Options())
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_kernel_of_another_name_is_told(tmp_path: Path) -> None:
    made = folder(tmp_path)
    (made / "saxpy.ptx").write_text((made / "saxpy.ptx").read_text().replace("saxpy(", "saxpi("))
    with pytest.raises(UsageError, match="defines no kernel saxpy; did you mean 'saxpi'"):
        read_task(str(made), Options())


@without_gpu
@needs_tools
def test_a_gpu_that_is_asked_for_and_not_here_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--device cuda: .*without it PTX is assembled and compared"):
        judged(folder(tmp_path), "", device="cuda")


# without a GPU


@pytest.mark.corpus
@without_gpu
@needs_tools
@pytest.mark.parametrize("name", NAMES)
def test_a_best_version_is_assembled_and_compared_and_not_timed(tmp_path: Path, name: str) -> None:
    found = judged(folder(tmp_path, name), (TASKS / name / "best.ptx").read_text())
    assert found.status is Status.NO_IMPROVEMENT
    assert found.speedup is None
    rungs = {rung.name: rung for rung in found.rungs}
    assert {name: rung.reason for name, rung in rungs.items() if rung.status is not RungStatus.PASSED} == {
        **dict.fromkeys(("differential", "hazard", "measure", "confirm"), Reason.NO_DEVICE),
        **dict.fromkeys(("test", "prove", "profile"), Reason.NOT_ASKED),
    }
    told = rungs["build"].detail
    symbol = name.replace("-", "_")
    assert told.startswith(f"ptxas assembles {symbol} for {ARCH}; the machine code of {symbol} changed\n")
    assert f"{symbol}: machine code changed" in told
    assert "loads global 128 bit" in told
    assert "without a GPU" in found.message


@pytest.mark.corpus
@without_gpu
@needs_tools
@pytest.mark.parametrize(
    ("change", "rung", "reason", "said"),
    [
        (("shl.b64 %at, %i, 2;", "shl.b65 %at, %i, 2;"), "build", Reason.BUILD_ERROR, "line 36: "),
        ((".entry saxpy(", ".entry other("), "screen", Reason.BUILD_ERROR, "defines no kernel saxpy"),
        ((".visible", ".extern .func (.param .b64 p) malloc(.param .b64 s);\n.visible"), "screen",
         Reason.FORBIDDEN_CONSTRUCT, "line 6: what stands outside the module"),
        (("mov.u32 %r1, %tid.x;", "mov.u32 %r1, %pm0;"), "screen", Reason.FORBIDDEN_CONSTRUCT, "a counter"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_by_line(
    tmp_path: Path, change: tuple[str, str], rung: str, reason: Reason, said: str
) -> None:
    made = folder(tmp_path)
    found = judged(made, (made / "saxpy.ptx").read_text().replace(*change))
    assert found.status is Status.REJECTED
    assert (found.rungs[-1].name, found.rungs[-1].reason) == (rung, reason)
    assert said in found.rungs[-1].detail


@without_gpu
@needs_tools
def test_other_languages_are_no_answer(tmp_path: Path) -> None:
    made = folder(tmp_path)
    found = judged(made, (made / "saxpy.c").read_text())
    assert (found.status, found.rungs[-1].reason) == (Status.REJECTED, Reason.BUILD_ERROR)
    assert "it is no PTX" in found.rungs[-1].detail


@without_gpu
@needs_tools
@pytest.mark.corpus(one_in=8)
def test_an_edit_that_ptxas_undoes_is_told(tmp_path: Path) -> None:
    made = folder(tmp_path)
    found = judged(made, (made / "saxpy.ptx").read_text().replace("%v", "%w"))
    build = next(rung for rung in found.rungs if rung.name == "build")
    assert "the machine code of no kernel changed" in build.detail


@without_gpu
@needs_tools
def test_a_baseline_that_does_not_assemble_is_unusable(tmp_path: Path) -> None:
    made = folder(tmp_path)
    good = (made / "saxpy.ptx").read_text()
    (made / "saxpy.ptx").write_text(good.replace("min.s64", "least.s64"))
    found = judged(made, good)
    assert found.status is Status.BASELINE_INVALID
    assert f"does not assemble for {ARCH}: line 31: " in found.message


@without_gpu
@needs_tools
@pytest.mark.skipif(not SYSTEM.exists(), reason="no other interpreter")
@pytest.mark.corpus(one_in=8)
def test_without_a_disassembler_nothing_is_said_of_machine_code(tmp_path: Path) -> None:
    bare = find_interpreter(SYSTEM)
    if any(find_tool(tool, bare) for tool in ("cuobjdump", "nvdisasm")) or find_tool("ptxas", bare) is None:
        pytest.skip("a disassembler, or no ptxas, that does not come with packages")
    found = judged(folder(tmp_path), (TASKS / "saxpy" / "best.ptx").read_text(), python=SYSTEM)
    build = next(rung for rung in found.rungs if rung.name == "build")
    assert build.status is RungStatus.PASSED
    assert "no comparison of machine code" in build.detail
    assert "pip install nvidia-cuda-cuobjdump" in build.detail
    assert "changed" not in build.detail


@pytest.mark.corpus
@without_gpu
@needs_tools
def test_the_command_line_tells_registers_and_the_change_of_machine_code(whet: Any, tmp_path: Path) -> None:
    made = folder(tmp_path)
    done = whet("verify", made, "--candidate", TASKS / "saxpy" / "best.ptx", "--arch", ARCH)
    assert done.returncode == 3, done.stderr
    assert "saxpy (sm_80): " in done.stdout
    assert "14 -> 22 registers" in done.stdout or "registers [ptxas, before -> after]" in done.stdout
    assert "saxpy: machine code changed; " in done.stdout
    assert done.stdout.count("no_device") == 4


@pytest.mark.corpus
@needs_tools
def test_what_a_kernel_costs_is_read_from_its_machine_code(whet: Any, tmp_path: Path) -> None:
    done = whet("profile", folder(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "saxpy (sm_" in done.stdout
    assert "loads global 32 bit" in done.stdout
    assert "not available" not in done.stdout


@pytest.mark.corpus
@without_gpu
@needs_tools
def test_the_oracle_of_a_kernel_is_audited_through_its_reference(tmp_path: Path) -> None:
    found = whet.audit(str(folder(tmp_path, "block-sums")), mutants=6, seed=1)
    assert {null.name for null in found.nulls if null.accepted} == set()
    assert found.made > 6
    assert sum(one.reason is None for one in found.mutants) <= 1


# what a Coder is told, and answers


def test_the_coder_is_told_of_the_launch_and_that_nothing_runs() -> None:
    task = read_task(str(TASKS / "saxpy"), Options())
    place = Circumstances("a processor", {}, "CPython 3.11", {}, "gcc 12", ())
    facts = Situation(task, "time", 1, place, 1, 2, Candidate(task.source), Profile((), "static facts", "told"), None)
    request = coder_request(facts)
    text = "\n".join(message.text for message in request.messages)
    assert "launched with (n + 1023) / 1024 x 1 x 1 blocks of 256 x 1 x 1 threads" in text
    assert "There is no GPU here" in text
    assert "```ptx" in text
    assert "registers that the ABI keeps" not in text
    assert (request.brief.language, request.brief.source) == ("ptx", task.source)


def test_an_answer_in_ptx_is_read() -> None:
    said = "Change: less\n\n```text\nfor comparison\n```\n\n```ptx\n.version 7.8\n```\n"
    found = parse_answer(said, ".version 7.0\n", "native", "f.ptx")
    assert getattr(found, "source", found) == ".version 7.8\n"
