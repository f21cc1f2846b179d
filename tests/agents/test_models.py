"""The adapters against a real local server: what they send, and each way in which a provider fails."""

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import pytest

from whet.agents.models import faults
from whet.agents.models.anthropic import AnthropicModel
from whet.agents.models.base import Brief, Message, ModelError, Reply, Request, Usage
from whet.agents.models.openai import OpenAIModel
from whet.testing.fake_provider import Body, FakeProvider, ProviderFailure

KEY = "sk-test-0123456789"
MESSAGES = (
    Message("system", "You make code faster."),
    Message("user", "the rules", stable=True),
    Message("user", "def f(): ..."),
)
Adapter: TypeAlias = OpenAIModel | AnthropicModel
Connect: TypeAlias = Callable[..., Adapter]


def openai(provider: FakeProvider, key: str = KEY, longest: float = 300.0, timeout: float = 60.0) -> OpenAIModel:
    return OpenAIModel("any", key, provider.openai_url, timeout=timeout, longest=longest)


def openai_whole(provider: FakeProvider, timeout: float = 60.0) -> OpenAIModel:
    """One that has learnt that this server does not stream."""
    provider.refuses = ("stream",)
    model = openai(provider, timeout=timeout)
    model.complete(request())
    return model


def anthropic(provider: FakeProvider, key: str = KEY, longest: float = 300.0, timeout: float = 60.0) -> AnthropicModel:
    return AnthropicModel("any", key, provider.anthropic_url, timeout=timeout, longest=longest)


def request(sample: int = 0, max_tokens: int = 64, messages: tuple[Message, ...] = MESSAGES) -> Request:
    return Request("coder", messages, sample, max_tokens, Brief("python", "function", "f", "def f(): ..."))


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    with FakeProvider("the answer 🙂", usage=Usage(10, 20, 30, 5)) as server:
        yield server


every_adapter = pytest.mark.parametrize("connect", [openai, openai_whole, anthropic])
every_stream = pytest.mark.parametrize("connect", [openai, anthropic])


def failure(model: Adapter) -> ModelError:
    with pytest.raises(ModelError) as caught:
        model.complete(request())
    assert "\n" not in str(caught.value)
    assert KEY not in f"{caught.value!s}{caught.value!r}"
    return caught.value


# What is right


@every_adapter
def test_an_answer_comes_with_the_four_counts(provider: FakeProvider, connect: Connect) -> None:
    model = connect(provider)
    reply = model.complete(request())
    assert (reply.text, reply.stop, reply.model) == ("the answer 🙂", "end", model.name)
    assert reply.usage == Usage(input=10, cache_write=20, cache_read=30, output=5)
    assert reply.raw["id"] in ("c1", "m1")


@every_stream
def test_long_answers_are_streamed(provider: FakeProvider, connect: Connect) -> None:
    assert connect(provider).complete(request(max_tokens=128_000)).text == "the answer 🙂"
    assert provider.requests[0].body["stream"] is True


def test_the_key_goes_to_the_provider_and_nowhere_else(provider: FakeProvider) -> None:
    replies = [openai(provider).complete(request()), anthropic(provider).complete(request())]
    assert all(KEY in str(seen.headers) for seen in provider.requests)
    assert KEY not in str(replies)


def test_anthropic_gets_breakpoints_after_the_stable_parts(provider: FakeProvider) -> None:
    anthropic(provider).complete(request())
    body = provider.requests[0].body
    assert body["system"] == [{"type": "text", "text": "You make code faster."}]
    (turn,) = body["messages"]
    assert [("cache_control" in block) for block in turn["content"]] == [True, False]


def test_anthropic_gets_no_more_breakpoints_than_it_takes_and_no_blank_blocks(provider: FakeProvider) -> None:
    parts = [Message("user", f"part {n}", stable=True) for n in range(6)]
    anthropic(provider).complete(request(messages=(Message("system", " "), *parts, Message("assistant", "yes"))))
    body = provider.requests[0].body
    assert "system" not in body
    assert [turn["role"] for turn in body["messages"]] == ["user", "assistant"]
    marked = ["cache_control" in block for block in body["messages"][0]["content"]]
    assert marked == [False, False, True, True, True, True]


