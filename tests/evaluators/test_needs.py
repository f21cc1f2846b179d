"""What a rewrite needs of its arguments and the original does not is found whatever the generator draws."""

from __future__ import annotations

import ast
import json
import shutil
from contextlib import closing
from dataclasses import replace

import pytest

from whet.agents.catalogue.registry import EDITS, proposals
from whet.agents.models.base import Brief
from whet.bot.findings import FunctionFinding, FunctionStatus
from whet.bot.report import suggestion
from whet.cli.render import condition_lines
from whet.core.condition import Condition, conditions_of, only_if, under
from whet.core.task import Kind, Task, Workload
from whet.core.verdict import Rung, RungStatus
from whet.evaluators.artifacts import Builder
from whet.evaluators.differential import compare
from whet.evaluators.examination import Examination
from whet.evaluators.finding import Passed
from whet.evaluators.inputs.plain_data import read
from whet.evaluators.inputs.source import InputSource
from whet.evaluators.needs.abilities import ABILITIES, ATTRIBUTE
from whet.evaluators.needs.asking import ONLY_ASKED
from whet.evaluators.needs.attack import with_conditions
from whet.evaluators.needs.callers import passed
from whet.evaluators.needs.hints import Hints
from whet.evaluators.needs.spots import spots_of
from whet.evaluators.needs.vocabulary import NEEDS, VOCABULARY, broken
from whet.evaluators.oracle import Oracle
from whet.evaluators.pairs import Side
from whet.evaluators.preloads import preloads
from whet.evaluators.python_text import session_text
from whet.sandbox.backends import open_sandbox
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.decode import decode
from whet.sandbox.interpreter import find_interpreter
from whet.testing.preconditions.corpus import PROTOCOLS, pairs


@pytest.fixture(scope="module")
def bare():
    """A sandbox and an interpreter."""
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    sandbox = open_sandbox("bubblewrap", False)
    yield sandbox, find_interpreter(None)
    sandbox.close()


@pytest.fixture(scope="module")
def judged(bare, tmp_path_factory):
    """Compares a rewrite with a function on fresh inputs, and attacks its needs where it agrees."""
    sandbox, interpreter = bare

    def judge(target, workload, candidate, symbol, seed=1):
        task = task_of(tmp_path_factory.mktemp("needs"), target, symbol, workload)
        builder = Builder(task, sandbox, interpreter, preloads(task))
        with closing(InputSource(task, sandbox, interpreter)) as source:
            oracle = Oracle(task, source)
            examination = Examination(builder.build(target), source, seed, 7, 10.0)
            theirs = Side(builder.build(candidate), 7)
            with closing(oracle), closing(examination), closing(theirs):
                compared = compare(examination, theirs, oracle, explain=False)
                if compared.fault is not None:
                    return compared.fault
                found = Passed("agrees", compared.evidence)
                return with_conditions(found, task, examination, theirs, oracle)

    return judge


def task_of(folder, target, symbol, workload=None):
    path = folder / "target.py"
    path.write_text(target)
    return Task("target", "python", Kind.FUNCTION, path, target, symbol, folder, workload=Workload(workload, ()))


def told(found):
    """Returns the needs that a comparison found, with their parameters."""
    assert isinstance(found, Passed), found.detail
    return {(one["need"], one["parameter"]) for one in found.evidence["conditions"]}


PAIRS = (*pairs(), *pairs(PROTOCOLS))
FEWEST = {"evens": 10}
"""Inputs that an original takes at least; of one number there are fewer."""


@pytest.mark.corpus
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_a_rewrite_that_is_right_on_drawn_inputs_alone_is_conditional(judged, pair):
    found = judged(pair.target, pair.workload, pair.wrong, pair.symbol)
    needs = told(found)
    for need, parameters in pair.expects.items():
        assert any((need, parameter) in needs for parameter in parameters), (need, found.evidence["conditions"])


@pytest.mark.corpus
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_an_honest_rewrite_of_the_same_function_has_no_condition(judged, pair):
    found = judged(pair.target, pair.workload, pair.honest, pair.symbol)
    assert told(found) == set()
    assert found.detail == "agrees"
    tried = found.evidence["needs"]["tried"]
    assert sum(tried.values()) >= FEWEST.get(pair.name, 30)
    if pair in pairs(PROTOCOLS):
        assert tried[ONLY_ASKED] >= 3


