"""The list of runs, and their end: delete, prune, and the texts that nothing refers to any more."""

from __future__ import annotations

import json
import re
from contextlib import closing

import pytest
from work import Work, answer, scripted, version

import whet as library
from whet.agents.experience import Experience
from whet.agents.removal import outdated, remove
from whet.core.candidate import content_id
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.core.store import RunRecord, Store
from whet.core.text import duration, parse_duration
from whet.evaluators.targets import read_task
from whet.testing.tabled import Row, TabledEvaluator

FAST = version(1)


@pytest.fixture
def work(tmp_path):
    """A target and runs on it, in the state directory of the ``whet`` fixture."""
    return Work(tmp_path)


def run(work, number=1, **options):
    """A finished run that found one faster version, three times as fast."""
    source = version(number)
    return work.optimize(scripted([answer(source)]), {source: Row(ratio=3.0)}, rounds=1, candidates=1, **options)


def stored_texts(store):
    with store.connection() as db:
        return {bytes(name).hex() for (name,) in db.execute("SELECT name FROM texts")}


@pytest.mark.corpus(one_in=8)
def test_the_list_shows_target_speedup_and_age(whet, work):
    done = run(work)
    (row,) = json.loads(whet("runs", "list", "--json").stdout)
    assert row["target"] == f"{work.path}::f"
    assert row["speedup"]["ratio"] == pytest.approx(3.0, rel=0.2)
    heads, line = whet("runs", "list", cwd=work.folder).stdout.splitlines()
    assert heads.split() == ["run", "result", "speedup", "age", "target"]
    assert re.fullmatch(rf"{done.run} +improved +{row['speedup']['ratio']:.2f}x +(\d+ min )?\d+ s +f\.py::f", line)
    assert whet("runs", "list").stdout.splitlines()[1].endswith(f"{work.path}::f")


@pytest.mark.corpus
def test_a_deleted_run_leaves_nothing_and_what_others_share_stays(whet, work):
    # Else the second would refer to what it was told of the first.
    gone, kept = run(work, 1), run(work, 2, remember=False)
    refused = whet("runs", "delete", gone.run)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--yes" in refused.stderr
    told = json.loads(whet("runs", "delete", gone.run, "--yes", "--json").stdout)
    assert (told["deleted"], told["kept"], told["under_way"]) == ([gone.run], [], [])
    assert told["texts"] > 0
    assert whet("runs", "show", gone.run).returncode == 2
    with closing(Store(work.home)) as store:
        assert [record.id for record in store.runs()] == [kept.run]
        for table in ("facts", "calls", "experience", "checkpoints"):
            column = "thread_id" if table == "checkpoints" else "run"
            with store.connection() as db:
                rows = db.execute(f"SELECT count(*) FROM {table} WHERE {column} = :run", {"run": gone.run})
                assert rows.fetchone() == (0,), table
        left = stored_texts(store)
        assert content_id(version(1)) not in left
        assert content_id(version(2)) in left
    assert "winner" in whet("runs", "show", kept.run).stdout
    assert json.loads(whet("runs", "replay", kept.run, "--json").stdout)["status"] == "improved"


def test_deleting_the_last_run_leaves_no_text(work):
    done = run(work)
    with closing(Store(work.home)) as store:
        assert stored_texts(store)
        removed = remove(store, [done.run])
        assert (removed.runs, removed.texts.busy) == ((done.run,), ())
        assert stored_texts(store) == set()
        assert store.runs() == []


def test_what_a_run_found_out_goes_with_it(work):
    with closing(Store(work.home)) as store:
        Experience(store)
        values = {"run": "r", "entry": b""}
        with store.transaction() as db:
            db.execute("INSERT INTO experience (run, language, metric, entry) VALUES (:run, '', '', :entry)", values)
            db.execute("INSERT INTO experience_words (rowid, words) VALUES (1, 'heap')")
        Experience(store).forget("r")
        with store.connection() as db:
            assert db.execute("SELECT count(*) FROM experience").fetchone() == (0,)
            assert db.execute("SELECT count(*) FROM experience_words").fetchone() == (0,)


