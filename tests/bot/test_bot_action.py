"""The bot as a step of a workflow: what the job without rights finds, the job that posts takes as data."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
from dataclasses import replace

import pytest
from hub import GAIN, NAME, ScriptedEngine, make_source
from paths import ROOT

from whet.bot import action
from whet.bot.action import GitHubError, act
from whet.bot.exchange import MOST, read_findings, write_findings
from whet.bot.request import RequestKind
from whet.bot.settings import JobLimits
from whet.bot.workflows import NAMES, workflow_texts, write_workflows
from whet.cli import bot as command
from whet.core.errors import UsageError
from whet.testing.fake_github import FailureRule, FakeGitHub
from whet.testing.fake_github_state import WORKFLOW


@pytest.fixture
def hub(tmp_path):
    with FakeGitHub(tmp_path / "hub") as hub:
        hub.add_repository(NAME, make_source(tmp_path / "source"), ada="admin", rita="read")
        yield hub


@pytest.fixture
def number(hub):
    return hub.open_pull(NAME, "quick")


@pytest.fixture
def file(tmp_path):
    return tmp_path / "findings.json"


class Workflow:
    """A job of a workflow: its environment, with the event that it is for."""

    def __init__(self, folder, hub):
        self._folder = folder
        self._hub = hub

    def __call__(self, stage, file, event, payload):
        path = self._folder / "event.json"
        path.write_text(payload if isinstance(payload, str) else json.dumps(payload))
        environment = {
            "PATH": os.environ["PATH"],
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(path),
            "GITHUB_TOKEN": self._hub.workflow_token(NAME),
            "GITHUB_API_URL": self._hub.url,
            "GITHUB_SERVER_URL": self._hub.url,
            "RUNNER_TEMP": str(self._folder),
        }
        return act(stage, file, JobLimits(), environment)


@pytest.fixture
def run(tmp_path, hub):
    return Workflow(tmp_path, hub)


def there(hub):
    return hub.state.snapshot(NAME)


def finished(hub, number):
    """Returns the event that the other workflow ended."""
    repository = hub.state.repositories[NAME]
    head, _ = hub.state.heads(repository, repository.pulls[number])
    return {"workflow_run": {"head_sha": head, "pull_requests": []}, "repository": {"full_name": NAME}}, head


@pytest.mark.corpus
def test_what_a_fork_found_is_posted_as_data(hub, run, number, file):
    event, head = finished(hub, number)
    write_findings(file, number, head, RequestKind.CHANGE, [GAIN])
    assert run("post", file, "workflow_run", event) == "1 verified rewrite"
    state = there(hub)
    (comment,) = state["comments"].values()
    assert comment["user"]["login"] == WORKFLOW
    assert "which its author can change" in comment["body"]
    assert len(state["reviews"]) == len(state["checks"]) == 1
    assert run("post", file, "workflow_run", event) == "1 verified rewrite"
    state = there(hub)
    assert len(state["comments"]) == len(state["checks"]) == 1


def test_what_is_written_can_be_read_however_long_the_patches_are(file):
    long = [replace(GAIN, patch="x" * (100_000 + number)) for number in range(MOST)]
    wide = [replace(GAIN, patch="\u2603" * 100_000) for _ in range(MOST)]
    write_findings(file, 1, "a" * 40, RequestKind.CHANGE, long)
    assert [one.patch for one in read_findings(file).findings] == [one.patch for one in long]
    write_findings(file, 1, "a" * 40, RequestKind.CHANGE, wide)
    kept = [bool(one.patch) for one in read_findings(file).findings]
    assert len(kept) == MOST
    assert 0 < sum(kept) < MOST, "only as many patches are left out as need be"


def test_findings_about_another_head_are_not_posted(hub, run, number, file):
    event, _ = finished(hub, number)
    write_findings(file, number, "f" * 40, RequestKind.CHANGE, [GAIN])
    with pytest.raises(UsageError, match="another pull request"):
        run("post", file, "workflow_run", event)
    assert there(hub)["comments"] == {}


def test_findings_for_somebody_elses_pull_request_are_not_posted(hub, run, number, file):
    event, head = finished(hub, number)
    other = hub.open_pull(NAME, "main")
    write_findings(file, other, head, RequestKind.CHANGE, [GAIN])
    assert run("post", file, "workflow_run", event).startswith("nothing posted")
    assert there(hub)["comments"] == {}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"target": "../../etc/passwd"}, "findings.0.target|outside the repository"),
        ({"target": "a.py](http://evil)"}, "findings.0.target"),
        ({"ratio": float("inf")}, "findings.0.ratio|no file"),
        ({"ratio": "much"}, "findings.0.ratio"),
        ({"answer": "best"}, "findings.0.answer"),
        ({"extra": 1}, "findings.0.extra"),
        ({"patch": "x" * 300_000}, "findings.0.patch"),
    ],
)
def test_a_forged_file_is_refused(hub, run, number, file, change, fault):
    event, head = finished(hub, number)
    write_findings(file, number, head, RequestKind.CHANGE, [GAIN])
    document = json.loads(file.read_text())
    document["findings"][0] |= change
    file.write_text(json.dumps(document))
    with pytest.raises(UsageError, match=fault):
        run("post", file, "workflow_run", event)
    assert there(hub)["comments"] == {}


@pytest.mark.corpus
def test_hostile_texts_stay_text(hub, run, number, file):
    event, head = finished(hub, number)
    hostile = "`@ada` | <!-- whet:summary --> ![x](http://evil) \u202e ```\n# shout"
    write_findings(
        file, number, head, RequestKind.CHANGE, [replace(GAIN, tests=hostile, machine=hostile, labels=(hostile,))]
    )
    run("post", file, "workflow_run", event)
    (comment,) = there(hub)["comments"].values()
    outside = re.sub(r"(`+)[^`].*?\1", "", comment["body"], flags=re.DOTALL)
    for word in ("@ada", "http://evil", "# shout", "\u202e"):
        assert word not in outside


@pytest.mark.corpus
def test_the_stage_that_works_posts_nothing(hub, run, number, file, monkeypatch):
    monkeypatch.setattr(action, "CommandEngine", lambda limits: ScriptedEngine([GAIN]))
    before = len(hub.requests)
    assert run("work", file, "pull_request", hub.pull_event(NAME, number, "opened")).startswith("1 verified rewrite")
    assert {request.split()[0] for request in hub.requests[before:]} == {"GET"}
    handed = read_findings(file)
    assert (handed.number, handed.findings[0].finding()) == (number, GAIN)
    asked = hub.comment_event(NAME, number, "/whet optimize")
    run("work", file, "issue_comment", asked)
    assert run("post", file, "issue_comment", asked) == "1 verified rewrite"
    (posted,) = [one["body"] for one in there(hub)["comments"].values() if one["user"]["login"] == WORKFLOW]
    assert "which its author can change" not in posted


def test_who_may_not_write_starts_nothing(hub, run, number, file):
    said = run("work", file, "issue_comment", hub.comment_event(NAME, number, "/whet optimize", "rita"))
    assert said == "rita may not write to the repository"
    assert not file.exists()


def test_other_events_are_nothing(hub, run, number, file):
    assert run("work", file, "push", "{}") == "nothing to do for this event"
    assert "is for the App" in run("work", file, "issue_comment", hub.comment_event(NAME, number, "/whet status"))


@pytest.mark.parametrize("payload", ["", "[]", '{"workflow_run": {"head_sha": "x"}}'])
def test_a_malformed_event_is_one_line(hub, run, number, file, payload):
    write_findings(file, number, "f" * 40, RequestKind.CHANGE, [])
    with pytest.raises(UsageError, match="malformed"):
        run("post", file, "workflow_run", payload)


def test_what_github_refuses_ends_the_step(hub, run, number, file):
    event, head = finished(hub, number)
    write_findings(file, number, head, RequestKind.CHANGE, [GAIN])
    hub.plan(FailureRule("POST .*/check-runs", 403, message="Resource not accessible by integration"))
    with pytest.raises(GitHubError, match="Resource not accessible"):
        run("post", file, "workflow_run", event)


@pytest.mark.corpus(one_in=8)
def test_the_command_says_what_its_environment_lacks(whet):
    done = whet("bot", "action", GITHUB_EVENT_NAME="")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "runs in a workflow" in done.stderr
    done = whet("bot", "serve", WHET_APP_ID="")
    assert done.returncode == 2
    assert "WHET_APP_ID, WHET_APP_KEY_FILE, WHET_WEBHOOK_SECRET" in done.stderr
    assert whet("bot", "serve", "--sandbox", "none").returncode == 2


# the workflows


def test_workflows_are_written_and_never_over_others(tmp_path):
    paths = write_workflows(tmp_path)
    assert [path.name for path in paths] == list(NAMES)
    assert write_workflows(tmp_path) == paths
    (tmp_path / paths[0]).write_text("mine")
    with pytest.raises(UsageError, match="there already"):
        write_workflows(tmp_path)
    assert (tmp_path / paths[0]).read_text() == "mine"


def test_the_job_that_runs_code_has_no_rights_and_no_secret():
    yaml = pytest.importorskip("yaml")
    work, post = (yaml.safe_load(text) for text in workflow_texts().values())
    assert work["permissions"] == post["permissions"] == {}
    rights = work["jobs"]["work"]["permissions"]
    assert set(rights.values()) == {"read"}
    for text in workflow_texts().values():
        assert "secrets." not in text
        assert "pull_request_target" not in text
        assert "actions/checkout" not in text
        # What others write reaches no shell: expressions stand in `env`, `if` and `with` alone.
        for line in re.findall(r"run: (.*)", text):
            assert "${{" not in line
    assert "issue_comment" in work["jobs"]["post"]["if"]
    assert post["jobs"]["post"]["permissions"]["contents"] == "read"


# the composite action


@pytest.fixture(scope="module")
def composite():
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load((ROOT / "action.yml").read_text())


def step(composite, number, folder, **inputs):
    """Runs a step of the composite action as a runner does, where each program writes down what it was given."""
    one = composite["runs"]["steps"][number]
    given = {name: {"default": "", **about}["default"] for name, about in composite["inputs"].items()} | inputs
    environment = {name: given[re.fullmatch(r"\$\{\{ inputs\.(.*) }}", text)[1]] for name, text in one["env"].items()}
    for name in ("whet", "python3", "sudo"):
        program = folder / name
        program.write_text(f'#!/bin/sh\nfor word in {name} "$@"; do echo "$word"; done >>{folder}/words\n')
        program.chmod(0o755)
    subprocess.run(
        [*("/bin/bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"), one["run"]],
        cwd=folder,
        env={**environment, "PATH": str(folder), "GITHUB_OUTPUT": f"{folder}/output", "GITHUB_ACTION_PATH": "/whet"},
        check=True,
    )
    return (folder / "words").read_text().splitlines()


def test_the_composite_action_takes_what_the_command_does(composite):
    options = {name.replace("_", "-") for name in inspect.signature(command.action).parameters}
    assert set(composite["inputs"]) - {"token"} == options - {"debug"}
    assert composite["runs"]["using"] == "composite"
    assert composite["inputs"]["token"]["default"] == "${{ github.token }}"
    for one in composite["runs"]["steps"]:
        assert one["shell"] == "bash"
        assert "${{" not in one["run"]
        assert all(text.startswith("${{ inputs.") for text in one["env"].values())


def test_the_composite_action_hands_on_what_it_is_given_as_words(composite, tmp_path):
    (tmp_path / "found.json").write_text("{}")
    hostile = {"stage": "work", "findings": "found.json", "model": "$(>x); --debug", "budget-usd": "0.5"}
    words = ["--stage=work", "--findings=found.json", "--model=$(>x); --debug", "--budget-usd=0.5"]
    assert step(composite, 1, tmp_path, **hostile) == ["whet", "bot", "action", *words]
    assert (tmp_path / "output").read_text() == "found=yes\n"
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(("stage", "programs"), [("post", ["python3"]), ("work", ["python3", "sudo", "sudo"])])
def test_the_composite_action_installs_what_a_stage_needs(composite, tmp_path, stage, programs):
    words = step(composite, 0, tmp_path, stage=stage)
    assert words[:6] == ["python3", "-m", "pip", "install", "--quiet", "/whet[bot]"]
    assert [word for word in words if word in ("python3", "sudo", "whet")] == programs
    assert ("bubblewrap" in words) == (stage == "work")


def test_the_composite_action_without_findings_says_nothing(composite, tmp_path):
    assert step(composite, 1, tmp_path) == ["whet", "bot", "action", "--stage=all", "--findings=whet-findings.json"]
    assert not (tmp_path / "output").exists()
