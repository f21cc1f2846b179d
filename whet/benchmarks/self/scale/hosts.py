"""Several hosts on one machine: a Ray cluster whose raylets are as many processes, which can be killed.

Its processes find the store that the environment names when this is entered, as those of any standing cluster do.
"""

from __future__ import annotations

import logging
import os
import signal
from types import TracebackType
from typing import Any, Self

from whet.sandbox.workers.ray_link import OBJECT_STORE, OWN_CLUSTER, QUIET

SMALL = {"object_store_memory": OBJECT_STORE}


class Hosts:
    """A cluster that stands for as long as this is entered.

    Args:
        slots: of the head's host, which drivers connect to.
        others: further hosts.
        slots_each: of these.

    Attributes:
        address: for a driver on the head's host: without the process between that ``ray://`` goes through.
    """

    def __init__(self, slots: int, others: int = 0, slots_each: int = 2) -> None:
        self.address = ""
        self._slots = slots
        self._others = others
        self._slots_each = slots_each
        self._cluster: Any = None

    def __enter__(self) -> Self:
        os.environ.update(QUIET)
        from ray.cluster_utils import Cluster

        logging.getLogger("ray").setLevel(logging.CRITICAL)
        head = {"num_cpus": self._slots, "include_dashboard": False, "_system_config": OWN_CLUSTER, **SMALL}
        self._cluster = Cluster(initialize_head=True, head_node_args=head)
        for _ in range(self._others):
            self._cluster.add_node(num_cpus=self._slots_each, **SMALL)
        self.address = self._cluster.address
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cluster.shutdown()

    def kill(self, draw: float) -> None:
        """Kills the raylet of a host that a draw from 0 to 1 chooses, not the head's; another host comes instead."""
        hosts = sorted(self._cluster.worker_nodes, key=lambda host: str(host.node_id))
        host = hosts[int(draw * len(hosts))]
        for process in host.all_processes["raylet"]:
            process.process.send_signal(signal.SIGKILL)
        self._cluster.remove_node(host, allow_graceful=False)
        self._cluster.add_node(num_cpus=self._slots_each, **SMALL)
