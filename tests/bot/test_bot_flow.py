"""The bot's flow against a GitHub of one's own, with scripted findings: what it posts, once, and when it does not."""

from __future__ import annotations

import logging
import subprocess
import threading
import time
from dataclasses import replace

import pytest
from hub import BEFORE, CHANGED, GAIN, NAME, NONE, Bot, ScriptedEngine, commit, git, make_source

from whet.bot.findings import FunctionStatus
from whet.bot.queue import JobState
from whet.bot.redact import Redacting
from whet.bot.settings import JobLimits
from whet.testing.fake_github import FailureRule, FakeGitHub
from whet.testing.fake_github_state import BOT


@pytest.fixture
def source(tmp_path):
    return make_source(tmp_path / "source")


@pytest.fixture
def hub(tmp_path, source):
    with FakeGitHub(tmp_path / "hub") as hub:
        hub.add_repository(NAME, source, ada="admin", wendy="write", rita="read")
        yield hub


@pytest.fixture
def bot(tmp_path, hub):
    return Bot(tmp_path, hub, ScriptedEngine([GAIN]))


@pytest.fixture
def number(hub):
    return hub.open_pull(NAME, "quick")


def there(hub):
    return hub.state.snapshot(NAME)


def own_comments(hub):
    return [one["body"] for one in there(hub)["comments"].values() if one["user"]["login"] == BOT]


# what is posted


def test_a_pull_request_gets_a_check_a_suggestion_and_one_comment(hub, bot, number):
    bot.accept("delivery-1", "pull_request", hub.pull_event(NAME, number, "opened"))
    assert bot.work() == ["done"]
    state = there(hub)
    (check,) = state["checks"].values()
    assert (check["status"], check["conclusion"], check["name"]) == ("completed", "success", "whet")
    (review,) = state["reviews"].values()
    (suggestion,) = review["comments"]
    assert review["event"] == "COMMENT"
    assert suggestion["path"] == "lists.py"
    assert (suggestion["start_line"], suggestion["line"]) == (21, 23)
    block = suggestion["body"].partition("```suggestion\n")[2].partition("\n```")[0]
    assert block.splitlines()[0] == "    known = set()"
    (comment,) = own_comments(hub)
    for said in (
        "12.50x [11.00x, 14.00x] at 99 %, n = 20",
        "data structure",
        "passed: 1 test",
        "a machine of tests",
        "$0.00",
    ):
        assert said in comment
    assert check["head_sha"] in comment
    assert f"```sh\n{GAIN.reproduce}\n```" in comment
    assert bot.engine.asked == [("verify", []), ("optimize", ["lists.py::dedup"], "catalogue", 1.0)]


def test_no_gain_is_neutral_and_says_nothing_more(hub, bot, number):
    bot.engine.findings = [NONE]
    bot.accept("delivery-1", "pull_request", hub.pull_event(NAME, number, "opened"))
    assert bot.work() == ["done"]
    state = there(hub)
    assert [one["conclusion"] for one in state["checks"].values()] == ["neutral"]
    assert state["comments"] == state["reviews"] == {}


def test_a_function_that_got_slower_is_told(hub, bot, source, tmp_path):
    text = BEFORE.replace("return sum(item for item in items if item >= 0)", "return sum([i for i in items if i >= 0])")
    git(source, "checkout", "--quiet", "-b", "slower", "main")
    commit(source, {"lists.py": text})
    hub.add_repository("ada/other", source, ada="admin")
    number = hub.open_pull("ada/other", "slower")
    slower = replace(
        NONE, command="verify", target="lists.py::total", answer=FunctionStatus.SLOWER, ratio=0.5, low=0.4, high=0.6
    )
    bot.engine.findings = [slower]
    bot.accept("delivery-1", "pull_request", hub.pull_event("ada/other", number, "opened"))
    assert bot.work() == ["done"]
    assert bot.engine.asked[0] == ("verify", ["lists.py::total"])
    state = hub.state.snapshot("ada/other")
    assert [one["conclusion"] for one in state["checks"].values()] == ["neutral"]
    (comment,) = state["comments"].values()
    assert "1 changed function slower" in comment["body"]
    assert "0.500x [0.400x, 0.600x]" in comment["body"]


