"""The mends of clang-tidy, where it is installed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from functools import lru_cache

from whet.agents.catalogue.base import Label, Proposal
from whet.agents.catalogue.cpp.source import read
from whet.agents.models.base import Brief
from whet.core.errors import SandboxError, UsageError
from whet.core.task import Limits
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.protocol import Incident, Job, Sandbox

CHECKS = (
    "performance-unnecessary-value-param", "performance-for-range-copy", "performance-unnecessary-copy-initialization",
    "performance-inefficient-vector-operation", "performance-inefficient-algorithm", "performance-faster-string-find",
    "performance-move-const-arg", "performance-type-promotion-in-math-fn", "performance-noexcept-move-constructor",
    "performance-trivially-destructible", "modernize-use-emplace", "modernize-pass-by-value", "modernize-make-shared",
    "readability-container-size-empty", "readability-string-compare", "readability-redundant-string-cstr",
)  # fmt: skip
"""Those that mend what they find, and may save time."""
ALL = "all"
LIMITS = Limits(seconds=60.0, processes=16)
LONGEST = 200_000
"""Characters of a file that is looked at."""
SCRIPT = r"""
cd /tmp && cat > given.cpp && mkdir mended || exit 1
mend() {
    cp given.cpp "$2.cpp"
    clang-tidy --quiet --config='{}' --checks="-*,$1" --fix "$2.cpp" -- -std=c++17 > "$2.seen" 2> /dev/null
    cmp -s given.cpp "$2.cpp" && return
    mv "$2.cpp" "mended/$2" && echo "$2"
}
mend "$1" all
test -e mended/all || exit 0
for check in $(echo "$1" | tr , ' '); do
    if grep -q "$check" all.seen; then mend "$check" "$check" & fi
done
wait
"""
"""Prints the names of the checks that changed the file; clang-tidy's own words go nowhere."""


class ClangTidy:
    """Proposes what clang-tidy would mend: one proposal a check, and one with all of them."""

    name = "clang-tidy"
    languages: tuple[str, ...] = ("cpp",)
    label = Label.ALGORITHM
    summary = "takes the mends of clang-tidy's performance checks, and of a few others that may save time"
    needs = "clang-tidy and bubblewrap on this machine, and a file that clang compiles"
    unsafe = "a mend whose check sees one file only: a reference to what another thread or name changes"
    assumes: tuple[str, ...] = ()

    def propose(self, brief: Brief) -> Iterator[Proposal]:
        """Yields one proposal a check, then one with all mends; none where the tool or the sandbox is missing."""
        mended = _mended(brief.source) if read(brief) and len(brief.source) <= LONGEST else {}
        checks = [check for check in CHECKS if check in mended]
        for check in checks:
            text = mended[check]
            yield Proposal(text, self.name, self.label, _first_change(brief.source, text), f"clang-tidy's {check}")
        if len(checks) > 1 and ALL in mended:
            line = _first_change(brief.source, mended[ALL])
            yield Proposal(mended[ALL], self.name, self.label, line, f"clang-tidy's {', '.join(checks)}")


@lru_cache(maxsize=64)
def _mended(source: str) -> dict[str, str]:
    """Returns the file as each check mends it.

    The text is anybody's, and clang opens whatever file it includes: the tool runs in a sandbox, sees what a build
    sees, and nothing of what it prints is passed on.
    """
    if shutil.which("clang-tidy", path="/usr/local/bin:/usr/bin:/bin") is None:
        return {}
    try:
        with closing(open_sandbox("bubblewrap", unsafe=False)) as sandbox:
            return _asked(sandbox, source)
    except (UsageError, SandboxError, Incident):
        return {}


def _asked(sandbox: Sandbox, source: str) -> dict[str, str]:
    with closing(sandbox.open(Job("programs", find_interpreter(), limits=LIMITS))) as session:
        session.ask("prepare", ["/bin/sh", "-c", SCRIPT, "tidy", ",".join(CHECKS)], source.encode(), seconds=10.0)
        session.ask("go", seconds=LIMITS.seconds)
        (_, printed, _), _ = session.ask("output", seconds=10.0)
        names = [name for name in printed.decode("utf-8", "replace").split() if name in (*CHECKS, ALL)]
        return {name: _text(session.ask("read", f"/tmp/mended/{name}", seconds=10.0)[0]) for name in names}


def _text(answer: tuple[object, ...]) -> str:
    _, content = answer
    assert isinstance(content, bytes)
    return content.decode("utf-8", "replace")


def _first_change(before: str, after: str) -> int:
    """Returns the first line that is no longer the same."""
    lines = zip(before.splitlines(), after.splitlines(), strict=False)
    return next((number for number, (old, new) in enumerate(lines, 1) if old != new), 1)
