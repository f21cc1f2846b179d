"""``whet runs show --html``: what the page tells of a run at any time of it, and that no text leaves its place."""

from __future__ import annotations

import base64
import hashlib
from html.parser import HTMLParser

import pytest
from told import recorded, task_of
from work import answer, diagnosis

import whet as library
from whet.agents.models.base import ModelError
from whet.agents.optimize import replay
from whet.cli.report.page import page
from whet.core.store import Store
from whet.core.verdict import Reason
from whet.testing.scripted import ScriptedModel
from whet.testing.tabled import Row, TabledEvaluator

SLOW = "def f(xs):\n    return sorted(xs)\n"
FAST = "def f(xs):\n    xs = list(xs)\n    xs.sort()\n    return xs\n"
WRONG = "def f(xs):\n    return xs\n"
LIMIT = 500_000
VOID = {"meta", "link"}


class Page(HTMLParser):
    """The elements of a page with their attributes, its text, and its headings; unclosed elements are an error."""

    def __init__(self, text):
        super().__init__()
        self.source = text
        self.elements, self.open, self.words, self.headings = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] != ["style"]:
            self.words.append(data)
        if self.open and self.open[-1] in ("h1", "h2", "h3"):
            self.headings.append((self.open[-1], data))

    @property
    def text(self):
        return " ".join("".join(self.words).split())


def shown(folder, run=None):
    store = Store(folder / "home")
    try:
        return Page(page(store, store.run(run) if run else store.runs()[0]))
    finally:
        store.close()


def optimized(folder, task, model, evaluator, **options):
    return library.optimize(
        f"{task.path}::f", model=model, home=folder / "home", evaluator=evaluator, **{"candidates": 2, **options}
    )


def ran(folder, answers, rows, **options):
    task = task_of(folder, SLOW)
    return optimized(folder, task, ScriptedModel(answers), TabledEvaluator(task, rows), **options)


@pytest.fixture
def finished(tmp_path):
    rows = {FAST: Row(ratio=3.0), WRONG: Row(reason=Reason.WRONG_OUTPUT, detail="expected [1, 2], got [2, 1]")}
    said = {"coder": [answer(WRONG, "no order"), answer(FAST, "in place")], "judge": [diagnosis("use a heap")]}
    return ran(tmp_path, said, rows, rounds=2)


def test_the_page_tells_what_came_of_the_run(finished, tmp_path):
    told = shown(tmp_path)
    assert told.headings[0] == ("h1", "3.00× faster, verified")
    for part in (
        "2.94× to 3.06× at 99 % confidence, in time, against the original",
        "10 fresh processes and 40 samples a side",
        "0.990× to 1.010×",
        "2 proposed, 2 distinct, 1 right; 1 wrong_output",
        "rejected: wrong output",
        "differential failed wrong_output",
        "expected [1, 2], got [2, 1]",
        "faster, confirmed, 3.00×",
        "in place",
        "The Judge: sorting",
        "Next: use a heap",
        "- return sorted(xs)+ xs = list(xs)",
        f"whet runs replay {finished.run} --remeasure",
        "whet optimize f.py::f --model scripted",
    ):
        assert part in told.text, part


def test_the_page_draws_the_front_of_several_metrics(tmp_path):
    lean = FAST.replace("list(xs)", "xs[:]")
    rows = {FAST: Row(ratio=3.0, beside={"memory": 0.9}), lean: Row(ratio=2.0, beside={"memory": 4.0})}
    model = ScriptedModel({"coder": [answer(FAST, "in place"), answer(lean, "a <b>slice</b>")]})
    task = task_of(tmp_path, SLOW)
    evaluator = TabledEvaluator(task, rows, beside=("memory",))
    optimized(tmp_path, task, model, evaluator, rounds=1, metric="time,memory", max_memory="1.5x")
    told = shown(tmp_path)
    assert ("h2", "Front") in told.headings
    for part in (
        "No other text is shown better than these in one of time, memory, and worse in none.",
        "4.00× 3.92× to 4.08× 10 processes, 40 samples a side",
        "time, memory, at least 1.010×, memory at most 1.5x",
    ):
        assert part in told.text, part
    circles = [attributes for tag, attributes in told.elements if tag == "circle" and "class" in attributes]
    assert [one["class"] for one in circles[:3]] == ["winner", "better", "timed"], (
        "the original is put out by the second"
    )
    (fast, fast_up), (spare, spare_up), (same, same_up) = (
        (float(one["cx"].rstrip("%")), -float(one["cy"])) for one in circles[:3]
    )
    assert same < spare < fast
    assert fast_up < same_up < spare_up
    assert "Front" not in shown(tmp_path, ran(tmp_path, {"coder": [answer(FAST)]}, {FAST: Row(3.0)}, rounds=1).run).text