def test_the_comment_is_edited_in_place_whatever_others_copy(hub, bot, number):
    fake = hub.state.comment(hub.state.repositories[NAME], number, "mallory", "<!-- whet:summary --> ha")
    bot.accept("delivery-1", "pull_request", hub.pull_event(NAME, number, "opened"))
    bot.accept("delivery-2", "issue_comment", hub.comment_event(NAME, number, "/whet optimize"))
    assert bot.work() == ["done", "done"]
    assert len(own_comments(hub)) == 1
    assert hub.state.repositories[NAME].comments[fake]["body"] == "<!-- whet:summary --> ha"
    assert len(there(hub)["checks"]) == 1
    assert len(there(hub)["reviews"]) == 1


def test_lines_outside_the_diff_go_to_a_follow_up_pull_request(hub, bot, number):
    patch = GAIN.patch.replace("@@ -18,7 +18,9 @@", "@@ -9,7 +9,9 @@").replace("def dedup", "def untouched")
    bot.engine.findings = [replace(GAIN, target="lists.py::untouched", patch=patch)]
    asked = hub.comment_event(NAME, number, "/whet optimize lists.py::untouched")
    bot.accept("delivery-1", "issue_comment", asked)
    assert bot.work() == ["done"]
    assert bot.engine.asked == [("optimize", ["lists.py::untouched"], "catalogue", 1.0)]
    state = there(hub)
    assert state["reviews"] == {}
    (follow,) = [one for one in state["pulls"].values() if one["user"] == BOT]
    assert (follow["base"], follow["branch"].startswith(f"whet/pr-{number}-")) == ("quick", True)
    changed = git(hub.state.repositories[NAME].folder, "show", f"{follow['branch']}:lists.py")
    assert changed.count("known.add(item)") == 1
    assert f"#{follow['number']}" in own_comments(hub)[0]


def test_a_fork_gets_the_patch_as_text_and_never_a_branch(hub, bot, number):
    hub.state.repositories[NAME].pulls[number].fork = "mallory/tools"
    patch = GAIN.patch.replace("@@ -18,7 +18,9 @@", "@@ -9,7 +9,9 @@").replace("def dedup", "def untouched")
    bot.engine.findings = [replace(GAIN, target="lists.py::untouched", patch=patch)]
    bot.accept("delivery-1", "issue_comment", hub.comment_event(NAME, number, "/whet optimize lists.py::untouched"))
    assert bot.work() == ["done"]
    assert len(there(hub)["pulls"]) == 1
    assert "known.add(item)" in own_comments(hub)[0]


def test_a_strangers_fork_spends_no_money(tmp_path, hub, number):
    bot = Bot(tmp_path, hub, ScriptedEngine([NONE]), JobLimits(model="openai:dear"))
    hub.state.repositories[NAME].pulls[number].fork = "mallory/tools"
    bot.accept("delivery-1", "pull_request", hub.pull_event(NAME, number, "opened", "mallory"))
    bot.accept("delivery-2", "issue_comment", hub.comment_event(NAME, number, "/whet optimize --budget-usd 0.25"))
    assert bot.work() == ["done", "done"]
    assert [asked[2:] for asked in bot.engine.asked if asked[0] == "optimize"] == [
        ("catalogue", 1.0),
        ("openai:dear", 0.25),
    ]


# commands


@pytest.mark.parametrize(("login", "reaction"), [("rita", "confused"), ("mallory", "confused"), ("wendy", "rocket")])
def test_commands_take_write_access(hub, bot, number, login, reaction):
    payload = hub.comment_event(NAME, number, "/whet verify", login)
    bot.accept("delivery-1", "issue_comment", payload)
    assert bot.work() == ["done"]
    assert (payload["comment"]["id"], reaction) in hub.state.repositories[NAME].reactions
    assert bool(bot.engine.asked) == (reaction == "rocket")
    assert bool(own_comments(hub)) == (reaction == "rocket")


def test_status_and_explain_answer_once(hub, bot, number):
    bot.accept("delivery-1", "pull_request", hub.pull_event(NAME, number, "opened"))
    bot.work()
    bot.accept("delivery-2", "issue_comment", hub.comment_event(NAME, number, "/whet status"))
    bot.accept("delivery-3", "issue_comment", hub.comment_event(NAME, number, "/whet explain"))
    assert bot.work() == ["done", "done"]
    _, status, explanation = own_comments(hub)
    assert "| change | what it changes | done |" in status
    assert "146 fresh inputs agree" in explanation