def test_the_corpus_has_enough_rows_and_names_known_needs():
    assert len(pairs()) >= 14
    assert {need for pair in pairs() for need in pair.expects} <= NEEDS.keys()
    assert len(pairs(PROTOCOLS)) >= 12
    assert {need for pair in pairs(PROTOCOLS) for need in pair.expects} <= {*ABILITIES, ATTRIBUTE}


COMMON = next(pair for pair in pairs() if pair.name == "common-items")


@pytest.mark.corpus
def test_a_condition_has_a_sentence_and_a_call_that_shows_the_difference(judged):
    found = judged(COMMON.target, COMMON.workload, COMMON.wrong, "common")
    conditions = {(one.need, one.parameter): one for one in conditions_of([rung_of(found)])}
    one = conditions["hashable", "right"]
    assert one.sentence == "each item of right can be hashed"
    space = {}
    exec(COMMON.target, space)
    assert f"the value {eval(one.counterexample, space)!r}" in one.difference
    exec(COMMON.wrong, space)
    with pytest.raises(TypeError, match="unhashable"):
        eval(one.counterexample, space)
    strings = conditions["no-string", "right"].counterexample
    exec(COMMON.wrong, space)
    ours = eval(strings, space)
    exec(COMMON.target, space)
    assert eval(strings, space) != ours
    assert found.detail == "agrees, under 3 conditions"


ASKING = {pair.name: pair for pair in pairs(PROTOCOLS)}


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["cells", "evens", "filled", "tails"])
def test_a_call_that_shows_what_a_rewrite_asks_of_an_argument_can_be_pasted(judged, name):
    pair = ASKING[name]
    (need,) = pair.expects
    (one,) = [one for one in conditions_of([rung_of(judged(pair.target, pair.workload, pair.wrong, pair.symbol))])
              if one.need == need]  # fmt: skip
    statements, _, call = one.counterexample.rpartition("; ")
    outcomes = []
    for text in (pair.target, pair.wrong):
        space = {}
        exec(f"{text}\n{statements}", space)
        try:
            outcomes.append(repr(eval(call, space)))
        except TypeError as error:
            outcomes.append(str(error))
    ours, theirs = outcomes
    assert ours != theirs
    assert ours in one.difference
    assert theirs in one.difference


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "parameter", "hint", "by"),
    [("instalments", "amounts", "list[int]", "type hints"), ("dearest", "orders", "list[Order]", "type hints")],
)
def test_a_hint_rules_objects_out_that_do_a_part_only(judged, name, parameter, hint, by):
    pair = ASKING[name]
    target = pair.target.replace(f"({parameter}", f"({parameter}: '{hint}'", 1)
    found = judged(target, pair.workload, pair.wrong, pair.symbol)
    assert told(found).isdisjoint((need, parameter) for need in pair.expects)
    assert {"need": ONLY_ASKED, "parameter": parameter, "by": by} in found.evidence["needs"]["ruled_out"]


RIGHT = (
    ["--until", "differential"],
    3,
    "no_improvement",
    "right as far as it was checked, under 3 conditions; not timed",
)
FASTER = ([], 0, "improved", "faster, and confirmed, under 3 conditions")


@pytest.mark.parametrize(
    ("until", "code", "status", "message"),
    [pytest.param(*RIGHT, id="right"), pytest.param(*FASTER, id="faster", marks=pytest.mark.corpus)],
)
def test_the_command_verifies_under_conditions(whet, scripted, tmp_path, until, code, status, message):
    scripted(ratio=2.0)
    for name, text in (("slow", COMMON.target), ("work", COMMON.workload), ("fast", COMMON.wrong)):
        (tmp_path / f"{name}.py").write_text(text)
    words = ("slow.py::common", "--workload", "work.py", "--candidate", "fast.py", "--sandbox", "bubblewrap")
    ended = whet("verify", *words, *until, "--json", cwd=tmp_path)
    assert ended.returncode == code, ended.stderr
    document = json.loads(ended.stdout)
    assert (document["status"], document["message"]) == (status, message)
    assert sorted(one["need"] for one in document["conditions"]) == ["hashable", "hashable", "no-string"]


