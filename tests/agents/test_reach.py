"""A model whose server is not there is told before a run spends anything."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from whet.agents.models import reach
from whet.agents.models.anthropic import AnthropicModel
from whet.agents.models.in_turn import InTurn
from whet.agents.models.openai import OpenAIModel
from whet.agents.models.reach import expect_reachable
from whet.core.errors import UnaskedError, UsageError
from whet.testing.scripted import ScriptedModel


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def port():
    """A port of this machine on which nobody listens, and its socket."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held, held.getsockname()[1]


def pausing(monkeypatch: pytest.MonkeyPatch, pause: Callable[[float], object]) -> None:
    """Has the module alone pause so: `time.sleep` itself is for all threads, those of other tests included."""
    monkeypatch.setattr(reach, "time", SimpleNamespace(sleep=pause))


def test_a_server_that_refuses_connections_is_named_with_its_address(port, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    pausing(monkeypatch, waited.append)
    for model in (
        OpenAIModel("m", "", f"http://127.0.0.1:{port[1]}/v1"),
        AnthropicModel("m", "k", f"http://127.0.0.1:{port[1]}"),
    ):
        with pytest.raises(UsageError, match=rf"no connection \(.*refused.*\); is http://127.0.0.1:{port[1]}"):
            expect_reachable(model)
    assert waited == [*reach.PAUSES, *reach.PAUSES]


def test_a_server_that_comes_up_meanwhile_is_reached(port, monkeypatch: pytest.MonkeyPatch) -> None:
    pausing(monkeypatch, lambda pause: port[0].listen() if pause else None)
    expect_reachable(OpenAIModel("m", "", f"http://127.0.0.1:{port[1]}/v1"))


def test_a_name_that_nobody_looks_up_in_time_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()

    def look_up(*words: object, **more: object) -> None:
        over.wait(60)
        raise socket.gaierror("too late")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr(reach, "ATTEMPT_SECONDS", 0.01)
    monkeypatch.setattr(reach, "PAUSES", (0.0,))
    with pytest.raises(UsageError, match=r"no answer within 0.01 s"):
        expect_reachable(OpenAIModel("m", "", "http://somewhere.invalid/v1"))
    over.set()


def test_all_attempts_take_less_than_ten_seconds() -> None:
    assert sum(reach.PAUSES) + len(reach.PAUSES) * reach.ATTEMPT_SECONDS < 10.0


def test_nothing_is_asked_where_it_says_nothing(port, monkeypatch: pytest.MonkeyPatch) -> None:
    dead = OpenAIModel("m", "", f"http://127.0.0.1:{port[1]}/v1")
    expect_reachable(ScriptedModel({}))
    expect_reachable(InTurn([dead, ScriptedModel({})]))  # the free one is asked first
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    expect_reachable(dead)


def test_every_model_of_a_run_must_be_there(port, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach, "PAUSES", (0.0,) * len(reach.PAUSES))
    port[0].listen()
    there = OpenAIModel("coder", "", f"http://127.0.0.1:{port[1]}/v1")
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        absent = OpenAIModel("judge", "", f"http://127.0.0.1:{held.getsockname()[1]}/v1")
        expect_reachable(there, there, ScriptedModel({}))
        with pytest.raises(UnaskedError, match=r"^openai:judge@.*: no connection") as caught:
            expect_reachable(there, absent, absent)
    assert str(caught.value).count("no connection") == 1