def test_openai_gets_the_messages_in_their_order(provider: FakeProvider) -> None:
    openai(provider).complete(request())
    assert [m["role"] for m in provider.requests[0].body["messages"]] == ["system", "user", "user"]


def test_further_samples_of_one_prompt_are_not_greedy(provider: FakeProvider) -> None:
    model = openai(provider)
    model.complete(request(sample=0))
    model.complete(request(sample=1))
    assert [seen.body.get("temperature") for seen in provider.requests] == [None, 1.0]


def test_usage_as_a_provider_reported_it_is_billed_once_a_token() -> None:
    # An answer whose cache writes another tool charged twice: the bill was 0.05439 USD, and 3 tokens more.
    from whet.agents.prices import Price, Prices

    with FakeProvider(usage=Usage(input=3, cache_write=12304, output=550)) as provider:
        prices = Prices({"m": Price(input=3.0, output=15.0, cached=0.3)})
        for connect in (openai, anthropic, openai_whole):
            usd = prices.usd("m", connect(provider).complete(request()).usage)
            assert usd == pytest.approx(0.05439 + 3 * 3e-6, abs=1e-9)


@every_stream
@pytest.mark.parametrize("key", ["not-like-other-keys", "sk-proj-abc_def-123"])
def test_a_key_that_the_provider_quotes_is_not_quoted_on(connect: Connect, key: str) -> None:
    with FakeProvider() as provider:
        provider.plan(ProviderFailure.WRONG_KEY)
        assert "wrong key: [key]" in str(failure(connect(provider, key)))
        assert key in str(provider.requests[0].headers)


def test_somebody_elses_key_is_not_quoted_either() -> None:
    assert faults.one_line("you sent sk-ant-api03-...abcd\nand sk-proj-*****wxyz", "mine") == "you sent [key] and [key]"


# Parameters that are refused by name


@pytest.mark.parametrize(
    ("refused", "kept"),
    [
        ("temperature", "max_tokens"),
        ("max_tokens", "max_completion_tokens"),
        ("stream_options", "stream"),
        ("stream", "max_tokens"),
    ],
)
def test_a_parameter_refused_by_name_is_dropped_once_and_remembered(refused: str, kept: str) -> None:
    with FakeProvider(refuses=(refused,)) as provider:
        model = openai(provider)
        assert model.complete(request(sample=1)).text == "ok"
        assert model.complete(request(sample=1)).text == "ok"
        assert [refused in seen.body for seen in provider.requests] == [True, False, False]
        assert all(kept in seen.body for seen in provider.requests[1:])


def test_anthropics_breakpoints_are_dropped_once_where_a_server_refuses_them() -> None:
    with FakeProvider(refuses=("cache_control",)) as provider:
        model = anthropic(provider)
        assert [model.complete(request(sample)).text for sample in (0, 1)] == ["ok", "ok"]
        assert ["cache_control" in str(seen.body) for seen in provider.requests] == [True, False, False]


def test_another_refusal_costs_anthropic_no_further_request() -> None:
    with FakeProvider(refuses=("max_tokens",)) as provider:
        assert "unsupported: max_tokens" in str(failure(anthropic(provider)))
        assert len(provider.requests) == 1


def test_without_a_base_url_the_limit_has_its_newer_spelling(provider: FakeProvider) -> None:
    before = os.environ.get("OPENAI_BASE_URL")
    os.environ["OPENAI_BASE_URL"] = provider.openai_url  # which the SDK itself reads
    try:
        OpenAIModel("any", KEY).complete(request())
    finally:
        del os.environ["OPENAI_BASE_URL"]
        if before is not None:
            os.environ["OPENAI_BASE_URL"] = before
    assert provider.requests[0].body["max_completion_tokens"] == 64
    assert "max_tokens" not in provider.requests[0].body


def test_a_server_that_refuses_both_spellings_is_not_asked_for_ever() -> None:
    with FakeProvider(refuses=("max_tokens", "max_completion_tokens")) as provider:
        assert "max_completion_tokens" in str(failure(openai(provider)))
        assert len(provider.requests) == 2


