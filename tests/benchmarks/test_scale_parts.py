"""``whet bench self scale``, in small: each part runs, and what it counts is as it must be."""

from __future__ import annotations

from itertools import pairwise

import pytest

from whet.benchmarks.self.scale import report
from whet.benchmarks.self.scale.checking import Faults, ReceivedResults, faults
from whet.benchmarks.self.scale.driving import Script
from whet.benchmarks.self.scale.flood import flood
from whet.benchmarks.self.scale.killing import Killer, Victim
from whet.benchmarks.self.scale.places import LOCAL, slots_on
from whet.core.errors import UsageError
from whet.core.store import Store


def lines(whet, part: str) -> list[str]:
    """Has a part carried out by a command of its own: clusters of several parts in one process disturb each other."""
    found = whet("bench", "self", "scale", "--ids", part, "--quick", timeout=900)
    assert found.returncode == 0, found.stderr
    first, *rest = found.stdout.splitlines()
    assert first == f"{part}:"
    return rest


def table(lines: list[str]) -> list[list[str]]:
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [row for row in rows if not set("".join(row)) <= {"-"}][1:]


def test_an_unknown_part_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="no part 'flod' of scale; did you mean 'flood'"):
        list(report.report(["overhead", "flod"]))


def test_quick_goes_with_scale_alone(whet) -> None:
    done = whet("bench", "self", "loop", "--quick")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "scale" in done.stderr


@pytest.mark.corpus(one_in=8)
def test_a_flood_is_looked_at_on_its_way_and_all_of_it_arrives(tmp_path) -> None:
    told = ReceivedResults(1200)
    with slots_on(LOCAL, 2, tmp_path) as executor:
        looks = list(flood(executor, 1200, 200, told))
    assert [look.candidates for look in looks] == [*range(200, 1200, 100), 1200]
    assert all(look.memory.driver > 10 for look in looks)
    assert all(later.seconds > earlier.seconds for earlier, later in pairwise(looks))
    store = Store(tmp_path)
    assert faults(store, "flood", 1200, 0, told) == Faults()
    store.close()


@pytest.mark.corpus
def test_kills_of_local_drivers_and_workers_lose_nothing(tmp_path) -> None:
    script = Script(tmp_path / "local", tmp_path, "local:2", 8)
    killer = Killer(script, (Victim.DRIVER, Victim.WORKER))
    (found, *more) = killer.run(2)
    assert killer.killed.total() >= 2
    assert [one.total for one in (found, *more)] == [0] * (1 + len(more))
    assert found.results == found.replies == 32


@pytest.mark.exhaustive
def test_the_overhead_is_told_for_each_kind_of_work(whet) -> None:
    rows = table(lines(whet, "overhead"))
    assert [row[0] for row in rows] == ["0 ms", "0 ms", "5 ms", "5 ms"]
    assert all(float(row[2].split()[0]) > 0 and float(row[3].split()[0]) > 0 for row in rows)


@pytest.mark.exhaustive
def test_the_slots_are_compared_on_both_executors(whet) -> None:
    rows = table(lines(whet, "slots"))
    assert [row[0] for row in rows] == ["local processes", "Ray"]
    assert all(float(row[3].split()[0]) > 0 for row in rows)


@pytest.mark.exhaustive
def test_a_flood_on_ray_grows_by_little(whet) -> None:
    *_, grown, _, results = lines(whet, "flood")
    assert "the driver grew by" in grown
    assert "MISSED" not in grown
    assert "lost 0, doubled 0, wrong 0" in results


@pytest.mark.exhaustive
def test_the_simulation_says_where_the_driver_saturates(whet) -> None:
    told = lines(whet, "simulation")
    assert told[0].startswith("measured on Ray")
    assert sum(line.startswith("candidates of ") for line in told) == 4
    assert any("saturated" in line for line in told)


@pytest.mark.exhaustive
def test_kills_on_ray_lose_nothing(whet) -> None:
    told = [line for line in lines(whet, "kills") if "goal 0 of each" in line]
    assert len(told) == 2
    assert not any("MISSED" in line for line in told)


@pytest.mark.exhaustive
def test_raylets_that_are_killed_take_nothing_with_them(whet) -> None:
    *_, killed, found, _ = lines(whet, "raylets")
    assert "2 of raylets" in killed
    assert "MISSED" not in found
