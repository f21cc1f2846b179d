"""Candidates that are announced together meet the same inputs: drawn once all of them exist, and never used again."""

from __future__ import annotations

import shutil
import string
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from whet.core.candidate import Candidate
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.core.verdict import Reason, Verdict
from whet.evaluators.batches import hash_seeds
from whet.evaluators.ladder import Ladder, open_ladder
from whet.evaluators.targets import read_task

TARGET = "def f(a):\n    total = 0\n    for x in a:\n        total += x\n    return total\n"
WORKLOAD = "sizes = [3, 30, 300]\ndef make_input(size, rng):\n    return ([rng.randrange(99) for _ in range(size)],)\n"
RIGHT = "def f(a):\n    return sum(a)  # {}\n"
SEED = 20_261_121

Opened = Callable[..., Ladder]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """Opens the ladder of a target."""
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    ladders: list[Ladder] = []

    def make(workload: str = WORKLOAD, seed: int = SEED, until: str | None = None) -> Ladder:
        (tmp_path / "target.py").write_text(TARGET)
        (tmp_path / "workload.py").write_text(workload)
        options = Options(until=until, sandbox="bubblewrap")
        ladders.append(open_ladder(read_task(f"{tmp_path}/target.py::f", options), options, seed))
        ladders[-1].examine()
        return ladders[-1]

    yield make
    for ladder in ladders:
        ladder.close()


def candidates(*names: object) -> list[Candidate]:
    return [Candidate(RIGHT.format(name)) for name in names]


def checked(ladder: Ladder, batch: Sequence[Candidate]) -> list[Verdict]:
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(ladder.check, batch))


def drawn(verdict: Verdict) -> dict[str, Any]:
    """Returns what the evidence says of the inputs."""
    assert verdict.correct, verdict
    rung = verdict.rung("differential")
    assert rung is not None
    return dict(rung.evidence)


@pytest.mark.corpus(one_in=8)
def test_those_of_one_announcement_meet_the_same_inputs_and_others_meet_others(opened: Opened) -> None:
    ladder = opened()
    batches = [candidates("a", "b", "c"), candidates("d", "e")]
    seeds, hashes = [], []
    for batch in batches:
        ladder.announce(batch)
        found = [drawn(verdict) for verdict in checked(ladder, batch)]
        assert all(one == found[0] for one in found)
        seeds.append(found[0]["seed"])
        hashes.append(found[0]["hashes"])
    alone, other = (drawn(ladder.check(one)) for one in candidates("f", "g"))
    assert len({*seeds, alone["seed"], other["seed"]}) == 4
    for some, others in (hashes, (alone["hashes"], other["hashes"])):
        assert len(set(some[:10]) & set(others[:10])) < 3  # there is but one empty list


@pytest.mark.corpus
def test_a_batch_that_is_announced_again_meets_the_same_whatever_its_order(opened: Opened) -> None:
    first, again = opened(), opened()
    batch = candidates("a", "b", "c")
    first.announce(batch)
    found = drawn(first.check(batch[0]))  # then it was killed
    again.announce(batch[::-1])
    assert drawn(again.check(batch[2])) == found
    assert drawn(opened(seed=SEED + 1).check(batch[0]))["seed"] != found["seed"]


@pytest.mark.corpus(one_in=8)
def test_the_inputs_hang_on_every_candidate_so_all_of_them_were_there_before(opened: Opened) -> None:
    ladder = opened()
    a, b, c, d = candidates("a", "b", "c", "d")
    seeds = set()
    for batch in ([a], [a, b], [a, b, c], [a, b, d]):
        ladder.announce(batch)
        seeds.add(drawn(ladder.check(a))["seed"])
    assert len(seeds) == 4


@pytest.mark.corpus(one_in=8)
def test_a_candidate_that_comes_again_is_a_batch_of_its_own(opened: Opened) -> None:
    ladder = opened()
    a, b = candidates("a", "b")
    ladder.announce([a, b])
    together = drawn(ladder.check(a))
    by_itself = drawn(ladder.check(a))
    assert by_itself["seed"] != together["seed"]
    assert drawn(ladder.check(b)) == together


