"""Calls side by side: slots, rates, pauses, the order of what comes back, and an end to waiting."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from whet.agents.asking import Asking
from whet.agents.budget import BudgetMeter
from whet.agents.gates import Abandoned, Gate
from whet.agents.history import TIME_IS_UP, Caps
from whet.agents.lanes import side_by_side
from whet.agents.ledger import Ledger
from whet.agents.limits import ProviderGates, provider_of
from whet.agents.models.base import Brief, Message, Model, ModelError, Reply, Request
from whet.agents.models.in_turn import InTurn
from whet.agents.models.manual import ManualModel
from whet.agents.models.replay import ReplayModel
from whet.agents.models.retry import Retry
from whet.agents.models.tokens import worst_case
from whet.agents.prices import Prices
from whet.core.config import ProviderLimits, load_project_config
from whet.core.errors import BudgetError, UsageError
from whet.core.options import Budget
from whet.core.store import Store
from whet.testing.scripted import Line, ScriptedModel

LONG = 20.0
"""Seconds that nothing here takes, unless it hangs."""


def request(sample: int) -> Request:
    return Request("coder", (Message("user", "faster"),), sample, 100, Brief("python", "function", "f", ""))


class Run:
    """A run's ledger and what asks through it."""

    def __init__(self, home: Path, limits: ProviderLimits | None = None, **caps: float) -> None:
        self.store = Store(home)
        self.run = self.store.begin("optimize", "target", {})
        self.meter = BudgetMeter(Budget(**caps), Prices({}))  # type: ignore[arg-type]
        configured = {} if limits is None else {"paid": limits}
        self.ledger = Ledger(self.store, self.run, self.meter, ProviderGates(configured), retry=Retry(first=0.001))
        self.caps = Caps(self.store, self.run, self.meter)
        self.asking = Asking(self.ledger, self.caps)

    def samples(self, model: Model, count: int) -> list[Reply | ModelError | BudgetError]:
        def question(sample: int) -> Callable[[], Reply]:
            return lambda: self.ledger.ask(model, request(sample))

        return self.asking.each(model, {f"sample:{sample}": question(sample) for sample in range(count)})

    def states(self) -> dict[int, str]:
        return {row["sample"]: row["state"] for row in self.ledger.transcript()}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def paid(script: Callable[[Request], Line]) -> ScriptedModel:
    return ScriptedModel(script, "paid", free=False)


def texts(outcomes: list[Reply | ModelError | BudgetError]) -> list[str]:
    return [outcome.text if isinstance(outcome, Reply) else str(outcome) for outcome in outcomes]


class Meeting:
    """Answers only once so many calls are under way together; counts how many ever were."""

    def __init__(self, parties: int) -> None:
        self.most = 0
        self._now = 0
        self._lock = threading.Lock()
        self._barrier = threading.Barrier(parties)

    def __call__(self, asked: Request) -> str:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        self._barrier.wait(LONG)
        with self._lock:
            self._now -= 1
        return f"answer {asked.sample}"


# Slots


def test_all_slots_are_used_and_never_one_more(home: Path) -> None:
    meeting = Meeting(2)
    run = Run(home, ProviderLimits(slots=2))
    assert texts(run.samples(paid(meeting), 6)) == [f"answer {n}" for n in range(6)]
    assert meeting.most == 2


def test_without_a_configured_limit_four_samples_are_under_way_at_once(home: Path) -> None:
    meeting = Meeting(4)
    Run(home).samples(paid(meeting), 8)
    assert meeting.most == 4


def test_the_samples_of_a_program_are_asked_one_after_another(home: Path) -> None:
    meeting = Meeting(1)
    model = ScriptedModel(meeting)
    Run(home).samples(model, 5)
    assert meeting.most == 1
    assert [asked.sample for asked in model.requests] == list(range(5))