def test_cancel_ends_what_runs(tmp_path, hub, number):
    bot = Bot(tmp_path, hub, ScriptedEngine(wait=True))
    bot.accept("delivery-1", "pull_request", hub.pull_event(NAME, number, "opened"))
    running = threading.Thread(target=bot.work)
    running.start()
    while not bot.engine.asked:
        time.sleep(0.02)
    other = Bot(tmp_path, hub, bot.engine)
    other.accept("delivery-2", "issue_comment", hub.comment_event(NAME, number, "/whet cancel", "wendy"))
    assert other.work() == ["done"]
    running.join(20)
    assert not running.is_alive()
    (job,) = [one for one in bot.queue.jobs_at(NAME, number) if one.request.kind == "change"]
    assert (job.state, job.note) == (JobState.WITHDRAWN, "cancelled by wendy")
    assert [one["conclusion"] for one in there(hub)["checks"].values()] == ["cancelled"]


def test_a_command_for_what_is_not_there_says_so(hub, bot, number):
    bot.accept("delivery-1", "issue_comment", hub.comment_event(NAME, number, "/whet optimize lists.py::nothing"))
    assert bot.work() == ["failed"]
    (check,) = there(hub)["checks"].values()
    assert "no Python function lists.py::nothing" in check["output"]["summary"]


# heads that move, installations that end


def test_nothing_is_posted_about_a_head_that_moved_on(tmp_path, hub, number, source):
    later = git(source, "rev-parse", "main")

    class Moving(ScriptedEngine):
        def optimize(self, *asked):
            hub.move_head(NAME, number, later)
            return [GAIN]

    bot = Bot(tmp_path, hub, Moving())
    bot.accept("delivery-1", "pull_request", hub.pull_event(NAME, number, "opened"))
    assert bot.work() == ["withdrawn"]
    state = there(hub)
    assert state["comments"] == state["reviews"] == {}
    assert [one["conclusion"] for one in state["checks"].values()] == ["cancelled"]


def test_a_newer_head_withdraws_the_older_ones_work(hub, bot, number):
    before = hub.pull_event(NAME, number, "opened")
    bot.accept("delivery-1", "pull_request", before)
    hub.move_head(NAME, number, git(hub.state.repositories[NAME].folder, "rev-parse", "main"))
    moved = hub.pull_event(NAME, number, "synchronize", before=before["pull_request"]["head"]["sha"])
    bot.accept("delivery-2", "pull_request", moved)
    assert bot.work() == ["done"]
    assert [job.state for job in bot.queue.jobs_at(NAME, number)] == [JobState.DONE, JobState.WITHDRAWN]


def test_a_closed_pull_request_is_left_alone(hub, bot, number):
    bot.accept("delivery-1", "pull_request", hub.pull_event(NAME, number, "opened"))
    hub.state.repositories[NAME].pulls[number].state = "closed"
    assert bot.work() == ["withdrawn"]
    assert there(hub)["checks"] == {}


def test_a_deleted_base_branch_ends_the_job(hub, bot, number):
    bot.accept("delivery-1", "pull_request", hub.pull_event(NAME, number, "opened"))
    hub.plan(FailureRule("POST .*/check-runs", None, call=lambda: delete(hub)))
    assert bot.work() == ["failed"]


def delete(hub):
    folder = hub.state.repositories[NAME].folder
    git(folder, "update-ref", "refs/heads/kept", "refs/heads/main")
    git(folder, "symbolic-ref", "HEAD", "refs/heads/kept")
    git(folder, "update-ref", "-d", "refs/heads/main")


def test_where_the_head_branch_is_gone_the_comment_has_the_patch(hub, bot, number):
    patch = GAIN.patch.replace("@@ -18,7 +18,9 @@", "@@ -9,7 +9,9 @@").replace("def dedup", "def untouched")
    bot.engine.findings = [replace(GAIN, target="lists.py::untouched", patch=patch)]
    git(hub.state.repositories[NAME].folder, "update-ref", "-d", "refs/heads/quick")
    bot.accept("delivery-1", "issue_comment", hub.comment_event(NAME, number, "/whet optimize lists.py::untouched"))
    assert bot.work() == ["done"]
    assert len(there(hub)["pulls"]) == 1
    assert "known.add(item)" in own_comments(hub)[0]


def test_a_conflict_with_the_base_changes_nothing(hub, bot, number, source):
    folder = hub.state.repositories[NAME].folder
    git(source, "checkout", "--quiet", "main")
    commit(source, {"lists.py": BEFORE + "\n\nOTHER = 1\n"})
    git(source, "push", "--quiet", str(folder), "main")
    with pytest.raises(subprocess.CalledProcessError):
        git(folder, "merge-tree", "--write-tree", "main", "quick")
    bot.accept("delivery-1", "pull_request", hub.pull_event(NAME, number, "opened"))
    assert bot.work() == ["done"]
    assert bot.engine.asked[-1] == ("optimize", ["lists.py::dedup"], "catalogue", 1.0)
    assert len(there(hub)["reviews"]) == 1


