"""compute-sanitizer as the hazard rung of answers on a GPU.

No GPU is needed: a stand-in takes the tool's options, runs the program as the tool does, and reports by the text of the
answer. What it prints has the form that NVIDIA documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from kernel_problems import forward, problem, written

from whet.core.options import Options
from whet.core.verdict import Reason
from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.finding import Fault, Passed, Skipped
from whet.evaluators.inputs.source import InputSource
from whet.evaluators.kernels import sanitizer
from whet.evaluators.preloads import preloads
from whet.evaluators.targets import read_task
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import find_interpreter

pytest.importorskip("torch", reason="torch is not installed: pip install whet[torch]")

REPORT = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at twice(float *, int)+0x70 in answer.cu:7
=========     by thread (31,0,0) in block (0,0,0)
=========     Access at 0x503600080 is out of bounds
=========
========= ERROR SUMMARY: 1 error
"""
TOOL = f"""\
#!/bin/sh
while [ "${{1#--}}" != "$1" ]; do shift 2; done
"$@" || exit $?
for word; do
    if [ -d "$word" ] && grep -rq "one too far" "$word"; then
        cat <<'END'
{REPORT}END
        exit 77
    fi
done
"""
PROBLEM = problem(forward("return x * 2"))
RIGHT = PROBLEM.replace("class Model(", "class ModelNew(")
TOO_FAR = f"{RIGHT}\n# one too far\n"
RAISES = RIGHT.replace("return x * 2", "raise ValueError('no')")


@dataclass(frozen=True)
class Bench:
    """A problem's builder, its inputs and the stand-in."""

    builder: Builder
    source: InputSource
    tool: Path

    def watched(self, original: str, answer: str) -> Fault | Passed | Skipped:
        sides = [self.builder.build(text) for text in (original, answer)]
        assert all(isinstance(side, Artifact) for side in sides), sides
        (item,) = self.source.draw(1, [7])
        return sanitizer.watched(self.tool, *sides, item)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("watched")
    tool = written(folder, TOOL, "compute-sanitizer")
    tool.chmod(0o755)
    task = read_task(str(written(folder, PROBLEM)), Options(sandbox="none", unsafe=True))
    # In a sandbox, a tool in a folder of the tests' own is not to be seen.
    with closing(open_sandbox("none", True)) as sandbox:
        builder = Builder(task, sandbox, find_interpreter(), preloads(task))
        with closing(InputSource(task, sandbox, builder.interpreter)) as source:
            yield Bench(builder, source, tool)


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "memory out of bounds"),
        ("# __shared__ float sums[32];\n", "memory out of bounds and races in shared memory"),
    ],
)
def test_a_clean_answer_is_called_under_each_tool_that_has_something_to_look_at(
    bench: Bench, text: str, what: str
) -> None:
    found = bench.watched(PROBLEM, RIGHT + text)
    assert isinstance(found, Passed)
    assert found.detail == f"watched for {what} on size 1"


@pytest.mark.corpus
def test_what_is_reported_of_the_answer_alone_is_a_memory_error(bench: Bench) -> None:
    found = bench.watched(PROBLEM, TOO_FAR)
    assert isinstance(found, Fault)
    assert found.reason is Reason.MEMORY_ERROR
    assert found.detail.startswith(
        "Invalid __global__ write of size 4 bytes at twice(float *, int)+0x70 in answer.cu:7"
    )
    assert found.evidence["report"].startswith("========= COMPUTE-SANITIZER")


@pytest.mark.corpus
def test_what_is_reported_of_the_problem_too_is_not_held_against_an_answer(bench: Bench) -> None:
    found = bench.watched(f"{PROBLEM}\n# one too far\n", TOO_FAR)
    assert isinstance(found, Skipped)
    assert found.detail == "the original itself is reported by memcheck"


@pytest.mark.corpus
def test_an_answer_that_ends_under_it_is_told(bench: Bench) -> None:
    found = bench.watched(PROBLEM, RAISES)
    assert isinstance(found, Fault)
    assert found.reason is Reason.CRASH
    assert "ValueError: no" in found.detail


@pytest.mark.corpus
def test_a_tool_that_does_not_run_here_is_skipped(bench: Bench, tmp_path: Path) -> None:
    broken = written(tmp_path, "#!/bin/sh\necho '========= Error: no device' >&2\nexit 1\n", "compute-sanitizer")
    broken.chmod(0o755)
    found = Bench(bench.builder, bench.source, broken).watched(PROBLEM, RIGHT)
    assert isinstance(found, Skipped)
    assert found.reason is Reason.TOOL_MISSING
    assert found.detail.endswith("does not run here: ========= Error: no device")


KERNEL = f"{RIGHT}\nimport triton\n\n\n@triton.jit\ndef kernel(x):\n    pass\n"


@pytest.mark.corpus
def test_the_tool_is_asked_for_where_own_kernels_run_on_a_gpu(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("triton", reason="triton is not installed")
    plain, own = (bench.builder.build(text) for text in (RIGHT, KERNEL))
    assert isinstance(plain, Artifact)
    assert isinstance(own, Artifact)
    monkeypatch.setattr(sanitizer, "find_tool", lambda *_: None)
    assert sanitizer.check_kernels(plain, own, bench.source, 7) is None  # on the CPU
    monkeypatch.setattr(sanitizer, "task_on_gpu", lambda _: True)
    assert sanitizer.check_kernels(plain, plain, bench.source, 7) is None
    assert sanitizer.check_kernels(plain, own, bench.source, 7) == Skipped(
        Reason.TOOL_MISSING, "compute-sanitizer is not installed; it comes with NVIDIA's CUDA toolkit"
    )


def test_a_race_reads_in_a_line() -> None:
    said = "========= COMPUTE-SANITIZER\n========= Error: Race reported between Write access at sum()+0x90 in a.cu:9\n"
    assert sanitizer.headline(said) == "Error: Race reported between Write access at sum()+0x90 in a.cu:9"
    assert sanitizer.headline("nothing") == "compute-sanitizer ended it without a word"
