"""The server for coding agents, asked by the SDK's own client over a real process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from test_cli import HEAVY, error_line

from whet.cli.mcp.arguments import TOOLS, Grant, order
from whet.cli.mcp.jobs import heartbeat
from whet.core.errors import UsageError
from whet.core.store import Store
from whet.sandbox.process_tree import tree

SLOW = """\
def common(left, right):
    found = []
    for item in left:
        if item in right and item not in found:
            found.append(item)
    return found
"""
FAST = """\
def common(left, right):
    wanted = set(right)
    return [item for item in dict.fromkeys(left) if item in wanted]
"""
WRONG = "def common(left, right):\n    return left\n"
PATCH = """\
--- a/slow.py
+++ b/slow.py
@@ -1,6 +1,6 @@
 def common(left, right):
     found = []
     for item in left:
-        if item in right and item not in found:
+        if item not in found and item in right:
             found.append(item)
     return found
"""
WORKLOAD = """\
sizes = [0, 1, 50, 400, 800]


def make_input(size, rng):
    return ([rng.randrange(size + 1) for _ in range(size)], [rng.randrange(size + 1) for _ in range(size)])
"""
TARGET = {"target": "slow.py::common", "workload": "workload.py"}
UNTIMED = {**TARGET, "until": "differential"}


@pytest.fixture
def root(tmp_path):
    """A project; its configuration names a model that costs money, and for which there is no key."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "slow.py").write_text(SLOW)
    (folder / "fast.py").write_text(FAST)
    (folder / "workload.py").write_text(WORKLOAD)
    (folder / "pyproject.toml").write_text('[tool.whet]\nmodel = "anthropic:any"\njudge-model = "anthropic:other"\n')
    return folder


@pytest.fixture
def asked(whet, root):
    """Runs a conversation with a server of the project to its end and returns what it returns."""

    @asynccontextmanager
    async def connected():
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "whet", "mcp", "--root", str(root)], env=whet.surroundings
        )
        async with Client(stdio_client(server)) as client:
            yield client

    def run(conversation):
        async def talk():
            with anyio.fail_after(150):
                async with connected() as client:
                    return await conversation(client)

        return anyio.run(talk)

    return run


def several(asked, *calls):
    """Returns what each of some calls answers, made one after the other, and the lines of its progress."""

    async def conversation(client):
        found = []
        for tool, arguments in calls:
            told = []

            async def hear(progress, total, message, told=told):
                told.append((progress, message))

            answer = await client.call_tool(tool, arguments, progress_callback=hear)
            assert [number for number, _ in told] == list(range(1, len(told) + 1))
            found.append((answer, [message for _, message in told]))
        return found

    return asked(conversation)


def documented(answer):
    """Returns the document of an answer, which stands there in both forms."""
    assert not answer.is_error, answer.content[0].text
    document = answer.structured_content
    assert json.loads(answer.content[1].text) == document
    return document


# what is asked for


@pytest.mark.corpus(one_in=8)
def test_each_tool_says_what_it_takes(asked):
    tools = asked(lambda client: client.list_tools()).tools
    assert [tool.name for tool in tools] == list(TOOLS)
    for tool in tools:
        assert tool.description
        assert tool.input_schema["additionalProperties"] is False
        assert all(field.get("description") for field in tool.input_schema["properties"].values())
        assert tool.input_schema.get("required", []) == ([] if tool.name == "show_run" else ["target"])


def test_arguments_become_a_command(tmp_path):
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "cases").mkdir()
    given = {"target": "slow.py::common", "candidate": FAST, "workload": "cases", "tests": "-q", "min_speedup": 1.5}
    found = order("verify", given, Grant(tmp_path.resolve()))
    assert found.words[:2] == ("verify", "--json")
    assert found.words[-2:] == ("--", f"{tmp_path}/slow.py::common")
    assert {f"--workload={tmp_path}/cases", "--tests=-q", "--min-speedup=1.5"} <= set(found.words)
    assert (found.option, found.text) == ("--candidate", FAST)


