"""Records the calls of one function in a program that runs as it always does, wherever its file is imported.

The function is found by its file: when that is compiled, one more decorator stands on top of it. Arguments are written
before the call, so what the target changes is recorded as it came. Iterators are not read ahead: the target reads
through a generator that notes what goes by. Of calls within a call only the outermost is recorded.
"""

from __future__ import annotations

import ast
import atexit
import builtins
import copy
import functools
import hashlib
import json
import os
import struct
import sys
import threading
import types
from importlib.machinery import SourceFileLoader

from .codec import LAZY, CodecError, _Writer, encode, type_name

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from collections.abc import Callable, Iterator
    from typing import Any

JOB, PLACE = "WHET_RECORD", "WHET_RECORD_PLACE"
"""Environment variables: the arguments of `install` as JSON, and the folder that its paths are relative to."""
MARK = "__whet_record__"
CALL, NOTES = b"C", b"N"
"""Kinds of records: a call, and what a process has to say at its end (JSON)."""
ALIKE = 400
"""Calls that are kept of those whose arguments have the same types and about the same size."""
LARGEST = 8 << 20
"""Bytes of one call."""
MOST_BYTES = 48 << 20
"""Bytes of all recorded calls of a process. Less leaves out more of the later ones; more can fill ``/work``, where the
project's copy lies too."""
OFTEN = 2000
"""Calls from which on only every tenth is looked at; from ten times as many on, every hundredth."""
MOST_ITEMS = 100_000
"""Items of an iterator that are noted."""
MOST_PENDING = 500
"""Calls at a time whose iterators are still read, each a copy in memory. With fewer, more calls go unrecorded."""
MOST_REASONS = 20
"""Distinct reasons that are counted; calls skipped for a further one are not reported. More make the notes longer."""


class Noted:
    """What a target read of an iterator that it was given."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.fault: CodecError | None = None

    def note(self, item: Any) -> None:
        """Keeps an item as it is now."""
        if len(self.items) >= MOST_ITEMS:
            self.fault = CodecError(f"an iterator of more than {MOST_ITEMS} items cannot be stored as plain data")
        if self.fault is None:
            self.items.append(copy.deepcopy(item))


class CallWriter(_Writer):
    """Writes calls: reads no iterator, and names classes as they are called where the calls are repeated."""

    modules: tuple[str, str, str] = ("", "", "")
    """The target's module: its name here, its name there, and what only here stands before names of its project."""

    def name(self, cls: Any) -> str:
        """Returns a class's or a function's name there.

        Raises:
            CodecError: there it has none.
        """
        module, _, qualname = type_name(cls).partition(":")
        here, there, prefix = self.modules
        if "<locals>" in qualname or (module == "__main__" != here):
            raise CodecError(f"{qualname}, which only the command knows, cannot be stored")
        if module == here:
            return f"{there}:{qualname}"
        return f"{module[len(prefix) :] if prefix and module.startswith(prefix) else module}:{qualname}"

    def items(self, lazy: Any) -> tuple[Any, ...]:
        """Reads no iterator, for its owner will.

        Raises:
            CodecError: always.
        """
        raise CodecError("an iterator within another value cannot be stored without reading it")

    def other(self, cls: Any, value: Any) -> None:
        """See `_Writer.other`."""
        if cls is Noted:
            if value.fault is not None:
                raise value.fault
            self.node(b"o", "lazy", "builtins:generator", tuple(value.items))
        else:
            super().other(cls, value)


