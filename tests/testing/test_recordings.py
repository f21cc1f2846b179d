"""Recordings for tests: what they belong to, what voids them, how they are made anew."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest
from paths import TESTS
from recordings import Recording, VoidRecordingError, code_of, hashes_of

pytest_plugins = "pytester"

CONFTEST = TESTS / "conftest.py"
TEXTS = {"target": "def f(): ...", "candidate": "f = int", "rule": "LEAST = 1"}
REPLAYING = """
from itertools import count
from pathlib import Path
from recordings import Recording, hashes_of

NUMBERS = count()

def test_replays(recorded):
    one = Recording("one", hashes_of(target="a"), Path(__file__).parent)
    assert [recorded(one, lambda: next(NUMBERS)) for _ in range(2)] == [0, 0]
"""


def kept(folder: Path, **texts: str) -> Recording:
    return Recording("part/one", hashes_of(**{**TEXTS, **texts}), folder)


def test_what_is_saved_is_loaded_and_says_where_it_was_made(tmp_path: Path) -> None:
    kept(tmp_path).save({"row": [0.1, None, 3]})
    assert kept(tmp_path).load() == {"row": [0.1, None, 3]}
    made = json.loads((tmp_path / "part" / "one.json").read_text())["made"]
    assert all(made[name] for name in ("date", "processor", "cores", "python", "commit"))


@pytest.mark.parametrize("name", [*TEXTS, "another"])
def test_an_edit_of_any_text_voids_a_recording(tmp_path: Path, name: str) -> None:
    kept(tmp_path).save([])
    told = f"recorded for another {name}; record anew with: python -m pytest .*test_recordings.py --record"
    with pytest.raises(VoidRecordingError, match=told):
        kept(tmp_path, **{name: "edited"}).load()


def test_a_recording_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(VoidRecordingError, match=r"no recording part/one; make it with: .*test_recordings.py --record"):
        kept(tmp_path).load()


def module_of(folder: Path, text: str) -> ModuleType:
    module = ModuleType("rule")
    module.__file__ = str(folder / "rule.py")
    Path(module.__file__).write_text(text)
    return module


CODE = 'LEAST = 1\nNAME = "# no comment"\n\n\ndef judge(x):\n    return x > LEAST\n'


@pytest.mark.parametrize(
    "text",
    [
        f'"""Judges."""\n{CODE}',
        CODE.replace("= 1", "= 1  # seconds"),
        CODE.replace("= 1", '= 1\n"""Seconds:\nthe least."""\n'),
        CODE.replace("(x):", '(x):\n    """Tells."""'),
        CODE.replace("\n\n", "\n"),
    ],
)
def test_words_are_no_code(tmp_path: Path, text: str) -> None:
    assert text != CODE
    assert code_of(module_of(tmp_path, text)) == code_of(module_of(tmp_path, CODE))


@pytest.mark.parametrize("text", [CODE.replace("1", "2"), CODE.replace("# no", "# a"), CODE.replace(">", ">=")])
def test_constants_and_conditions_are_code(tmp_path: Path, text: str) -> None:
    assert code_of(module_of(tmp_path, text)) != code_of(module_of(tmp_path, CODE))


@pytest.mark.corpus(one_in=8)
def test_record_makes_a_recording_anew_once_a_run_and_else_it_is_replayed(
    pytester: pytest.Pytester, pytestconfig: pytest.Config
) -> None:
    pytester.makeconftest(CONFTEST.read_text())
    pytester.syspathinsert(CONFTEST.parent)
    pytester.makepyfile(REPLAYING)
    pytester.runpytest_inprocess().stdout.fnmatch_lines(["*no recording one; make it with*"])
    pytester.runpytest_inprocess("--record").assert_outcomes(passed=1)
    pytester.runpytest_inprocess().assert_outcomes(passed=1)