@pytest.mark.parametrize(
    ("tool", "given", "line"),
    [
        ("verfy", {}, "no tool 'verfy'; did you mean 'verify'?"),
        ("profile", {"target": "slow.py", "wrkload": "x"}, "unknown key 'wrkload'; did you mean 'workload'?"),
        ("profile", {}, "target: field required"),
        ("profile", {"target": 3}, "target: input should be a valid string"),
        ("verify", {"target": "slow.py", "metric": "luck"}, "metric: string should match"),
        ("verify", {"target": "slow.py"}, "takes one of candidate, candidate_file and patch"),
        ("verify", {"target": "slow.py", "candidate": "", "patch": ""}, "takes one of"),
        ("profile", {"target": "other.py"}, "target other.py: nothing of that name below"),
        ("profile", {"target": "a\0b\nc"}, "nothing of that name below"),
        ("profile", {"target": "/etc/passwd"}, "target /etc/passwd: nothing of that name below"),
        ("profile", {"target": "../secret.py::f"}, "target ../secret.py: nothing of that name below"),
        ("profile", {"target": "link.py::f"}, "target link.py: nothing of that name below"),
        ("profile", {"target": "slow.py", "workload": "../secret.py"}, "workload ../secret.py: nothing of that name"),
        ("verify", {"target": "slow.py", "candidate_file": "link.py"}, "candidate_file link.py: nothing of that name"),
        ("profile", {"target": "task"}, "task/whet.toml names ../../secret.py, which lies outside of"),
        ("profile", {"target": "kernelbench:1/19"}, "nothing of that name below"),
        ("optimize", {"target": "slow.py", "model": "anthropic:x"}, "takes catalogue and replay alone"),
        ("optimize", {"target": "slow.py", "model": "catalogue, openai:x"}, "takes catalogue and replay alone"),
        ("optimize", {"target": "slow.py", "model": "manual:answers"}, "takes catalogue and replay alone"),
        ("optimize", {"target": "slow.py", "budget_usd": 1.5}, "above the 1 USD"),
        ("optimize", {"target": "slow.py", "apply": True}, "unknown key 'apply'"),
        ("verify", {"target": "slow.py", "candidate": "", "sandbox": "none"}, "unknown key 'sandbox'"),
        ("show_run", {"run": "--html=x"}, "run: string should match"),
        ("show_run", {"run": "--debug"}, "run: string should match"),
    ],
)
def test_what_is_not_granted_is_one_line(root, tool, given, line):
    (root.parent / "secret.py").write_text(SLOW)
    (root / "link.py").symlink_to("../secret.py")
    (root / "task").mkdir()
    (root / "task" / "whet.toml").write_text('[task]\nlanguage = "python"\ntarget = "../../secret.py"\n')
    with pytest.raises(UsageError) as refused:
        order(tool, given, Grant(root.resolve()))
    assert line in str(refused.value)
    assert "\n" not in str(refused.value)


def models(grant, **given):
    words = order("optimize", {"target": "slow.py", **given}, grant).words
    return {word for word in words if word.startswith(("--model", "--judge-model", "--budget-usd"))}


def test_money_is_spent_as_far_as_it_was_allowed(root):
    free, paid, capped = Grant(root), Grant(root, allow_paid=True), Grant(root, allow_paid=True, most_usd=0.25)
    assert models(free) == {"--model=catalogue", "--judge-model=catalogue"}
    assert models(free, model="replay:x") == {"--model=replay:x", "--judge-model=replay:x"}
    assert models(paid) == set(), "the configuration and the default cap decide"
    assert models(paid, model="anthropic:x", budget_usd=0.5) == {"--model=anthropic:x", "--budget-usd=0.5"}
    assert models(capped) == {"--budget-usd=0.25"}
    with pytest.raises(UsageError, match=r"above the 0\.25 USD"):
        models(capped, budget_usd=0.5)
    for model in ("openai:x@http://example.org", "manual:answers"):
        with pytest.raises(UsageError, match=r"named in the project's configuration alone"):
            models(paid, model=model)


# what is answered


@pytest.mark.corpus
def test_a_rewrite_is_judged_and_its_run_shown(asked, whet):
    (judged, told), (listed, _) = several(asked, ("verify", {**UNTIMED, "candidate": FAST}), ("show_run", {}))
    document = documented(judged)
    assert (document["schema"], document["status"], document["speedup"]) == ("whet.result/1", "no_improvement", None)
    assert {rung["name"]: rung["status"] for rung in document["rungs"]}["differential"] == "passed"
    assert "right as far as it was checked" in judged.content[0].text
    assert "validating the baseline" in told
    assert documented(listed) == {"runs": json.loads(whet("runs", "list", "--json").stdout)}


