"""Runs as training data: its columns, its figures, its pairs, and what is kept out of it."""

from __future__ import annotations

import json
import os
from pathlib import Path

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import ROWS, SOURCE, WINNER, Place, version

import whet as library
from whet.agents.answers import parse_answer
from whet.agents.learning.export import FORMATS
from whet.agents.learning.pairs import LEAST_MARGIN, differing
from whet.agents.learning.rewards import NO_GAIN, STEPS, UNJUDGED, UNUSABLE, reward_of, speed_reward
from whet.agents.learning.tokens import tokens
from whet.core.candidate import content_id
from whet.core.measurement import Measurement, Outcome, Speedup
from whet.core.plain import to_plain
from whet.core.profile import HotLine
from whet.core.store import Store
from whet.core.verdict import NO_GAIN as NO_GAIN_REASONS
from whet.core.verdict import Reason, Rung, RungStatus, Verdict
from whet.testing.scripted import ScriptedModel
from whet.testing.tabled import Row

WRONG, RIGHT = version("1, 0"), version("1, 1")
LANGUAGES = ("python", "cpp", "asm", "")


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


@pytest.fixture
def lines(whet, tmp_path):
    """Exports on the command line, and returns the lines as data."""

    def export(form, *words):
        file = tmp_path / f"{form}.jsonl"
        done = whet("runs", "export", *words, "--format", form, "-o", file)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        text = file.read_text(encoding="utf-8")
        file.unlink()
        assert text.endswith("\n")
        return [json.loads(line) for line in text.splitlines()]

    return export


def source_of(message):
    """Returns the file in an answer, as the reward function reads it."""
    (turn,) = message
    assert turn["role"] == "assistant"
    return parse_answer(turn["content"], SOURCE, "python", "f.py").source


# what each form holds


@pytest.mark.corpus(one_in=8)
def test_efficient_solutions_come_with_what_they_take(place, lines):
    hot = HotLine(2, 0.9, "    return 2, 0")
    rows = {**ROWS, version("2, 0"): Row(3.0, hot=(hot,)), SOURCE: Row(hot=(HotLine(2, 1.0, "    return sorted(xs)"),))}
    result = place.optimize(evaluator=place.evaluator(rows=rows))
    found = lines("sft", result.run)
    # "3, 0" was measured 5x, and not confirmed: the later figure counts.
    assert {source_of(line["completion"]) for line in found} == {version(n) for n in ("1, 1", "2, 0", "3, 1")}
    best = found[0]
    assert best["schema"] == "whet.sft/1"
    assert best["solution"]["id"] == WINNER == content_id(source_of(best["completion"]))
    assert (best["solution"]["ratio"], best["solution"]["confirmed"]) == (3.9, True)
    assert [line["solution"]["confirmed"] for line in found[1:]] == [False, False]
    assert best["overhead"]["solution"] is None, "nothing was built upon the last round's"
    (base,) = best["overhead"]["baseline"]["lines"]
    assert base == {"line": 2, "share": 1.0, "text": "    return sorted(xs)"}
    built_upon = next(line for line in found if source_of(line["completion"]) == version("2, 0"))
    assert built_upon["overhead"]["solution"]["lines"] == [to_plain(hot)]
    (asked,) = best["prompt"]
    assert asked["role"] == "user"
    assert SOURCE in asked["content"]


def test_a_winner_that_was_built_upon_brings_its_profile(place, lines):
    hot = HotLine(2, 0.9, "    return 2, 0")
    result = place.optimize(evaluator=place.evaluator(rows={**ROWS, version("2, 0"): Row(9.0, hot=(hot,))}))
    best = lines("sft", result.run)[0]
    assert (best["solution"]["id"], best["solution"]["confirmed"]) == (content_id(version("2, 0")), True)
    assert best["overhead"]["solution"]["lines"] == [to_plain(hot)]


def test_candidates_are_ranked_by_reward(place, lines):
    (line,) = lines("rrhf", place.optimize().run)
    assert line["schema"] == "whet.rrhf/1"
    assert len(line["responses"]) == len(line["scores"]) == len(line["candidates"]) == len(ROWS)
    assert line["scores"] == sorted(line["scores"], reverse=True)
    assert line["candidates"][0]["id"] == WINNER
    assert line["candidates"][-1]["reason"] == "wrong_output"
    assert SOURCE in line["query"]
    for response, candidate in zip(line["responses"], line["candidates"], strict=True):
        assert content_id(parse_answer(response, SOURCE, "python", "f.py").source) == candidate["id"]


def test_a_chosen_answer_is_worth_clearly_more_than_the_rejected(place, lines):
    found = lines("dpo", place.optimize().run)
    assert found
    for line in found:
        assert line["schema"] == "whet.dpo/1"
        assert {"prompt", "chosen", "rejected"} <= line.keys()
        assert line["better"]["reward"] - line["worse"]["reward"] >= LEAST_MARGIN
        assert content_id(source_of(line["chosen"])) == line["better"]["id"] == WINNER
        assert content_id(source_of(line["rejected"])) == line["worse"]["id"]


