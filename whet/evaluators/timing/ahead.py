"""Draws what the next turn is given while processes of the current one start.

To draw inputs takes as long as some windows. While one is open nothing is drawn, since two processors may share a core.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Steps(Generic[T]):
    """Work that can be left after each step, and be gone on with in another thread."""

    def __init__(self, work: Generator[None, None, T]) -> None:
        self._work = work
        self._found: list[T] = []
        self._done: list[Future[None]] = []

    @contextmanager
    def beside(self) -> Iterator[None]:
        """Goes on while something else is done; at its end, a step that has begun is waited for."""
        enough = threading.Event()
        with ThreadPoolExecutor(1) as pool:
            self._done.append(pool.submit(self._go_on, enough))
            try:
                yield
            finally:
                enough.set()

    def finished(self) -> T:
        """Takes all steps that are left; returns what comes of them, or raises what any step has raised."""
        for done in self._done:
            done.result()
        self._go_on(threading.Event())
        return self._found[0]

    def _go_on(self, enough: threading.Event) -> None:
        while not self._found and not enough.is_set():
            try:
                next(self._work)
            except StopIteration as ended:
                self._found.append(ended.value)


class Ahead(Generic[T]):
    """The work for what comes next."""

    def __init__(self) -> None:
        self._key: Any = None
        self._steps: Steps[T] | None = None

    def begin(self, key: object, work: Generator[None, None, T]) -> None:
        """Lays out work that `beside` takes steps of, in place of any other."""
        self._key, self._steps = key, Steps(work)

    @contextmanager
    def beside(self) -> Iterator[None]:
        """Goes on with the work while something else is done."""
        if self._steps is None:
            yield
            return
        with self._steps.beside():
            yield

    def taken(self, key: object, work: Generator[None, None, T]) -> T:
        """Returns what comes of some work, of which that with the same key may be done in part, or all of it.

        Raises:
            Exception: what any of its steps raised.
        """
        steps, self._steps = self._steps, None
        return (steps if steps is not None and self._key == key else Steps(work)).finished()


def stepwise(pairs: Iterable[tuple[str, T]]) -> Generator[None, None, dict[str, T]]:
    """Makes a dict, a step a pair."""
    found: dict[str, T] = {}
    for name, one in pairs:
        found[name] = one
        yield
    return found
