"""Work on hosts that the network parts: namespaces stand in for them."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path

import pytest
from clusters import Driver, cluster
from hosts import lacking

from whet.core.store import Store

pytest.importorskip("ray")
pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.skipif(bool(lacking()), reason=lacking() or "there is nothing to skip"),
]


@pytest.fixture
def folder():
    """A folder that hosts with a /tmp of their own share."""
    made = Path(tempfile.mkdtemp(prefix="whet-hosts-", dir="/var/tmp"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


def sums(driver: Driver) -> list[int]:
    return sorted(outcome["result"]["sum"] for outcome in driver.outcomes if outcome["end"] == "done")


def stored(folder: Path) -> int:
    store = Store(folder / "home")
    with store.connection() as db:
        (count,) = db.execute("SELECT count(*) FROM results").fetchone()
    store.close()
    return count


def test_a_host_that_is_cut_off_loses_its_work_to_another_and_comes_back(folder):
    with cluster(folder, "one", "two") as made:
        one, _ = made.workers
        driver = Driver(made, "cut", 24, 0.5, folder / "log")
        first = driver.until(lambda told: "hosts" in told)
        assert {name: standing[0] for name, standing in first["hosts"].items()} == {"one": "ready", "two": "ready"}
        driver.until(lambda told: {outcome["host"] for outcome in driver.outcomes} == {"one", "two"})
        one.cut()
        cut = time.monotonic()
        driver.until(lambda told: "all" in told)
        print(f"all done {time.monotonic() - cut:.1f} s after the cut")
        assert sums(driver) == list(range(24))
        assert driver.outcomes[-1]["host"] == "two"
        driver.standing("one", "lost")
        print(f"lost {time.monotonic() - cut:.1f} s after the cut")
        one.heal()
        healed = time.monotonic()
        driver.standing("one", "ready")
        print(f"back {time.monotonic() - healed:.1f} s after healing")
        driver.close()
    counted = Counter((folder / "log").read_text().split())
    assert set(counted) == {f"[{number}]" for number in range(24)}
    assert sum(counted.values()) <= 24 + 1  # what the lost host had begun


def test_a_driver_that_is_cut_off_says_so_and_the_next_one_goes_on(folder):
    with cluster(folder, "one", "two") as made:
        driver = Driver(made, "driver", 30, 0.5, folder / "log")
        driver.until(lambda told: len(driver.outcomes) == 4)
        made.driver.cut()
        cut = time.monotonic()
        told = driver.until(lambda told: "error" in told and "end" not in told)
        print(f"told {time.monotonic() - cut:.1f} s after the cut: {told['error']}")
        assert time.monotonic() - cut < 60.0
        assert "\n" not in told["error"]
        assert made.head.address in told["error"]
        driver.process.wait(60)
        before = stored(folder)
        assert before >= 4
        made.driver.heal()
        again = Driver(made, "driver", 30, 0.5, folder / "log")
        again.until(lambda told: "all" in told)
        assert sums(again) == list(range(30))
        again.close()
    counted = Counter((folder / "log").read_text().split())
    assert len(counted) == 30
    assert sum(counted.values()) <= 30 + 2


def test_a_host_whose_disk_is_full_gets_no_work_until_there_is_room(folder):
    with cluster(folder, "one", "two", tmp="600m") as made:
        one, _ = made.workers
        driver = Driver(made, "full", 0, 0.0, folder / "log")
        driver.standing("one", "ready")
        assert one.run("sh", "-c", "head -c 400M /dev/zero > /tmp/large").returncode == 0
        why = driver.standing("one", "quarantined")
        assert why.startswith("disk: ")
        assert why.endswith(" MiB free in /tmp, 256 are needed")
        one.run("rm", "/tmp/large")
        driver.standing("one", "ready")
        driver.close()
