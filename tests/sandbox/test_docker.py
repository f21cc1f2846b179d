"""What is docker's own: warm containers, their supervisor, memory, leftovers, and the engine itself."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator

import docker
import pytest

from whet.core.errors import SandboxError, UsageError
from whet.core.task import MIB, Limits
from whet.evaluators.package import MOST_BYTES
from whet.sandbox.backends import open_sandbox
from whet.sandbox.docker import Docker
from whet.sandbox.docker_engine import IMAGE_VARIABLE, OWNER, image
from whet.sandbox.docker_options import TREE_BYTES
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.decode import decode
from whet.sandbox.inside.link import Link
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.ownership import owner
from whet.sandbox.protocol import Incident, Job, Session

pytestmark = pytest.mark.usefixtures("docker_host")

INTERPRETER = find_interpreter()
SMALL = Limits(memory=128 * MIB)


@pytest.fixture
def sandbox() -> Iterator[Docker]:
    made = Docker()
    yield made
    made.close()


@pytest.fixture(scope="module")
def client(docker_host: None) -> Iterator[docker.DockerClient]:
    made = docker.from_env()
    yield made
    made.close()


def containers(client: docker.DockerClient, process: int | None = None) -> set[str]:
    """Returns the ids of the containers of one process, this one by default."""
    found = client.containers.list(all=True, sparse=True, filters={"label": OWNER})
    number = str(process or os.getpid())
    return {one.id for one in found if one.attrs["Labels"][OWNER].split(":")[-2] == number}


def opened(sandbox: Docker, body: str, limits: Limits = Limits()) -> Session:  # noqa: B008
    """Opens a session that has loaded a function ``f()`` with this body."""
    source = "def f():\n" + textwrap.indent(textwrap.dedent(body), "    ")
    tree = sandbox.stage(f"t{abs(hash(source))}", {"target.py": source.encode()})
    session = sandbox.open(Job("calls", INTERPRETER, tree, limits))
    assert session.ask("load", "python", "target.py", "f", seconds=20.0)[0] == ("ok",)
    return session


def run(sandbox: Docker, body: str, limits: Limits = Limits(), seconds: float = 10.0) -> object:  # noqa: B008
    session = opened(sandbox, body, limits)
    try:
        (_, outcome, _), _ = session.ask("call", encode(()), seconds=seconds)
    finally:
        session.close()
    kind, _, _, value, _ = decode(outcome)
    return value if kind == "value" else f"{kind}: {value}"


@pytest.mark.corpus(one_in=8)
def test_a_container_serves_one_job_after_another(sandbox: Docker, client: docker.DockerClient) -> None:
    assert [run(sandbox, "return 1") for _ in range(3)] == [1, 1, 1]
    assert len(containers(client)) == 1


@pytest.mark.parametrize("left", ["os.makedirs('/work/d/e'), os.chmod('/work/d', 0)", "CDLL(None).msgget(7, 0o1666)"])
@pytest.mark.corpus(one_in=8)
def test_a_container_that_cannot_be_cleaned_is_thrown_away(
    sandbox: Docker, client: docker.DockerClient, left: str
) -> None:
    session = opened(sandbox, f"import os\nfrom ctypes import CDLL\nreturn {left}")
    before = containers(client)
    session.ask("call", encode(()), seconds=10.0)
    session.close()
    look = "import os\nreturn os.path.exists('/work/d'), len(open('/proc/sysvipc/msg').readlines())"
    assert run(sandbox, look) == (False, 1)
    assert not before & containers(client)


@pytest.mark.corpus(one_in=8)
def test_a_container_is_thrown_away_after_an_incident(sandbox: Docker, client: docker.DockerClient) -> None:
    run(sandbox, "return 1")
    before = containers(client)
    with pytest.raises(Incident):
        run(sandbox, "import os\nos._exit(3)")
    assert run(sandbox, "return 1") == 1
    assert not before & containers(client)


@pytest.mark.corpus(one_in=8)
def test_a_container_that_somebody_removed_is_replaced(sandbox: Docker, client: docker.DockerClient) -> None:
    run(sandbox, "return 1")
    for name in containers(client):
        client.containers.get(name).remove(force=True)
    assert run(sandbox, "return 2") == 2


def test_the_supervisor_is_out_of_reach(sandbox: Docker) -> None:
    said = run(
        sandbox,
        """
        import os, signal
        reached = []
        for pid in (int(n) for n in os.listdir("/proc") if n.isdigit() and int(n) != os.getpid()):
            for path in ("environ", "mem", "fd/3", "cwd", "root/etc", "maps"):
                try:
                    os.close(os.open(f"/proc/{pid}/{path}", os.O_RDONLY))
                    reached.append((pid, path))
                except OSError:
                    pass
            try:
                os.kill(pid, signal.SIGKILL)
                reached.append((pid, "kill"))
            except OSError:
                pass
        return len(os.listdir("/proc")) > 2, reached, os.path.exists("/run/whet/socket")
        """,
    )
    assert said == (True, [], False)


def test_memory_over_the_limit_is_told_as_such(sandbox: Docker) -> None:
    with pytest.raises(Incident, match="128 MiB") as caught:
        run(sandbox, "return len(bytearray(b'x') * (400 << 20))", SMALL)
    assert caught.value.kind == "memory"


@pytest.mark.corpus(one_in=8)
def test_memory_counts_for_all_processes_together_though_none_says_so(sandbox: Docker) -> None:
    with pytest.raises(Incident) as caught:
        run(
            sandbox,
            """
            import os
            for _ in range(6):
                if os.fork() == 0:
                    kept = b"x" * (60 << 20)
                    while True:
                        pass
            os.wait()
            return "all is well"
            """,
            SMALL,
        )
    assert caught.value.kind == "memory"
    assert run(sandbox, "return 1", SMALL) == 1


@pytest.mark.timed
def test_a_kill_takes_no_time(sandbox: Docker) -> None:
    session = opened(
        sandbox,
        "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass",
        Limits(processes=30),
    )
    start = time.perf_counter()
    with pytest.raises(Incident) as caught:
        session.ask("call", encode(()), seconds=0.5)
    assert caught.value.kind == "timeout"
    assert time.perf_counter() - start < 1.5


@pytest.mark.corpus(one_in=8)
def test_output_that_nobody_reads_does_not_block_the_end(sandbox: Docker) -> None:
    session = opened(
        sandbox,
        """
        import os
        while True:
            for descriptor in range(3, 9):
                try:
                    os.write(descriptor, bytes(65536))
                except OSError:
                    pass
        """,
    )
    with pytest.raises(Incident):
        session.ask("call", encode(()), seconds=5.0)
    assert run(sandbox, "return 1") == 1


@pytest.mark.corpus(one_in=8)
def test_a_killed_whet_leaves_no_container(client: docker.DockerClient) -> None:
    script = """
        import sys, time
        from whet.sandbox.docker import Docker
        from whet.sandbox.interpreter import find_interpreter
        from whet.sandbox.protocol import Job
        sandbox = Docker()
        session = sandbox.open(Job("calls", find_interpreter()))
        print("open", flush=True)
        time.sleep(60)
        """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process:
        assert process.stdout.readline() == b"open\n"
        assert len(containers(client, process.pid)) == 1
        process.kill()
    deadline = time.monotonic() + 60.0
    while containers(client, process.pid):
        assert time.monotonic() < deadline, "the container is still there"
        time.sleep(0.05)


def test_what_dead_runs_left_is_removed_and_nothing_else(client: docker.DockerClient) -> None:
    kernel, namespace, _, began = owner().split(":")
    ended = subprocess.Popen(["/bin/true"])
    ended.wait()
    labels = {
        "gone": f"{kernel}:{namespace}:{ended.pid}:{began}",
        "alive": owner(),
        "in another namespace": f"{kernel}:1:{ended.pid}:{began}",
        "on another machine": f"other:{namespace}:{ended.pid}:{began}",
    }
    name, _ = image(client)
    made = {what: client.containers.create(name, "none", labels={OWNER: label}) for what, label in labels.items()}
    try:
        Docker().close()
        left = {one.id for one in client.containers.list(all=True, sparse=True, filters={"label": OWNER})}
        assert {what for what, container in made.items() if container.id in left} == labels.keys() - {"gone"}
    finally:
        for what in labels.keys() - {"gone"}:
            made[what].remove(force=True)


def test_the_image_is_made_once(client: docker.DockerClient) -> None:
    first, second = image(client), image(client)
    assert first == second
    assert not first[1]
    assert client.images.get(first[0]).attrs["Size"] < 1000


def test_an_image_of_the_users_own_brings_its_own_usr(client: docker.DockerClient) -> None:
    os.environ[IMAGE_VARIABLE] = image(client)[0]  # its /usr is empty
    try:
        with pytest.raises(UsageError, match="does not run in a container"):
            open_sandbox("docker", unsafe=False)
        os.environ[IMAGE_VARIABLE] = "whet-unknown:1"
        with pytest.raises(UsageError, match="no such image"):
            open_sandbox("docker", unsafe=False)
    finally:
        del os.environ[IMAGE_VARIABLE]


def test_without_an_engine_it_says_so(tmp_path) -> None:
    before = os.environ.get("DOCKER_HOST")
    os.environ["DOCKER_HOST"] = f"unix://{tmp_path}/nobody"
    try:
        with pytest.raises(UsageError, match="no docker engine answers"):
            open_sandbox("docker", unsafe=False)
    finally:
        if before is None:
            del os.environ["DOCKER_HOST"]
        else:
            os.environ["DOCKER_HOST"] = before


@pytest.mark.corpus(one_in=8)
def test_a_tree_beyond_bounds_is_our_error(sandbox: Docker) -> None:
    sandbox.open(Job("calls", INTERPRETER, sandbox.stage("large", {"data": bytes(MOST_BYTES)}))).close()
    tree = sandbox.stage("larger", {"data": bytes(TREE_BYTES + MIB)})
    with pytest.raises(SandboxError, match="No space left"):
        sandbox.open(Job("calls", INTERPRETER, tree))


def test_a_supervisor_that_is_gone_at_once_is_our_error_and_leaves_no_container(
    sandbox: Docker, client: docker.DockerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(link: Link) -> None:
        raise EOFError("it has ended")

    before = containers(client)
    with monkeypatch.context() as patch:
        patch.setattr(Link, "receive", gone)
        with pytest.raises(SandboxError, match="does not run: it has ended"):
            sandbox.open(Job("calls", INTERPRETER))
    assert containers(client) == before
