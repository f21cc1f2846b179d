"""The call ledger: what was recorded is not asked again, what may have been charged counts, replays cost nothing."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from paths import TESTS

from whet.agents.budget import BudgetMeter
from whet.agents.calls import Calls
from whet.agents.ledger import Ledger
from whet.agents.limits import ProviderGates
from whet.agents.models.anthropic import AnthropicModel
from whet.agents.models.base import Brief, Message, Model, ModelError, Reply, Request, Usage
from whet.agents.models.in_turn import InTurn
from whet.agents.models.openai import OpenAIModel
from whet.agents.models.replay import ReplayModel
from whet.agents.models.retry import Retry
from whet.agents.models.tokens import worst_case
from whet.agents.prices import Price, Prices
from whet.core.errors import BudgetError, UsageError
from whet.core.options import Budget
from whet.core.result import Cost, ModelCost, Tokens
from whet.core.store import Store
from whet.testing.fake_provider import FakeProvider, ProviderFailure
from whet.testing.postgres import dumped
from whet.testing.scripted import Line, ScriptedModel

PRICES = Prices({"paid": Price(input=10, output=100, cached=1)})
QUICK = Retry(attempts=3, first=0.001)


@pytest.fixture
def store(tmp_path: Path, database: str) -> Iterator[Store]:
    opened = Store(tmp_path / "home")
    yield opened
    opened.close()


@pytest.fixture
def run(store: Store) -> str:
    return store.begin("optimize", "target", {})


def meter(**caps: float) -> BudgetMeter:
    return BudgetMeter(Budget(**caps), PRICES)  # type: ignore[arg-type]


def ledger(store: Store, run: str, **caps: float) -> Ledger:
    return Ledger(store, run, meter(**caps), retry=QUICK)


def request(sample: int = 0, text: str = "make it faster", role: str = "coder") -> Request:
    messages = (Message("system", "the rules", stable=True), Message("user", text))
    return Request(role, messages, sample, 100, Brief("python", "function", "f", text, tried=("a", "b")))


def paid(*lines: Line, name: str = "paid") -> ScriptedModel:
    return ScriptedModel({"coder": lines}, name, free=False)


def reply(text: str = "answer", **counts: int) -> Reply:
    return Reply(text, "paid", Usage(**(counts or {"input": 30, "cache_read": 60, "output": 10})))


COST = (30 * 10 + 60 * 1 + 10 * 100) / 1e6
WORST = worst_case(request())
WORST_USD = (WORST.cache_write * 12.5 + 100 * 100) / 1e6


# Recording


def test_a_recorded_reply_is_not_asked_for_again(store: Store, run: str) -> None:
    model = paid(reply("answer"), reply("another"))
    first = ledger(store, run)
    assert [first.ask(model, request()).text for _ in range(3)] == ["answer"] * 3
    assert len(model.requests) == 1
    resumed = ledger(store, run)
    assert resumed.ask(model, request()) == reply("answer")
    assert len(model.requests) == 1
    tokens = Tokens(90, 60, 10)
    models = {model.name: ModelCost(pytest.approx(COST), 1, tokens)}
    assert resumed.cost() == first.cost() == Cost(pytest.approx(COST), True, 1, tokens, models)


def test_another_sample_role_prompt_limit_model_or_run_is_another_call(store: Store, run: str) -> None:
    from dataclasses import replace

    model = ScriptedModel(lambda asked: "x")
    book = ledger(store, run)
    base = request()
    for asked in (
        base,
        request(sample=1),
        request(role="judge"),
        request(text="other"),
        replace(base, max_tokens=5),
        replace(base, brief=replace(base.brief, tried=())),
    ):
        book.ask(model, asked)
    book.ask(ScriptedModel(lambda asked: "x", "someone else"), base)
    ledger(store, store.begin("optimize", "target", {})).ask(model, base)
    assert len(model.requests) == 7
    assert len(book.transcript()) == 7


def test_free_calls_are_recorded_and_cost_nothing(store: Store, run: str) -> None:
    book = ledger(store, run, calls=0, tokens=0, usd=0)
    assert book.ask(ScriptedModel({"coder": [reply("free")]}), request()).text == "free"
    assert book.cost() == Cost(0.0, True, 0, Tokens())
    assert [entry["state"] for entry in book.transcript()] == ["done"]


def test_a_call_of_unknown_price_leaves_the_sum_incomplete(store: Store, run: str) -> None:
    book = ledger(store, run)
    book.ask(paid(reply()), request(0))
    book.ask(paid(reply(input=5, output=5), name="unlisted"), request(1))
    cost = book.cost()
    assert (cost.usd, cost.usd_complete, cost.calls) == (pytest.approx(COST), False, 2)
    assert cost.models == {
        book.transcript()[0]["model"]: ModelCost(pytest.approx(COST), 1, Tokens(90, 60, 10)),
        "unlisted": ModelCost(None, 1, Tokens(5, 0, 5)),
    }
    assert book.transcript()[1]["spent"]["models"]["unlisted"]["calls"] == 1
    assert book.transcript()[1]["usd"] is None


def test_the_transcript_holds_prompts_replies_and_costs_in_order(store: Store, run: str) -> None:
    book = ledger(store, run)
    book.ask(paid(reply("one 🙂")), request(0, "first"))
    with pytest.raises(ModelError):
        book.ask(paid(ModelError("too long")), request(1, "second"))
    first, second = book.transcript()
    assert [part["text"] for part in first["prompt"]] == ["the rules", "first"]
    assert (first["role"], first["reply"]["text"], first["usd"]) == ("coder", "one 🙂", pytest.approx(COST))
    assert first["seconds"] >= 0
    assert (second["state"], second["error"], second["reply"], second["usd"]) == ("error", "too long", None, 0.0)


def test_hostile_text_is_recorded_as_it_came(store: Store, run: str) -> None:
    text = "```\x00\r\n'; DROP TABLE calls; -- \u202e 🙂" * 1000
    book = ledger(store, run)
    assert book.ask(paid(reply(text)), request()).text == text
    assert ledger(store, run).ask(paid(), request()).text == text


# Failures


def test_a_passing_failure_is_tried_again_and_each_attempt_is_a_row(store: Store, run: str) -> None:
    busy = ModelError("busy", retry_after=0.0)
    waits: list[float] = []
    book = Ledger(store, run, meter(), retry=QUICK, sleep=waits.append)
    assert book.ask(paid(busy, ModelError("cut", retry_after=0.5, billed=True), reply()), request()) == reply()
    rows = book.transcript()
    assert [(row["attempt"], row["state"]) for row in rows] == [(1, "error"), (2, "error"), (3, "done")]
    assert [row["usd"] for row in rows] == [0.0, pytest.approx(WORST_USD), pytest.approx(COST)]
    assert waits[1] >= 0.5
    cost = book.cost()
    assert (cost.calls, cost.usd) == (2, pytest.approx(WORST_USD + COST))
    assert cost.tokens == Tokens(WORST.cache_write + 90, 60, 110)


def test_attempts_end(store: Store, run: str) -> None:
    model = ScriptedModel(lambda asked: ModelError("busy", retry_after=0.0), "paid", free=False)
    book = ledger(store, run)
    with pytest.raises(ModelError, match="busy"):
        book.ask(model, request())
    assert len(model.requests) == QUICK.attempts
    with pytest.raises(ModelError, match="busy"):
        book.ask(model, request())
    assert [row["attempt"] for row in book.transcript()] == [1, 2, 3, 4, 5, 6]
    assert book.cost().calls == 0


@pytest.mark.parametrize("error", [ModelError("no key", fatal=True), ModelError("too long")])
def test_a_failure_that_does_not_pass_is_not_tried_again(store: Store, run: str, error: ModelError) -> None:
    model = paid(error, reply())
    with pytest.raises(ModelError, match=str(error)):
        ledger(store, run).ask(model, request())
    assert len(model.requests) == 1


@pytest.mark.parametrize("adapter", [OpenAIModel, AnthropicModel])
@pytest.mark.corpus(one_in=8)
def test_nobody_but_the_ledger_asks_a_server_again_and_each_attempt_has_its_price(
    store: Store, run: str, adapter: type[OpenAIModel | AnthropicModel]
) -> None:
    waits: list[float] = []
    limits = ProviderGates(clock=lambda: sum(waits))  # time passes with the waits alone
    book = Ledger(store, run, meter(), limits, retry=Retry(attempts=5, first=0.001), sleep=waits.append)
    with FakeProvider("answer", usage=Usage(input=10, output=5), retry_after=7.0) as provider:
        provider.plan(
            ProviderFailure.RATE_LIMIT, ProviderFailure.OVERLOADED, ProviderFailure.SERVER_ERROR, ProviderFailure.CUT
        )
        url = provider.openai_url if adapter is OpenAIModel else provider.anthropic_url
        assert book.ask(adapter("any", "key", url), request()).text == "answer"
        assert len(provider.requests) == 5
    rows = book.transcript()
    assert [row["state"] for row in rows] == ["error"] * 4 + ["done"]
    # Three were turned away, the fourth may have been billed.
    assert [row["usage"]["output"] for row in rows] == [0, 0, 0, 100, 5]
    assert len(waits) == 4
    assert waits[0] >= 7.0 > max(waits[1:]), "the provider is asked again when it said, and not before"


@pytest.mark.parametrize("adapter", [OpenAIModel, AnthropicModel])
def test_a_server_that_cannot_be_reached_is_given_up_after_some_seconds_and_for_the_whole_run(
    store: Store, run: str, adapter: type[OpenAIModel | AnthropicModel]
) -> None:
    model = adapter("any", "key", "http://127.0.0.1:9")
    waits: list[float] = []
    book = Ledger(store, run, meter(), retry=Retry(reach=60.0), sleep=waits.append)  # loading an SDK takes long too
    for sample, attempts in ((0, 4), (1, 5)):
        with pytest.raises(ModelError, match=r"is http://127.0.0.1:9 the right base URL") as caught:
            book.ask(model, request(sample))
        assert caught.value.fatal
        assert len(book.transcript()) == attempts
    assert 3 < sum(waits) < 7.5
    assert book.cost() == Cost()
    with pytest.raises(ModelError, match="no connection") as caught:
        ReplayModel(store, run).complete(request(0))
    assert caught.value.fatal


def test_a_server_that_takes_long_to_be_out_of_reach_is_not_tried_again(store: Store, run: str) -> None:
    model = ScriptedModel(lambda asked: ModelError("no route", retry_after=0.0, unreached=True), "paid", free=False)
    book = Ledger(store, run, meter(), retry=Retry(reach=0.0))
    with pytest.raises(ModelError) as caught:
        book.ask(model, request())
    assert caught.value.fatal
    assert len(model.requests) == 1


def test_no_wait_goes_beyond_the_time_left(store: Store, run: str) -> None:
    book = Ledger(store, run, meter(seconds=5), sleep=lambda seconds: pytest.fail("slept"))
    with pytest.raises(ModelError, match="busy"):
        book.ask(paid(ModelError("busy", retry_after=30.0), reply()), request())


def test_a_cap_below_one_call_makes_none(store: Store, run: str) -> None:
    model = paid(reply())
    book = ledger(store, run, usd=0.001)
    with pytest.raises(BudgetError, match="--budget-usd"):
        book.ask(model, request())
    assert not model.requests
    assert not book.transcript()


def test_calls_end_where_the_cap_is(store: Store, run: str) -> None:
    model = ScriptedModel(lambda asked: reply(), "paid", free=False)
    book = ledger(store, run, usd=WORST_USD + 2.5 * COST)
    for sample in range(3):
        book.ask(model, request(sample))
    with pytest.raises(BudgetError):
        book.ask(model, request(3))
    assert book.cost().usd <= WORST_USD + 2.5 * COST


# Death and resumption


def test_a_call_under_way_at_death_counts_at_its_worst_case(store: Store, run: str) -> None:
    model = paid(reply())
    Calls(store, run).intend(model, request(), WORST, WORST_USD)  # ... and the process dies here
    budget = meter()
    book = Ledger(store, run, budget, retry=QUICK)
    assert [row["state"] for row in book.transcript()] == ["unknown"]
    assert budget.spent.usd == pytest.approx(WORST_USD)
    assert budget.spent.calls == 1
    assert book.ask(model, request()) == reply()
    assert [(row["attempt"], row["state"]) for row in book.transcript()] == [(1, "unknown"), (2, "done")]
    assert book.cost().usd == pytest.approx(WORST_USD + COST)
    assert book.cost().calls == 2


def test_what_was_spent_before_death_binds_after_it(store: Store, run: str) -> None:
    cap = 1.5 * WORST_USD
    Calls(store, run).intend(paid(), request(), WORST, WORST_USD)
    with pytest.raises(BudgetError, match="--budget-usd"):
        ledger(store, run, usd=cap).ask(paid(reply()), request())
    ledger(store, store.begin("optimize", "other", {}), usd=cap).ask(paid(reply()), request())


def test_a_free_call_under_way_at_death_is_unknown_and_free(store: Store, run: str) -> None:
    Calls(store, run).intend(ScriptedModel({}), request(), Usage(), 0.0)
    book = ledger(store, run)
    assert book.transcript()[0]["state"] == "unknown"
    assert book.cost() == Cost()


KILLED = """
import sys, time
sys.path[:0] = [sys.argv[3], sys.argv[3] + "/agents"]
from pathlib import Path
from test_ledger import ScriptedModel, Store, ledger, reply, request