def test_of_nearly_equal_texts_the_differing_tokens_are_marked(place, lines):
    (line,) = lines("fault-pairs", place.optimize().run)
    assert line["schema"] == "whet.fault-pairs/1"
    assert line["incorrect"]["id"] == content_id(WRONG)
    assert "".join(part["incorrect"] for part in line["segments"]) == WRONG == source_of(line["rejected"])
    # Of those as like as it is, the one that is worth most.
    nearest = version("2, 0")
    assert "".join(part["correct"] for part in line["segments"]) == nearest == source_of(line["chosen"])
    assert line["correct"]["id"] == content_id(nearest)
    assert [part for part in line["segments"] if part["differs"]] == [
        {"differs": True, "correct": "2", "incorrect": "1"}
    ]
    assert 0.8 <= line["similarity"] < 1.0


@pytest.mark.corpus
def test_every_line_tells_its_task_its_licence_and_its_runs(place, lines):
    run = place.optimize().run
    for form in FORMATS:
        for line in lines(form, run, "--licence", "MIT"):
            assert line["licence"] == "MIT"
            assert line["provenance"]["tool"] == f"whet {library.__version__}"
            assert [told["run"] for told in line["provenance"]["runs"]] == [run]
            assert line["task"] == {
                "name": "f",
                "language": "python",
                "filename": "f.py",
                "symbol": "f",
                "metric": "time",
                "baseline": content_id(SOURCE),
            }
    assert lines("sft", run)[0]["licence"] == "unknown"


@pytest.mark.corpus(one_in=8)
def test_runs_on_one_task_are_one_group(place, lines):
    first = place.optimize().run
    newer = {**ROWS, RIGHT: Row(7.0)}
    second = place.optimize(evaluator=place.evaluator(rows=newer)).run
    (line,) = lines("rrhf", "--all")
    assert len(line["scores"]) == len(ROWS)
    known = {candidate["id"]: candidate for candidate in line["candidates"]}
    assert known[content_id(RIGHT)]["ratio"] == 7.0
    assert {told["run"] for told in line["provenance"]["runs"]} == {second}
    assert lines("rrhf", first, second) == [line]


# what stays out


@pytest.mark.corpus
def test_no_line_names_a_folder_a_seed_or_a_key(place, lines, whet):
    key = "sk-ant-REDACTED-0123456789abcdef"
    home, secret = version(f"'{Path.home()}/data'"), version(f"'{key}'")
    texts = iter([f"```python\n{text}```" for text in (home, secret, RIGHT, WRONG)])

    def say(request):
        return next(texts, "nothing") if request.role == "coder" else ""

    rows = {
        home: Row(9.0),
        secret: Row(9.0),
        RIGHT: Row(2.0),
        WRONG: Row(reason=Reason.CRASH, detail=f"at {place.path}"),
    }
    seed = 7_411_502_113
    model = ScriptedModel(say, name=f"mine@https://user:{key}@host")
    run = place.optimize(
        model=model, judge_model="catalogue", rounds=2, evaluator=place.evaluator(rows=rows), seed=seed
    ).run
    for form in FORMATS:
        text = json.dumps(lines(form, run))
        for private in (key, str(Path.home()) + "/", str(place.path.parent), str(seed), "https://"):
            assert private not in text, (form, private)
    said = whet("runs", "export", run, "--format", "sft")
    assert said.stderr == "2 texts with a folder of yours, or what looks like a key, left out\n"
    assert len(said.stdout.splitlines()) == 1


@pytest.mark.corpus
def test_what_cannot_be_exported_is_one_line(whet, place, tmp_path):
    run = place.optimize(rounds=1).run
    store = Store(place.home)
    bare = store.begin("verify", "f.py::f", {})
    store.close()
    taken = tmp_path / "taken.jsonl"
    taken.write_text("mine\n")
    for words, said in (
        ((run, "--format", "dop"), "did you mean"),
        ((run, "--format", "sft", "-o", taken), "exists"),
        ((run, "--format", "sft", "-o", tmp_path / "none" / "a"), "cannot be written"),
        ((run, "--format", "sft", "--evidence", tmp_path / "a.zip"), "one of them"),
        ((run, bare, "--format", "sft"), f"run {bare} holds no candidate"),
        (("nothing", "--format", "sft"), "no run"),
        (("--format", "sft"), "--all"),
        ((run, "--all", "--format", "sft"), "--all"),
        ((run, "--all"), "--format"),
        ((run, "--licence", "MIT"), "--format"),
        ((run, bare), "one run"),
        ((), "one run"),
    ):
        done = whet("runs", "export", *words)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert said in done.stderr, words
        assert done.stderr.count("\n") == 1, words
    assert taken.read_text() == "mine\n"


def test_runs_without_a_fast_candidate_give_no_solution(whet, place):
    run = place.optimize(rounds=1, evaluator=place.evaluator(rows={})).run
    done = whet("runs", "export", run, "--format", "sft")
    assert done.returncode == 2
    assert "shown to be faster" in done.stderr


# rewards


ratios = st.floats(0.001, 1000.0)
figures = st.lists(ratios, min_size=3, max_size=3).map(sorted)


