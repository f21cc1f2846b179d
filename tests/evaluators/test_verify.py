"""The ladder end to end, on real targets in a real sandbox."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any

import pytest
from unique import GOOD, SLOW, workload

import whet
from whet.core.errors import UsageError
from whet.core.result import Result, Status
from whet.core.store import Store
from whet.core.verdict import Reason

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

WORKLOAD = workload(10, 300, 900)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "workload.py").write_text(WORKLOAD)
    return tmp_path


def judge(folder: Path, candidate: str, target: str = "slow.py::unique", **options: Any) -> Result:
    path = folder / f"candidate{Path(target.partition('::')[0]).suffix}"
    path.write_text(candidate)
    return whet.verify(f"{folder}/{target}", candidate=path, home=folder / "home", **options)


def judge_quietly(folder: Path, candidate: str, target: str = "slow.py::unique", **options: Any) -> Result:
    """Judges up to three times while the answer is that the machine was never quiet."""
    for _ in range(3):
        result = judge(folder, candidate, target, **options)
        if "never quiet" not in result.message:
            break
    return result


def reason(result: Result) -> Reason | None:
    return next((rung.reason for rung in result.rungs if rung.status == "failed"), None)


@pytest.mark.usefixtures("figures")
def test_a_faster_candidate_is_confirmed(folder: Path) -> None:
    result = judge_quietly(folder, GOOD)
    assert result.status is Status.IMPROVED, result.message
    assert result.exit_code == 0
    assert result.speedup is not None
    assert 3 < result.speedup.low <= result.speedup.ratio <= result.speedup.high
    assert [w.name for w in result.speedup.workloads] == ["size 300", "size 900"]
    assert result.candidate is not None
    assert result.candidate.id == hashlib.sha256(GOOD.encode()).hexdigest()
    assert [rung.name for rung in result.rungs] == [
        "screen", "build", "test", "differential", "hazard", "prove", "measure", "profile", "confirm",
    ]  # fmt: skip
    stored = Store(folder / "home")
    assert stored.run(result.run).result == result.to_json()
    stored.close()


@pytest.mark.timed
def test_a_size_that_is_too_short_to_time_is_named_and_the_other_one_counts(folder: Path) -> None:
    workload = folder / "workload.py"
    workload.write_text(workload.read_text().replace("300, 900", "900"))
    result = judge_quietly(folder, GOOD)
    assert result.status is Status.IMPROVED, result.message
    assert result.speedup is not None
    assert [w.name for w in result.speedup.workloads] == ["size 900"]
    named = [rung.evidence.get("too_short_to_time") for rung in result.rungs if rung.name in ("measure", "confirm")]
    assert [list(one) for one in named if one] == [["size 10"], ["size 10"]]


@pytest.mark.timed
def test_the_same_speed_is_no_improvement(folder: Path) -> None:
    result = judge(folder, SLOW.replace("seen = []", "seen = list()"))
    assert result.status is Status.NO_IMPROVEMENT
    assert result.exit_code == 3
    assert result.speedup is not None
    assert reason(result) in (Reason.NOT_FASTER, Reason.SLOWER)


@pytest.mark.corpus
@pytest.mark.timed
def test_a_slower_candidate_is_said_to_be_slower(folder: Path) -> None:
    slower = SLOW.replace("    seen = []\n", "    seen = []\n    for _ in range(3):\n        sorted(items * 60)\n")
    assert reason(judge_quietly(folder, slower)) is Reason.SLOWER


@pytest.mark.parametrize(
    ("candidate", "expected"),
    [
        ("def unique(items):\n    return sorted(set(items))\n", Reason.WRONG_OUTPUT),
        ("def unique(items):\n    return tuple(dict.fromkeys(items))\n", Reason.WRONG_OUTPUT),
        ("def unique(items):\n    return list(dict.fromkeys(items)) if items else None\n", Reason.WRONG_OUTPUT),
        ("def unique(items):\n    print('x')\n    return list(dict.fromkeys(items))\n", Reason.WRONG_OUTPUT),
        ("def unique(items):\n    x = [*dict.fromkeys(items)]\n    del items[:]\n    return x\n", Reason.MUTATED_INPUT),
        ("def unique(items):\n    return items[0:0] or [items[len(items)]]\n", Reason.WRONG_EXCEPTION),
        ("def unique(items):\n    import os\n    os._exit(0)\n", Reason.CRASH),
        ("def unique(items):\n    import sys\n    sys.exit(0)\n", Reason.WRONG_EXCEPTION),
        ("def unique(items):\n    import ctypes\n    ctypes.string_at(0)\n", Reason.CRASH),
        ("def unique(items):\n    return bytearray(1 << 40)\n", Reason.OUT_OF_MEMORY),
        ("def unique(items) return\n", Reason.SYNTAX_ERROR),
        ("def uniq(items):\n    return items\n", Reason.BUILD_ERROR),
        ("def unique(items, key):\n    return items\n", Reason.BUILD_ERROR),
        ("import nothing_of_that_name\ndef unique(items):\n    return items\n", Reason.CRASH),
        ("import random\ndef unique(items):\n    return [random.random() for _ in items]\n", Reason.NONDETERMINISTIC),
    ],
    ids=lambda value: value.value if isinstance(value, Reason) else "",
)  # fmt: skip
def test_a_wrong_candidate_is_rejected_with_its_reason(folder: Path, candidate: str, expected: Reason) -> None:
    result = judge(folder, candidate)
    assert result.status is Status.REJECTED
    assert result.exit_code == 3
    assert result.speedup is None
    assert reason(result) is expected, result.rungs[-1].detail


@pytest.mark.corpus(one_in=8)
def test_an_endless_candidate_is_timed_out(folder: Path) -> None:
    (folder / "whet.toml").write_text(
        '[task]\nlanguage = "python"\ntarget = "slow.py"\nsymbol = "unique"\n[limits]\nseconds = 1\n'
    )
    result = judge(folder, "def unique(items):\n    while True:\n        pass\n", target=".")
    assert reason(result) is Reason.TIMEOUT
    assert "no answer within 1 s" in result.rungs[-1].detail


def test_state_kept_between_calls_is_seen(folder: Path) -> None:
    hoarder = (
        "calls = []\ndef unique(items):\n    calls.append(1)\n    return list(dict.fromkeys(items)) + calls[38:]\n"
    )
    assert reason(judge(folder, hoarder)) in (Reason.WRONG_OUTPUT, Reason.NONDETERMINISTIC)


@pytest.mark.corpus(one_in=8)
def test_the_failing_input_is_shown(folder: Path) -> None:
    result = judge(folder, "def unique(items):\n    return sorted(set(items))\n")
    assert "unique([" in result.rungs[-1].detail
    assert "expected" in result.rungs[-1].detail


@pytest.mark.corpus(one_in=8)
def test_until_stops_before_measuring(folder: Path) -> None:
    result = judge(folder, GOOD, until="differential")
    assert result.status is Status.NO_IMPROVEMENT
    assert result.speedup is None
    assert {r.name: (r.status.value, r.reason) for r in result.rungs}["measure"] == ("skipped", Reason.NOT_ASKED)


@pytest.mark.usefixtures("figures")
@pytest.mark.corpus(one_in=8)
def test_a_gain_that_was_not_confirmed_is_none(folder: Path) -> None:
    result = judge_quietly(folder, GOOD, until="measure")
    assert result.status is Status.NO_IMPROVEMENT
    assert "not confirmed" in result.message


@pytest.mark.timed
def test_a_lying_clock_wins_nothing(folder: Path) -> None:
    liar = "import sys, time\n" + SLOW.replace(
        "    seen = []\n",
        "    import builtins\n    main = [m for n, m in sys.modules.items() if n == 'inside.invocation'][0]\n"
        "    main._clock = lambda: 0\n    seen = []\n",
    )
    result = judge(folder, liar)
    assert result.status is not Status.IMPROVED
    assert reason(result) is Reason.CHEATING


@pytest.mark.corpus(one_in=8)
def test_a_patch_is_judged_like_a_file(folder: Path) -> None:
    patch = folder / "change.diff"
    patch.write_text(
        "--- a/slow.py\n+++ b/slow.py\n@@ -1,6 +1,2 @@\n def unique(items):\n-    seen = []\n-    for item in items:\n"
        "-        if item not in seen:\n-            seen.append(item)\n-    return seen\n"
        "+    return list(dict.fromkeys(items))\n"
    )
    result = whet.verify(f"{folder}/slow.py::unique", patch=patch, home=folder / "home", until="differential")
    assert result.candidate is not None
    assert result.candidate.source == GOOD
    patch.write_text(patch.read_text().replace("seen = []", "other = []"))
    with pytest.raises(UsageError, match="does not fit"):
        whet.verify(f"{folder}/slow.py::unique", patch=patch, home=folder / "home")


@pytest.mark.corpus(one_in=8)
def test_own_tests_count(folder: Path) -> None:
    (folder / "test_slow.py").write_text(
        "from slow import unique\n\ndef test_order():\n    assert unique([2, 1, 2]) == [2, 1]\n\n"
        "def test_strings():\n    assert unique('abca') == ['a', 'b', 'c']\n"
    )
    ok = judge(folder, GOOD, tests="pytest -q test_slow.py", until="differential")
    assert {r.name: r.status.value for r in ok.rungs}["test"] == "passed"
    only_lists = "def unique(items):\n    items.index\n    return list(dict.fromkeys(items))\n".replace(
        "index", "append"
    )
    assert reason(judge(folder, only_lists, tests="pytest -q test_slow.py")) is Reason.TEST_FAILURE
    early = "import os, sys\nif 'pytest' in sys.modules:\n    os._exit(0)\n" + GOOD
    assert reason(judge(folder, early, tests="pytest -q test_slow.py")) is Reason.TEST_FAILURE


METHOD = """\
class Bag:
    def __init__(self, items):
        self.items = list(items)

    def add_all(self, more):
        for x in more:
            if x not in self.items:
                self.items.append(x)
        return len(self.items)
