"""Fixes that ruff knows, applied one rule at a time and all together."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import libcst as cst

from whet.agents.catalogue.base import Label, Proposal
from whet.agents.catalogue.python.source import PythonSource, read
from whet.agents.models.base import Brief

RULES = "PERF,C4,FURB,SIM110,SIM118,UP031,UP032"
"""Performance, comprehensions and modern library calls; loops that search; texts that are formatted."""

_SECONDS = 20
"""Wall seconds of one run of ruff on one file, after which it counts as failed and nothing is proposed. A smaller limit
loses fixes on a busy machine; a larger one lets a ruff that hangs hold the search up for longer."""
_MOST_RULES = 12
"""Rules that get a proposal of their own. Each is a run of ruff and a candidate to evaluate; the fixes of rules beyond
these are only in the proposal of all together."""
_OPTIONS = (
    "check", "--isolated", "--no-cache", "--quiet", "--preview", "--unsafe-fixes", "--ignore-noqa", "--exit-zero",
    "--target-version", "py310", "--stdin-filename", "source.py",
)  # fmt: skip


class RuffFixes:
    """Applies the fixes of ruff's performance rules, as one program that only reads the text."""

    name = "ruff-fix"
    languages: tuple[str, ...] = ("python",)
    label = Label.LIBRARY_CALL
    summary = f"applies the fixes of a linter ({RULES}), by rule and all together"
    needs = "ruff, and lines within reach of the target that break one of its rules"
    unsafe = "fixes that ruff itself calls unsafe: other types than the text suggests, comments that vanish"
    assumes: tuple[str, ...] = ("hashable", "list", "no-string")

    def propose(self, brief: Brief) -> Iterator[Proposal]:
        """Yields one proposal with the fixes of all rules, and one a rule; none where ruff is missing or fails."""
        source = read(brief)
        if source is None:
            return
        rules: dict[str, _RuffDiagnostic] = {}
        for finding in _findings(brief.source):
            if _is_in_reach(source, finding.line):
                rules.setdefault(finding.rule, finding)
        if len(rules) > 1:
            yield from self._fixed(brief.source, ",".join(rules), next(iter(rules.values())))
        for rule in list(rules)[:_MOST_RULES]:
            yield from self._fixed(brief.source, rule, rules[rule])

    def _fixed(self, text: str, rules: str, first: _RuffDiagnostic) -> Iterator[Proposal]:
        new = _ruff(text, rules, "--fix-only")
        if new and new != text:
            why = f"ruff {rules}: {first.message}"
            yield Proposal(new, self.name, self.label, first.line, why)


class _RuffDiagnostic(NamedTuple):
    rule: str
    line: int
    message: str


def _findings(text: str) -> Iterator[_RuffDiagnostic]:
    """Yields what ruff finds in a text and can fix."""
    try:
        records = json.loads(_ruff(text, RULES, "--output-format=json") or "[]")
    except ValueError:
        return
    for each in records:
        if each["fix"] and each["code"]:
            yield _RuffDiagnostic(each["code"], each["location"]["row"], each["message"].splitlines()[0])


@lru_cache(maxsize=64)
def _ruff(text: str, rules: str, mode: str) -> str | None:
    """Returns what ruff prints for a text; None where it is missing, fails or takes too long."""
    try:
        from ruff import find_ruff_bin

        command = [find_ruff_bin(), *_OPTIONS, "--select", rules, mode, "-"]
        done = subprocess.run(command, input=text.encode(), capture_output=True, check=True, timeout=_SECONDS)
        return done.stdout.decode()
    except (ImportError, OSError, subprocess.SubprocessError, ValueError):
        return None


def _is_in_reach(source: PythonSource, line: int) -> bool:
    return any(
        isinstance(scope, cst.Module) or source.line(scope) <= line <= max(map(source.line, source.walk(scope)))
        for scope in source.scopes
    )
