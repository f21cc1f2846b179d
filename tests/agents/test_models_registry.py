"""From a spec to a model; several models in turn; when a call is tried again."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.agents.models.base import Brief, Message, ModelError, Reply, Request
from whet.agents.models.in_turn import InTurn, parts
from whet.agents.models.registry import PROVIDERS, open_model
from whet.agents.models.retry import Retry
from whet.core.config import ModelPrice, ProjectConfig
from whet.core.errors import UsageError
from whet.testing.scripted import ScriptedModel

CONFIG = ProjectConfig()
REQUEST = Request("coder", (Message("user", "?"),), 0, 64, Brief("python", "function", "f", ""))


@pytest.fixture
def environment() -> Iterator[dict[str, str]]:
    """The environment without keys, put back afterwards."""
    names = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
    before = {name: os.environ.pop(name) for name in names if name in os.environ}
    yield os.environ
    for name in names:
        os.environ.pop(name, None)
    os.environ.update(before)


def test_each_form_opens_its_model(environment: dict[str, str], tmp_path: Path) -> None:
    environment["ANTHROPIC_API_KEY"] = environment["OPENAI_API_KEY"] = "sk-abc"
    paid = ["anthropic:claude-x", "openai:gpt-x", "openai:@org/m@http://127.0.0.1:8000/v1"]
    for spec in paid:
        model = open_model(spec, config=CONFIG)
        assert (model.name, model.free) == (spec, False)
    manual = open_model(f"manual:{tmp_path}", config=CONFIG)
    assert (manual.name, manual.free) == (f"manual:{tmp_path}", True)


def test_replay_goes_through_the_function_given(environment: dict[str, str]) -> None:
    assert open_model("replay:r1", config=CONFIG, replay=lambda run: ScriptedModel({}, run)).name == "r1"
    with pytest.raises(UsageError, match="nothing is recorded"):
        open_model("replay:r1", config=CONFIG)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("anthropic:claude-x", "ANTHROPIC_API_KEY"),
        ("openai:gpt-x", "OPENAI_API_KEY"),
        ("anthropc:claude-x", "anthropic:NAME"),
        ("claude-opus-5-5", "did you mean 'anthropic:claude-opus-5-5'"),
        ("my-modle", "did you mean 'openai:my-model'"),
        ("", "known forms"),
        ("openai", "the form is openai:NAME"),
        ("openai:", "the form is openai:NAME"),
        ("catalogue:x", "the form is catalogue"),
        ("openai:m@localhost:8000", "begins with http"),
        ("openai:@http://localhost", "openai:NAME@BASE_URL"),
        ("openai:m@http://", "openai:NAME@BASE_URL"),
        ("openai:m@http://localhost:port", "openai:NAME@BASE_URL"),
        ("openai:m@http://local host", "openai:NAME@BASE_URL"),
        ("openai:m@http://user:secret@localhost", "OPENAI_API_KEY"),
        ("manual:", "manual:DIR"),
        ("scripted:x", "unknown model"),
    ],
)
def test_a_wrong_spec_is_one_line_that_names_the_mend(environment: dict[str, str], spec: str, says: str) -> None:
    config = ProjectConfig(prices={"openai:my-model": ModelPrice(input=1, output=2)})
    with pytest.raises(UsageError) as caught:
        open_model(spec, config=config)
    message = str(caught.value)
    assert says in message
    assert "\n" not in message
    assert "secret" not in message


def test_a_server_of_ones_own_needs_no_key(environment: dict[str, str]) -> None:
    assert open_model("openai:m@http://127.0.0.1:1/v1", config=CONFIG).free is False


def test_a_mangled_key_is_named_by_its_variable_alone(environment: dict[str, str]) -> None:
    environment["ANTHROPIC_API_KEY"] = "sk-one\nsk-two"
    with pytest.raises(UsageError) as caught:
        open_model("anthropic:m", config=CONFIG)
    assert "ANTHROPIC_API_KEY" in str(caught.value)
    assert "sk-" not in str(caught.value)


def test_opening_a_paid_model_imports_no_sdk() -> None:
    script = (
        "import os, sys\n"
        "os.environ['OPENAI_API_KEY'] = os.environ['ANTHROPIC_API_KEY'] = 'sk-abc'\n"
        "from whet.agents.ledger import Ledger\n"
        "from whet.agents.models.registry import open_model\n"
        "from whet.core.config import ProjectConfig\n"
        "open_model('anthropic:a,openai:b', config=ProjectConfig())\n"
        "print([name for name in ('openai', 'anthropic', 'httpx2', 'langgraph', 'libcst') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_every_provider_has_its_word_in_its_form() -> None:
    for word, provider in PROVIDERS.items():
        assert provider.form.partition(":")[0] == word


def test_a_list_asks_the_free_ones_first(environment: dict[str, str], tmp_path: Path) -> None:
    environment["OPENAI_API_KEY"] = "sk-abc"
    model = open_model(f"openai:m, manual:{tmp_path}", config=CONFIG)
    assert model.name == f"manual:{tmp_path},openai:m"
    assert not model.free
    assert [part.free for part in parts(model)] == [True, False]


def one(text: str | ModelError, name: str = "a", free: bool = True) -> ScriptedModel:
    return ScriptedModel(lambda _: text, name, free)


def test_a_later_model_is_asked_only_where_an_earlier_one_has_nothing() -> None:
    first, second, third = one(" \n", "a"), one("text", "b"), one("more", "c")
    assert InTurn([first, second, third]).complete(REQUEST).model == "b"
    assert [len(model.requests) for model in (first, second, third)] == [1, 1, 0]


def test_a_later_model_stands_in_for_one_that_can_answer_no_more() -> None:
    assert InTurn([one(ModelError("no key", fatal=True)), one("text", "b")]).complete(REQUEST).model == "b"


def test_a_passing_failure_is_not_covered_up() -> None:
    later = one("text")
    with pytest.raises(ModelError, match="busy"):
        InTurn([one(ModelError("busy", retry_after=1.0)), later]).complete(REQUEST)
    assert not later.requests


def test_a_fatal_failure_is_told_where_nobody_had_anything_to_say() -> None:
    with pytest.raises(ModelError, match="no key"):
        InTurn([one(ModelError("no key", fatal=True)), one("")]).complete(REQUEST)
    assert InTurn([one(""), one("", "b")]).complete(REQUEST) == Reply("", "b")


@given(
    attempt=st.integers(1, 10),
    wait=st.floats(0, 200),
    retry=st.builds(Retry, st.integers(1, 6), st.floats(0.01, 5), st.floats(1, 100)),
)
def test_waits_are_bounded_and_never_shorter_than_asked(attempt: int, wait: float, retry: Retry) -> None:
    delay = retry.delay(attempt, ModelError("busy", retry_after=wait))
    if attempt >= retry.attempts or wait > retry.longest:
        assert delay is None
    else:
        assert delay is not None
        assert wait <= delay <= 1.5 * retry.longest


def test_failures_that_do_not_pass_are_not_tried_again() -> None:
    assert Retry().delay(1, ModelError("wrong key", fatal=True)) is None
    assert Retry().delay(1, ModelError("too long")) is None


def test_waits_grow() -> None:
    error = ModelError("busy", retry_after=0.0)
    waits = [Retry(first=1.0).delay(attempt, error) for attempt in (1, 2, 3, 4)]
    assert waits[3] is None
    assert 0.5 <= waits[0] <= 1.0 <= waits[1] <= 2.0 <= waits[2] <= 4.0
