"""The docker engine of this machine, what dead runs left on it, and the image that containers start from."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from pathlib import Path
from typing import Any

from whet.core.errors import UsageError
from whet.sandbox.ownership import is_gone
from whet.sandbox.staging import SYSTEM_FOLDERS

PING_SECONDS = 10.0
"""For an answer to a ping: an engine on a busy machine took over a second. One that hangs costs this once a run."""
CALL_SECONDS = 60.0
"""Seconds in which the engine must answer any other request, such as to import the image. Less fails requests on a busy
machine; more delays the report of an engine that hangs."""
OWNER = "whet.owner"
"""The label of a container that says who made it; see `whet.sandbox.ownership`."""
REPOSITORY = "whet-skeleton"
IMAGE_VARIABLE = "WHET_DOCKER_IMAGE"
DEFAULT_SOCKET = Path("/var/run/docker.sock")


def connect() -> Any:
    """Returns a client of the engine.

    Raises:
        UsageError: no engine answers within `PING_SECONDS`.
    """
    if "DOCKER_HOST" not in os.environ and not DEFAULT_SOCKET.exists():
        raise UsageError("no docker engine runs here; apt-get install docker.io, and start dockerd")
    import docker

    try:
        docker.from_env(timeout=PING_SECONDS).ping()
        return docker.from_env(timeout=CALL_SECONDS)
    except (docker.errors.DockerException, OSError) as error:
        denied = "Permission denied" in str(error)
        mend = "join the group docker" if denied else "is dockerd running?"
        raise UsageError(f"no docker engine answers; {mend}") from None


def remove_leftovers(engine: Any) -> None:
    """Removes the containers of whet processes that are gone."""
    for container in engine.containers.list(all=True, sparse=True, filters={"label": OWNER}):
        if is_gone(container.attrs["Labels"][OWNER]):
            remove(container)


def remove(container: Any) -> None:
    """Kills and removes a container, or waits for the engine to remove it, where that is under way."""
    import docker

    try:
        container.remove(force=True)
    except docker.errors.NotFound:
        return
    except docker.errors.APIError:
        try:
            container.wait(condition="removed")
        except docker.errors.NotFound:
            return


def image(engine: Any) -> tuple[str, bool]:
    """Returns the image to start from, and whether it has a ``/usr`` of its own.

    Raises:
        UsageError: the user's image is not there.
    """
    import docker

    chosen = os.environ.get(IMAGE_VARIABLE)
    if chosen:
        try:
            engine.images.get(chosen)
        except docker.errors.ImageNotFound:
            raise UsageError(f"{IMAGE_VARIABLE}={chosen}: the docker engine has no such image") from None
        return chosen, True
    layer = skeleton()
    tag = hashlib.sha256(layer).hexdigest()[:12]
    name = f"{REPOSITORY}:{tag}"
    try:
        engine.images.get(name)
    except docker.errors.ImageNotFound:
        engine.api.import_image_from_data(layer, repository=REPOSITORY, tag=tag)
    return name, False


def skeleton() -> bytes:
    """Returns a root file system for the host's ``/usr``, as a tar: empty folders and links into ``/usr``."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        # A real /sbin: the engine mounts its init there, and could not below a read-only /usr.
        for folder in ("etc", "proc", "run/whet", "sbin", "src", "sys", "dev", "tmp", "usr", "whet", "work"):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(entry)
        for name in linked_folders():
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = tarfile.SYMTYPE, f"usr/{name}"
            archive.addfile(entry)
    return buffer.getvalue()


def linked_folders() -> list[str]:
    """Returns which of the host's system folders are links into ``/usr``."""
    return [name for name in SYSTEM_FOLDERS if Path("/", name).is_symlink() and name != "sbin"]
