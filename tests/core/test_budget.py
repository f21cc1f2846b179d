"""Caps, that bind before a call."""

import threading
import tomllib
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.agents.budget import DEFAULT_TOKENS, DEFAULT_USD, BudgetMeter, Spending, default_budget
from whet.agents.models.base import Brief, Message, Request, Usage
from whet.agents.models.in_turn import InTurn
from whet.agents.models.tokens import most_tokens, worst_case
from whet.agents.prices import Price, Prices, load_prices
from whet.core.config import ModelPrice
from whet.core.errors import BudgetError, Exit, UsageError
from whet.core.options import Budget
from whet.testing.scripted import ScriptedModel

PRICES = Prices({"known": Price(input=4, output=20, cached=1), "dear": Price(input=1e6, output=1e6)})
FREE = ScriptedModel({})
KNOWN = ScriptedModel({}, "known", free=False)
UNKNOWN = ScriptedModel({}, "unknown", free=False)


def meter(**caps: float) -> BudgetMeter:
    return BudgetMeter(Budget(**caps), PRICES)  # type: ignore[arg-type]


# Prices


def test_the_four_counters_have_prices_of_their_own() -> None:
    assert PRICES.usd("known", Usage(input=1_000_000)) == 4
    assert PRICES.usd("known", Usage(cache_write=1_000_000)) == 5
    assert PRICES.usd("known", Usage(cache_read=1_000_000)) == 1
    assert PRICES.usd("known", Usage(output=1_000_000)) == 20
    assert PRICES.usd("dear", Usage(cache_read=1)) == 1, "without a price for cached tokens, the full one"
    assert PRICES.usd("unknown", Usage(input=1)) is None


def test_a_price_of_ones_own_overrides_the_listed_one() -> None:
    listed = load_prices({})
    assert listed.usd("anthropic:claude-opus-5-5", Usage(input=1_000_000, output=1_000_000)) == 24
    assert listed.usd("openai:gpt@http://127.0.0.1:8000/v1", Usage(input=1)) is None
    own = load_prices({"anthropic:claude-opus-5-5": ModelPrice(input=0, output=0)})
    assert own.usd("anthropic:claude-opus-5-5", Usage(input=1_000_000)) == 0


def test_every_listed_price_says_where_and_when_it_was_read() -> None:
    listed = tomllib.loads(files("whet.agents").joinpath("prices.toml").read_text())
    assert listed
    for name, entry in listed.items():
        assert name.startswith(("anthropic:", "openai:"))
        assert entry["source"].startswith("https://")
        assert entry["date"].year >= 2026
        assert 0 < entry.get("cached", entry["input"]) <= entry["input"] < entry["output"]


# Default caps


def test_a_paid_model_without_a_cap_gets_one() -> None:
    assert default_budget(Budget(), [KNOWN], PRICES).usd == DEFAULT_USD
    assert default_budget(Budget(), [UNKNOWN], PRICES).tokens == DEFAULT_TOKENS
    assert default_budget(Budget(), [KNOWN, UNKNOWN], PRICES).tokens == DEFAULT_TOKENS
    assert default_budget(Budget(), [InTurn([FREE, KNOWN])], PRICES).usd == DEFAULT_USD
    assert default_budget(Budget(seconds=60), [KNOWN], PRICES).usd == DEFAULT_USD


def test_free_models_and_given_caps_are_left_alone() -> None:
    assert default_budget(Budget(), [FREE], PRICES) == Budget()
    for given_cap in (Budget(usd=5), Budget(tokens=10), Budget(calls=1)):
        assert default_budget(given_cap, [KNOWN], PRICES) == given_cap


def test_money_cannot_cap_a_model_of_unknown_price() -> None:
    with pytest.raises(UsageError) as caught:
        default_budget(Budget(usd=1), [FREE, InTurn([FREE, UNKNOWN])], PRICES)
    for mend in ("--budget-tokens", '[tool.whet.prices."unknown"]', "input and output", "per million"):
        assert mend in str(caught.value)
    with pytest.raises(UsageError, match="--budget-tokens"):
        meter(usd=1).reserve("unknown", Usage(input=1))


# Reserving and settling


@pytest.mark.parametrize(
    ("caps", "names"),
    [
        ({"usd": 0.01}, "--budget-usd 0.01"),
        ({"tokens": 1000}, "--budget-tokens 1000"),
        ({"calls": 0}, "--budget-calls 0"),
        ({"seconds": 0}, "--budget-seconds"),
    ],
)
def test_a_cap_below_one_call_is_told_before_the_call(caps: dict[str, float], names: str) -> None:
    with pytest.raises(BudgetError, match=names) as caught:
        meter(**caps).reserve("known", Usage(input=1000, output=1000))
    assert caught.value.exit_code is Exit.BUDGET
    assert "\n" not in str(caught.value)