def test_conditions_are_printed_with_calls_that_show_them():
    one = Condition("hashable", "xs", "each item of xs can be hashed", "f([[1]])", "expected 1, got 2")
    assert list(condition_lines([one])) == [
        "conditions  it behaves as the original does only if",
        "  each item of xs can be hashed",
        "      f([[1]])",
        "      expected 1, got 2",
    ]


def test_the_bot_tells_conditions_of_what_is_right():
    found = FunctionFinding(
        "a.py::f", "optimize", FunctionStatus.FASTER, conditions=(("xs can be hashed", "f([])", "expected 1"),)
    )
    said = suggestion(found, "block")
    assert "only if" in said
    assert "`xs can be hashed`; else for instance `f([])`: `expected 1`" in said
    assert "only if" not in suggestion(replace(found, answer=FunctionStatus.WRONG), "block")


def rung_of(found):
    return Rung("differential", RungStatus.PASSED, evidence=found.evidence)


HINTED = COMMON.target.replace("left, right", "left: list[int], right: list[int]")
PRIVATE = COMMON.target.replace("common", "_common") + "\n\ndef ask():\n    return _common([1, 2], sorted([2]))\n"
VALID = COMMON.workload + "\n\ndef valid(left, right):\n    return all(type(x) is int for x in (*left, *right))\n"


EDITED = ("common-items", "distinct", "known-words", "positions", "ways")


@pytest.mark.corpus
@pytest.mark.parametrize("pair", [pair for pair in pairs() if pair.name in EDITED], ids=lambda pair: pair.name)
def test_edits_of_the_catalogue_declare_the_conditions_that_they_bring(judged, pair):
    declared = {edit.name: set(edit.assumes) for edit in EDITS}
    brought = set()
    for proposal in proposals(Brief("python", "function", pair.symbol, pair.target)):
        needs = {need for need, _ in told(judged(pair.target, pair.workload, proposal.source, pair.symbol))}
        assert needs <= declared[proposal.edit], proposal.edit
        brought |= needs
    assert brought


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("target", "workload", "by"),
    [(HINTED, COMMON.workload, "type hints"), (COMMON.target, VALID, "valid")],
    ids=["hints", "valid"],
)
def test_what_is_ruled_out_is_no_condition(judged, target, workload, by):
    found = judged(target, workload, COMMON.wrong, "common")
    assert told(found) == set()
    assert {"need": "hashable", "parameter": "right", "by": by} in found.evidence["needs"]["ruled_out"]


@pytest.mark.corpus(one_in=8)
def test_the_baseline_is_asked_once_for_all_candidates_of_an_examination(bare, tmp_path):
    task = task_of(tmp_path, COMMON.target, "common", COMMON.workload)
    builder = Builder(task, *bare, preloads(task))
    with closing(InputSource(task, *bare)) as source:
        oracle = Oracle(task, source)
        examination = Examination(builder.build(COMMON.target), source, 1, 7, 10.0)
        found = []
        with closing(oracle), closing(examination):
            for text in (COMMON.wrong, COMMON.honest, COMMON.wrong):
                with closing(Side(builder.build(text), 7)) as theirs:
                    assert compare(examination, theirs, oracle, explain=False).fault is None
                    found.append(with_conditions(Passed("agrees", {}), task, examination, theirs, oracle))
                inputs = examination.broken_inputs(oracle)
                assert examination.broken_inputs(oracle) is inputs
    first, honest, again = found
    assert first == again
    assert told(first)
    assert not told(honest)
    offered = sum(map(len, inputs.turns))
    assert sum(honest.evidence["needs"]["tried"].values()) == offered
    assert sum(first.evidence["needs"]["tried"].values()) < offered


