"""The only module that speaks to Ray."""

from __future__ import annotations

import logging
import os
import socket
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from whet.core.errors import UsageError
from whet.sandbox.process_tree import tree
from whet.sandbox.workers.agent import Agent, versions
from whet.sandbox.workers.errors import one_line
from whet.sandbox.workers.undertaker import Undertaker

START_SECONDS, CONNECT_SECONDS = 60.0, 60.0
"""For a cluster on a loaded host; an address at which there is none is noticed far earlier."""
OBJECT_STORE = 80 << 20
"""Bytes; a little more than the least that Ray takes. Nothing large goes through it."""
OWN_CLUSTER = {
    "health_check_initial_delay_ms": 2000,
    "health_check_period_ms": 1000,
    "health_check_timeout_ms": 5000,
    "health_check_failure_threshold": 4,
    # Otherwise Ray ends a driver whose head node is gone, before that can say what happened.
    "gcs_rpc_server_reconnect_timeout_s": 600,
    # Otherwise Ray's control keeps some 3 kB of each piece of work, for a dashboard that nobody started.
    "task_events_report_interval_ms": 0,
}
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_CLIENT_INITIAL_CONNECTION_TIMEOUT_S": "3",
    "RAY_CLIENT_MAX_CONNECTION_TIMEOUT_S": "3",
    "RAY_CLIENT_RECONNECT_GRACE_PERIOD": "5",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # else agents, which reserve no GPU, see none
    "RAY_ENABLE_AUTO_CONNECT": "0",  # else whoever ends an agent of a cluster that is lost starts another one, here
}


class Link:
    """A connection to a cluster of Ray."""

    def __init__(self, address: str) -> None:
        """Connects.

        Args:
            address: ``ray``, which starts a cluster on this host, or ``ray://HOST:PORT``.

        Raises:
            UsageError: there is no Ray here, or no cluster there.
        """
        for name, value in QUIET.items():
            os.environ.setdefault(name, value)
        try:
            import ray
        except ImportError:
            raise UsageError(f"--workers {address} needs Ray; pip install 'whet[ray]'") from None
        self._ray: Any = ray
        warnings.filterwarnings("ignore", "Ray Client connection timed out")  # it is said in our words
        self.address = address
        self._closed = threading.Event()
        self._undertaker: Undertaker | None = None
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL}
        if address == "ray":
            before = set(tree(os.getpid()))
            self._within(
                lambda: self._ray.init(
                    "local",
                    include_dashboard=False,
                    object_store_memory=OBJECT_STORE,
                    _system_config=OWN_CLUSTER,
                    **quiet,
                ),
                START_SECONDS,
            )
            self._undertaker = Undertaker(set(tree(os.getpid())) - before)
        else:
            self._expect_open()
            self._within(lambda: self._ray.init(address, **quiet), CONNECT_SECONDS)

    def nodes(self) -> dict[str, dict[str, Any]]:
        """Returns the nodes that are alive, by their ids."""
        return {node["NodeID"]: node for node in self._ray.nodes() if node["Alive"]}

    def agent(self, node: str, name: str, slots: int) -> Any:
        """Starts an agent on a node, and returns its handle at once."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        kind = self._ray.remote(
            num_cpus=0,
            max_restarts=0,
            max_task_retries=0,
            max_concurrency=2 * slots + 4,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False),
        )(Agent)
        return kind.remote(name, slots)

    def kill(self, agent: Any) -> None:
        """Ends an agent."""
        with suppress(Exception):  # what is out of reach ends by itself
            self._ray.kill(agent, no_restart=True)

    def close(self) -> None:
        """Lets go of the cluster; one that was started here ends."""
        with suppress(Exception):
            self._ray.shutdown()
        self._closed.set()
        if self._undertaker is not None:
            self._undertaker.close()

    def _expect_open(self) -> None:
        host, _, port = self.address.removeprefix("ray://").rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), 5.0).close()
        except OSError as error:
            raise self._unreachable(error.strerror or str(error)) from None

    def _within(self, connect: Callable[[], object], seconds: float) -> None:
        """Connects in a thread that stays: the kernel ends a cluster with the thread that started it."""
        failed: list[BaseException] = []
        over = threading.Event()

        def attempt() -> None:
            try:
                connect()
            except BaseException as error:
                failed.append(error)
            over.set()
            self._closed.wait()

        threading.Thread(target=attempt, name="whet-ray", daemon=True).start()
        if not over.wait(seconds):
            raise self._unreachable(f"no answer in {seconds:g} s")
        if failed:
            # What the other side raised comes with its traceback, whose last line says it.
            text = str(failed[0]).strip()
            said = text.splitlines()[-1].strip() if "Traceback" in text else one_line(text)
            if "ersion" in said:
                raise UsageError(f"the driver has {versions()}, the cluster at {self.address} has another: {said}")
            raise self._unreachable(said or type(failed[0]).__name__)

    def _unreachable(self, why: str) -> UsageError:
        if self.address == "ray":
            return UsageError(f"no cluster of Ray could be started here ({why})")
        return UsageError(f"no cluster of Ray answers at {self.address} ({why}); is 'ray start --head' running there?")