def test_the_page_needs_nothing_else_and_allows_nothing(finished, tmp_path):
    told = shown(tmp_path)
    tags = {tag for tag, _ in told.elements}
    assert not tags & {"script", "img", "iframe", "object", "embed", "form", "base", "font", "foreignobject", "use"}
    addresses = [value for _, found in told.elements for name, value in found.items() if name in ("href", "src")]
    assert {value for value in addresses if not value.startswith("#")} == {"data:,"}
    assert all(f' id="{value[1:]}"' in told.source for value in addresses if value.startswith("#"))
    (policy,) = (a["content"] for tag, a in told.elements if a.get("http-equiv") == "Content-Security-Policy")
    style = told.source.partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy.startswith("default-src 'none'; ")
    assert f"style-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy
    assert not [tag for tag, found in told.elements if any(name == "style" or name.startswith("on") for name in found)]
    assert "@import" not in style
    assert "url(" not in style


@pytest.mark.parametrize(
    "attack",
    [
        "<script>alert(1)</script>",
        "</code></pre></style></title><img src=x onerror=alert(1)>",
        "\"><svg onload='alert(1)'> \x1b[2J\u202e\u2066\x00",
        "{{ alert(1) }} {% raw %} &lt;script&gt; ]]> -->",
    ],
)
def test_nothing_that_a_model_a_candidate_or_a_repository_says_becomes_markup(tmp_path, attack):
    def page_of(said):
        folder = tmp_path / str(len(said))
        name = said.replace("/", "").replace("\x00", "") + ".py"
        run = recorded(
            folder, source=lambda n: f"# {said}\n# {n}\n", said=said, rounds=2, name=name, title=f"task {said}"
        )
        return shown(folder, run)

    told, plain = page_of(attack), page_of("harmless")
    assert [(tag, sorted(found)) for tag, found in told.elements] == [
        (tag, sorted(found)) for tag, found in plain.elements
    ]
    assert told.text.count("alert(1)") > 50
    assert not set(told.source) & {"\x1b", "\x00", "\u202e", "\u2066"}


@pytest.mark.corpus(one_in=8)
def test_a_run_of_a_hundred_candidates_stays_small(tmp_path):
    told = shown(tmp_path, recorded(tmp_path))
    assert len(told.source.encode()) < LIMIT
    assert sum(tag == "details" for tag, _ in told.elements) == 101
    assert told.text.count("rejected: wrong output") == 50
    assert "further lines left out; whet runs export" in told.text
    assert told.headings[0] == ("h1", "10.83× faster, verified")
    assert "--evidence evidence.zip whet verify --evidence evidence.zip" in told.text


@pytest.mark.corpus
def test_a_run_of_a_hundred_candidates_that_want_it_large_stays_small_too(tmp_path):
    worst = "\U000f0000'" * 400
    told = shown(tmp_path, recorded(tmp_path, source=lambda n: f"{n}'\n{worst[:20]}\n" * 60, said=worst))
    assert len(told.source.encode()) < LIMIT
    assert "further characters left out)" in told.text


def test_a_run_under_way_says_so(tmp_path):
    looked = []

    def looking(request):
        looked.append(shown(tmp_path))
        return answer(FAST) if request.role == "coder" else diagnosis()

    ran(tmp_path, looking, {FAST: Row(ratio=3.0)}, rounds=2, candidates=1)
    first, *_, last = looked
    assert first.headings[0][1] == last.headings[0][1] == "Under way; nothing is confirmed yet"
    assert "Candidates" not in [words for _, words in first.headings]
    assert "The best so far, not confirmed: candidate 1, 3.00× (2.94× to 3.06×)" in last.text


def test_an_interrupted_run_names_the_way_on(tmp_path):
    def interrupted(request):
        if request.role == "judge":
            raise KeyboardInterrupt
        return answer(FAST)

    with pytest.raises(KeyboardInterrupt):
        ran(tmp_path, interrupted, {FAST: Row(ratio=3.0)}, rounds=2, candidates=1)
    told = shown(tmp_path)
    assert told.headings[0][1] == "Interrupted; nothing is confirmed"
    assert "whet runs resume" in told.text
    assert "runs replay" not in told.text


