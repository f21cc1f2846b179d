"""Translations written by hand to real prompts, by somebody who knew no more than these say: judged as they came."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import whet
from whet.benchmarks import tasks
from whet.core.result import Result
from whet.sandbox.toolchains.isas import ISAS
from whet.testing.scripted import ScriptedModel

FOLDER = Path(__file__).parent / "answers" / "translations"
TASKS = Path(tasks.__file__).parent / "asm"
NAMES = sorted(path.stem for path in FOLDER.glob("*.md"))
QUICK = "popcount-sum.aarch64"


def translated(name: str, model: ScriptedModel, place: Path, rounds: int = 1) -> Result:
    """Runs the translation that a name asks for."""
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    routine, isa = name.split(".")
    if lacking := ISAS[isa].lacking():
        pytest.skip(str(lacking))
    folder = place / routine
    shutil.copytree(TASKS / routine, folder)
    return whet.optimize(
        str(folder / "best.s"), to=isa, model=model, judge_model="catalogue", candidates=1, rounds=rounds,
        output=place / "out.s", home=place / "home",
    )  # fmt: skip


@pytest.mark.corpus
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == QUICK else (pytest.mark.corpus,)) for name in NAMES]
)
def test_an_answer_to_a_real_prompt_is_a_right_translation(name: str, tmp_path: Path) -> None:
    model = ScriptedModel({"coder": [(FOLDER / f"{name}.md").read_text(encoding="utf-8")]})
    result = translated(name, model, tmp_path)
    assert result.message.startswith("a right translation was found"), (result.message, result.candidates)
    assert (result.candidates.distinct, result.candidates.correct) == (1, 1)
    assert (tmp_path / "out.s").is_file()
    asked = "\n".join(message.text for message in model.requests[0].messages)
    assert "You translate assembly from one instruction set to another" in asked
    for said in ("faster", "Known patterns", "The best version", "measured so"):
        assert said not in asked, "a translation is no contest"


@pytest.mark.corpus
def test_a_wrong_translation_is_mended_from_the_input_that_shows_it(tmp_path: Path) -> None:
    """Both answers are as they came: the first one subtracted, the second followed the counterexample of its prompt."""
    answers = [(FOLDER / "repaired" / f"dot-i32.riscv64.{number}.md").read_text(encoding="utf-8") for number in (1, 2)]
    model = ScriptedModel({"coder": answers})
    result = translated("dot-i32.riscv64", model, tmp_path, rounds=2)
    assert result.message.startswith("a right translation was found"), (result.message, result.candidates)
    assert result.candidates.rejected == {"wrong_output": 1}
    told = model.requests[-1].messages[-1].text
    assert "expected the result" in told
    assert "on dot_i32(a=[" in told, "the concrete input"


def test_there_are_answers_for_both_machines() -> None:
    assert {name.partition(".")[2] for name in NAMES} == {"aarch64", "riscv64"}
    assert len(NAMES) >= 5