@pytest.mark.corpus(one_in=8)
def test_binary_and_huge_files_are_left_alone(hub, bot, source):
    git(source, "checkout", "--quiet", "quick")
    (source / "binary.py").write_bytes(b"def f(n):\n    return [\0\xff for _ in n]\n")
    commit(source, {"huge.py": "def f(n):\n" + "    for i in n: g(i)\n" * 60_000, "huge.csv": "0,1\n" * 500_000})
    hub.add_repository("ada/heavy", source, ada="admin")
    number = hub.open_pull("ada/heavy", "quick")
    bot.accept("delivery-1", "pull_request", hub.pull_event("ada/heavy", number, "opened"))
    assert bot.work() == ["done"]
    assert [one[1] for one in bot.engine.asked] == [[], ["lists.py::dedup"]]


def test_a_revoked_installation_posts_nothing(hub, bot, number):
    bot.accept("delivery-1", "pull_request", hub.pull_event(NAME, number, "opened"))
    hub.state.repositories[NAME].installation = None
    assert bot.work() == ["failed"]
    assert there(hub)["checks"] == there(hub)["comments"] == {}


def test_the_removal_of_the_app_withdraws_what_waits(hub, bot, number):
    bot.accept("delivery-1", "pull_request", hub.pull_event(NAME, number, "opened"))
    bot.accept("delivery-2", "installation", hub.event(NAME, action="deleted"))
    assert bot.work() == []
    assert bot.queue.counts()["jobs"]["withdrawn"] == 1


def test_a_repository_without_the_app_is_never_written_to(hub, bot, source):
    hub.add_repository("eve/other", source, installation=78, ada="admin")
    number = hub.open_pull("eve/other", "quick")
    forged = hub.pull_event("eve/other", number, "opened", installation={"id": 77})
    bot.accept("delivery-1", "pull_request", forged)
    assert bot.work() == ["failed"]
    assert hub.state.snapshot("eve/other")["checks"] == {}


# faults


@pytest.mark.corpus
@pytest.mark.parametrize(
    "fault",
    [
        FailureRule("POST .*/check-runs$", 500),
        FailureRule("POST .*/reviews$", 0),
        FailureRule("POST .*/issues/.*/comments$", 502, after=True),
        FailureRule("POST .*/reviews$", 0, after=True),
        FailureRule("POST .*/check-runs$", 0, after=True),
        FailureRule("POST /app/installations", 503),
        FailureRule("PATCH .*/check-runs/", 500, after=True),
    ],
    ids=lambda fault: f"{fault.request} {fault.status} {'after' if fault.after else 'before'}",
)
def test_what_failed_for_now_is_done_later_and_once(hub, bot, number, fault):
    hub.plan(fault)
    bot.accept("delivery-1", "pull_request", hub.pull_event(NAME, number, "opened"))
    assert bot.work() == ["queued"]
    bot.due_now()
    assert bot.work() == ["done"]
    state = there(hub)
    assert [len(state[kind]) for kind in ("checks", "comments", "reviews")] == [1, 1, 1]
    assert len([asked for asked in bot.engine.asked if asked[0] == "optimize"]) <= 1