def script(asked):
    if asked.sample == 0:
        return reply("recorded")
    print("under way", flush=True)
    time.sleep(60)

book = ledger(Store(Path(sys.argv[1])), sys.argv[2])
model = ScriptedModel(script, "paid", free=False)
book.ask(model, request(0))
book.ask(model, request(1))
"""


def test_after_kill_9_only_the_call_under_way_is_asked_again(store: Store, run: str) -> None:
    words = [sys.executable, "-c", KILLED, str(store.home), run, str(TESTS)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "under way\n"
        process.send_signal(signal.SIGKILL)
    book = ledger(store, run)
    model = paid(reply("new"))
    assert book.ask(model, request(0)).text == "recorded"
    assert book.ask(model, request(1)).text == "new"
    assert [asked.sample for asked in model.requests] == [1]
    assert [row["state"] for row in book.transcript()] == ["done", "unknown", "done"]


def test_an_interrupt_in_a_call_gives_the_reservation_back(store: Store, run: str) -> None:
    def interrupted(asked: Request) -> str:
        if asked.sample == 0:
            raise KeyboardInterrupt
        return "later"

    model = ScriptedModel(interrupted, "paid", free=False)
    budget = meter(usd=2.5 * WORST_USD)
    book = Ledger(store, run, budget)
    with pytest.raises(KeyboardInterrupt):
        book.ask(model, request(0))
    assert budget.spent.usd == pytest.approx(WORST_USD)
    assert book.ask(model, request(1)).text == "later"
    assert book.cost().usd > WORST_USD, "the interrupted call may have been charged"


# Threads


def test_one_question_asked_by_many_threads_is_one_call(store: Store, run: str) -> None:
    model = ScriptedModel(lambda asked: reply(f"answer {asked.sample}"), "paid", free=False)
    book = ledger(store, run)
    start = threading.Barrier(8)

    def ask(number: int) -> str:
        start.wait()
        return book.ask(model, request(number % 2)).text

    with ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(ask, range(8)))
    assert texts == [f"answer {n % 2}" for n in range(8)]
    assert sorted(asked.sample for asked in model.requests) == [0, 1]


def test_parallel_calls_never_exceed_the_cap(store: Store, run: str) -> None:
    cap = 4 * WORST_USD
    model = ScriptedModel(lambda asked: Reply("x", "paid", WORST), "paid", free=False)
    book = ledger(store, run, usd=cap)

    def ask(sample: int) -> bool:
        try:
            book.ask(model, request(sample))
        except BudgetError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        answered = list(pool.map(ask, range(12)))
    assert answered.count(True) == len(model.requests) == 4
    assert book.cost().usd == pytest.approx(cap)


# Models in turn


def test_models_in_turn_have_rows_prices_and_resumption_of_their_own(store: Store, run: str) -> None:
    free, dear = ScriptedModel({"coder": [""]}, "free"), paid(reply())
    both: Model = InTurn([dear, free])
    assert ledger(store, run).ask(both, request()) == reply()
    resumed = ledger(store, run)
    assert resumed.ask(both, request()) == reply()
    assert [(row["model"], row["usd"]) for row in resumed.transcript()] == [
        ("free", 0.0),
        ("paid", pytest.approx(COST)),
    ]
    assert (len(free.requests), len(dear.requests)) == (1, 1)


# Replay


def test_a_replay_gives_the_same_replies_and_costs_nothing(store: Store, run: str) -> None:
    book = ledger(store, run)
    book.ask(InTurn([ScriptedModel({"coder": [""]}, "free"), paid(reply("one"))]), request(0))
    book.ask(paid(ModelError("busy", retry_after=0.0), reply("two")), request(1))
    again = store.begin("optimize", "target", {})
    replay = ReplayModel(store, run)
    second = ledger(store, again, usd=0, calls=0)
    assert [second.ask(replay, request(n)).text for n in (0, 1)] == ["one", "two"]
    assert second.cost() == Cost()
    assert replay.name == f"replay:{run}"
    assert [row["model"] for row in second.transcript()] == [replay.name] * 2
    assert second.ask(ReplayModel(store, again), request(0)).text == "one", "a replay can be replayed"


def test_a_replay_fails_where_the_run_failed(store: Store, run: str) -> None:
    book = ledger(store, run)
    for sample, error in enumerate((ModelError("too long"), ModelError("no key", fatal=True))):
        with pytest.raises(ModelError):
            book.ask(paid(error), request(sample))
        with pytest.raises(ModelError, match=str(error)) as caught:
            ReplayModel(store, run).complete(request(sample))
        assert caught.value.fatal is error.fatal


def test_a_blank_reply_is_replayed_as_one(store: Store, run: str) -> None:
    ledger(store, run).ask(ScriptedModel({}), request())
    assert ReplayModel(store, run).complete(request()).text == ""


def test_a_miss_is_an_error_and_never_a_request(store: Store, run: str) -> None:
    Calls(store, run).intend(paid(), request(), WORST, None)
    for asked in (request(), request(7)):
        with pytest.raises(ModelError, match=f"run {run} holds no reply") as caught:
            ReplayModel(store, run).complete(asked)
        assert caught.value.fatal


def test_a_run_that_is_not_there_cannot_be_replayed(store: Store, run: str) -> None:
    with pytest.raises(UsageError, match="no run"):
        ReplayModel(store, "nothing")


# Keys


def test_no_key_reaches_the_store(store: Store, run: str, database: str) -> None:
    key = "sk-proj-very-secret-0123456789"
    with FakeProvider() as provider:
        model = OpenAIModel("any", key, provider.openai_url)
        book = ledger(store, run)
        book.ask(model, request(0))
        provider.plan(ProviderFailure.WRONG_KEY)
        with pytest.raises(ModelError):
            book.ask(model, request(1))
        assert all(key in str(seen.headers) for seen in provider.requests)
    assert "[key]" in str(book.transcript())
    if database == "sqlite":
        held = b"".join(path.read_bytes() for path in store.home.rglob("*") if path.is_file())
    else:
        held = dumped(os.environ["WHET_STORE"])
    assert b"[key]" in held
    assert key.encode() not in held
