"""A cluster of Ray whose hosts are namespaces: a driver, the head node, and hosts that work."""

from __future__ import annotations

import json
import os
import queue
import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hosts import NetHost, hosts
from paths import ROOT

RAY = str(Path(sys.executable).with_name("ray"))
START_SECONDS = 120.0
SETTINGS = {
    "RAY_AUTH_MODE": "token",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEFAULT_PYTHON_VERSION_MATCH_LEVEL": "minor",
    "GRPC_ENABLE_FORK_SUPPORT": "0",
    "RAY_task_events_report_interval_ms": "0",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "2000",
    "RAY_health_check_failure_threshold": "3",
}
"""As in docs/scale.md: so that, among others, a host which is cut off is given up within ten seconds."""
AGAIN = 'while :; do "$@"; sleep 2; done'
"""A node that was given up ends; what keeps a service starts it again."""

DRIVER = """
import hashlib, json, sys, time
from whet.core.errors import WhetError
from whet.sandbox.workers.base import Work
from whet.sandbox.workers.registry import open_executor

address, name, count, seconds, log = sys.argv[1:]
def tell(**what):
    print(json.dumps(what), flush=True)
def work(number):
    argument = {"numbers": [number], "seconds": float(seconds), "log": log}
    return Work(hashlib.sha256(f"{name} {number}".encode()).hexdigest(), "whet.testing.pieces:add", argument)
def hosts():
    return {host.name: [host.standing, host.why, host.labels.get("arch", "")] for host in executor.hosts()}
try:
    executor = open_executor(address)
    tell(hosts=hosts())
    tickets = [executor.submit(work(number)) for number in range(int(count))]
    for outcome in executor.as_completed(tickets):
        tell(end=outcome.end, result=outcome.result, host=outcome.host, error=outcome.error)
    tell(all=True)
    while True:
        tell(hosts=hosts())
        time.sleep(0.5)
except WhetError as error:
    tell(error=str(error))
"""


class Driver:
    """A driver of pieces of work, in a process of its own, and what it told."""

    def __init__(self, cluster: Cluster, name: str, count: int, seconds: float, log: Path) -> None:
        words = [cluster.address, name, str(count), str(seconds), str(log)]
        self.process = cluster.driver.start(
            sys.executable, "-c", DRIVER, *words, env=cluster.environment, stdout=-1, cwd=cluster.folder
        )
        self.outcomes: list[dict[str, Any]] = []
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def until(self, wanted: Callable[[dict[str, Any]], bool], seconds: float = 90.0) -> dict[str, Any]:
        """Returns the first thing told from now on that is wanted."""
        deadline = time.monotonic() + seconds
        while True:
            told = json.loads(self._lines.get(timeout=max(0.01, deadline - time.monotonic())))
            if "end" in told:
                self.outcomes.append(told)
            if wanted(told):
                return told
            assert set(told) != {"error"}, told

    def standing(self, host: str, standing: str, seconds: float = 90.0) -> str:
        """Waits until a host stands so; returns why."""
        told = self.until(lambda told: told.get("hosts", {}).get(host, [""])[0] == standing, seconds)
        return told["hosts"][host][1]

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(30)

    def _read(self) -> None:
        for line in self.process.stdout:
            self._lines.put(line)


@dataclass(frozen=True, slots=True)
class Cluster:
    """What there is.

    Attributes:
        folder: that all hosts see.
        driver: the host of drivers.
        head: the head node, which does no work.
        workers: the hosts that work.
        environment: that Ray and whet run with.
    """

    folder: Path
    driver: NetHost
    head: NetHost
    workers: list[NetHost]
    environment: Mapping[str, str]

    @property
    def address(self) -> str:
        """What stands after ``--workers``."""
        return f"ray://{self.head.address}:10001"


@contextmanager
def cluster(folder: Path, *names: str, slots: int = 1, tmp: str = "1g") -> Iterator[Cluster]:
    """Yields a cluster whose nodes have said that they are up.

    Args:
        folder: for what hosts share, and not below ``/tmp``, which each has of its own.
        names: of the hosts that work.
        slots: of each.
        tmp: size of their ``/tmp``.
    """
    environment = {
        **os.environ,
        **SETTINGS,
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        "WHET_HOME": str(folder / "home"),
        "PYTHONPATH": str(ROOT),
    }
    with hosts("driver", "head", *names, tmp=tmp) as (driver, head, *workers):
        made = Cluster(folder, driver, head, workers, environment)
        ports = ("--port=6379", "--ray-client-server-port=10001")
        expect_up(start_node(made, head, "--head", *ports, "--num-cpus=0", "--include-dashboard=false"))
        joining = (f"--address={head.address}:6379", f"--num-cpus={slots}")
        for log in [start_node(made, worker, *joining) for worker in workers]:
            expect_up(log)
        yield made


def start_node(cluster: Cluster, host: NetHost, *words: str) -> Path:
    """Starts a node; returns what it writes to."""
    log = cluster.folder / f"{host.name}.log"
    own = (f"--node-ip-address={host.address}", "--object-store-memory=80000000")
    command = ("sh", "-c", AGAIN, "sh", RAY, "start", "--block", *words, *own)
    with log.open("w") as said:
        host.start(*command, env=cluster.environment, stdout=said, stderr=said, cwd=cluster.folder)
    return log


def expect_up(log: Path) -> None:
    """Waits until a node is up."""
    deadline = time.monotonic() + START_SECONDS
    while "Ray runtime started" not in log.read_text():
        assert time.monotonic() < deadline, log.read_text()[-2000:]
        time.sleep(0.1)