@pytest.mark.parametrize(
    ("fault", "seconds"),
    [
        (FailureRule("GET .*/pulls/", 429, (("Retry-After", "120"),)), 120),
        (FailureRule("GET .*/pulls/", 403, (("Retry-After", "90"),), "You have exceeded a secondary rate limit"), 90),
        (FailureRule("GET .*/pulls/", 403, (), "You have exceeded a secondary rate limit"), 60),
        (FailureRule("GET .*/pulls/", 403, (("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "{soon}"))), 300),
    ],
)
def test_rate_limits_are_obeyed_by_the_whole_installation(hub, bot, number, fault, seconds):
    fault.headers = tuple((name, value.format(soon=int(time.time()) + 301)) for name, value in fault.headers)
    hub.plan(fault)
    other = hub.open_pull(NAME, "quick")
    bot.accept("delivery-1", "pull_request", hub.pull_event(NAME, number, "opened"))
    bot.accept("delivery-2", "pull_request", hub.pull_event(NAME, other, "opened"))
    assert bot.work() == ["queued"]
    assert seconds - 5 < bot.paused_until() - time.time() < seconds + 5
    asked = len(hub.requests)
    assert bot.work() == []
    assert len(hub.requests) == asked


def test_what_never_succeeds_is_given_up(hub, bot, number):
    hub.plan(FailureRule("GET .*/pulls/", 500, times=1000))
    bot.accept("delivery-1", "pull_request", hub.pull_event(NAME, number, "opened"))
    ends = []
    while not ends or ends[-1] == "queued":
        bot.due_now()
        ends += bot.work()
    assert ends == ["queued"] * 7 + ["failed"]


def test_a_review_that_is_refused_becomes_a_follow_up(hub, bot, number):
    hub.plan(FailureRule("POST .*/reviews$", 422))
    bot.accept("delivery-1", "pull_request", hub.pull_event(NAME, number, "opened"))
    assert bot.work() == ["done"]
    assert len(there(hub)["pulls"]) == 2


# configuration and tokens


def test_configuration_is_read_from_the_base_alone(tmp_path, hub, source):
    git(source, "checkout", "--quiet", "main")
    commit(source, {"pyproject.toml": '[tool.whet]\ntests = "pytest -q"\nignore = ["old/*"]\n[tool.other]\nkept = 1\n'})
    git(source, "checkout", "--quiet", "-b", "sly")
    prices = "[tool.whet.prices.x]\ninput = 0\noutput = 0\n"
    sly = f'[tool.whet]\nmodel = "openai:x@http://evil.example"\n{prices}[tool.other]\n'
    commit(source, {"lists.py": BEFORE + CHANGED, "pyproject.toml": sly, "old/whet.toml": "tool.whet.model = 'x'\n"})
    hub.add_repository("ada/sly", source, ada="admin")
    number = hub.open_pull("ada/sly", "sly")
    seen = {}

    class Looking(ScriptedEngine):
        def optimize(self, work, functions, model, budget_usd, cancel):
            seen.update(project=work.project, model=model, text=(work.tree / "pyproject.toml").read_text())
            seen["inner"] = (work.tree / "old/whet.toml").exists()
            return []

    bot = Bot(tmp_path, hub, Looking())
    bot.accept("delivery-1", "pull_request", hub.pull_event("ada/sly", number, "opened"))
    assert bot.work() == ["done"]
    assert (seen["project"].tests, seen["project"].ignore, seen["model"]) == ("pytest -q", ("old/*",), "catalogue")
    assert seen["text"] == "[tool.other]\n"
    assert not seen["inner"]


def test_tokens_are_written_nowhere(hub, bot, number, tmp_path, caplog):
    hub.plan(FailureRule("POST .*/check-runs$", 500, message="token ghs_abcdefghijklmnopqrstuvwxyz"))
    bot.accept("delivery-1", "pull_request", hub.pull_event(NAME, number, "opened"))
    with caplog.filtering(Redacting()), caplog.at_level(logging.INFO, "whet.bot"):  # as `start_log` has it
        bot.work()
        bot.due_now()
        assert bot.work() == ["done"]
    assert len(hub.tokens) >= 2
    written = b"".join(path.read_bytes() for path in (tmp_path / "bot").rglob("*") if path.is_file())
    for token in [*hub.tokens, "ghs_abcdefghijklmnopqrstuvwxyz"]:
        assert token.encode() not in written
        assert token not in caplog.text
    assert "[redacted]" in caplog.text


def test_of_what_is_touched_only_what_takes_time_is_looked_at(tmp_path, source):
    git(source, "checkout", "--quiet", "quick")
    commit(source, {"lists.py": (source / "lists.py").read_text() + "\n\ndef plain(x):\n    return dedup(x)\n"})
    with FakeGitHub(tmp_path / "hub") as hub:
        hub.add_repository(NAME, source, ada="admin")
        known = {"lists.py::plain": 0.6, "lists.py::dedup": 0.5, "lists.py::untouched": 0.9}
        bot = Bot(tmp_path, hub, ScriptedEngine([GAIN], known=known))
        bot.accept("delivery-1", "pull_request", hub.pull_event(NAME, hub.open_pull(NAME, "quick"), "opened"))
        assert bot.work() == ["done"]
    (tried,) = [one[1] for one in bot.engine.asked if one[0] == "optimize"]
    assert tried == ["lists.py::plain", "lists.py::dedup"]


def test_where_nothing_that_is_touched_takes_time_nothing_is_tried(hub, bot, number):
    bot.engine.findings = []
    bot.engine.known = {"lists.py::dedup": 0.005, "lists.py::untouched": 0.9}
    bot.accept("delivery-1", "pull_request", hub.pull_event(NAME, number, "opened"))
    assert bot.work() == ["done"]
    assert [one[1] for one in bot.engine.asked] == [[], []]
    assert own_comments(hub) == []