"""


@pytest.mark.corpus(one_in=8)
def test_methods_keep_their_instances_state(folder: Path) -> None:
    (folder / "bag.py").write_text(METHOD)
    (folder / "workload.py").write_text(
        "sizes = [10, 200, 400]\ndef make_input(size, rng):\n"
        "    return {'init': ([1, 2],), 'args': ([rng.randrange(size) for _ in range(size)],)}\n"
    )
    loop = METHOD[METHOD.index("        for x in more") : METHOD.index("        return")]
    fast = METHOD.replace(loop, "        self.items = list(dict.fromkeys([*self.items, *more]))\n")
    assert reason(judge(folder, fast, "bag.py::Bag.add_all", until="differential")) is None
    forgets = fast.replace("self.items = list(dict", "self.kept = list(dict").replace(
        "len(self.items)", "len(self.kept)"
    )
    assert reason(judge(folder, forgets, "bag.py::Bag.add_all", until="differential")) is Reason.WRONG_OUTPUT


PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    long n, total = 0;
    if (scanf("%ld", &n) != 1) return 3;
    for (long i = 1; i <= n * 1000; i++) { volatile long step = i; total += step % 7; }
    printf("%ld\\n", total);
    return 0;
}
"""


@pytest.mark.parametrize(
    ("until", "status"), [("screen", Status.NO_IMPROVEMENT), ("build", Status.REJECTED), ("test", Status.REJECTED)]
)
def test_what_does_not_build_is_not_confirmed_where_less_was_asked_for(
    folder: Path, until: str, status: Status
) -> None:
    (folder / "sum.c").write_text(PROGRAM)
    (folder / "workload.py").write_text(
        "sizes = [1, 2]\ndef make_input(size, rng):\n    return f'{size + rng.randrange(100)}\\n'\n"
    )
    result = judge(folder, PROGRAM.replace("long n,", "lung n,"), "sum.c", until=until)
    assert result.status is status, result.message
    confirm = next((rung for rung in result.rungs if rung.name == "confirm"), None)
    assert confirm is None if status is Status.REJECTED else confirm is not None and confirm.status == "skipped"