class Recorder:
    """Records the calls that one process makes.

    Args:
        out: file that takes the records; several processes append to it.
        symbol: ``function`` or ``Class.method``.
        module: the target's name where its calls are repeated.
    """

    def __init__(self, out: str, symbol: str, module: str) -> None:
        self.out = out
        self.symbol = symbol
        self.module = module
        self.loaded = False
        self.calls = 0
        self.left = MOST_BYTES
        self.skipped: dict[str, int] = {}
        self.alike: dict[Any, int] = {}
        self.known: set[bytes] = set()
        self.pending: dict[int, Any] = {}
        self.within = threading.local()
        self.lock = threading.RLock()

    def decorate(self, raw: Any) -> Any:
        """Returns what stands for the target, or the target itself where that is nothing to call."""
        self.loaded = True
        if isinstance(raw, staticmethod):
            return staticmethod(self.recording(raw.__func__, 0, False))
        if isinstance(raw, classmethod):
            return classmethod(self.recording(raw.__func__, 1, False))
        return self.recording(raw, 0, "." in self.symbol) if callable(raw) else raw

    def recording(self, function: Any, hidden: int, bound: bool) -> Any:
        """Returns a function that calls another, and records that.

        Args:
            function: that other one.
            hidden: positional arguments that come by themselves when the call is repeated: the class.
            bound: whether the first one is the receiver.
        """
        here = getattr(function, "__module__", None) or self.module
        prefix = here[: -len(self.module)] if here.endswith(f".{self.module}") else ""
        CallWriter.modules = (here, self.module, prefix)
        CallWriter.own = here

        def call(*args: Any, **kwargs: Any) -> Any:
            if getattr(self.within, "call", False):
                return function(*args, **kwargs)
            self.within.call = True
            try:
                if self.due():
                    args, kwargs = self.noted(args, kwargs, hidden, bound)
                return function(*args, **kwargs)
            finally:
                self.within.call = False

        functools.update_wrapper(call, function)
        for name in dir(function):  # such as `cache_clear`
            if not hasattr(call, name):
                setattr(call, name, getattr(function, name))
        return call

    def due(self) -> bool:
        """Counts a call, and says whether it is to be looked at."""
        with self.lock:
            self.calls += 1
            step = 1 if self.calls <= OFTEN else 10 if self.calls <= 10 * OFTEN else 100
            return self.left > 0 and self.calls % step == 0

    def noted(self, args: Any, kwargs: Any, hidden: int, bound: bool) -> tuple[Any, Any]:
        """Records a call that is about to be made; returns the arguments to make it with."""
        lazy: list[Noted] = []

        def kept(value: Any) -> Any:
            if type(value) not in LAZY:
                return value
            lazy.append(Noted())
            return lazy[-1]

        try:
            plain, named = tuple(map(kept, args[hidden:])), {name: kept(value) for name, value in kwargs.items()}
            if not lazy:
                self.keep((plain, named), bound)
                return args, kwargs
            if len(self.pending) >= MOST_PENDING:
                return args, kwargs
            # Nothing else may change until all is written; what was noted is filled in meanwhile.
            given = copy.deepcopy((plain, named), {id(one): one for one in lazy})
        except Exception as error:  # an argument may raise whatever is asked of it
            self.skip(error)
            return args, kwargs
        with self.lock:
            self.pending[id(given)] = given
        turn = iter(lazy)
        left = [len(lazy)]

        def passing(value: Any) -> Any:
            return self.watched(value, next(turn), left, id(given), bound) if type(value) in LAZY else value

        passed = tuple(map(passing, args[hidden:]))
        return (*args[:hidden], *passed), {name: passing(value) for name, value in kwargs.items()}

    def watched(self, iterator: Any, noted: Noted, left: list[int], key: int, bound: bool) -> Iterator[Any]:
        """Yields what an iterator does, and notes it; at the end of the last one, the call is written."""
        for item in iterator:
            try:
                noted.note(item)
            except Exception as error:
                noted.fault = CodecError(f"an item of an iterator cannot be copied: {type(error).__name__}")
            yield item
        left[0] -= 1
        if not left[0]:
            self.finish(key, bound)

    def finish(self, key: int, bound: bool) -> None:
        """Writes a call whose iterators are read no further."""
        with self.lock:
            given = self.pending.pop(key, None)
        if given is None:
            return
        try:
            self.keep(given, bound)
        except Exception as error:
            self.skip(error)

    def keep(self, given: tuple[tuple[Any, ...], dict[str, Any]], bound: bool) -> None:
        """Writes a call in the form in which `make_input` gives one, unless it is known or enough are like it."""
        args, kwargs = given
        form: Any = {"args": args, "kwargs": kwargs} if kwargs else args
        if bound:
            form = {"init": args[0], "args": args[1:], "kwargs": kwargs}
        payload = encode(form, CallWriter())
        if len(payload) > LARGEST:
            raise CodecError(f"arguments of more than {LARGEST >> 20} MiB are left out")
        digest = hashlib.sha256(payload).digest()
        kind = len(payload).bit_length(), tuple(map(type, args)), tuple((n, type(v)) for n, v in kwargs.items())
        with self.lock:
            if digest in self.known or self.alike.get(kind, 0) >= ALIKE:
                return
            self.known.add(digest)
            self.alike[kind] = self.alike.get(kind, 0) + 1
            self.left -= len(payload)
            self.write(CALL, payload)

    def skip(self, error: Exception) -> None:
        """Counts a call that cannot be recorded."""
        reason = str(error) if isinstance(error, CodecError) else f"an argument raises {type(error).__name__}"
        with self.lock:
            if reason in self.skipped or len(self.skipped) < MOST_REASONS:
                self.skipped[reason] = self.skipped.get(reason, 0) + 1

    def write(self, kind: bytes, data: bytes) -> None:
        """Appends a record in one piece."""
        file = os.open(self.out, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        try:
            os.write(file, kind + struct.pack("<Q", len(data)) + data)
        finally:
            os.close(file)

    def close(self) -> None:
        """Writes what is left when the process ends: calls whose iterators were not read to their end, and counts."""
        self.within.call = True
        for key in list(self.pending):
            self.finish(key, "." in self.symbol)
        others = [] if self.loaded else elsewhere(self.module)
        notes = {"loaded": self.loaded, "calls": self.calls, "skipped": self.skipped, "others": others}
        self.write(NOTES, json.dumps(notes).encode())


def elsewhere(module: str) -> list[str]:
    """Returns the files of loaded modules that are called like the target's, and are not the target's."""
    found = [value for name, value in list(sys.modules.items()) if name == module or name.endswith(f".{module}")]
    return [str(getattr(value, "__file__", "")) for value in found]


def decorated(text: bytes, path: str, symbol: str) -> Any:
    """Returns the code of a source text in which the target has one more decorator."""
    module = ast.parse(text, path)
    target = definition(module.body, symbol.split("."))
    if target is not None:
        place = target.decorator_list[0] if target.decorator_list else target
        mark = ast.copy_location(ast.Name(MARK, ast.Load()), place)
        target.decorator_list.insert(0, mark)
    return compile(module, path, "exec", dont_inherit=True)


def definition(body: list[Any], parts: list[str]) -> Any:
    """Returns the last definition of ``function`` or ``Class.method`` among some statements, or None."""
    found = None
    for node in body:
        if getattr(node, "name", None) == parts[0]:
            if len(parts) > 1:
                found = definition(getattr(node, "body", []), parts[1:]) or found
            elif isinstance(node, ast.FunctionDef):
                found = node
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for block in ("body", "handlers", "orelse", "finalbody"):
                found = definition(getattr(node, block, []), parts) or found
    return found


def install(paths: list[str], symbol: str, module: str, out: str) -> Callable[[str], Any]:
    """Has this process record from now on.

    Args:
        paths: where the target's file may lie.
        symbol: of the target.
        module: see `Recorder`.
        out: see `Recorder`.

    Returns:
        what compiles the target's file.
    """
    recorder = Recorder(out, symbol, module)
    setattr(builtins, MARK, recorder.decorate)
    native = SourceFileLoader.get_code
    wanted = {os.path.realpath(path) for path in paths}

    def compiled(path: str) -> Any:
        with open(path, "rb") as file:
            return decorated(file.read(), path, symbol)

    def get_code(self: Any, fullname: str) -> types.CodeType | None:
        path = self.get_filename(fullname)
        return compiled(path) if os.path.realpath(path) in wanted else native(self, fullname)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
    sys.setrecursionlimit(2 * sys.getrecursionlimit())  # a recursive target has twice the frames
    atexit.register(recorder.close)
    return compiled


def begin() -> Callable[[str], Any]:
    """Calls `install` as the environment says."""
    place, job = os.environ[PLACE], json.loads(os.environ[JOB])
    paths = [os.path.join(place, path) for path in job["paths"]]
    return install(paths, job["symbol"], job["module"], os.path.join(place, job["out"]))


def main() -> None:
    """Runs the target's own file as a script: its path and its arguments are those of this process."""
    compiled = sys.modules["sitecustomize"].compiled
    sys.argv[:] = sys.argv[1:]
    path = os.path.abspath(sys.argv[0])
    sys.path[0] = os.path.dirname(path)
    namespace = vars(sys.modules["__main__"])
    namespace["__file__"] = path
    exec(compiled(path), namespace)