# What goes wrong


@every_adapter
@pytest.mark.parametrize(
    "fault",
    [
        ProviderFailure.QUOTA,
        ProviderFailure.PAYMENT,
        ProviderFailure.WRONG_KEY,
        ProviderFailure.FORBIDDEN,
        ProviderFailure.UNKNOWN_MODEL,
        ProviderFailure.HTML,
    ],
)
def test_faults_that_no_further_call_survives(provider: FakeProvider, connect: Connect, fault: ProviderFailure) -> None:
    model = connect(provider)
    provider.plan(fault)
    error = failure(model)
    assert error.fatal
    assert not error.billed
    assert error.retry_after is None


@every_adapter
@pytest.mark.parametrize(
    ("fault", "wait"),
    [(ProviderFailure.RATE_LIMIT, 0.05), (ProviderFailure.SERVER_ERROR, 0.0), (ProviderFailure.OVERLOADED, 0.0)],
)
def test_faults_that_pass(provider: FakeProvider, connect: Connect, fault: ProviderFailure, wait: float) -> None:
    model = connect(provider)
    before = len(provider.requests)
    provider.plan(fault)
    error = failure(model)
    assert (error.fatal, error.billed, error.retry_after) == (False, False, wait)
    assert len(provider.requests) == before + 1, "the SDK must not ask again by itself"
    assert model.complete(request()).text == "the answer 🙂"


@every_adapter
@pytest.mark.parametrize(
    "fault",
    [
        ProviderFailure.CUT,
        ProviderFailure.BAD_JSON,
        ProviderFailure.ODD_SHAPE,
        ProviderFailure.DROPPED,
        ProviderFailure.SLOW,
    ],
)
def test_faults_after_which_the_call_may_have_been_charged(
    provider: FakeProvider, connect: Connect, fault: ProviderFailure
) -> None:
    model = connect(provider, timeout=2.0 if fault is ProviderFailure.SLOW else 60.0)
    provider.plan(fault)
    error = failure(model)
    assert (error.fatal, error.billed, error.retry_after) == (False, True, 0.0)


@every_stream
@pytest.mark.parametrize(
    ("fault", "says"), [(ProviderFailure.ERROR_EVENT, "overloaded"), (ProviderFailure.QUIET_END, "ended early")]
)
def test_faults_of_a_stream(provider: FakeProvider, connect: Connect, fault: ProviderFailure, says: str) -> None:
    provider.plan(fault)
    error = failure(connect(provider))
    assert says in str(error)
    assert (error.fatal, error.billed, error.retry_after) == (False, True, 0.0)


@every_adapter
@pytest.mark.parametrize(
    ("fault", "says"), [(ProviderFailure.CONTEXT, "too long"), (ProviderFailure.BAD_REQUEST, "at least one")]
)
def test_faults_of_one_request(provider: FakeProvider, connect: Connect, fault: ProviderFailure, says: str) -> None:
    model = connect(provider)
    provider.plan(fault)
    error = failure(model)
    assert says in str(error)
    assert (error.fatal, error.billed, error.retry_after) == (False, False, None)


@every_adapter
def test_a_truncated_answer_and_a_refusal_are_replies(provider: FakeProvider, connect: Connect) -> None:
    model = connect(provider)
    provider.plan(ProviderFailure.TRUNCATED, ProviderFailure.REFUSAL)
    assert model.complete(request()).stop == "length"
    refusal = model.complete(request())
    assert refusal.stop == "refusal"
    assert refusal.usage.output == 5


@every_adapter
def test_an_answer_without_counts_is_counted_at_a_bound(provider: FakeProvider, connect: Connect) -> None:
    model = connect(provider)
    provider.plan(ProviderFailure.NO_USAGE)
    usage = model.complete(request()).usage
    assert usage.input >= sum(len(message.text) for message in MESSAGES)
    assert usage.output == len("the answer 🙂".encode())


@every_stream
def test_text_that_is_no_unicode_becomes_text_that_is(connect: Connect) -> None:
    with FakeProvider("half \ud83d a pair") as provider:
        assert connect(provider).complete(request()).text == "half ? a pair"


