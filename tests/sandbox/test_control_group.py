"""Bounds on all processes of a job together: by the kernel where it lets this user, else by the watchdog."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from driving import until

from whet.core.task import MIB, Limits
from whet.sandbox.bubblewrap import Bubblewrap
from whet.sandbox.control_group import ControlGroup, ParentGroup, find_place, group_name, remove_stale
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.decode import decode
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.ownership import owner
from whet.sandbox.protocol import Incident, Job
from whet.sandbox.slots import Slots
from whet.testing.attacks.attack import Attack, got_through
from whet.testing.attacks.protections import ALL_ON, Protections
from whet.testing.attacks.strike import CORPUS
from whet.testing.attacks.weakened import WeakBubblewrap

BOUNDS = {"fork-bomb": "process_limit", "memory": "memory_limit", "memory-of-ten": "memory_limit"}
needs_bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


@pytest.fixture(scope="module")
def place() -> ParentGroup:
    found = find_place()
    if found is None:
        pytest.skip("no control group can be made here")
    return found


@pytest.fixture(params=["control group", "watchdog"])
def control_groups(request: pytest.FixtureRequest) -> bool:
    if request.param == "control group":
        request.getfixturevalue("place")
    return request.param == "control group"


@pytest.fixture
def groups(place: ParentGroup) -> Callable[..., set[Path]]:
    """Returns the groups of a whet process, or those of this one that were not there before the test."""

    def found(pid: int | None = None) -> set[Path]:
        name = f"whet-*:{pid or os.getpid()}:*-*"
        places = (place.memory, place.processes, place.accounting)
        return {path for folder in places if folder is not None for path in folder.glob(name)}

    # A sandbox that tests share may be open.
    before = found()
    return lambda pid=None: found(pid) - before


@pytest.fixture
def sandbox(place: ParentGroup) -> Iterator[Bubblewrap]:
    made = Bubblewrap()
    yield made
    made.close()


def answer(sandbox: Bubblewrap, source: str, limits: Limits) -> object:
    """Returns what a function says, or the incident."""
    tree = sandbox.stage("job", {"a.py": f"def attack():\n{source}".encode()})
    session = sandbox.open(Job("calls", find_interpreter(), tree, limits))
    try:
        session.ask("load", "python", "a.py", "attack", seconds=20.0)
        (_, outcome, _), _ = session.ask("call", encode(()), seconds=20.0)
        return decode(outcome)[3]
    except Incident as incident:
        return incident
    finally:
        session.close()


def tried(attack: Attack, protections: Protections, control_groups: bool) -> object:
    sandbox = WeakBubblewrap(protections, control_groups=control_groups)
    try:
        assert bool(sandbox.facts["control_group"]) == control_groups
        return answer(sandbox, attack.source.replace("\n", "\n    "), attack.limits)
    finally:
        sandbox.close()


@needs_bubblewrap
@pytest.mark.corpus
@pytest.mark.parametrize("name", BOUNDS)
def test_the_switches_mean_the_same_by_a_group_and_by_the_watchdog(name: str, control_groups: bool) -> None:
    attack = next(attack for attack in CORPUS if attack.name == name)
    assert not got_through(tried(attack, ALL_ON, control_groups))
    assert got_through(tried(attack, replace(ALL_ON, **{BOUNDS[name]: False}), control_groups))


@needs_bubblewrap
def test_memory_over_the_limit_is_told_as_such(control_groups: bool) -> None:
    sandbox = Bubblewrap(control_groups=control_groups)
    hog = "    import time\n    kept = b'x' * (200 << 20)\n    time.sleep(5)\n"
    try:
        said = answer(sandbox, hog, Limits(memory=100 * MIB))
        assert answer(sandbox, "    return 1", Limits(memory=100 * MIB)) == 1
    finally:
        sandbox.close()
    assert isinstance(said, Incident)
    assert said.kind == "memory"
    assert "100 MiB" in str(said)


@needs_bubblewrap
def test_a_child_that_was_killed_is_told_though_its_parent_says_nothing(sandbox: Bubblewrap) -> None:
    source = """
    import os
    pid = os.fork()
    if pid == 0:
        kept = b"x" * (300 << 20)
        os._exit(0)
    os.waitpid(pid, 0)
    return "all is well"
