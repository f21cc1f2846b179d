"""Translations written by hand to real prompts, by somebody who knew no more than these say: judged as they came.

They come as they came then, as files of `manual:`.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from paths import TESTS

import whet
from whet.benchmarks import tasks
from whet.core.result import Result
from whet.sandbox.toolchains.isas import ISAS

FOLDER = TESTS / "answers" / "translations"
TASKS = Path(tasks.__file__).parent / "asm"
NAMES = sorted(path.stem for path in FOLDER.glob("*.md"))
REPAIRED = ("dot-i32.riscv64.1", "dot-i32.riscv64.2")


def translated(name: str, answers: Sequence[Path], place: Path) -> tuple[Result, list[str]]:
    """Runs the translation that a name asks for, a round an answer; returns what came of it, and the prompts."""
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    routine, isa = name.split(".")
    if lacking := ISAS[isa].lacking():
        pytest.skip(str(lacking))
    folder, manual = place / routine, place / "manual"
    shutil.copytree(TASKS / routine, folder)
    manual.mkdir()
    for number, answer in enumerate(answers, 1):
        shutil.copy(answer, manual / f"{number:04}.answer.md")
    result = whet.optimize(
        str(folder / "best.s"), to=isa, model=f"manual:{manual}", judge_model="catalogue", candidates=1,
        rounds=len(answers), output=place / "out.s", home=place / "home",
    )  # fmt: skip
    return result, [file.read_text(encoding="utf-8") for file in sorted(manual.glob("*.prompt.md"))]


@pytest.mark.corpus
@pytest.mark.parametrize("name", NAMES)
def test_an_answer_to_a_real_prompt_is_a_right_translation(name: str, tmp_path: Path) -> None:
    result, (asked,) = translated(name, [FOLDER / f"{name}.md"], tmp_path)
    assert result.message.startswith("a right translation was found"), (result.message, result.candidates)
    assert (result.candidates.distinct, result.candidates.correct) == (1, 1)
    assert (tmp_path / "out.s").is_file()
    assert "You translate assembly from one instruction set to another" in asked
    for said in ("faster", "Known patterns", "The best version", "measured so"):
        assert said not in asked, "a translation is no contest"


@pytest.mark.corpus
def test_a_wrong_translation_is_mended_from_the_input_that_shows_it(tmp_path: Path) -> None:
    """Both answers are as they came: the first one subtracted, the second followed the counterexample of its prompt."""
    answers = [FOLDER / "repaired" / f"{name}.md" for name in REPAIRED]
    result, (_, told) = translated("dot-i32.riscv64", answers, tmp_path)
    assert result.message.startswith("a right translation was found"), (result.message, result.candidates)
    assert result.candidates.rejected == {"wrong_output": 1}
    assert "expected the result" in told
    assert "on dot_i32(a=[" in told, "the concrete input"


def test_there_are_answers_for_both_machines() -> None:
    assert {name.partition(".")[2] for name in NAMES} == {"aarch64", "riscv64"}
    assert len(NAMES) >= 5