@pytest.mark.corpus
def test_what_is_wrong_is_a_verdict_and_what_cannot_be_done_is_an_error(asked):
    mistaken = {**TARGET, "target": "slow.py::comon"}
    (judged, _), (failed, _) = several(asked, ("verify", {**TARGET, "candidate": WRONG}), ("profile", mistaken))
    assert documented(judged)["status"] == "rejected"
    assert judged.content[0].text.startswith("rejected: differential: wrong_output\n")
    assert failed.is_error
    assert [block.text for block in failed.content] == ["slow.py defines no comon; did you mean 'common'?"]


@pytest.mark.corpus
def test_a_rewrite_may_be_a_file_or_a_patch(asked):
    answers = several(
        asked, *(("verify", {**UNTIMED, **given}) for given in ({"candidate_file": "fast.py"}, {"patch": PATCH}))
    )
    assert [documented(answer)["candidates"]["correct"] for answer, _ in answers] == [1, 1]


@pytest.mark.corpus
def test_a_profile_and_an_audit(asked):
    (profiled, _), (audited, told) = several(asked, ("profile", TARGET), ("audit", {**TARGET, "mutants": 3}))
    assert documented(profiled)["schema"] == "whet.profile/1"
    assert "line 4: if item in right and item not in found:" in profiled.content[0].text
    assert documented(audited)["mutants"]["tried"] == 3
    assert audited.content[0].text.startswith("mutants noticed: ")
    assert told


@pytest.mark.usefixtures("figures")
@pytest.mark.corpus(one_in=8)
def test_a_faster_rewrite_is_said_to_be_faster(asked):
    ((answer, _),) = several(asked, ("verify", {**TARGET, "candidate": FAST}))
    document = documented(answer)
    assert document["status"] == "improved"
    assert document["speedup"]["low"] > 1
    assert answer.content[0].text.startswith("improved: faster, and confirmed")
    assert "x in time, " in answer.content[0].text


@pytest.mark.corpus
def test_runs_of_other_folders_are_not_shown(asked, whet, root):
    store = Store(Path(whet.environment["WHET_HOME"]))
    own, other = (
        store.begin("verify", f"{folder}/slow.py::common", {}) for folder in (root, root.with_name("project-2"))
    )
    store.close()
    (listed, _), (shown, _), (refused, _) = several(
        asked, ("show_run", {}), ("show_run", {"run": own}), ("show_run", {"run": other})
    )
    assert [row["run"] for row in documented(listed)["runs"]] == [own]
    assert documented(shown) == json.loads(whet("runs", "show", own, "--json").stdout)
    assert refused.is_error
    assert [block.text for block in refused.content] == [f"run {other} is not of a target below {root}"]


# how it works


def gone(pids, seconds=30):
    """Waits until none of some processes is left; returns whether that came about."""
    deadline = time.monotonic() + seconds
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.corpus
def test_a_cancelled_search_ends_its_sandboxes_and_can_be_resumed(asked, whet, root):
    async def conversation(client):
        runs = []
        heard, scope = anyio.Event(), anyio.CancelScope()

        async def hear(progress, total, message):
            if message.startswith("run "):
                runs.append(message.removeprefix("run "))
                heard.set()

        async def search():
            with scope:
                given = {**UNTIMED, "rounds": 1, "candidates": 1}
                await client.call_tool("optimize", given, progress_callback=hear)

        before = set(tree(os.getpid()))
        async with anyio.create_task_group() as group:
            group.start_soon(search)
            await heard.wait()
            during = await client.call_tool("show_run", {"run": runs[0]})
            workers = set(tree(os.getpid())) - before
            scope.cancel()
        return runs[0], during.structured_content["status"], workers, await anyio.to_thread.run_sync(gone, workers)

    run, during, workers, ended = asked(conversation)
    assert during == "running", "no call waits for another"
    assert workers
    assert ended
    assert json.loads(whet("runs", "show", run, "--json").stdout)["status"] == "interrupted"
    done = whet("runs", "resume", run, "--json")
    assert json.loads(done.stdout)["candidates"]["proposed"] == 1, done.stderr
    asked_for = json.loads(whet("runs", "export", run).stdout)["request"]
    assert (asked_for["model"], asked_for["judge_model"]) == ("catalogue", "catalogue"), "whatever is configured"
    assert (root / "slow.py").read_text() == SLOW