def speedup(low, ratio, high):
    return Speedup(ratio, low, high, 0.99, "time", 10, 40, (0.99, 1.01), "the original", ())


def measured(outcome, low, ratio, high, disturbed=False):
    return Measurement(outcome, speedup(low, ratio, high), 0.001, disturbed)


def right(*figures, **options):
    return Verdict("c", (Rung("differential", RungStatus.PASSED),), measured(*figures, **options))


def wrong(reason):
    return Verdict("c", (Rung("differential", RungStatus.FAILED, reason),))


FAULTS = sorted(set(Reason) - NO_GAIN_REASONS)


@given(st.sampled_from(FAULTS), st.sampled_from(Outcome), figures)
def test_a_wrong_candidate_is_worth_less_than_any_right_one(reason, outcome, found):
    worst, least = reward_of(wrong(reason)), reward_of(right(outcome, *found))
    assert -1.0 <= worst < UNJUDGED < least <= 1.0


below, above = st.floats(0.001, 0.999), st.floats(1.001, 1000.0)


@given(below, above, below, above, st.sampled_from([Outcome.SLOWER, Outcome.NOT_SHOWN]))
def test_slower_is_worth_less_than_no_gain_and_faster_more(slow, fast, low, high, seen):
    slower = reward_of(right(seen, slow / 2, slow, slow))  # a search may stop before it is shown
    same = reward_of(right(Outcome.NOT_SHOWN, low, 1.0, high))
    faster = reward_of(right(Outcome.FASTER, fast, fast, 2 * fast))
    assert slower < same == NO_GAIN < faster


@given(figures)
def test_what_was_disturbed_or_not_shown_to_be_faster_is_no_gain(found):
    assert reward_of(right(Outcome.NOT_SHOWN, *found, disturbed=True)) == NO_GAIN
    assert reward_of(right(Outcome.NOT_SHOWN, *found)) <= NO_GAIN


@given(st.floats(1.0, 1000.0), st.floats(1.01, 10.0))
def test_rewards_keep_the_order_of_speedups_and_mirror_slowdowns(ratio, further):
    shown = speed_reward(measured(Outcome.FASTER, *[ratio] * 3))
    assert shown < speed_reward(measured(Outcome.FASTER, *[ratio * further] * 3))
    slowed = speed_reward(measured(Outcome.SLOWER, *[1 / ratio] * 3))
    assert shown + slowed == pytest.approx(1.0)


def test_a_candidate_that_broke_a_rule_or_was_never_run_gains_nothing():
    for reason in (Reason.CHEATING, Reason.SANDBOX_VIOLATION, Reason.FORBIDDEN_CONSTRUCT, Reason.SYNTAX_ERROR):
        assert reward_of(wrong(reason)) == UNUSABLE
    skipped = Verdict("c", (Rung("differential", RungStatus.SKIPPED, Reason.UNSUPPORTED_CPU),))
    assert reward_of(skipped) == UNJUDGED
    assert min(STEPS.values()) > UNUSABLE
    assert max(STEPS.values()) < UNJUDGED


# tokens and marks


pieces = st.sampled_from(
    [
        "x",
        "total",
        "1",
        "2.5e3",
        '"a b"',
        "'''",
        '"""',
        "'",
        "# note",
        "//",
        "/*",
        "*/",
        "\n",
        "  ",
        "\t",
        "\r",
        "+=",
        "é",
        "\0",
    ]
)
texts = st.one_of(st.text(max_size=60), st.lists(pieces, max_size=30).map("".join))


@pytest.mark.corpus
@given(texts, st.sampled_from(LANGUAGES))
def test_tokens_lose_nothing(text, language):
    assert "".join(tokens(text, language)) == text


@given(texts, texts, texts, texts, st.sampled_from(LANGUAGES))
def test_marks_rebuild_both_texts(head, one, other, tail, language):
    correct, incorrect = head + one + tail, head + other + tail
    marked = differing(correct, incorrect, language)
    assert "".join(part.correct for part in marked.segments) == correct
    assert "".join(part.incorrect for part in marked.segments) == incorrect
    assert all((part.correct != part.incorrect) == part.differs for part in marked.segments)
    assert 0.0 <= marked.similarity <= 1.0
    assert (marked.similarity == 1.0) == (correct == incorrect)


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("python", "a //= 2  # b c", ["a", " ", "//=", " ", "2", "  ", "# b c"]),
        ("python", 'rb"x y" + """\n"\n"""', ['rb"x y"', " ", "+", " ", '"""\n"\n"""']),
        ("cpp", "a<<=1; // b c\n/* d */", ["a", "<<=", "1", ";", " ", "// b c", "\n", "/* d */"]),
        ("asm", "movq $0x1f, %rax", ["movq", " ", "$", "0x1f", ",", " ", "%", "rax"]),
    ],
)
def test_tokens_are_those_of_the_language(language, text, found):
    assert tokens(text, language) == found


def test_texts_that_differ_in_long_parts_are_not_compared():
    assert differing("a + " * 2000, "b - " * 2000, "python") is None
    assert differing("a + " * 2000 + "1", "a + " * 2000 + "2", "python").similarity > 0.99