def test_a_run_that_recorded_nothing_yet_has_a_page(tmp_path):
    store = Store(tmp_path / "home")
    request = store.run(recorded(tmp_path, rounds=1)).request
    run = store.begin("optimize", "/home/somebody/code/f.py::f", request)
    store.close()
    told = shown(tmp_path, run)
    assert told.headings[0][1] == "Interrupted; nothing is confirmed"
    assert "f.py::f" in told.text
    assert "somebody" not in told.source


def test_a_run_without_a_winner_shows_what_was_tried(tmp_path):
    rows = {FAST: Row(ratio=1.0), WRONG: Row(ratio=3.0, reason=Reason.NOT_FASTER, rung="confirm", detail="1.00x")}
    ran(tmp_path, {"coder": [answer(FAST), answer(WRONG)]}, rows, rounds=1, judge_model="catalogue")
    told = shown(tmp_path)
    assert told.headings[0][1] == "No verified improvement"
    assert "Result" not in [words for _, words in told.headings]
    assert "not confirmed: not faster" in told.text
    assert "no gain shown" in told.text
    assert "The best so far" not in told.text


def test_a_baseline_that_cannot_be_used_is_told_without_its_folder(tmp_path):
    task = task_of(tmp_path, SLOW)
    optimized(tmp_path, task, ScriptedModel([]), TabledEvaluator(task, {}, invalid="it is too short to time"))
    told = shown(tmp_path)
    assert told.headings[0][1] == "The baseline cannot be used"
    assert "f.py cannot be used: it is too short to time" in told.text
    assert str(tmp_path) not in told.source


def test_a_model_that_could_not_be_asked_is_told_without_its_address(tmp_path):
    name = "openai:some@http://10.0.0.7:8000/v1"
    task = task_of(tmp_path, SLOW)

    lines = [answer(FAST, "at once"), ModelError(f"{name} refused the key", fatal=True)]
    model = ScriptedModel({"coder": lines}, name)
    optimized(tmp_path, task, model, TabledEvaluator(task, {FAST: Row(0.5)}), candidates=1)
    told = shown(tmp_path)
    assert told.headings[0][1] == "No verified improvement"
    assert "openai:some refused the key" in told.text
    assert "go on with: whet runs resume" in told.text
    assert "10.0.0.7" not in told.source


@pytest.mark.corpus
@pytest.mark.parametrize(("source", "heading"), [(FAST, "No verified improvement"), ("def f(:\n", "Rejected")])
def test_a_rewrite_that_was_judged_alone_is_told_too(whet, tmp_path, source, heading):
    task = task_of(tmp_path, SLOW)
    (task.root / "workload.py").write_text(
        "sizes = [9, 20000, 30000]\n\ndef make_input(size, rng):\n    return ([rng.random() for _ in range(size)],)\n"
    )
    (task.root / "rewrite.py").write_text(source)
    target, rewrite = f"{task.path}::f", task.root / "rewrite.py"
    assert whet("verify", target, "--candidate", rewrite, "--until", "screen").returncode == 3
    told = shown(tmp_path)
    assert told.headings[:3] == [("h1", heading), ("h2", "Result"), ("h2", "Candidates")]
    assert ("h2", "The rewrite") in told.headings
    assert "file:rewrite.py" in told.text
    assert "whet verify f.py::f --candidate FILE --until screen" in told.text
    assert ("screen failed syntax_error" in told.text) is (heading == "Rejected")
    assert str(tmp_path) not in told.source


def test_a_replay_is_told_as_the_run_was(finished, tmp_path):
    first = shown(tmp_path, finished.run)
    again = replay(finished.run, home=tmp_path / "home")
    second = shown(tmp_path, again.run)
    assert second.headings == first.headings
    assert "Begin anew" not in second.text


@pytest.mark.corpus(one_in=8)
def test_the_command_writes_the_page(whet, finished, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("something older")
    done = whet("runs", "show", finished.run, "--html", path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert path.read_text() == shown(tmp_path, finished.run).source
    assert whet("runs", "show", finished.run, "--html", "-", PYTHONIOENCODING="latin-1").stdout == path.read_text()


@pytest.mark.parametrize(
    ("words", "line"),
    [(("--html", "none/report.html"), "--html none/report.html cannot be written"), (("--html", "-", "--json"), "one")],
)
def test_a_page_that_cannot_be_written_is_one_line(whet, finished, words, line):
    done = whet("runs", "show", finished.run, *words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert line in done.stderr
