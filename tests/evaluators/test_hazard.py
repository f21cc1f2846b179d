"""Sanitizers on native programs, in a real sandbox."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from whet.core.options import Options
from whet.core.verdict import Reason
from whet.evaluators import hazard
from whet.evaluators.artifacts import Builder
from whet.evaluators.costs import CHEAP, SLOW, Costs
from whet.evaluators.finding import BaselineLost, Fault, Finding, Passed, Skipped, found_by
from whet.evaluators.hazard import check_hazards, headline
from whet.evaluators.inputs.source import InputSource
from whet.evaluators.targets import read_task
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.protocol import Incident

pytestmark = [
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed"),
]

QUICK = Costs({0: CHEAP, 40: CHEAP})
START = """\
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    int n, sum = 0;
    scanf("%d", &n);
    int *numbers = malloc((n + 1) * sizeof *numbers);
    for (int i = 0; i < n; i++) {
        scanf("%d", &numbers[i]);
    }
"""
END = """\
    printf("%d\\n", sum);
    return 0;
}
"""
LOOP = "    for (int i = 0; i < n; i++) {\n        sum += numbers[i];\n    }\n"
PLAIN = START + LOOP + END
READS_TOO_FAR = (
    START + LOOP + '    sum += numbers[n + 1] * 0;\n    __asm__ volatile("" : : "r"(numbers[n + 2]));\n' + END
)
WORKLOAD = """\
sizes = [1, 40]
def make_input(size, rng):
    return f"{size}\\n" + " ".join(str(rng.randrange(9)) for _ in range(size)) + "\\n"
"""
OVERFLOWS = START + LOOP + '    int next = 2147483647 + n;\n    __asm__ volatile("" : : "r"(next));\n' + END
HIDES = f"#ifdef __SANITIZE_ADDRESS__\n{PLAIN}#else\n{READS_TOO_FAR}#endif\n"
# Only at -O3 does gcc see that the call is never made.
REFUSES = """\
extern void never(void) __attribute__((error("cannot be watched")));
""" + PLAIN.replace(
    "    return 0;",
    "    int odd = 0;\n    for (int i = 0; i < 6; i++) odd += i & 1;\n    if (odd != 3) never();\n    return 0;",
)
THREADS = """\
#include <pthread.h>
#include <stdio.h>