@pytest.mark.parametrize(
    ("hint", "value", "excluded"),
    [
        ("list[int]", [[1]], True),
        ("list[int]", [1, 2], False),
        ("list[int]", "12", True),
        ("list", [[1]], False),
        ("Sequence[str]", "ab", False),
        ("Sequence[int]", "ab", True),
        ("Iterable[int]", iter([1]), False),
        ("Sequence[int]", iter([1]), True),
        ("list[float]", [float("nan")], False),
        ("list[int]", [float("nan")], True),
        ("list[Hashable]", [[1]], True),
        ("list[T]", [[1]], True),
        ("list[U]", [[1]], False),
        ("dict[str, int]", {"a": []}, True),
        ("'list[int] | None'", None, False),
        ("Optional[list[int]]", ["a"], True),
        ("Any", [[1]], False),
        ("tuple[int, str]", (1, "a"), False),
        ("tuple[int, ...]", (1, "a"), True),
        ("Literal['a']", "b", True),
    ],
)
def test_a_hint_excludes_what_it_surely_does_not_allow(hint, value, excluded):
    hints = Hints(ast.parse("T = TypeVar('T', bound=Hashable)\nU = TypeVar('U')"))
    assert hints.exclude(ast.parse(hint, mode="eval").body, read(encode(value))) is excluded


@pytest.mark.parametrize(
    ("text", "known"),
    [
        (PRIVATE, {"left": ["list[int]"], "right": ["list"]}),
        (PRIVATE.replace("sorted([2])", "given"), {"left": ["list[int]"]}),
        (PRIVATE + "\n\nother = _common\n", {}),
        (PRIVATE.replace("_common", "common"), {}),
    ],
    ids=["all calls", "a name", "passed on", "public"],
)
def test_callers_of_a_private_function_tell_what_it_is_given(tmp_path, text, known):
    task = task_of(tmp_path, text, "_common" if "_common" in text else "common")
    found = passed(task, ["left", "right"])
    assert {name: [ast.unparse(hint) for hint in hints] for name, hints in found.items()} == known


INPUTS = [([1, 2, 3], {"a": [1]}, "xy", 2), ([4, 5], {"b": [2]}, "z", 1), ([6], {"c": [3]}, "w", 3), ([], {}, "", 0)]


@pytest.mark.parametrize("need", VOCABULARY, ids=lambda need: need.name)
def test_each_need_has_inputs_that_break_it_and_leaves_the_input_alone(need):
    values = [read(encode(value)) for value in INPUTS]
    before = [encode(value) for value in INPUTS]
    nested = [read(encode(([[1], 2], [3, 4])))]
    given = nested if need.name in ("no-alias", "acyclic", "shallow") else values
    made = [new for value in given for new in broken(value, spots_of(given, ["a", "b", "c", "d"]), [need])]
    assert made
    if given is values:
        assert [encode(read_again(value)) for value in values] == before
    assert need.said("x").startswith(("x ", "nobody "))


def read_again(value):
    from whet.evaluators.inputs.plain_data import write

    return decode(write(value), lambda name: None)


def test_a_counterexample_names_what_is_held_twice():
    shared = [1, 2]
    shared.append(shared)
    assert session_text("f", (shared, [3])) == "a = [1, 2, None]; a[2] = a; f(a, [3])"
    alike = [1]
    assert session_text("f", (alike, alike)) == "a = [1]; f(a, a)"
    deep = inner = []
    for _ in range(900):
        deep = [deep]
    space = {"f": lambda value: value}
    text = session_text("f", (deep,))
    lines = text.rpartition("; ")
    exec(lines[0], space)
    value = eval(lines[2], space)
    for _ in range(900):
        (value,) = value
    assert value == inner


def test_conditions_of_both_comparisons_are_told_once():
    row = {"need": "hashable", "parameter": "xs", "sentence": "s", "counterexample": "f([])", "difference": "d"}
    other = {**row, "need": "ordered", "sentence": "t"}
    rungs = [
        Rung("differential", RungStatus.PASSED, evidence={"conditions": [row]}),
        Rung("confirm", RungStatus.PASSED, evidence={"differential": {"conditions": [row, other]}}),
    ]
    found = conditions_of(rungs)
    assert found == (Condition(**row), Condition(**other))
    assert (under(found), only_if(found)) == (", under 2 conditions", "only if s, t")
    assert (under(()), only_if(())) == ("", "")