def test_a_person_sees_all_prompts_of_a_round_at_once(home: Path, tmp_path: Path) -> None:
    model = ManualModel(tmp_path / "answers")

    def answer() -> None:
        end = time.monotonic() + LONG
        while len(list(model.folder.glob("*.prompt.md"))) < 6 and time.monotonic() < end:
            time.sleep(0.01)
        for number in range(1, 7):
            (model.folder / f"{number:04}.answer.md").write_text("yes")

    person = threading.Thread(target=answer)
    person.start()
    assert texts(Run(home).samples(model, 6)) == ["yes"] * 6
    person.join()


def test_models_in_turn_are_asked_side_by_side_and_a_blank_reply_goes_on_to_the_next(home: Path) -> None:
    free = ScriptedModel(lambda asked: "" if asked.sample % 2 else "known", "free")
    meeting = Meeting(2)
    outcomes = Run(home).samples(InTurn([paid(meeting), free]), 4)
    assert texts(outcomes) == ["known", "answer 1", "known", "answer 3"]
    assert meeting.most == 2


def test_what_comes_back_has_the_order_of_the_samples(home: Path) -> None:
    later = [threading.Event() for _ in range(4)]
    later[3].set()

    def backwards(asked: Request) -> str:
        assert later[asked.sample].wait(LONG)
        later[asked.sample - 1].set()
        return f"answer {asked.sample}"

    run = Run(home)
    assert texts(run.samples(paid(backwards), 4)) == [f"answer {n}" for n in range(4)]


# One sample's failure


def test_one_failing_sample_does_not_lose_the_others(home: Path) -> None:
    failures: dict[int, Line] = {1: ModelError("the key was refused", fatal=True), 2: ModelError("too long")}
    meeting = Meeting(4)

    def say(asked: Request) -> Line:
        said = meeting(asked)
        return failures.get(asked.sample, said)

    run = Run(home)
    assert texts(run.samples(paid(say), 4)) == ["answer 0", "the key was refused", "too long", "answer 3"]


def test_after_a_fatal_error_no_further_sample_is_sent_and_a_replay_ends_alike(home: Path) -> None:
    def say(asked: Request) -> Line:
        return ModelError("the key was refused", fatal=True) if asked.sample == 1 else f"answer {asked.sample}"

    model = paid(say)
    run = Run(home, ProviderLimits(slots=1))
    first = run.samples(model, 4)
    assert [asked.sample for asked in model.requests] == [0, 1]
    assert texts(first) == ["answer 0", *["the key was refused"] * 3]
    assert run.ledger.cost().calls == 1
    again = Run(home)
    assert texts(again.samples(ReplayModel(again.store, run.run), 4)) == texts(first)


def test_a_cap_ends_some_samples_and_the_same_ones_when_the_run_comes_there_again(home: Path) -> None:
    worst = worst_case(request(0)).total
    model = paid(lambda asked: Reply("yes", "paid", worst_case(asked)))
    run = Run(home, tokens=2 * worst)
    first = run.samples(model, 4)
    assert sorted(isinstance(outcome, BudgetError) for outcome in first) == [False, False, True, True]
    assert len(model.requests) == 2
    again = Run(home)
    again.caps.copy(run.run)
    assert texts(again.samples(ReplayModel(again.store, run.run), 4)) == texts(first)


def test_a_bug_is_raised_at_once_though_others_are_under_way(home: Path) -> None:
    release = threading.Event()

    def say(asked: Request) -> str:
        if asked.sample == 2:
            raise ZeroDivisionError
        if not release.wait(LONG):
            waited_for.append(asked.sample)
        return ""

    waited_for: list[int] = []
    with pytest.raises(ZeroDivisionError):
        Run(home).samples(paid(say), 4)
    release.set()
    assert waited_for == []


# The time is up


@pytest.fixture
def release() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


