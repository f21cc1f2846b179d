"""The lowest wrong function of a wrong rewrite: bottom-up, on calls that the original makes."""

from __future__ import annotations

import pytest

from whet.agents.optimize import optimize
from whet.core.candidate import Candidate
from whet.core.helpers import Helpers
from whet.core.options import Options
from whet.evaluators.helpers import shared
from whet.evaluators.ladder import open_ladder
from whet.evaluators.targets import read_task
from whet.testing.scripted import ScriptedModel

BASELINE = """\
import math

def parts(text):
    return [word for word in text.split(" ") if word]

def weight(word, least=2):
    return math.sqrt(len(word)) if len(word) >= least else 0.0

def ranked(words):
    return sorted(set(words), key=lambda word: (-weight(word), word))

def best(text: str, count: int) -> list[str]:
    return ranked(parts(text))[:count]
"""
GENERATOR = """\
sizes = [4, 60, 90]
def make_input(size, rng):
    words = ["".join(rng.choice("abc") for _ in range(rng.randrange(1, 7))) for _ in range(size)]
    return (" ".join(words), rng.randrange(1, 5))
"""
ORDER = ("parts", "weight", "ranked")
FAULTS = {
    "weight": ("len(word) >= least", "len(word) > least"),
    "parts": ("if word]", "if len(word) < 6]"),
    "ranked": ("-weight(word), word", "-weight(word), -len(word), word[::-1]"),
}


def test_callees_come_before_their_callers():
    assert shared(BASELINE, BASELINE, "best") == [*ORDER]
    turned = "def ranked(words):\n    return weight(words)\ndef weight(word, least=2):\n    return ranked(word)\n"
    assert shared(BASELINE, turned, "best") == ["weight", "ranked"], "whoever calls one another comes once"


def test_only_functions_of_the_same_name_and_parameters_are_compared():
    other = "def parts(text, sep):\n    pass\ndef weight(word, least=3):\n    pass\ndef best(text, count):\n    pass\n"
    assert shared(BASELINE, other, "best") == ["weight"]
    assert shared(BASELINE, "class parts:\n    pass\n", "best") == []


@pytest.fixture(scope="module")
def ladder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("helpers")
    (folder / "words.py").write_text(BASELINE)
    (folder / "workload.py").write_text(GENERATOR)
    options = Options(workload=folder / "workload.py", until="differential")
    found = open_ladder(read_task(f"{folder / 'words.py'}::best", options), options, seed=1)
    try:
        found.validate()
        yield found
    finally:
        found.close()


@pytest.mark.corpus
@pytest.mark.parametrize("name", FAULTS)
def test_the_lowest_wrong_function_is_found_with_the_smallest_call(ladder, name):
    candidate = Candidate(BASELINE.replace(*FAULTS[name]))
    verdict = ladder.check(candidate)
    assert verdict.failed.name == "differential"
    found = ladder.helpers(candidate, verdict)
    assert found.wrong == name
    assert found.agreeing == ORDER[: ORDER.index(name)]
    assert f"on a call that the original makes: {name}(" in found.detail
    assert "expected" in found.detail


@pytest.mark.corpus
def test_where_the_target_alone_is_wrong_all_others_agree(ladder):
    candidate = Candidate(BASELINE.replace("[:count]", "[: count + 1]"))
    assert ladder.helpers(candidate, ladder.check(candidate)) == Helpers(agreeing=ORDER)


@pytest.mark.corpus
def test_two_wrong_functions_show_the_lower_one(ladder):
    both = BASELINE.replace(*FAULTS["weight"]).replace(*FAULTS["ranked"])
    candidate = Candidate(both)
    assert ladder.helpers(candidate, ladder.check(candidate)).wrong == "weight"


@pytest.mark.corpus
def test_what_is_right_and_what_hangs_costs_nobody_anything(ladder):
    right = Candidate(BASELINE + "\n")
    assert ladder.helpers(right, ladder.check(right)) == Helpers()
    ends = Candidate(BASELINE.replace("return math.sqrt(len(word))", "import os; os._exit(3)", 1))
    assert ladder.helpers(ends, ladder.check(ends)).wrong == "weight"


@pytest.mark.corpus
def test_a_run_tells_the_model_of_the_lowest_wrong_function_and_takes_what_it_mends(tmp_path):
    (tmp_path / "words.py").write_text(BASELINE)
    (tmp_path / "workload.py").write_text(GENERATOR)
    mended = BASELINE.replace("set(words)", "{*words}")
    told = []

    def say(request):
        text = request.messages[-1].text
        if "# A rewrite that is almost right" in text:
            told.append(text)
        source = mended if told else BASELINE.replace(*FAULTS["weight"])
        return f"Change: x\nKind: algorithm\n```python\n{source}```\n"

    options = {"workload": tmp_path / "workload.py", "until": "differential", "rounds": 1, "candidates": 1, "seed": 1}
    target = f"{tmp_path / 'words.py'}::best"
    result = optimize(target, model=ScriptedModel(say), home=tmp_path / "home", **options)
    assert (result.candidates.distinct, result.candidates.correct) == (2, 1)
    (text,) = told
    assert "The lowest one that differs is `weight`" in text
    assert "weight('" in text
    assert "These agree on all calls that were tried: parts." in text
