"""A cluster of several raylets on this machine, as if each were a host."""

from __future__ import annotations

import os
import socket
from contextlib import contextmanager
from pathlib import Path

from whet.sandbox.process_tree import tree
from whet.sandbox.workers.ray_link import OWN_CLUSTER

SMALL = {"num_cpus": 1, "object_store_memory": 80 << 20, "include_dashboard": False}


class Raylets:
    """The head node, whose raylet is a host too, and others."""

    def __init__(self, count):
        from ray.cluster_utils import Cluster

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"ray://127.0.0.1:{port}"
        head = {**SMALL, "ray_client_server_port": port, "_system_config": OWN_CLUSTER}
        self.cluster = Cluster(initialize_head=True, head_node_args=head)
        self.others = [self.add() for _ in range(count - 1)]

    def add(self, **variables):
        """Starts a further raylet, which has some variables in its environment."""
        before = {name: os.environ.get(name) for name in variables}
        os.environ.update(variables)
        try:
            return self.cluster.add_node(num_cpus=1, object_store_memory=80 << 20)
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})


@contextmanager
def raylets(count):
    """Starts raylets, and ends them."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")  # as docs/scale.md says: else connecting fails now and then
    made = Raylets(count)
    try:
        yield made
    finally:
        made.cluster.shutdown()


def agents(root=None):
    """Returns the processes of agents that descend from a process; from this one, where none is named."""
    return [pid for pid in tree(root or os.getpid()) if command(pid).startswith("ray::Agent")]


def command(pid):
    """Returns the command line of a process; empty where it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""