def test_the_state_directory_may_be_given_as_text(folder: Path) -> None:
    (folder / "same.py").write_text(SLOW + "\n")
    words = {"candidate": str(folder / "same.py"), "home": str(folder / "home"), "until": "screen"}
    assert whet.verify(f"{folder}/slow.py::unique", **words).status is Status.NO_IMPROVEMENT
    assert (folder / "home").is_dir()


@pytest.mark.corpus
@pytest.mark.usefixtures("figures")
def test_a_c_program_is_compiled_and_judged(folder: Path) -> None:
    (folder / "sum.c").write_text(PROGRAM)
    (folder / "workload.py").write_text(
        "sizes = [1, 8000, 12000]\ndef make_input(size, rng):\n    return f'{size + rng.randrange(100)}\\n'\n"
    )
    quick = PROGRAM.replace(
        "for (long i = 1; i <= n * 1000; i++) { volatile long step = i; total += step % 7; }",
        "long full = n * 1000 / 7, rest = n * 1000 % 7; total = full * 21 + rest * (rest + 1) / 2;",
    )
    result = judge_quietly(folder, quick, "sum.c")
    assert result.status is Status.IMPROVED, result.message
    assert result.speedup is not None
    assert result.speedup.baseline.startswith("the original with -O3")
    assert reason(judge(folder, PROGRAM.replace("% 7", "% 8"), "sum.c")) is Reason.WRONG_OUTPUT
    assert reason(judge(folder, PROGRAM.replace("long n,", "lung n,"), "sum.c")) is Reason.BUILD_ERROR
    assert reason(judge(folder, PROGRAM.replace("return 0", "return 1"), "sum.c")) is Reason.CRASH


