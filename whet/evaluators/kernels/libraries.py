"""Python answers that ask for libraries in C++ or CUDA: compiled while the answer is built, and laid beside it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from whet.core.task import Limits
from whet.core.verdict import Reason
from whet.evaluators.finding import Fault
from whet.sandbox.inside.whet_native import FOLDER, name_of
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Incident, Job, Sandbox
from whet.sandbox.staging import write_tree
from whet.sandbox.toolchains.native import Diagnostics
from whet.sandbox.toolchains.shared_object import LibraryRequest, compile_library

WORDS = ("load_inline", "whet_native")
"""One of these stands in every text that asks for a library."""
MOST = 16
"""Libraries of one answer."""
KEPT = 256
"""Compiled libraries, or their compilers' errors, that are kept in memory; the oldest goes first. More take memory,
fewer are compiled again when an answer returns to the same C++."""
START_SECONDS = 60.0
"""Seconds to load an answer, the import of torch included, until it asks for a library. After that it counts as one
that asks for none, so that a smaller limit misses libraries on a busy machine; a larger one waits longer for a hang."""


class Answers:
    """Completes the trees of one task's answers.

    Its libraries are content-addressed: an answer that changed in its Python alone compiles nothing.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        interpreter: Interpreter,
        preload: tuple[str, ...],
        limits: Limits,
        target: Callable[[], tuple[Any, ...]],
        gpu: bool = False,
    ) -> None:
        """Starts nothing yet.

        Args:
            sandbox: where answers are loaded, and their libraries compiled.
            interpreter: that runs them.
            preload: modules that warm workers have imported.
            limits: of an answer's process.
            target: returns what is loaded from a tree.
            gpu: whether they run on a GPU, and so may ask for it while they are loaded.
        """
        self._sandbox = sandbox
        self._interpreter = interpreter
        self._job = Job("calls", interpreter, limits=limits, preload=preload, gpu=gpu)
        self._target = target
        self._libraries: dict[str, bytes | Diagnostics] = {}
        self._lock = threading.Lock()

    def complete(self, tree: Path, source: str) -> Fault | None:
        """Lays the libraries that an answer asks for into its tree, or says why it cannot be built.

        Raises:
            UsageError: the compiler is not installed.
        """
        if not any(word in source for word in WORDS):
            return None
        laid: set[str] = set()
        while True:
            asked = self._asked(tree)
            if not isinstance(asked, str):
                return asked
            name = name_of(asked)
            library = self._library(name, asked)
            if isinstance(library, Diagnostics):
                return Fault(Reason.BUILD_ERROR, library.text)
            if name in laid or len(laid) == MOST:
                return Fault(Reason.BUILD_ERROR, f"it asks for more than {MOST} libraries, or for the same again")
            laid.add(name)
            write_tree(tree.parent, tree.name, {f"{FOLDER}/{name}.so": library}, executable=True)

    def _library(self, name: str, asked: str) -> bytes | Diagnostics:
        with self._lock:
            found = self._libraries.get(name)
        if found is None:
            found = compile_library(self._sandbox, self._interpreter, LibraryRequest.read(asked))
            with self._lock:
                self._libraries[name] = found
                while len(self._libraries) > KEPT:
                    del self._libraries[next(iter(self._libraries))]
        return found

    def _asked(self, tree: Path) -> str | Fault | None:
        """Returns the first library that a text asks for in vain; what else its loading comes to is told later."""
        session = self._sandbox.open(replace(self._job, tree=tree))
        try:
            answer, _ = session.ask("load", *self._target(), seconds=START_SECONDS)
        except Incident:
            return None
        finally:
            session.close()
        if len(answer) != 2 or answer[0] != "build":
            return None
        try:
            LibraryRequest.read(str(answer[1]))
        except (ValueError, RecursionError) as error:
            return Fault(Reason.CHEATING, f"it asked for a library in a form of its own: {error}")
        return str(answer[1])
