"""whet as the environment of a training run: scripted completions in, rewards out."""

from __future__ import annotations

import gc
import json
import os

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

import pytest
from bundles import GOOD, SLOW, WORKLOAD, WRONG
from places import ROWS, SOURCE, Place, version

import whet as library
from whet.agents.learning.reward import RewardFunction, reward_function
from whet.agents.learning.rewards import BROKEN, NO_GAIN, UNUSABLE
from whet.agents.learning.rewards import WRONG as MISTAKEN
from whet.core.errors import BaselineError, UsageError
from whet.core.options import Options
from whet.testing.scripted import ScriptedModel
from whet.testing.tabled import TabledEvaluator

OPTIONS = {"sandbox": "bubblewrap", "seed": 5}


def fenced(source: str) -> str:
    return f"```python\n{source}```"


def chat(text: str) -> list[dict[str, str]]:
    return [{"role": "assistant", "content": text}]


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


class Watched(TabledEvaluator):
    """Counts how often it is closed, and keeps what is announced."""

    closed = 0

    def announce(self, candidates):
        self.announced = [*getattr(self, "announced", []), [one.id for one in candidates]]

    def close(self):
        self.closed += 1


@pytest.fixture
def evaluator(place):
    return Watched(place.task, ROWS, journal=place.evaluated)


# the seam to trainers


def test_rewards_come_in_the_order_of_the_completions(evaluator):
    texts = [version("1, 0"), version("2, 1"), SOURCE, version("1, 1"), version("2, 0")]
    with reward_function("f.py::f", evaluator=evaluator) as reward:
        found = reward([fenced(text) for text in texts])
        backwards = reward(completions=[fenced(text) for text in reversed(texts)])
    assert all(isinstance(one, float) for one in found)
    assert found == sorted(found)
    assert len(set(found)) == len(found)
    assert found[0] == MISTAKEN
    assert found[2] == NO_GAIN
    assert backwards == found[::-1]


def test_texts_and_chats_are_worth_the_same_and_other_columns_do_not_matter(evaluator):
    text = fenced(version("1, 1"))
    with reward_function("f.py::f", evaluator=evaluator) as reward:
        plain = reward([text])
        columns = {"prompts": [reward.prompt], "completion_ids": [[1, 2]], "licence": ["MIT"], "trainer_state": None}
        assert reward(completions=[chat(text)], **columns) == plain
        assert reward([[{"role": "user", "content": "again"}, *chat(text)]]) == plain


def test_trainers_find_a_name(evaluator):
    with reward_function("f.py::f", evaluator=evaluator) as reward:
        assert reward.__name__ == "whet_reward"


def test_an_answer_in_parts_is_read_against_the_original(evaluator):
    edit = "<<<<<<< SEARCH\n    return sorted(xs)\n=======\n    return 1, 1\n>>>>>>> REPLACE\n"
    with reward_function("f.py::f", evaluator=evaluator) as reward:
        assert reward([edit]) == reward([fenced(version("1, 1"))])


@pytest.mark.parametrize(
    "completion",
    ["", "I cannot.", "```python\ndef f(xs):", "\ud800", [], chat(""), [{"role": "assistant"}], [{"content": [1]}]],
)
def test_what_cannot_be_read_is_worth_least(evaluator, completion):
    with reward_function("f.py::f", evaluator=evaluator) as reward:
        assert reward([completion]) == [UNUSABLE]


def test_a_text_is_judged_once_and_new_ones_are_announced_together(place, evaluator):
    one, other = fenced(version("1, 1")), fenced(version("2, 0"))
    with reward_function("f.py::f", evaluator=evaluator) as reward:
        reward([one, other, one])
        reward([other, chat(one)])
        assert reward([]) == []
    assert [len(batch) for batch in evaluator.announced] == [2]
    evaluated = place.evaluated.read_text().split()
    assert (evaluated.count("check"), evaluated.count("measure"), evaluated.count("confirm")) == (2, 2, 0)


def test_without_time_the_right_ones_are_worth_the_same(place, evaluator):
    texts = [fenced(version(number)) for number in ("1, 0", "1, 1", "2, 1")]
    with reward_function("f.py::f", evaluator=evaluator, until="differential") as reward:
        assert reward(texts) == [MISTAKEN, NO_GAIN, NO_GAIN]
    assert "measure" not in place.evaluated.read_text()


# its sandbox


def test_it_closes_its_evaluator_once(evaluator):
    reward = reward_function("f.py::f", evaluator=evaluator)
    reward.close()
    reward.close()
    assert evaluator.closed == 1
    with pytest.raises(ValueError, match="closed"):
        reward([fenced(version("1, 1"))])


def test_one_that_is_forgotten_is_closed(evaluator):
    RewardFunction(evaluator, Options())
    gc.collect()
    assert evaluator.closed == 1


