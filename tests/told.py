"""Runs for reports to tell of, recorded in a real store as the loop does; verdicts and models are scripted."""

from __future__ import annotations

from dataclasses import replace

from whet.agents.budget import BudgetMeter
from whet.agents.diagnosis import Diagnosis
from whet.agents.evaluations import Evaluations
from whet.agents.history import Caps, History, Round
from whet.agents.job import RunRequest, store_task
from whet.agents.ledger import Ledger
from whet.agents.models.base import Brief, Message, Request
from whet.agents.outcome import Spent, concluded
from whet.agents.prices import Price, Prices
from whet.core.candidate import Candidate
from whet.core.evidence import Machine, Provenance, Toolchain
from whet.core.options import Budget, Options
from whet.core.plain import to_plain
from whet.core.store import Store
from whet.core.task import Kind, Task
from whet.core.verdict import Reason, Rung, RungStatus
from whet.testing.scripted import ScriptedModel
from whet.testing.tabled import Row, TabledEvaluator

ROUNDS, EACH = 25, 4
LINES = 220
BEFORE = (("screen", "parses, and takes the same arguments"), ("build", "loads"), ("test", "31 tests pass"))
AFTER = ("hazard", "prove")
DETAIL = (
    "on an input of size 120, shrunk to f([{'kind': 'invoice', 'lines': [(17, 3.5), (4, 0.25)]}, None]):\n"
    "expected {'total': 60.5, 'skipped': 1}, got {'total': 60.5, 'skipped': 0}\nat line 88 of the rewrite"
)


class Detailed(TabledEvaluator):
    """Verdicts with as many rungs as the ladder gives; ``said`` stands wherever somebody else chooses the words."""

    def __init__(self, task, rows, said):
        super().__init__(task, rows)
        self.said = said

    def provenance(self, keep):
        machine = Machine(self.said, "x86_64", 2, 1 << 34, self.said, self.said)
        toolchain = Toolchain(self.said, "0" * 64, {self.said: self.said}, self.said, None, (self.said,))
        sandbox = {"backend": "bubblewrap", "version": self.said}
        return Provenance("2026-11-21T00:00:00+00:00", 1, machine, toolchain, sandbox, {"whet": self.said})

    def check(self, candidate):
        verdict = super().check(candidate)
        before = tuple(Rung(name, RungStatus.PASSED, None, detail, 0.4) for name, detail in BEFORE)
        after = tuple(Rung(name, RungStatus.SKIPPED, Reason.NOT_ASKED, self.said) for name in AFTER)
        return replace(verdict, rungs=before + verdict.rungs + (after if verdict.correct else ()))

    def measure(self, candidate, verdict, **looks):
        return self._named(super().measure(candidate, verdict, **looks))

    def confirm(self, candidate, verdict):
        return self._named(super().confirm(candidate, verdict))

    def _named(self, verdict):
        timed = verdict.measurement
        rows = tuple(replace(row, name=self.said) for row in timed.speedup.workloads)
        speedup = replace(timed.speedup, baseline=self.said, workloads=rows)
        return replace(verdict, measurement=replace(timed, speedup=speedup, untimed=rows, resolution=1.02))


def long_source(version: int) -> str:
    """Returns a file of a realistic length, a fifth of whose lines are the version's own."""
    body = (
        f"    amount_{line} = rows.get('invoice-{line}', {version if line % 5 == 0 else 0}) + amount_{line - 1}\n"
        for line in range(1, LINES)
    )
    return "def f(rows):\n    amount_0 = 0\n" + "".join(body) + f"    return amount_{LINES - 1}\n"


def task_of(folder, source, name="f.py", title="f") -> Task:
    """Returns a task whose target stands in a folder of its own."""
    path = folder / "code" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source)
    return Task(title, "python", Kind.FUNCTION, path, source, "f", path.parent)


def recorded(folder, *, source=long_source, said=DETAIL, rounds=ROUNDS, name="f.py", title="f") -> str:
    """Records a finished run of four candidates a round, and returns its id.

    Of each round the first is the best so far, and the others are wrong, no faster, and slower.

    Args:
        folder: its ``home`` is the state directory.
        source: gives the candidates' texts by number; 0 is the original.
        said: what each of them, its verdict, the models, the machine and the Judge have to say.
        rounds: how many.
        name: of the target's file.
        title: of the task.
    """
    store, task = Store(folder / "home"), task_of(folder, source(0), name, title)
    sources = [source(version) for version in range(1, rounds * EACH + 1)]
    rows = {}
    for number, text in enumerate(sources):
        turn, place = divmod(number, EACH)
        better, wrong = Row(ratio=1.1 ** (turn + 1)), Row(reason=Reason.WRONG_OUTPUT, detail=said)
        rows[text] = (better, wrong, Row(ratio=1.0), Row(ratio=0.8))[place]
    prices = {said: Price(1.0, 2.0, None, said, None)}
    job = RunRequest(
        store_task(store, task), Options(tests=said), said, said, said, rounds, EACH, Budget(), prices, seed=1
    )
    run = store.begin("optimize", task.target, to_plain(job))
    store.set_fact(run, "task", job.task)
    evaluations, history = Evaluations(store, run, Detailed(task, rows, said)), History(store, run)
    ledger = Ledger(store, run, BudgetMeter(Budget(), Prices(prices)))
    brief = Brief("python", "function", "f", task.source)
    ledger.ask(ScriptedModel({"coder": [said]}, said), Request("coder", (Message("user", said),), 0, 64, brief))
    parent = evaluations.baseline.id
    for turn in range(rounds):
        batch = []
        for text in sources[turn * EACH : (turn + 1) * EACH]:
            batch.append(evaluations.add(Candidate(text, parent, said, ("algorithm",), said)))
            if evaluations.check(batch[-1]).correct:
                evaluations.measure(batch[-1])
        history.add(turn + 1, Round(parent, tuple(batch), EACH, (said,) * 3))
        words = said[:2000]
        diagnosis = Diagnosis(
            bottleneck=words, evidence=[words] * 3, directive=words, expected_gain=2.0, confidence=0.5, stop=False
        )
        history.judged(turn + 1, diagnosis)
        parent = batch[0]
    Caps(store, run, None).record("end", said)
    evaluations.confirm(parent)
    state = {"round": rounds, "ended": "rounds", "message": said, "confirming": [parent], "winner": parent}
    store.finish(run, concluded(run, state, evaluations, history, Spent(ledger.cost(), 900.0)).to_json())
    store.close()
    return run
