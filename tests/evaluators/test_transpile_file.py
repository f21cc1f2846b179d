"""``kind = "transpile"`` in a whet.toml: a translation as a task of its own, and what is wrong with such a file."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import whet
from whet.benchmarks import tasks
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.core.result import Status
from whet.evaluators.targets import read_task
from whet.sandbox.toolchains.isas import ISAS
from whet.testing.scripted import ScriptedModel

DOT = Path(tasks.__file__).parent / "asm" / "dot-i32"
TOML = """\
[task]
name = "dot"
language = "asm"
kind = "transpile"
source = "best.s"
target = "dot.riscv64.s"
symbol = "dot_i32"
isa = "riscv64"
[signature]
prototype = "int32_t dot_i32(const int32_t *a, const int32_t *b, int64_t n)"
a = {length = "n"}
b = {length = "n"}
n = {role = "size", min = 0}
[oracle]
reference = "dot-i32.c"
tolerance = "exact"
[workload]
sizes = [16, 1000]
"""
needs_tools = pytest.mark.skipif(
    shutil.which("bwrap") is None or ISAS["riscv64"].lacking() is not None, reason="bubblewrap or cross tools lack"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "dot"
    shutil.copytree(DOT, place)
    (place / "whet.toml").write_text(TOML)
    return place


@needs_tools
def test_a_translation_is_a_task_of_its_own(folder: Path) -> None:
    task = read_task(str(folder), Options())
    assert (task.isa, task.translated, task.untimed, task.standing) == ("riscv64", "best.s", True, False)
    assert task.support == {"best.s": (DOT / "best.s").read_text()}
    assert "dot_i32:" in task.source, "a compiler's output to begin with"


@pytest.mark.corpus
@needs_tools
def test_an_answer_to_it_is_judged_like_any_other(folder: Path, tmp_path: Path) -> None:
    right = folder / "answers" / "riscv64.s"
    found = whet.verify(str(folder), candidate=right, home=tmp_path / "home")
    assert (found.status, found.speedup) == (Status.NO_IMPROVEMENT, None)
    assert [one.status for one in found.rungs if one.name == "differential"] == ["passed"]
    wrong = tmp_path / "wrong.s"
    wrong.write_text(right.read_text().replace("addw t0", "subw t0"))
    found = whet.verify(str(folder), candidate=wrong, home=tmp_path / "home")
    assert (found.status, found.candidates.rejected) == (Status.REJECTED, {"wrong_output": 1})


@pytest.mark.corpus
@needs_tools
def test_optimizing_it_is_translating_it(folder: Path, tmp_path: Path) -> None:
    right = (folder / "answers" / "riscv64.s").read_text()
    model = ScriptedModel({"coder": [f"Change: the same\nKind: algorithm\n\n```asm\n{right}```\n"]})
    result = whet.optimize(
        str(folder), model=model, judge_model="catalogue", candidates=1, rounds=2, home=tmp_path / "home"
    )
    assert result.candidate is not None
    assert result.message.startswith("a right translation was found")
    asked = "\n".join(message.text for message in model.requests[0].messages)
    assert "Translate the routine `dot_i32` in the file `best.s`" in asked
    assert "vpmulld" in asked, "the routine to be translated is shown"


@pytest.mark.corpus
@needs_tools
def test_a_translation_that_is_found_ends_the_command_with_0(folder: Path, tmp_path: Path) -> None:
    answers = tmp_path / "answers"
    answers.mkdir()
    right = (folder / "answers" / "riscv64.s").read_text()
    (answers / "0001.answer.md").write_text(f"Change: the same\nKind: algorithm\n\n```asm\n{right}```\n")
    words = ["optimize", folder, "--model", f"manual:{answers}", "--judge-model", "catalogue", "--candidates", "1"]
    done = command(*map(str, words), "--output", str(tmp_path / "out.s"), home=tmp_path / "home")
    assert done.returncode == 0, done.stderr
    assert "verified translation" in done.stdout
    assert "2 of 2 branches of the reference were taken (100.0%)" in done.stdout
    assert (tmp_path / "out.s").read_text() == right


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('source = "best.s"\n', "", "neither stands alone"),
        ('kind = "transpile"\n', "", "neither stands alone"),
        ('"best.s"', '"none.s"', "no file none.s, which is to be translated"),
        ('"riscv64"', '"riscv46"', "riscv64"),
        ('language = "asm"', 'language = "c"', 'go with language = "asm"'),
        ("[oracle]\nreference", "[oracle]\ndict_order = false\n#", "needs [oracle] reference"),
        ('symbol = "dot_i32"\n', "", "symbol"),
    ],
)
def test_a_file_that_does_not_fit_is_told(folder: Path, old: str, new: str, said: str) -> None:
    (folder / "whet.toml").write_text(TOML.replace(old, new, 1))
    with pytest.raises(UsageError) as raised:
        read_task(str(folder), Options())
    assert said in str(raised.value)
    assert "whet.toml" in str(raised.value)


def command(*words: str, home: Path, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Runs whet as a user does."""
    environment: Mapping[str, str] = {"PATH": "/usr/bin:/bin", "WHET_HOME": str(home), "PYTHONPATH": path_of_whet()}
    return subprocess.run(
        [*before, sys.executable, "-m", "whet", *words],
        capture_output=True, text=True, check=False, timeout=120, env=environment,
    )  # fmt: skip


def path_of_whet() -> str:
    return str(Path(whet.__file__).parents[1])


def without(tool: str) -> tuple[str, ...]:
    """Returns the words that run a command where a tool is not installed; skips where mounts cannot be made."""
    path = shutil.which(tool)
    words = ("unshare", "--mount", "sh", "-c", f'mount --bind /dev/null {path} && exec "$@"', "sh")
    if path is None or subprocess.run([*words, "true"], capture_output=True, check=False).returncode:
        pytest.skip("mounts cannot be made here")
    return words


@pytest.mark.corpus
@needs_tools
@pytest.mark.parametrize(
    ("tool", "package"),
    [("riscv64-linux-gnu-gcc", "gcc-riscv64-linux-gnu"), ("qemu-riscv64", "qemu-user")],
)
def test_without_its_tools_an_answer_is_skipped_and_none_is_asked_for(
    tool: str, package: str, folder: Path, tmp_path: Path
) -> None:
    answer, before = str(folder / "answers" / "riscv64.s"), without(tool)
    done = command("verify", str(folder), "--candidate", answer, "--json", home=tmp_path / "home", before=before)
    result: dict[str, Any] = json.loads(done.stdout)
    rungs = {rung["name"]: rung for rung in result["rungs"]}
    for name in ("build", "differential"):
        assert (rungs[name]["status"], rungs[name]["reason"]) == ("skipped", "tool_missing")
        assert f"apt-get install {package}" in rungs[name]["detail"]
    assert result["message"].startswith("nothing of it was run")
    assert done.returncode == 3
    done = command("optimize", str(folder), "--model", f"manual:{tmp_path}", home=tmp_path / "home", before=before)
    assert done.returncode == 2
    assert f"apt-get install {package}" in done.stderr
    assert not list(tmp_path.glob("*.prompt.md"))
