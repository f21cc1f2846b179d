"""A small git repository of our own, with a slow base, an expert's commit, and rows of the three suites."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

SLOW = "def total(n):\n    result = 0\n    for i in range(n + 1):\n        result += i\n    return result\n"
FAST = "def total(n):\n    return n * (n + 1) // 2\n"
WRONG = "def total(n):\n    return n * (n - 1) // 2\n"
TESTS = (
    "import pytest\nfrom toylib import total\n\n"
    "@pytest.mark.parametrize('n', [0, 1, 10])\ndef test_small(n):\n    assert total(n) == sum(range(n + 1))\n\n"
    "def test_large():\n    assert total(300_000) == 45_000_150_000\n"
)
WORKLOAD = (
    "import statistics, timeit\nfrom toylib import total\n"
    "found = timeit.repeat(lambda: total(200_000), number=1, repeat=5)\n"
    "print('Mean:', statistics.mean(found))\nprint('Std Dev:', statistics.stdev(found))\n"
)
SCRIPT = """\
import argparse, json, timeit
from toylib import total

parser = argparse.ArgumentParser()
parser.add_argument("output")
parser.add_argument("--reference", action="store_true")
parser.add_argument("--eqcheck", action="store_true")
parser.add_argument("--file_prefix")
given = parser.parse_args()
start = timeit.default_timer()
found = [total(200_000) for _ in range(3)]
seconds = timeit.default_timer() - start
stored = f"{given.file_prefix}_result.json"
if given.reference:
    json.dump(found, open(stored, "w"))
if given.eqcheck:
    assert json.load(open(stored)) == found
with open(given.output, "a") as file:
    file.write(f"Execution time: {seconds:.9f}s\\n")
"""
ID = "toy__toylib-1"


def git(folder: Path, *words: str, stdin: str | None = None) -> str:
    named = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    ran = subprocess.run(
        ["git", *named, *words], cwd=folder, input=stdin, text=True, capture_output=True, check=True, timeout=60
    )
    return ran.stdout


class Repository:
    """A root with rows beside one prepared checkout.

    Attributes:
        root: the folder that a suite reads.
        checkout: the repository at its base commit.
        base: that commit.
        expert: the expert's commit.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.checkout = root / "checkouts" / ID
        (self.checkout / "toylib").mkdir(parents=True)
        (self.checkout / "tests").mkdir()
        git(self.checkout, "init", "-q")
        (self.checkout / "tests" / "test_total.py").write_text(TESTS)
        self.base = self._commit(SLOW)
        self.expert = self._commit(FAST)
        git(self.checkout, "checkout", "-q", self.base)

    def _commit(self, text: str) -> str:
        (self.checkout / "toylib" / "__init__.py").write_text(text)
        git(self.checkout, "add", ".")
        git(self.checkout, "commit", "-qm", "work")
        return git(self.checkout, "rev-parse", "HEAD").strip()

    def patch(self, text: str) -> str:
        """Returns the patch that makes the library that text."""
        file = self.checkout / "toylib" / "__init__.py"
        file.write_text(text)
        made = git(self.checkout, "diff")
        git(self.checkout, "checkout", "-q", "--", ".")
        return made

    def row(self, **changes: object) -> dict[str, object]:
        """Returns a row with the fields of all three suites."""
        tests = ["tests/test_total.py::test_small[1]", "tests/test_total.py::test_large"]
        return {
            "instance_id": ID, "repo": "toy/toylib", "base_commit": self.base, "patch": self.patch(FAST),
            "test_patch": "", "workload": WORKLOAD, "PASS_TO_PASS": tests, "covering_tests": ["tests/test_total.py"],
            "opt_commit": self.expert, "tests": [SCRIPT], "efficiency_test": json.dumps(tests[1:]), **changes,
        }  # fmt: skip

    def write(self, *rows: dict[str, object] | str) -> Path:
        """Writes rows and returns the root."""
        lines = [one if isinstance(one, str) else json.dumps(one) for one in rows]
        (self.root / "rows.jsonl").write_text("\n".join(lines) + "\n")
        return self.root