@pytest.mark.corpus
def test_a_run_under_way_is_never_deleted_and_keeps_all_texts(whet, work):
    done = run(work)
    with closing(Store(work.home)) as store:
        busy = store.begin("optimize", "t", {})
        loose = store.put("referred to later")
        refused = whet("runs", "delete", busy, "--yes")
        assert (refused.returncode, refused.stdout) == (2, "")
        assert f"run {busy} is being worked on" in refused.stderr
        pruned = whet("runs", "prune", "--keep", "0", "--yes").stdout
        assert "deleted 1 run\n" in pruned
        assert "under way may need them" in pruned
        assert [record.id for record in store.runs()] == [busy]
        assert {loose, content_id(FAST)} <= stored_texts(store)
    with closing(Store(work.home)) as store:
        assert remove(store, [busy]).texts.texts > 0
        assert stored_texts(store) == set()
    assert done.run


def test_a_process_that_knew_a_text_stores_it_again_for_its_next_run(work):
    with closing(Store(work.home)) as store, closing(Store(work.home)) as other:
        name = store.put("a text")
        assert remove(other, []).texts.texts == 1
        store.begin("optimize", "t", {})
        assert store.put("a text") == name
        assert store.get(name) == "a text"


def record(id, started, status="finished"):
    return RunRecord(id, "optimize", "t", {}, started, None, status, None)


@pytest.mark.parametrize(
    ("older_than", "keep", "expected"),
    [
        (None, 0, ["d", "c", "a"]),
        (None, 1, ["c", "a"]),
        (50, None, ["c", "a"]),
        (50, 3, ["a"]),
        (1000, None, []),
        (0, 9, []),
    ],
)
def test_which_runs_are_pruned(older_than, keep, expected):
    records = [record("a", 10), record("b", 30, "running"), record("c", 40), record("d", 90)]
    assert [one.id for one in outdated(records, 100, older_than, keep)] == expected


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "say which runs: --older-than 30d, --keep 20"),
        (["--older-than", "30"], "'30' is no time; write for instance 30d"),
        (["--keep", "-1"], "--keep -1 is below 0"),
    ],
)
def test_prune_says_what_it_lacks(whet, words, says):
    done = whet("runs", "prune", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr


class Unmeasurable(TabledEvaluator):
    """Finds out late that what is asked for cannot be done."""

    def validate(self):
        raise UsageError("--metric energy cannot be measured here")


def test_a_usage_error_that_shows_late_leaves_no_entry(work):
    evaluator = Unmeasurable(work.task, {})
    with pytest.raises(UsageError, match="energy"):
        work.optimize(scripted([]), {}, evaluator=evaluator)
    with closing(Store(work.home)) as store:
        assert store.runs() == []


def test_a_usage_error_after_a_paid_call_keeps_the_run(work):
    def say(request):
        raise UsageError("the folder is gone")

    from whet.testing.scripted import ScriptedModel

    with pytest.raises(UsageError, match="gone"):
        work.optimize(ScriptedModel(say), {})
    with closing(Store(work.home)) as store:
        assert len(store.runs()) == 1


def test_budgets_of_the_project_cap_a_run_where_no_option_does(work):
    (work.folder / "pyproject.toml").write_text("[tool.whet]\nbudget-candidates = 1\nbudget-calls = 7\n")
    said = [answer(version(1)), answer(version(2))]
    rows = {version(n): Row(ratio=1.0) for n in (1, 2)}

    def tried(**options):
        result = work.optimize(scripted(said), rows, rounds=1, **options)
        with closing(Store(work.home)) as store:
            return result.candidates.distinct, store.run(result.run).request["budget"]

    evaluated, budget = tried()
    assert evaluated == 1
    assert (budget["candidates"], budget["calls"], budget["usd"]) == (1, 7, None)
    evaluated, budget = tried(budget_candidates=5)
    assert evaluated == 2
    assert (budget["candidates"], budget["calls"]) == (5, 7)


@pytest.mark.parametrize("line", ["budget-usd = -1", 'budget-calls = "two"', "budget-second = 3"])
def test_budgets_of_the_project_are_checked(work, line):
    (work.folder / "pyproject.toml").write_text(f"[tool.whet]\n{line}\n")
    with pytest.raises(UsageError, match=r"pyproject\.toml: \[tool\.whet\].*budget-"):
        library.optimize(
            f"{work.path}::f", home=work.home, evaluator=TabledEvaluator(read_task(f"{work.path}::f", Options()), {})
        )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (59.6, "1 min 00 s"), (200, "3 min 20 s"), (7500, "2 h 05 min"), (93600 * 2, "2 d 4 h")],
)
def test_durations_for_people(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(("text", "seconds"), [("30d", 30 * 86400), ("1.5h", 5400), ("2w", 14 * 86400), ("90s", 90)])
def test_durations_that_people_write(text, seconds):
    assert parse_duration(text) == seconds
