"""The attack corpus: all of it is held, and each protection is what holds some of it."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from whet.benchmarks.self.campaigns.attacks import Attacks, rows_of
from whet.benchmarks.self.campaigns.campaign import Item, ItemResult, Record, Status
from whet.benchmarks.self.campaigns.pages import PAGES, marks
from whet.core.task import MIB, Limits
from whet.sandbox.bubblewrap import Bubblewrap
from whet.sandbox.inside.codec import encode
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.protocol import Incident, Job
from whet.testing.attacks.attack import Attack
from whet.testing.attacks.strike import CORPUS, MAKERS, Broken, escapes
from whet.testing.attacks.table import (
    ALL,
    LACKS,
    Row,
    faults,
    idle,
    switches,
    text,
)
from whet.testing.attacks.weakened import changed


@pytest.fixture(scope="module", params=list(MAKERS))
def backend(request: pytest.FixtureRequest) -> str:
    if request.param == "docker":
        request.getfixturevalue("docker_host")
    elif shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    return request.param


EACH = pytest.mark.parametrize(
    "attack", [pytest.param(a, id=a.name, marks=[pytest.mark.corpus] if a.slow else []) for a in CORPUS]
)


IN_TURN = pytest.mark.parametrize(
    "backend",
    [pytest.param(one, marks=pytest.mark.exhaustive if one == "docker" else pytest.mark.corpus) for one in MAKERS],
    indirect=True,
)


@EACH
@pytest.mark.parametrize(
    "backend", [pytest.param(one, marks=pytest.mark.corpus if one == "docker" else ()) for one in MAKERS], indirect=True
)
def test_with_all_on_it_is_held(attack: Attack, backend: str) -> None:
    assert not escapes(attack, backend)


@IN_TURN
@EACH
def test_a_fork_of_a_warm_worker_is_held_as_well(attack: Attack, backend: str) -> None:
    assert not escapes(attack, backend, preload=("numpy",))


def test_the_corpus_names_each_attack_once_and_switches_that_exist() -> None:
    names = [attack.name for attack in CORPUS]
    assert len(names) == len(set(names))
    entries = [entry for a in CORPUS for named in (a.protects, *a.apart.values()) for entry in named]
    assert {name for entry in entries for name in entry.split("+")} == set(ALL)


def test_a_protection_that_is_not_there_cannot_be_taken_out() -> None:
    argv = ["bwrap", "--unshare-net", "--", "python"]
    assert changed(argv, ["--unshare-net"], []) == ["bwrap", "--", "python"]
    with pytest.raises(ValueError, match="--unshare-pid is not part of bwrap"):
        changed(argv, ["--unshare-pid"], [])


@pytest.mark.parametrize("backend", list(MAKERS))
def test_each_switch_holds_something(backend: str) -> None:
    assert idle(backend) == []
    assert set(LACKS[backend]) <= set(ALL)


@pytest.mark.parametrize("attack", [pytest.param(a, id=a.name) for a in CORPUS])
def test_an_attack_shows_that_it_is_not_broken_and_says_what_holds_it(attack: Attack) -> None:
    layers = [attack.layers(backend, switches(backend)) for backend in MAKERS]
    assert any(layers) or attack.plain or attack.tried
    assert all(layers) or attack.why


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_the_campaign_tries_an_attack_with_all_on_and_without_what_holds_it() -> None:
    campaign = Attacks(("bubblewrap:environment",))
    with campaign.opened() as measure:
        found = measure(campaign.asked[0])
    assert found.status is Status.RIGHT
    done = rows_of([kept(campaign.asked[0], found)])
    assert [row.escaped for row in done] == [row.expected for row in done]
    assert {row.off for row in done} > {()}


def kept(item: Item, found: ItemResult) -> Record:
    return Record(item.id, "", "", 0.0, found.status, found.line, found.facts)


def test_what_does_not_come_true_is_a_fault() -> None:
    attack = Attack("a", "tries", "", ("network+seccomp",), plain=True)
    done = [
        Row(attack, "docker", (), True),
        Row(attack, "docker", ("network", "seccomp"), False),
        Row(attack, "docker", ("network",), True),
        Row(attack, "none", (), False),
    ]
    assert faults(done) == [
        "a gets through docker",
        "a is held by docker without network, seccomp",
        "a gets through docker without network",
        "a is held by none",
    ]
    right = [replace(row, escaped=not row.escaped) for row in done]
    assert faults(right) == []
    assert "seccomp" not in idle("docker", (attack,))
    assert "memory_limit" in idle("docker", (attack,))


def test_layers_are_tried_off_together_and_all_but_one() -> None:
    attack = Attack("a", "tries", "return 1", ("network+closed_descriptors+seccomp", "turns"))
    assert attack.layers("docker", switches("docker")) == [("network", "seccomp"), ("turns",)]


def test_an_attack_that_does_nothing_is_told(backend: str) -> None:
    for attack in (
        Attack("mistyped", "", "return undefined"),
        Attack("idle", "", "return None", tried=lambda value: value == "tried"),
    ):
        with pytest.raises(Broken, match=attack.name):
            escapes(attack, backend)


def test_the_tables_tell_what_each_attack_and_each_switch_came_to() -> None:
    attack = Attack("a", "tries", "", ("process_limit", "network+seccomp"), {"bubblewrap": ()}, "the kernel", True)
    table = text(
        [
            Row(attack, "docker", (), False),
            Row(attack, "docker", ("process_limit",), True),
            Row(attack, "docker", ("network", "seccomp"), True),
            Row(attack, "docker", ("seccomp",), False),
            Row(attack, "bubblewrap", (), False),
            Row(attack, "none", (), True),
        ]
    )
    assert "| held; escapes without `process_limit`, or without `network` and `seccomp` |" in table
    assert "| held: the kernel; escapes without a sandbox |" in table
    assert "| `seccomp` | a (as `network` does) |" in table
    assert f"| `closed_descriptors` | no such switch: {LACKS['docker']['closed_descriptors']} |" in table


def test_the_page_shows_every_attack_and_every_switch() -> None:
    page = PAGES["attacks"].read_text()
    begin, end = map(page.index, marks("attacks"))
    attacks, switched = page[begin:end].split("\n\n")[-2:]
    rows = [line.split(" | ") for line in attacks.splitlines() if line.startswith("| ")][1:]
    assert [row[0].removeprefix("| ") for row in rows] == [a.name for a in CORPUS]
    rows = [row.strip("| ").split(" | ") for row in switched.splitlines()[2:]]
    assert [row[0] for row in rows] == [f"`{name}`" for name in ALL]
    assert all(len(row) == 1 + len(MAKERS) and all(row) for row in rows)
    assert "escaped**" not in page


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_the_watchdog_says_what_it_ended_a_job_for() -> None:
    sandbox = Bubblewrap()
    tree = sandbox.stage("hog", {"a.py": b"import time\ndef f():\n    kept = b'x' * (200 << 20)\n    time.sleep(5)\n"})
    session = sandbox.open(Job("calls", find_interpreter(), tree, Limits(memory=100 * MIB)))
    try:
        session.ask("load", "python", "a.py", "f", seconds=20.0)
        with pytest.raises(Incident, match="the limit is 100 MiB") as caught:
            session.ask("call", encode(()), seconds=10.0)
    finally:
        session.close()
        sandbox.close()
    assert caught.value.kind == "memory"
