"""GPUs in a sandbox: that the nodes of the driver get in, and (on a machine that has one) that CUDA starts there."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from whet.sandbox.bubblewrap import Bubblewrap
from whet.sandbox.devices import DEV, gpu_nodes
from whet.sandbox.docker import Docker
from whet.sandbox.inside import landlock
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.decode import decode
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.protocol import Job, Sandbox

MAKERS = {"docker": Docker, "bubblewrap": Bubblewrap}
NODES = (
    "nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-caps/nvidia-cap1",
)  # fmt: skip
# `look` opens each node for writing; `cuda` starts the driver's library as every CUDA program does.
LOOK = f"""
import ctypes, os, stat, subprocess
def look():
    found = []
    for name in {NODES!r}:
        try:
            node = os.open("/dev/" + name, os.O_RDWR)
        except OSError:
            continue
        found.append((name, stat.S_ISCHR(os.fstat(node).st_mode), os.write(node, b"x")))
        os.close(node)
    return found
def named():
    path = "/proc/self/task/" + str(os.getpid()) + "/comm"
    try:
        with open(path, "w") as file:
            file.write("whet-thread")
    except OSError as error:
        return type(error).__name__
    return open(path).read().strip()
def cuda():
    driver = ctypes.CDLL("libcuda.so.1")
    count = ctypes.c_int()
    return driver.cuInit(0), driver.cuDeviceGetCount(ctypes.byref(count)), count.value
def listed():
    done = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True)
    return done.stdout + done.stderr
"""
needs_device = pytest.mark.skipif(not Path("/dev/nvidiactl").exists(), reason="no NVIDIA device")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make device nodes")


@pytest.fixture(params=list(MAKERS))
def backend(request: pytest.FixtureRequest) -> str:
    if request.param == "docker":
        request.getfixturevalue("docker_host")
    elif shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    return request.param


@pytest.fixture
def nodes() -> Iterator[Path]:
    """A folder of nodes that are named as a driver names them, and are all /dev/null."""
    null = Path("/dev/null").stat().st_rdev
    with tempfile.TemporaryDirectory(prefix="whet-nodes-") as folder:
        root = Path(folder)
        root.chmod(0o755)
        (root / "nvidia-caps").mkdir(mode=0o755)
        for name in NODES:
            os.mknod(root / name, stat.S_IFCHR | 0o666, null)
            (root / name).chmod(0o666)
        (root / "nvidia2").write_text("no node")
        yield root


def ask(sandbox: Sandbox, symbol: str, gpu: bool = True) -> object:
    tree = sandbox.stage("gpu", {"t.py": LOOK.encode()})
    session = sandbox.open(Job("calls", find_interpreter(), tree, gpu=gpu))
    try:
        assert session.ask("load", "python", "t.py", symbol, seconds=30.0)[0] == ("ok",)
        (_, outcome, _), _ = session.ask("call", encode(()), seconds=60.0)
    finally:
        session.close()
    kind, _, _, value, _ = decode(outcome)
    assert kind == "value", value
    return value


@needs_root
def test_only_device_nodes_are_passed(nodes: Path) -> None:
    assert gpu_nodes(nodes) == {str(nodes / name): f"/dev/{name}" for name in NODES}
    assert gpu_nodes(nodes / "nvidia-caps") == {}


@needs_root
def test_a_job_that_asks_for_a_gpu_can_open_its_nodes(nodes: Path, backend: str) -> None:
    sandbox = MAKERS[backend](nodes)
    try:
        assert ask(sandbox, "look") == [(name, True, 1) for name in NODES]
        assert ask(sandbox, "look", gpu=False) == []
    finally:
        sandbox.close()


@needs_root
@pytest.mark.skipif(not landlock.version(), reason="this kernel has no Landlock")
def test_a_job_that_asks_for_a_gpu_can_name_its_threads(nodes: Path, backend: str) -> None:
    """CUDA's driver does, and gives up where it may not."""
    sandbox = MAKERS[backend](nodes)
    try:
        assert ask(sandbox, "named") == "whet-thread"
        assert ask(sandbox, "named", gpu=False) == "PermissionError"
    finally:
        sandbox.close()


@needs_device
def test_cuda_starts_in_a_sandbox(backend: str) -> None:
    sandbox = MAKERS[backend](DEV)
    try:
        code, counted, count = ask(sandbox, "cuda")
        assert (code, counted) == (0, 0)
        assert count >= 1
        if shutil.which("nvidia-smi", path="/usr/local/bin:/usr/bin:/bin"):
            assert "GPU 0:" in ask(sandbox, "listed")
    finally:
        sandbox.close()


@needs_device
def test_an_ordinary_job_sees_no_gpu(backend: str) -> None:
    sandbox = MAKERS[backend](DEV)
    try:
        assert ask(sandbox, "look", gpu=False) == []
    finally:
        sandbox.close()
