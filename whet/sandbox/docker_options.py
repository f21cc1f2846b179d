"""How a container is made: what a job of its shape may use, what it sees, and what nobody in it may do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.core.task import MIB
from whet.sandbox import docker_engine
from whet.sandbox.devices import DEV, gpu_nodes
from whet.sandbox.inside import forking, supervisor
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.ownership import owner
from whet.sandbox.protocol import Job
from whet.sandbox.seccomp import docker_profile
from whet.sandbox.staging import HOST_FILES, PATH, SHARED_BYTES, SYSTEM_FOLDERS, environment

SUPERVISOR_MEMORY = 32 * MIB
"""Bytes of a container's memory limit beyond the job's own: for init, the supervisor and the kernel's records. Less
takes them from what the job was promised; more lets a job exceed its limit by as much."""
PRELOADED_MEMORY = 64 * MIB  # what jobs change of the modules that the supervisor has imported, and so hold twice
SUPERVISOR_PROCESSES = 4  # init, the supervisor, its sweeper, and the program inside
TREE_BYTES = 160 * MIB
"""Bytes of the file system in memory that holds a job's tree; those in use count against the container's limit. A
package, or what a build leaves, has 128 MiB at most. A job whose tree does not fit is not started; more lets trees take
more of a job's memory."""
INODES = 65536
"""Files in each file system in memory, as many as the watchdog allows (`watchdog.MOST_FILES`). More let empty files,
which do not count towards its size, take more of the kernel's memory; with fewer, jobs that write many files fail."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What a container must be like for a job; jobs of one shape can use one container in turn.

    Attributes:
        variables: the environment of its supervisor, which the supervisor's forks inherit.
        worker: see `whet.sandbox.protocol.Job`.
    """

    interpreter: Interpreter
    memory: int
    processes: int
    cores: tuple[int, ...]
    work: int
    gpu: bool
    profiling: bool
    preload: tuple[str, ...] | None
    variables: tuple[tuple[str, str], ...]
    worker: int

    @classmethod
    def of(cls, job: Job) -> Shape:
        """Returns the shape that a job needs."""
        variables = {"PATH": PATH} if job.preload is None else environment(job)
        return cls(
            job.interpreter,
            job.limits.memory,
            job.limits.processes,
            job.cores,
            job.work,
            job.gpu,
            job.profiling,
            job.preload,
            tuple(variables.items()),
            job.worker,
        )


def options(
    engine: Any,
    own_usr: bool,
    program: Path,
    folder: Path,
    shape: Shape,
    devices: Path = DEV,
) -> dict[str, Any]:
    """Returns how a container is made: what it may not do, what it may use, what it sees.

    Args:
        engine: client of the docker engine.
        own_usr: whether the image has a ``/usr`` of its own.
        program: host folder of the program inside.
        folder: host folder of the socket over which the supervisor calls.
        shape: what it must be like.
        devices: host folder of the GPUs' nodes.
    """
    memory = shape.memory + SUPERVISOR_MEMORY + (PRELOADED_MEMORY if shape.preload else 0)
    readable = {program: "/whet", folder: str(Path(supervisor.SOCKET).parent)}
    readable |= {folder: str(folder) for folder in shape.interpreter.folders}
    if not own_usr:
        linked = docker_engine.linked_folders()
        folders = [Path("/", name) for name in SYSTEM_FOLDERS if name not in linked and name != "sbin"]
        shared = (Path("/usr"), *folders, *map(Path, HOST_FILES))
        readable |= {path: str(path) for path in shared if path.exists()}
    writable = f"exec,nosuid,nodev,nr_inodes={INODES}"
    return {
        "network_mode": "none",
        "dns": ["127.0.0.1"],  # else the host's name servers stand in its /etc/resolv.conf
        "hostname": "whet",
        "user": "0:0",  # the supervisor's; jobs have users of their own and no rights
        "cap_drop": ["ALL"],
        "cap_add": ["KILL", "SETGID", "SETUID", *(["PERFMON"] if shape.profiling and knows_perfmon(engine) else [])],
        "security_opt": [
            "no-new-privileges",
            f"seccomp={docker_profile(shape.profiling)}",
        ],
        "read_only": True,
        "ipc_mode": "private",
        "init": True,
        "auto_remove": True,
        "labels": {docker_engine.OWNER: owner()},
        "environment": dict(shape.variables),
        "working_dir": "/",
        "log_config": {"type": "none"},
        "pids_limit": shape.processes + SUPERVISOR_PROCESSES,
        "mem_limit": memory,
        "memswap_limit": memory,
        "cpuset_cpus": ",".join(map(str, shape.cores)),
        "shm_size": SHARED_BYTES,
        "tmpfs": {
            forking.TREE: f"{writable},size={TREE_BYTES},mode=0755",
            "/work": f"{writable},size={shape.work}",
            "/tmp": f"{writable},size={SHARED_BYTES}",
        },
        "volumes": [f"{source}:{place}:ro" for source, place in readable.items()],
        **(gpu_options(engine, own_usr, devices) if shape.gpu else {}),
    }


def knows_perfmon(engine: Any) -> bool:
    """Whether an engine can give a container the right to count events: since its version 23 (API 1.42)."""
    return tuple(map(int, engine.version()["ApiVersion"].split("."))) >= (1, 42)


def gpu_options(engine: Any, own_usr: bool, devices: Path) -> dict[str, Any]:
    """Returns what passes the NVIDIA GPUs through.

    The libraries come with the host's ``/usr``; into an image that has its own, NVIDIA's runtime brings them.
    """
    import docker

    if own_usr and "nvidia" in engine.info()["Runtimes"]:
        return {"device_requests": [docker.types.DeviceRequest(count=-1, capabilities=[["gpu"]])]}
    return {"devices": [f"{node}:{place}:rw" for node, place in gpu_nodes(devices).items()]}