def test_a_baseline_that_cannot_be_used_is_an_error(place):
    evaluator = Watched(place.task, {}, invalid="too short to time")
    with pytest.raises(BaselineError, match="too short"):
        reward_function("f.py::f", evaluator=evaluator)
    assert evaluator.closed == 1


@pytest.mark.parametrize("until", ["build", "confirm", "nowhere"])
def test_a_rung_that_gives_no_reward_is_refused(evaluator, until):
    with pytest.raises(UsageError, match="--until"):
        reward_function("f.py::f", evaluator=evaluator, until=until)


# with the ladder


@pytest.fixture
def target(tmp_path):
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "workload.py").write_text(WORKLOAD)
    return f"{tmp_path / 'slow.py'}::unique"


def options(target):
    return {**OPTIONS, "workload": target.replace("slow.py::unique", "workload.py")}


@pytest.mark.corpus(one_in=8)
def test_scripted_completions_meet_the_ladder(target):
    exits = "def unique(items):\n    import os\n    os._exit(0)\n"
    broken = "def unique(items)\n    return items\n"
    completions = [fenced(GOOD), chat(fenced(WRONG)), fenced(exits), fenced(broken), "no code", chat(fenced(SLOW))]
    with reward_function(target, until="differential", **options(target)) as reward:
        assert reward(completions=completions) == [NO_GAIN, MISTAKEN, BROKEN, UNUSABLE, UNUSABLE, NO_GAIN]


@pytest.mark.corpus
def test_exported_answers_are_worth_what_the_export_says(target, whet, tmp_path):
    model = ScriptedModel({"coder": [fenced(GOOD), fenced(WRONG)]})
    result = library.optimize(
        target,
        model=model,
        judge_model="catalogue",
        rounds=1,
        candidates=2,
        home=tmp_path / "home",
        until="differential",
        **options(target),
    )
    raising = tmp_path / "raising.py"
    raising.write_text("def unique(items):\n    raise MemoryError\n")
    told = {"candidate": raising, "home": tmp_path / "home", "until": "differential"}
    judged = library.verify(target, **told, **options(target))
    done = whet("runs", "export", result.run, judged.run, "--format", "rrhf")
    line = json.loads(done.stdout)
    assert line["scores"][0] == NO_GAIN
    assert [one["origin"] for one in line["candidates"] if one["run"] == judged.run] == ["file:raising.py"]
    assert sorted(line["scores"], reverse=True) == line["scores"]
    assert len(line["scores"]) == 3
    assert str(tmp_path) not in done.stdout
    with reward_function(target, until="differential", **options(target)) as reward:
        assert reward.prompt == line["query"]
        assert reward(line["responses"]) == line["scores"]


@pytest.mark.corpus
def test_what_takes_less_memory_is_worth_more(tmp_path):
    (tmp_path / "squares.py").write_text("def total(n):\n    return sum([i * i for i in range(n)])\n")
    (tmp_path / "workload.py").write_text(
        "sizes = [10, 200_000, 400_000]\ndef make_input(size, rng):\n    return (size - rng.randrange(9),)\n"
    )
    light = "def total(n):\n    return sum(i * i for i in range(n))\n"
    heavy = "def total(n):\n    kept = [i * i for i in range(n)]\n    return sum(kept + kept[:0] + [0] * n)\n"
    wrong = "def total(n):\n    return sum(i * i for i in range(n + 1))\n"
    chosen = {"metric": "memory", "workload": tmp_path / "workload.py"}
    with reward_function(f"{tmp_path / 'squares.py'}::total", **OPTIONS, **chosen) as reward:
        found = reward([fenced(wrong), fenced(heavy), fenced(light)])
    assert found[0] == MISTAKEN
    assert 0.0 < found[1] < NO_GAIN < found[2] < 1.0


@pytest.mark.corpus
def test_a_completion_is_worth_what_its_figures_say(target, scripted):
    slower = SLOW.replace("    return seen", "    sorted(items)\n    return seen")
    same = SLOW.replace("seen", "known")
    scripted(ratio=lambda source, workload: 20.0 if source == GOOD else 0.5 if source == slower else 1.0)
    with reward_function(target, **options(target)) as reward:
        fast, unchanged, slow, wrong = reward([fenced(text) for text in (GOOD, same, slower, WRONG)])
    assert wrong < 0.0 < slow < unchanged == NO_GAIN < 0.9 < fast


@pytest.mark.corpus
@pytest.mark.timed
def test_a_faster_completion_is_worth_more_than_a_slower_one(target):
    slower = SLOW.replace("    return seen", "    sorted(items * 200)\n    return seen")
    with reward_function(target, **options(target)) as reward:
        fast, same, slow, wrong = reward([fenced(GOOD), fenced(SLOW), fenced(slower), fenced(WRONG)])
    # What the machine disturbs is no gain; that slower is less is shown by memory above.
    assert wrong < 0.0 < slow <= same == NO_GAIN < 0.9 < fast