@pytest.mark.corpus
def test_calls_under_way_when_the_time_is_up_are_abandoned_and_count_at_their_worst_case(
    home: Path, release: threading.Event
) -> None:
    late = threading.Event()

    def say(asked: Request) -> str:
        if asked.sample == 1:
            release.wait(LONG)
            late.set()
        return f"answer {asked.sample}"

    run = Run(home, ProviderLimits(slots=3), seconds=2.0)
    assert texts(run.samples(paid(say), 3)) == ["answer 0", TIME_IS_UP, "answer 2"]
    assert run.states() == {0: "done", 1: "unknown", 2: "done"}
    spent = run.ledger.cost()
    assert spent.calls == 3
    assert spent.tokens.output >= 100
    release.set()
    assert late.wait(LONG)
    with pytest.raises(Abandoned):
        run.ledger.ask(paid(lambda asked: ""), request(7))
    assert run.states()[1] == "unknown", "nobody waits for what came after all"
    assert run.ledger.cost() == spent
    again = Run(home)
    again.caps.copy(run.run)
    replayed = again.samples(ReplayModel(again.store, run.run), 3)
    assert texts(replayed) == ["answer 0", TIME_IS_UP, "answer 2"]


def test_waiting_for_a_person_ends_with_the_time(home: Path, tmp_path: Path) -> None:
    run = Run(home, seconds=1.0)
    assert texts(run.samples(ManualModel(tmp_path / "answers"), 2)) == [TIME_IS_UP] * 2
    assert run.states() == {0: "unknown", 1: "unknown"}


def test_waiting_for_a_rate_ends_with_the_time_and_leaves_nobody_waiting(home: Path) -> None:
    before = threading.active_count()
    run = Run(home, ProviderLimits.model_validate({"requests-per-minute": 1}), seconds=1.0)
    assert texts(run.samples(paid(lambda asked: "yes"), 3)).count(TIME_IS_UP) == 2
    assert list(run.states().values()) == ["done"], "what was never sent is no call"
    end = time.monotonic() + LONG
    while threading.active_count() > before:
        assert time.monotonic() < end, "a thread still waits"
        time.sleep(0.01)


def test_waiting_between_attempts_ends_with_the_ledger(home: Path) -> None:
    run = Run(home)
    model = paid(lambda asked: ModelError("busy", retry_after=LONG))
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(run.ledger.ask, model, request(0))
        end = time.monotonic() + LONG
        while run.states() != {0: "error"} and time.monotonic() < end:
            time.sleep(0.01)
        run.ledger.close()
        with pytest.raises(Abandoned):
            asked.result(LONG / 2)


def test_one_question_may_run_out_of_time_too(home: Path, release: threading.Event) -> None:
    run = Run(home, seconds=1.0)
    model = paid(lambda asked: "yes" if release.wait(LONG) else "")
    for _ in range(2):
        with pytest.raises(BudgetError, match="--budget-seconds"):
            run.asking.one(model, "judge:1", lambda: run.ledger.ask(model, request(0)))
    assert len(model.requests) == 1


# Gates


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def expect(gate: Gate, passes: bool, tokens: int = 1) -> None:
    """Asserts that a call may pass now, or that it has to wait."""

    def attempt() -> None:
        with gate.passage(tokens):
            pass

    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(attempt)
        if passes:
            asked.result(LONG)
            return
        with pytest.raises(TimeoutError):
            asked.result(0.2)
        gate.close()
        with pytest.raises(Abandoned):
            asked.result(LONG)


@pytest.mark.parametrize(
    ("limits", "used", "next_one", "allowed"),
    [
        ({"requests-per-minute": 2}, [1], 1, True),
        ({"requests-per-minute": 2}, [1, 1], 1, False),
        ({"tokens-per-minute": 100}, [60], 40, True),
        ({"tokens-per-minute": 100}, [60], 41, False),
        ({"tokens-per-minute": 100}, [], 5000, True),
    ],
)
def test_the_rates_hold_within_a_minute(limits: dict[str, int], used: list[int], next_one: int, allowed: bool) -> None:
    for seconds, expected in ((59.0, allowed), (60.0, True)):
        clock = Clock()
        gate = Gate(ProviderLimits.model_validate(limits), clock)
        for tokens in used:
            with gate.passage(tokens):
                pass
        clock.now += seconds
        expect(gate, expected, next_one)