@contextmanager
def serving(words, **how):
    """A server without a client; it is killed at the end."""
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how
    ) as server:
        try:
            yield server
        finally:
            server.kill()


@pytest.mark.corpus
def test_work_ends_with_a_server_that_is_killed(whet, root):
    call = {"name": "optimize", "arguments": UNTIMED, "_meta": {"progressToken": 7}}
    with serving([sys.executable, "-m", "whet", "mcp"], cwd=root, env=whet.environment) as server:
        server.stdin.writelines(f"{json.dumps(message)}\n" for message in [*HANDSHAKE, request(2, "tools/call", call)])
        server.stdin.flush()
        run = next(
            message["params"]["message"].removeprefix("run ")
            for message in map(json.loads, server.stdout)
            if message.get("method") == "notifications/progress"
        )
        workers = set(tree(server.pid)) - {server.pid}
    assert workers
    assert gone(workers)
    assert json.loads(whet("runs", "show", run, "--json").stdout)["status"] == "interrupted"


def request(number, method, parameters):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}


HANDSHAKE = [
    request(
        1,
        "initialize",
        {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
    ),
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
]
SPY = """
import sys
from whet.cli.main import main
code = main(["mcp"])
print(*sorted(name.split(".")[0] for name in sys.modules), file=sys.stderr)
sys.exit(code)
"""


def test_a_call_that_has_nothing_new_to_say_says_where_it_is():
    told = []

    async def tell(line):
        told.append(line)

    async def work():
        async with heartbeat(tell, 0.05) as hear:
            await repeated("waiting for another call to end")
            await hear("measuring")
            await repeated("measuring")
        number = len(told)
        await anyio.sleep(0.2)
        assert len(told) == number, "nothing is said after its end"

    async def repeated(line):
        with anyio.fail_after(60):
            while told.count(line) < 2:
                await anyio.sleep(0.01)

    anyio.run(work)
    assert list(dict.fromkeys(told)) == ["waiting for another call to end", "measuring"]


@pytest.mark.corpus(one_in=8)
def test_nothing_heavy_is_imported_and_stdout_is_the_protocols(root):
    messages = [*HANDSHAKE, request(2, "tools/list", {}), request(3, "tools/call", {"name": "nope"})]
    with serving([sys.executable, "-c", SPY], cwd=root) as server:
        server.stdin.writelines(f"{json.dumps(message)}\n" for message in messages)
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(3)]
        rest, names = server.communicate(timeout=30)
    assert sorted((answer["jsonrpc"], answer["id"]) for answer in answers) == [("2.0", 1), ("2.0", 2), ("2.0", 3)]
    assert (rest, server.returncode) == ("", 0)
    loaded = set(names.split())
    assert "mcp" in loaded
    assert loaded & (HEAVY - {"rich"}) == set()


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["json.py", "whet.py"])
def test_no_module_of_the_project_is_imported(asked, root, name):
    (root / name).write_text("raise SystemExit('imported')\n")
    ((answer, _),) = several(asked, ("show_run", {}))
    assert documented(answer) == {"runs": []}


@pytest.mark.corpus(one_in=8)
def test_an_interrupt_ends_the_server(whet, root):
    with serving([sys.executable, "-m", "whet", "mcp"], cwd=root, env=whet.environment) as server:
        server.stdin.writelines(f"{json.dumps(message)}\n" for message in HANDSHAKE)
        server.stdin.flush()
        server.stdout.readline()
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=30) == -signal.SIGINT


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--root", "nowhere"], "--root nowhere: no such folder"),
        (["--budget-usd", "-1"], "--budget-usd -1 is negative"),
    ],
)
def test_a_server_that_cannot_start_says_why(whet, tmp_path, words, line):
    done = whet("mcp", *words, cwd=tmp_path)
    assert (done.returncode, error_line(done)) == (2, line)


def test_without_the_sdk_a_line_says_what_to_install():
    lacking = "import sys; sys.modules['mcp'] = None; from whet.cli.main import main; sys.exit(main(['mcp']))"
    done = subprocess.run([sys.executable, "-c", lacking], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert error_line(done) == "whet mcp needs the SDK of the protocol: pip install 'whet[mcp]'"