def test_a_call_is_charged_what_it_came_to() -> None:
    budget = meter(tokens=1700)
    for _ in range(5):
        reservation = budget.reserve("known", Usage(input=500, output=500))
        budget.settle(reservation, "known", Usage(input=100, output=50))
    assert budget.spent == Spending(usd=pytest.approx(5 * 0.0014), tokens=750, calls=5)
    with pytest.raises(BudgetError):
        budget.reserve("known", Usage(input=500, output=500))


def test_a_call_that_was_turned_away_is_not_charged() -> None:
    budget = meter(calls=1)
    budget.settle(budget.reserve("known", Usage(output=10)), "known", None)
    assert budget.spent == Spending()
    budget.settle(budget.reserve("known", Usage(output=10)), "known", Usage(output=1))
    with pytest.raises(BudgetError, match="--budget-calls 1"):
        budget.reserve("known", Usage(output=10))


def test_what_an_earlier_process_spent_counts() -> None:
    budget = meter(calls=3)
    budget.charge(Spending(0.5, 100, 3))
    with pytest.raises(BudgetError, match="--budget-calls 3"):
        budget.reserve("known", Usage(output=1))


def test_a_call_waits_for_one_that_may_come_to_less() -> None:
    budget = meter(tokens=100)
    first = budget.reserve("known", Usage(output=80))
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(budget.reserve, "known", Usage(output=80))
        with pytest.raises(TimeoutError):
            second.result(0.1)
        budget.settle(first, "known", Usage(output=10))
        assert second.result(60).tokens == 80


def test_a_waiting_call_is_refused_once_it_cannot_fit() -> None:
    budget = meter(tokens=100)
    first = budget.reserve("known", Usage(output=80))
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(budget.reserve, "known", Usage(output=80))
        budget.settle(first, "known", Usage(output=30))
        with pytest.raises(BudgetError):
            second.result(60)


caps = st.fixed_dictionaries(
    {},
    optional={
        "usd": st.floats(0, 0.05),
        "tokens": st.integers(0, 5000),
        "calls": st.integers(0, 12),
    },
)
calls = st.lists(st.tuples(st.integers(1, 1500), st.integers(1, 500), st.floats(0, 1)), max_size=20)


@settings(max_examples=60, deadline=None)
@given(caps=caps, calls=calls)
def test_no_cap_is_ever_exceeded_and_nothing_is_lost(
    caps: dict[str, float], calls: list[tuple[int, int, float]]
) -> None:
    budget = meter(**caps)
    cap = budget.budget
    lock = threading.Lock()
    came_to: list[Usage] = []
    refused: list[Usage] = []

    def call(figures: tuple[int, int, float]) -> None:
        prompt, longest, share = figures
        worst = Usage(cache_write=prompt, output=longest)
        try:
            reservation = budget.reserve("known", worst)
        except BudgetError:
            with lock:
                refused.append(worst)
            return
        used = Usage(input=int(prompt * share), output=int(longest * share))
        with lock:
            came_to.append(used)
        budget.settle(reservation, "known", used)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(call, calls))

    spent = budget.spent
    assert len(came_to) + len(refused) == len(calls)
    assert spent.calls == len(came_to)
    assert spent.tokens == sum(used.total for used in came_to)
    assert spent.usd == pytest.approx(sum(PRICES.usd("known", used) or 0 for used in came_to))
    assert cap.usd is None or spent.usd <= cap.usd
    assert cap.tokens is None or spent.tokens <= cap.tokens
    assert cap.calls is None or spent.calls <= cap.calls
    for worst in refused:
        usd = PRICES.usd("known", worst) or 0
        assert (
            (cap.usd is not None and spent.usd + usd > cap.usd)
            or (cap.tokens is not None and spent.tokens + worst.total > cap.tokens)
            or (cap.calls is not None and spent.calls + 1 > cap.calls)
        ), "refused although it would have fitted"


# Seconds


def test_time_runs_out() -> None:
    now = [100.0]
    budget = BudgetMeter(Budget(seconds=10), PRICES, lambda: now[0])
    assert (budget.seconds_left, budget.out_of_time()) == (10.0, False)
    now[0] = 109.0
    assert budget.seconds_left == 1.0
    now[0] = 111.0
    assert (budget.seconds_left, budget.out_of_time()) == (0.0, True)
    with pytest.raises(BudgetError, match="--budget-seconds"):
        budget.reserve("known", Usage(output=1))
    assert meter().seconds_left == float("inf")


# The worst case


@given(st.text())
def test_no_text_has_more_tokens_than_bytes(text: str) -> None:
    assert most_tokens(text) == len(text.encode())


def test_the_worst_case_of_a_request_covers_prompt_and_longest_answer() -> None:
    messages = (Message("system", "é" * 10), Message("user", "x" * 100))
    worst = worst_case(Request("coder", messages, 0, 4000, Brief("python", "function", "f", "")))
    assert worst.output == 4000
    assert 120 < worst.total - worst.output < 250