def test_tokens_count_as_they_came_to() -> None:
    gate = Gate(ProviderLimits(tokens_per_minute=100), Clock())
    with gate.passage(90) as passage:
        passage.tokens = 10
    expect(gate, True, 90)


def test_a_pause_holds_for_all_until_it_is_over() -> None:
    for seconds, expected in ((9.0, False), (10.0, True)):
        clock = Clock()
        gate = Gate(ProviderLimits(), clock)
        gate.pause(10.0)
        gate.pause(1.0)
        clock.now += seconds
        expect(gate, expected)


def test_a_providers_pause_makes_its_other_calls_wait_and_nobody_elses(home: Path) -> None:
    run = Run(home)
    told = threading.Event()
    ledger = Ledger(run.store, run.run, run.meter, ProviderGates(clock=Clock()), sleep=lambda seconds: told.set())

    def say(asked: Request) -> Line:
        return "yes" if told.is_set() else ModelError("too many requests", retry_after=30.0)

    model = paid(say)
    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(ledger.ask, model, request(0))]
        assert told.wait(LONG)
        asked.append(pool.submit(ledger.ask, model, request(1)))
        other = ScriptedModel(lambda asked: "yes", "other", free=False)
        assert ledger.ask(other, request(2)).text == "yes"
        with pytest.raises(TimeoutError):
            asked[1].result(0.2)
        assert len(model.requests) == 1
        ledger.close()
        for waiting in asked:
            with pytest.raises(Abandoned):
                waiting.result(LONG)


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ("anthropic:claude", "anthropic"),
        ("openai:gpt", "openai"),
        ("openai:@org/m@https://llm.example.org:8000/v1", "llm.example.org"),
        ("manual:/some/@http/folder", "manual"),
        ("catalogue", "catalogue"),
    ],
)
def test_a_provider_is_what_stands_before_the_colon_or_the_host(model: str, provider: str) -> None:
    assert provider_of(model) == provider


def test_limits_are_read_from_the_project(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.whet.providers."llm.example.org"]\nslots = 2\nrequests-per-minute = 50\ntokens-per-minute = 1000\n'
    )
    (limits,) = load_project_config(tmp_path).providers.values()
    assert (limits.slots, limits.requests_per_minute, limits.tokens_per_minute) == (2, 50, 1000)
    (tmp_path / "pyproject.toml").write_text('[tool.whet.providers."anthropic"]\nslot = 2\n')
    with pytest.raises(UsageError, match=r"'providers.anthropic.slot'; did you mean 'slots'"):
        load_project_config(tmp_path)
    (tmp_path / "pyproject.toml").write_text('[tool.whet.providers."anthropic"]\nslots = 0\n')
    with pytest.raises(UsageError, match=r"providers.anthropic.slots"):
        load_project_config(tmp_path)


# Lanes


def test_tasks_begin_in_their_order_and_come_back_by_their_place() -> None:
    began: list[int] = []

    def task(number: int) -> Callable[[], int]:
        def work() -> int:
            began.append(number)
            return number * number

        return work

    assert side_by_side([task(n) for n in range(5)], 1, LONG) == {n: n * n for n in range(5)}
    assert began == list(range(5))
    assert side_by_side([], 3, LONG) == {}


def test_as_many_tasks_are_under_way_as_there_are_lanes() -> None:
    together = threading.Barrier(3)
    came = side_by_side([lambda: together.wait(LONG)] * 3, 3, math.inf)
    assert sorted(came.values()) == [0, 1, 2]


def test_nothing_begins_after_the_time(release: threading.Event) -> None:
    began: list[int] = []

    def task(number: int) -> Callable[[], None]:
        def work() -> None:
            began.append(number)
            if number == 1:
                release.wait(LONG)

        return work

    assert side_by_side([task(n) for n in range(4)], 1, 1.0) == {0: None}
    release.set()
    time.sleep(0.05)
    assert began == [0, 1]
