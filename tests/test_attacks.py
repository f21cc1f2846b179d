"""The attack corpus: all of it is held, and each protection is what holds some of it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from whet.core.task import MIB, Limits
from whet.sandbox.bubblewrap import Bubblewrap
from whet.sandbox.inside.codec import encode
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.protections import ALL_ON
from whet.sandbox.protocol import Incident, Job
from whet.testing.attacks.attack import Attack
from whet.testing.attacks.strike import CORPUS, MAKERS, escapes
from whet.testing.attacks.table import BEGIN, END, PAGE, SWITCHES, Row, faults, rows, text, write

SLOW = ("endless-loop", "memory", "memory-of-ten", "inodes", "huge-length")


@pytest.fixture(scope="module", params=list(MAKERS))
def backend(request: pytest.FixtureRequest) -> str:
    if request.param == "docker":
        request.getfixturevalue("docker_host")
    elif shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    return request.param


@pytest.mark.parametrize(
    "attack",
    [pytest.param(a, id=a.name, marks=[pytest.mark.corpus] if a.name in SLOW else []) for a in CORPUS],
)
def test_with_all_on_it_is_held(attack: Attack, backend: str) -> None:
    assert not escapes(attack, backend)


@pytest.mark.corpus
@pytest.mark.parametrize("attack", CORPUS, ids=lambda attack: attack.name)
def test_a_fork_of_a_warm_worker_is_held_as_well(attack: Attack, backend: str) -> None:
    assert not escapes(attack, backend, warm=True)


@pytest.mark.corpus
def test_each_switch_holds_something(backend: str) -> None:
    if backend == "bubblewrap" and os.geteuid() != 0:
        pytest.skip("only root has privileges to drop")
    assert faults(list(rows(backend))) == []


def test_the_corpus_names_each_attack_once_and_switches_that_exist() -> None:
    names = [attack.name for attack in CORPUS]
    assert len(names) == len(set(names))
    assert {name for attack in CORPUS for name in attack.protects} == set(ALL_ON.__dataclass_fields__)


def test_an_escape_and_a_useless_switch_are_faults() -> None:
    attack = CORPUS[0]
    done = [Row(attack, "docker", "", True), *(Row(attack, "docker", name, True) for name in SWITCHES["docker"][1:])]
    assert faults(done) == [
        f"{attack.name} gets through docker",
        f"{SWITCHES['docker'][0]} of docker frees nothing",
    ]


def test_the_table_goes_between_its_marks(tmp_path: Path) -> None:
    attack = CORPUS[0]
    table = text([Row(attack, "docker", "", False), Row(attack, "docker", "process_limit", True)])
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    write(table, page)
    assert page.read_text() == f"before\n{BEGIN}\n{table}\n{END}\nafter\n"
    assert "held; escapes without `process_limit`" in table


def test_the_page_shows_every_attack() -> None:
    page = PAGE.read_text()
    table = page[page.index(BEGIN) : page.index(END)]
    assert [row.split(" | ")[0].removeprefix("| ") for row in table.splitlines()[3:]] == [a.name for a in CORPUS]
    assert "**escaped**" not in table


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_the_watchdog_says_what_it_ended_a_job_for() -> None:
    sandbox = Bubblewrap()
    tree = sandbox.stage("hog", {"a.py": b"import time\ndef f():\n    kept = b'x' * (200 << 20)\n    time.sleep(5)\n"})
    session = sandbox.open(Job("calls", find_interpreter(), tree, Limits(memory=100 * MIB)))
    try:
        session.ask("load", "a.py", "f", seconds=20.0)
        with pytest.raises(Incident, match="the limit is 100 MiB") as caught:
            session.ask("call", encode(()), seconds=10.0)
    finally:
        session.close()
        sandbox.close()
    assert caught.value.kind == "memory"