static int n, numbers[100], sum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *odd) {
    for (int i = odd != NULL; i < n; i += 2) {
        LOCK(&lock);
        sum += numbers[i];
        UNLOCK(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    scanf("%d", &n);
    for (int i = 0; i < n; i++) {
        scanf("%d", &numbers[i]);
    }
    pthread_create(&threads[0], NULL, work, NULL);
    pthread_create(&threads[1], NULL, work, &n);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("%d\\n", sum);
    return 0;
}
"""
LOCKED = THREADS.replace("UNLOCK", "pthread_mutex_unlock").replace("LOCK(", "pthread_mutex_lock(")
UNLOCKED = THREADS.replace("        UNLOCK(&lock);\n", "").replace("        LOCK(&lock);\n", "")


class Shop:
    """Watches candidates of one target."""

    def __init__(self, folder: Path, target: str) -> None:
        (folder / "target.c").write_text(target)
        (folder / "workload.py").write_text(WORKLOAD)
        task = read_task(str(folder / "target.c"), Options())
        self.sandbox = open_sandbox("bubblewrap", False)
        interpreter = find_interpreter(None)
        self.builder = Builder(task, self.sandbox, interpreter)
        self.inputs = InputSource(task, self.sandbox, interpreter)

    def watch(self, candidate: str, costs: Costs = QUICK) -> Finding | None:
        return found_by(lambda: check_hazards(self.builder, candidate, self.inputs, 7, 10.0, costs))

    def close(self) -> None:
        self.inputs.close()
        self.sandbox.close()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    shop = Shop(tmp_path_factory.mktemp("plain"), PLAIN)
    yield shop
    shop.close()


@pytest.mark.corpus(one_in=8)
def test_a_clean_program_passes(plain: Shop) -> None:
    found = plain.watch(PLAIN.replace("int n, sum = 0;", "int sum = 0, n;"))
    assert isinstance(found, Passed)
    assert found.evidence["inputs"] == {
        "addresses and undefined behaviour": 7
    }  # sizes 0 to 3, 40, and one around each listed
    assert found.evidence["cut"] == {}


def test_large_inputs_of_a_slow_program_are_left_out_and_that_is_told(plain: Shop) -> None:
    found = plain.watch(PLAIN, Costs({0: CHEAP, 1: CHEAP, 2: CHEAP, 3: CHEAP, 40: 4 * SLOW}))
    assert isinstance(found, Passed)
    assert found.evidence["cut"] == {"addresses and undefined behaviour": {"tried": 4, "planned": 7}}
    assert "larger ones were planned" in found.detail


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("candidate", "said"),
    [
        pytest.param(READS_TOO_FAR, "heap-buffer-overflow", id="reads beyond the end"),
        pytest.param(OVERFLOWS, "signed integer overflow", id="undefined behaviour"),
        pytest.param(HIDES, "heap-buffer-overflow", id="behaves where the macro of the sanitizer is defined"),
    ],
)
def test_right_output_from_bad_memory_is_a_memory_error(plain: Shop, candidate: str, said: str) -> None:
    found = plain.watch(candidate)
    assert isinstance(found, Fault)
    assert found.reason is Reason.MEMORY_ERROR
    assert said in found.detail
    assert "target.c:" in found.detail


def test_a_candidate_that_alone_cannot_be_watched_does_not_build(plain: Shop) -> None:
    found = plain.watch(REFUSES)
    assert isinstance(found, Fault)
    assert found.reason is Reason.BUILD_ERROR
    assert "-fsanitize=address,undefined" in found.detail
    assert "cannot be watched" in found.detail


@pytest.mark.corpus(one_in=8)
def test_what_the_baseline_does_too_is_not_held_against_a_candidate(tmp_path: Path) -> None:
    shop = Shop(tmp_path, READS_TOO_FAR)
    try:
        found = shop.watch(READS_TOO_FAR + "\n")
        assert isinstance(found, Skipped)
        assert "the original itself" in found.detail
    finally:
        shop.close()


@pytest.mark.parametrize("reported", [[True, True], [True, False]])
def test_a_report_counts_where_the_baseline_shows_it_in_no_further_process(
    plain: Shop, monkeypatch: pytest.MonkeyPatch, reported: list[bool]
) -> None:
    # As where a race shows now and then: the baseline's first run is clean.
    ended = [hazard.Ended(hazard.REPORTED * one, "") for one in (False, *reported)] + [hazard.Ended(0, "")] * 12
    monkeypatch.setattr(hazard, "_run", lambda *given: ended.pop(0))
    found = plain.watch(PLAIN.replace("int n, sum = 0;", "int sum = 0, n;"))
    assert isinstance(found, Passed) == reported[-1]


def test_a_baseline_that_does_not_end_when_watched_says_nothing_of_a_candidate(
    plain: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(*given: object) -> hazard.Ended:
        raise Incident("timeout", "no answer")

    monkeypatch.setattr(hazard, "_run", late)
    assert isinstance(plain.watch(PLAIN.replace("int n, sum = 0;", "int sum = 0, n;")), BaselineLost)


@pytest.mark.corpus
def test_a_race_is_a_memory_error_and_a_lock_mends_it(plain: Shop) -> None:
    found = plain.watch(UNLOCKED)
    assert isinstance(found, Fault)
    assert found.reason is Reason.MEMORY_ERROR
    assert "data race" in found.detail
    mended = plain.watch(LOCKED)
    assert isinstance(mended, Passed)
    assert set(mended.evidence["inputs"]) == {"addresses and undefined behaviour", "races"}


def test_python_is_not_watched(tmp_path: Path) -> None:
    (tmp_path / "target.py").write_text("print(input())\n")
    (tmp_path / "workload.py").write_text(WORKLOAD)
    task = read_task(str(tmp_path / "target.py"), Options())
    sandbox = open_sandbox("bubblewrap", False)
    try:
        interpreter = find_interpreter(None)
        inputs = InputSource(task, sandbox, interpreter)
        assert check_hazards(Builder(task, sandbox, interpreter), task.source, inputs, 7, 10.0, QUICK) is None
        inputs.close()
    finally:
        sandbox.close()


def test_a_report_comes_down_to_the_line_that_says_what_and_where() -> None:
    report = (
        "/tmp/a.c:3:5: runtime error: division by zero\n    #0 0x1 in main\nSUMMARY: UndefinedBehaviorSanitizer: x\n"
    )
    assert headline(report) == "a.c:3:5: runtime error: division by zero"
    assert headline("") == "a sanitizer ended it without a word"
