"""Rounds of calls of a torch module: each meets its inputs, and the module, as they came."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kernel_problems import forward, problem, target_of

from whet.sandbox.inside.calls import renewed_round, timed_pass
from whet.sandbox.inside.capture import Capture
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.invocation import call_once
from whet.sandbox.inside.module_rounds import Lasting, in_rounds

torch = pytest.importorskip("torch", reason="torch is not installed: pip install whet[torch]")

LIMIT = 1 << 20


def payload(*tensors: Any, **kwargs: Any) -> bytes:
    """Returns an input of a module whose constructor takes nothing."""
    given: dict[str, Any] = {"init": (42, (), {}), "args": tensors}
    return encode({**given, "kwargs": kwargs} if kwargs else given)


def rounds(folder: Path, body: str, *payloads: bytes) -> None:
    """Expects of the last of several rounds, and of a single one, what a call gives."""
    target = target_of(folder, problem(forward(*body.splitlines())))
    expected = [call_once(target, one, Capture(LIMIT))[0] for one in payloads]
    for count in (1, 3):
        _, *_, outcomes = timed_pass(target, list(payloads), count, Capture(LIMIT))
        assert outcomes == expected


@pytest.mark.parametrize(
    "body",
    [
        "return x * 2",
        "x.mul_(2)\nreturn x.clone()",
        "seen = getattr(x, 'seen', 0)\nx.seen = seen + 1\nreturn x + seen",
        "self.calls = getattr(self, 'calls', 0) + 1\nreturn x * self.calls",
        "x.data = x.data + 1\nreturn x * 2",
        "x.numpy()[:] += 1\nreturn x.clone()",
        "raise ValueError('no')",
    ],
    ids=[
        "pure",
        "writes to its input",
        "marks its input",
        "counts its calls",
        "moves its input",
        "writes past torch",
        "raises",
    ],
)
def test_each_round_comes_to_what_a_single_call_comes_to(tmp_path: Path, body: str) -> None:
    rounds(tmp_path, body, payload(torch.randn(4, 8)), payload(torch.randn(4, 8)))


def test_what_a_call_prints_is_told_once_an_input(tmp_path: Path) -> None:
    rounds(tmp_path, "print('x')\nreturn x", payload(torch.ones(3)))


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.randn(6, 4).t(),
        lambda: torch.randn(3, 1).expand(3, 5),
        lambda: torch.zeros(0, 3),
        lambda: torch.randn(3).requires_grad_(),
        lambda: torch.nn.Parameter(torch.randn(3)),
        lambda: torch.arange(4),
    ],
    ids=[
        "of another layout",
        "shared elements",
        "empty",
        "with a gradient",
        "a parameter",
        "of integers",
    ],
)
def test_tensors_of_all_kinds_come_again_as_they_were(tmp_path: Path, make: Callable[[], Any]) -> None:
    target = target_of(tmp_path, problem(forward("return x")))
    given = target.read(payload(make()))
    before = encode(given["args"])
    lasting = Lasting(target, given)
    for _ in range(2):
        again = lasting.anew()
        assert encode(again["args"]) == before
        assert again["args"][0] is not given["args"][0]
        assert again["args"][0].data_ptr() == given["args"][0].data_ptr()


def test_arguments_that_share_memory_still_do(tmp_path: Path) -> None:
    x = torch.randn(8)
    target = target_of(tmp_path, problem(forward("return x")))
    given = target.read(payload(x, x[2:]))
    before = encode(given["args"])
    first, second = Lasting(target, given).anew()["args"]
    first[3] = 7.0
    assert float(second[1]) == 7.0
    assert encode(Lasting(target, target.read(payload(x, x[2:]))).anew()["args"]) == before


def test_the_module_is_as_its_constructor_left_it_in_each_round(tmp_path: Path) -> None:
    target = target_of(tmp_path, problem(forward("return x")))
    made = []

    def invoke(_: Any, init: Any, args: Any, kwargs: Any) -> Any:
        made.append(init)
        return "value", None, None, 5

    found = in_rounds(target, [target.read(payload(torch.ones(2)))], 3, invoke, lambda: "said", iter(range(6)).__next__)
    assert found == ([5, 10], [1, 2], [("value", None, None, "said")])
    assert len(set(map(id, made))) == 3


MEMO = """\
key = x.sum().item()
if key not in KNOWN:
    KNOWN[key] = x * 2
    COMPUTED.append(key)
return KNOWN[key]
"""


def test_what_is_kept_by_content_shows_where_contents_come_again(tmp_path: Path) -> None:
    source = problem(forward(*MEMO.splitlines())).replace("class Model", "KNOWN, COMPUTED = {}, []\n\n\nclass Model", 1)
    target = target_of(tmp_path, source)
    given, others = ([payload(torch.randn(4)) for _ in range(2)] for _ in range(2))
    laid: list[Any] = []
    timed_pass(target, given, 3, Capture(LIMIT), laid=laid)
    assert len(target.module.COMPUTED) == 2
    *_, outcomes = renewed_round(target, laid, others, 0, Capture(LIMIT))
    assert len(target.module.COMPUTED) == 4
    assert outcomes == [call_once(target, one, Capture(LIMIT))[0] for one in others]


def test_new_inputs_lie_where_those_of_the_pass_did_if_they_are_as_large(tmp_path: Path) -> None:
    target = target_of(tmp_path, problem(forward("SEEN.append((x.data_ptr(), tuple(x.shape)))", "return x")))
    target.module.SEEN = seen = []
    laid: list[Any] = []
    timed_pass(target, [payload(torch.ones(2)), payload(torch.ones(3))], 1, Capture(LIMIT), laid=laid)
    renewed_round(target, laid, [payload(torch.zeros(2)), payload(torch.zeros(5))], 0, Capture(LIMIT))
    (first, _), _, again, (_, shape) = seen
    assert again == (first, (2,))
    assert shape == (5,)


def test_a_new_input_has_its_own_constructor(tmp_path: Path) -> None:
    weight = "        self.weight = nn.Parameter(torch.rand(1))\n"
    target = target_of(tmp_path, problem(weight + forward("return x + self.weight")))
    given, other = (encode({"init": (seed, (), {}), "args": (torch.ones(2),)}) for seed in (1, 2))
    laid: list[Any] = []
    timed_pass(target, [given], 2, Capture(LIMIT), laid=laid)
    assert renewed_round(target, laid, [other], 0, Capture(LIMIT))[-1] == [call_once(target, other, Capture(LIMIT))[0]]


def test_gradients_of_outputs_come_again_too(tmp_path: Path) -> None:
    target = target_of(tmp_path, problem(forward("return x * x")), backward=True)
    x, upstream = torch.randn(3), torch.randn(3)
    one = payload(x, upstream=(upstream,))
    _, *_, outcomes = timed_pass(target, [one], 2, Capture(LIMIT))
    assert outcomes == [call_once(target, one, Capture(LIMIT))[0]]