@pytest.mark.corpus
@pytest.mark.usefixtures("figures")
def test_a_python_program_with_cases(folder: Path) -> None:
    program = "import sys\nn = int(sys.stdin.read())\nprint(sum(i * i for i in range(n)))\n"
    (folder / "prog.py").write_text(program)
    cases = folder / "given"
    cases.mkdir()
    for n in (10, 1000, 200_000, 300_000):
        (cases / f"n{n}.in").write_text(f"{n}\n")
        (cases / f"n{n}.out").write_text(f"{sum(i * i for i in range(n))}\n")
    formula = "import sys\nn = int(sys.stdin.read())\nprint((n - 1) * n * (2 * n - 1) // 6)\n"
    result = judge_quietly(folder, formula, "prog.py", workload=cases)
    assert result.status is Status.IMPROVED, result.message
    wrong = judge(folder, formula.replace("// 6", "// 5"), "prog.py", workload=cases)
    assert reason(wrong) is Reason.WRONG_OUTPUT
    assert wrong.rungs[-1].name == "test"


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("def unique(items) return", "does not parse"),
        ("import nothing_of_that_name\ndef unique(items):\n    return items", "does not load"),
        ("import random\ndef unique(items):\n    return random.random()", "not deterministic"),
        ("def unique(items):\n    return list(set(map(str, items)))", "not deterministic"),
        ("def unique(items):\n    raise ValueError('no')", "raised ValueError"),
        ("def unique(items):\n    for _ in range(300000): pass\n    return 1", "does no work"),
        ("def unique(items):\n    for _ in range(300000): pass\n    return items", "does no work"),
        ("def unique(items):\n    import threading\n    return threading.Lock()", "cannot be compared"),
        (SLOW, "own tests"),
    ],
    ids=lambda value: value if " " in value and "\n" not in value else "",
)
@pytest.mark.corpus(one_in=8)
def test_a_baseline_that_no_verdict_could_rest_on(folder: Path, source: str, says: str) -> None:
    (folder / "slow.py").write_text(source)
    (folder / "test_slow.py").write_text("def test_no():\n    assert False\n")
    options = {"tests": "pytest -q test_slow.py"} if says == "own tests" else {}
    result = judge(folder, GOOD, **options)
    assert result.status is Status.BASELINE_INVALID
    assert result.exit_code == 5
    assert says in result.message
    assert "\n" not in result.message


@pytest.mark.corpus(one_in=8)
def test_a_baseline_without_end(folder: Path) -> None:
    (folder / "slow.py").write_text("def unique(items):\n    while True:\n        pass\n")
    (folder / "whet.toml").write_text(
        '[task]\nlanguage = "python"\ntarget = "slow.py"\nsymbol = "unique"\n[limits]\nseconds = 1\n'
    )
    result = judge(folder, GOOD, target=".")
    assert (result.exit_code, "did not end within 1 s" in result.message) == (5, True)


@pytest.mark.parametrize(
    ("workload", "says"),
    [
        ("sizes = [1]\n", "no make_input"),
        ("def make_input(size, rng):\n    return (1,)\n", "no sizes"),
        ("sizes = [1]\ndef make_input(size, rng):\n    return [1]\n", "tuple of positional arguments"),
        ("sizes = [1]\ndef make_input(size, rng):\n    return 1 / 0\n", "ZeroDivisionError"),
        ("sizes = [1\n", "SyntaxError"),
    ],
)
def test_a_workload_file_that_cannot_be_used(folder: Path, workload: str, says: str) -> None:
    (folder / "workload.py").write_text(workload)
    with pytest.raises(UsageError, match=says):
        judge(folder, GOOD)


def test_without_inputs_the_error_says_how_to_give_them(folder: Path) -> None:
    (folder / "workload.py").unlink()
    with pytest.raises(UsageError, match="--workload FILE"):
        judge(folder, GOOD)


@pytest.mark.corpus(one_in=8)
def test_a_workloads_own_check_counts(folder: Path) -> None:
    (folder / "workload.py").write_text(
        WORKLOAD + "def check(args, output):\n    return len(output) == len(set(output))\n"
    )
    assert reason(judge(folder, GOOD, until="differential")) is None
    (folder / "workload.py").write_text(WORKLOAD + "def check(args, output):\n    assert not output\n")
    assert judge(folder, GOOD).exit_code == 5


@pytest.mark.corpus(one_in=8)
def test_a_workloads_own_check_is_not_asked_about_what_is_raised(folder: Path) -> None:
    check = "def check(args, output):\n    return isinstance(output, RAISED)\n"
    raising = "def make_input_odd(size, rng):\n    return (None,)\n"
    (folder / "workload.py").write_text(WORKLOAD + raising + check.replace("RAISED", "list"))
    assert reason(judge(folder, f"# a line more: other traces\n{GOOD}", until="differential")) is None