@every_stream
def test_negative_counts_do_not_refund_anything(connect: Connect) -> None:
    with FakeProvider(usage=Usage(input=-1_000_000, output=5)) as provider:
        assert failure(connect(provider)).billed


@every_stream
@pytest.mark.timeout(50)  # the server waits for 60 s
def test_a_slow_server_is_given_up_after_the_timeout(provider: FakeProvider, connect: Connect) -> None:
    provider.plan(ProviderFailure.SLOW)
    started = time.monotonic()
    failure(connect(provider, timeout=0.5))
    assert time.monotonic() - started > 0.4


@every_stream
@pytest.mark.parametrize(
    "fault",
    [ProviderFailure.ENDLESS_TEXT, ProviderFailure.ENDLESS_LINE, ProviderFailure.DRIP, ProviderFailure.DRIPPING_HEAD],
)
@pytest.mark.corpus(one_in=8)
def test_an_answer_without_an_end_is_given_up(provider: FakeProvider, connect: Connect, fault: ProviderFailure) -> None:
    # One that dribbles is given up for its time, and one that floods for its length.
    model = connect(provider, longest=3.0 if fault in (ProviderFailure.DRIP, ProviderFailure.DRIPPING_HEAD) else 300.0)
    provider.plan(fault)
    error = failure(model)
    assert "without end" in str(error)
    assert (error.fatal, error.billed, error.retry_after) == (False, True, None)
    assert model.complete(request()).text == "the answer 🙂"


def test_an_error_page_without_an_end_is_given_up_too() -> None:
    import httpx2

    from whet.agents.models.wire import BoundedClient, Endless

    with FakeProvider("x" * 100_000) as provider:
        client = BoundedClient(silence=5.0, longest=60.0, most=50_000)
        with pytest.raises(Endless):
            client.post(f"{provider.openai_url}/chat/completions", json={})
        small = BoundedClient(silence=5.0, longest=60.0, most=200_000)
        response: httpx2.Response = small.post(f"{provider.openai_url}/chat/completions", json={})
        assert len(response.content) > 100_000


DEAD = ("http://127.0.0.1:9", "http://no-such-host.invalid", "http://no such host")


@pytest.mark.parametrize("base_url", DEAD)
@pytest.mark.parametrize("adapter", [OpenAIModel, AnthropicModel])
def test_nobody_listens(adapter: type[Adapter], base_url: str) -> None:
    error = failure(adapter("any", KEY, base_url))
    assert (error.fatal, error.billed, error.retry_after, error.unreached) == (False, False, 0.0, True)
    assert f"is {base_url} the right base URL" in str(error)


def test_further_samples_wait_until_the_first_one_is_in_anthropics_cache() -> None:
    came: list[int] = []

    def answer(body: Body) -> str:
        if not came:
            time.sleep(0.3)  # nobody else comes meanwhile
        came.append(len(provider.requests))
        return "ok"

    with FakeProvider(answer) as provider:
        model = AnthropicModel("any", KEY, provider.anthropic_url, timeout=20.0)
        with ThreadPoolExecutor(4) as pool:
            replies = list(pool.map(lambda sample: model.complete(request(sample)), range(4)))
        assert came[0] == 1
        assert [reply.text for reply in replies] == ["ok"] * 4


@pytest.mark.timeout(100)
def test_a_first_sample_that_fails_holds_nobody_up(provider: FakeProvider) -> None:
    model = AnthropicModel("any", KEY, provider.anthropic_url, timeout=200.0)  # so long others would be held up
    provider.plan(ProviderFailure.OVERLOADED)
    failure(model)
    assert model.complete(request(sample=1)).text == "the answer 🙂"


def test_concurrent_calls_share_one_adapter(provider: FakeProvider) -> None:
    model = anthropic(provider)

    def ask(sample: int) -> Reply:
        return model.complete(request(sample=sample))

    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(ask, range(16)))
    assert {reply.text for reply in replies} == {"the answer 🙂"}
    assert len(provider.requests) == 16