@pytest.mark.corpus(one_in=8)
def test_what_one_batch_leaves_ends_with_the_next(opened: Opened) -> None:
    ladder = opened()
    for number in range(6):  # each but the last leaves one that is never checked
        batch = candidates(f"{number}a", f"{number}b")
        ladder.announce(batch)
        drawn(ladder.check(batch[0]))
    assert drawn(ladder.check(batch[1]))["hashes"]


@pytest.mark.corpus(one_in=8)
def test_one_that_is_wrong_or_does_not_build_changes_nothing_for_the_others(opened: Opened) -> None:
    ladder = opened()
    right = candidates("a")[0]
    wrong = Candidate("def f(a):\n    return sum(a) if len(a) != 30 else 0\n")
    ends = Candidate("def f(a):\n    import os\n    os._exit(1)\n")
    broken = Candidate("def f(a):\n    return (\n")
    ladder.announce([wrong, ends, broken, right])
    found = checked(ladder, [wrong, ends, broken, right])
    reasons = [verdict.failed.reason if verdict.failed else None for verdict in found]
    assert reasons == [Reason.WRONG_OUTPUT, Reason.CRASH, Reason.SYNTAX_ERROR, None]
    rung = found[0].rung("differential")
    assert rung is not None
    assert rung.evidence["hashes"] == drawn(found[3])["hashes"][: rung.evidence["inputs"]]


@pytest.mark.corpus(one_in=8)
def test_what_was_drawn_for_a_batch_can_be_repeated_from_its_evidence(opened: Opened) -> None:
    batch = candidates("a", "b")
    ladder = opened()
    ladder.announce(batch)
    found = drawn(ladder.check(batch[1]))
    repeated = opened(seed=1).comparing.alone(batch[1], found["seed"], found["hash_seed"])
    assert repeated.evidence["hashes"][:20] == found["hashes"][:20]


def test_a_generator_that_fails_fails_for_all_who_meet_its_inputs(opened: Opened) -> None:
    tires = "made = []\n" + WORKLOAD.replace(
        "    return", "    made.append(size)\n    assert len(made) < 16\n    return"
    )
    ladder = opened(tires)
    batch = candidates("a", "b")
    ladder.announce(batch)
    for one in batch:
        with pytest.raises(UsageError, match="make_input"):
            ladder.check(one)


def parity(letter: str, hash_seed: int) -> int:
    words = [sys.executable, "-c", f"print(hash({letter!r}) % 2)"]
    return int(subprocess.check_output(words, env={"PYTHONHASHSEED": str(hash_seed)}))


@pytest.mark.corpus(one_in=8)
def test_what_is_right_under_one_hash_seed_only_is_found_without_a_fresh_process(opened: Opened) -> None:
    seeds = hash_seeds(SEED)
    letter = next(one for one in string.ascii_letters if len({parity(one, seed) for seed in seeds}) == 2)
    ladder = opened()
    for number in (0, 1):
        verdict = ladder.check(
            Candidate(f"def f(a):\n    return sum(a) if hash({letter!r}) % 2 == {number} else None\n")
        )
        assert verdict.failed is not None
        assert verdict.failed.reason in (Reason.NONDETERMINISTIC, Reason.WRONG_OUTPUT)


@pytest.mark.corpus(one_in=8)
def test_what_is_right_in_forks_only_is_found_before_it_is_reported(opened: Opened) -> None:
    forked = "import sys\nFORKED = 'inside.forkserver' in sys.modules\n"
    cheat = Candidate(f"{forked}def f(a):\n    return sum(a) if FORKED else None\n")
    ladder = opened()
    checked_verdict = ladder.check(cheat)
    confirmed = ladder.confirm(cheat, checked_verdict)
    assert confirmed.failed is not None
    assert (confirmed.failed.name, confirmed.failed.reason) == ("confirm", Reason.NONDETERMINISTIC)
    last = opened(until="differential").check(cheat)
    assert last.failed is not None
    assert (last.failed.name, last.failed.reason) == ("differential", Reason.NONDETERMINISTIC)