"""
    said = answer(sandbox, source, Limits(memory=100 * MIB))
    assert isinstance(said, Incident)
    assert said.kind == "memory"


@needs_bubblewrap
def test_the_peak_of_a_job_is_its_tree_s_and_begins_anew(sandbox: Bubblewrap) -> None:
    tree = sandbox.stage("peak", {"a.py": b"def f(size):\n    return len(b'x' * size)\n"})
    session = sandbox.open(Job("calls", find_interpreter(), tree))
    group = session._child._slot.group  # type: ignore[attr-defined]
    try:
        session.ask("load", "python", "a.py", "f", seconds=20.0)
        session.ask("call", encode((100 << 20,)), seconds=20.0)
        high = group.peak()
        if high is None:
            pytest.skip("this kernel cannot begin a peak anew")
        assert group.reset()
        session.ask("call", encode((10 << 20,)), seconds=20.0)
        low = group.peak()
    finally:
        session.close()
    assert 100 * MIB < high < 250 * MIB
    assert low < high - 50 * MIB


@needs_bubblewrap
def test_groups_are_used_again_and_none_is_left(groups: Callable[..., set[Path]]) -> None:
    sandbox = Bubblewrap()
    try:
        for _ in range(10):
            assert answer(sandbox, "    return 1", Limits()) == 1
        assert groups()
    finally:
        sandbox.close()
    assert groups() == set()


def test_what_dead_runs_left_is_removed_and_nothing_else(place: ParentGroup, groups: Callable[..., set[Path]]) -> None:
    gone = subprocess.Popen(["/bin/true"])
    gone.wait()
    boot, namespace, *_ = owner().split(":")
    stale = ControlGroup(place, f"whet-{boot}:{namespace}:{gone.pid}:0-1")
    alive = ControlGroup(place, f"whet-{owner()}-alive")
    elsewhere = ControlGroup(place, f"whet-{boot}:another:{gone.pid}:0-1")  # whose numbers are not those of here
    try:
        remove_stale(place)
        assert {path.name.split(":")[1] for path in groups(gone.pid)} == {"another"}
        assert {path.name for path in groups()} == {f"whet-{owner()}-alive"}
    finally:
        for group in (stale, alive, elsewhere):
            assert group.remove()


def test_a_slot_is_not_used_while_something_of_its_last_job_is_left(
    place: ParentGroup, groups: Callable[..., set[Path]], tmp_path: Path
) -> None:
    slots = Slots(place, tmp_path)
    first = slots.take()
    process = first.spawner.run(subprocess.Popen, ["/bin/sleep", "60"])
    slots.give(first)
    try:
        second = slots.take()
        assert second is not first
        slots.give(second)
    finally:
        process.kill()
        process.wait()
    assert first.free()
    slots.close()
    assert groups() == set()


def test_a_process_joins_by_itself_where_groups_hold_no_threads_apart(place: ParentGroup) -> None:
    interface = place.interface
    if interface.version == 1:  # its files, in the manner of version 2
        interface = replace(interface, version=2, swap="no-such-file")
    group = ControlGroup(ParentGroup(interface, place.memory, place.processes), group_name())
    try:
        group.begin(64 * MIB, 5)
        script = 'for file; do echo 0 > "$file" || exit 1; done; echo joined; exec sleep 60'
        process = subprocess.Popen(["/bin/sh", "-c", script, "sh", *group.procs_files], stdout=subprocess.PIPE)
        with process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"joined\n"
            assert not group.empty()
            process.kill()
        assert group.excess() == ""
    finally:
        assert group.remove()


@needs_bubblewrap
@pytest.mark.parametrize("ends", ["by itself", "at its limit of time"])
def test_nobody_is_left_to_bury(ends: str) -> None:
    sandbox = Bubblewrap()
    try:
        tree = sandbox.stage("end", {"a.py": b"def f(endless):\n    while endless:\n        pass\n"})
        session = sandbox.open(Job("calls", find_interpreter(), tree))
        session.ask("load", "python", "a.py", "f", seconds=20.0)
        pids = session.pids()
        assert len(pids) > 2
        if ends == "by itself":
            session.close()
        else:
            with pytest.raises(Incident):
                session.ask("call", encode((True,)), seconds=0.2)
    finally:
        sandbox.close()
    # Whoever outlives its parent is buried by the machine's init, some time later; nobody but us would bury our own.
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))
