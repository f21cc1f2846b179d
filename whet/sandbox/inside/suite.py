"""Runs a target's own tests, and says which of them passed in a way that no print can forge.

The tests and the target share this process, so what runs here can be hijacked from within; what is said of it is
weighed against what the same tests said of the baseline. The key of the report comes over stdin, which is closed
before anything else is imported, and stands in no file, argument or variable of the environment.
"""

from __future__ import annotations

import ctypes
import hashlib
import hmac
import importlib
import json
import os
import sys
import traceback

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any

PR_SET_DUMPABLE = 4
MARK = "whet-tests"
GUARDED = ("pytest", "_pytest", "pluggy", "unittest", "builtins", "runpy")
"""Packages of which tests have no reason to leave a function changed."""
DEEPEST = 16
"""Functions, each wrapped in the one before, that a digest covers. The bound ends a chain that leads back to itself;
with fewer, code further in could change unseen."""


class Record:
    """What the tests did."""

    def __init__(self) -> None:
        self.passed: list[str] = []
        self.failed: list[str] = []
        self.codes: dict[str, str] = {}
        self.plugins: list[str] = []
        self.ended = ""

    def outcomes(self) -> dict[str, str]:
        """Returns the tests that passed, each with a digest of the code that ran."""
        failed = set(self.failed)
        return {name: self.codes.get(name, "") for name in self.passed if name not in failed}


def digest(test: Any) -> str:
    """Returns a digest of a test function's code, and of what it wraps."""
    found = hashlib.sha256()
    for _ in range(DEEPEST):
        code = getattr(getattr(test, "__func__", test), "__code__", None)
        if code is not None:
            feed(found, code)
        test = getattr(test, "__wrapped__", None)
        if test is None:
            break
    return found.hexdigest()[:16]


def feed(found: Any, code: CodeType) -> None:
    """Adds a code object to a digest: instructions, names and constants."""
    found.update(code.co_code)
    found.update(repr((code.co_names, code.co_varnames, code.co_freevars)).encode())
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            feed(found, constant)
        else:
            found.update(repr(constant).encode("utf-8", "replace"))


def snapshot() -> dict[str, dict[str, tuple[Any, Any]]]:
    """Returns the guarded modules and classes, each with its functions, methods and properties."""
    found: dict[str, dict[str, tuple[Any, Any]]] = {}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in GUARDED:
            continue
        found[name] = members(module)
        for key, value in list(vars(module).items()):
            if isinstance(value, type) and value.__module__.partition(".")[0] in GUARDED:
                found[f"{name}.{key}"] = members(value)
    return found


def members(owner: Any) -> dict[str, tuple[Any, Any]]:
    """Returns what can be called or computed of a module or class: each value with its code.

    Both stay alive, so that no other object takes their identity.
    """
    found = {}
    for name, value in list(vars(owner).items()):
        if callable(value) or hasattr(type(value), "__get__"):
            function = getattr(value, "__func__", getattr(value, "fget", value))
            found[name] = value, getattr(function, "__code__", None)
    return found


def altered(before: dict[str, dict[str, tuple[Any, Any]]]) -> list[str]:
    """Returns the names of what is no longer what it was, or was not there."""
    found = []
    after = snapshot()
    gone = (None, None)
    for owner, old in before.items():
        new = after.get(owner, {})
        for name in sorted({*old, *new}):
            (value, code), (value_now, code_now) = old.get(name, gone), new.get(name, gone)
            if value is not value_now or code is not code_now:
                found.append(f"{owner}.{name}")
    return found


def run_pytest(args: list[str], record: Record) -> int:
    """Runs pytest with a plugin of ours beside the project's own configuration."""
    # Not whet's own, but the one of the project's interpreter.
    pytest: Any = importlib.import_module("pytest")

    class Recorder:
        def pytest_runtest_call(self, item: Any) -> None:
            record.codes[item.nodeid] = digest(getattr(item, "obj", None))

        def pytest_runtest_logreport(self, report: Any) -> None:
            if report.outcome == "failed":
                record.failed.append(report.nodeid)
            elif report.when == "call" and report.outcome == "passed":
                record.passed.append(report.nodeid)

        def pytest_sessionfinish(self, session: Any) -> None:
            plugins = session.config.pluginmanager.get_plugins()
            record.plugins = sorted({getattr(plugin, "__name__", type(plugin).__qualname__) for plugin in plugins})

    return int(pytest.main([*args, "-p", "no:cacheprovider"], plugins=[Recorder()]))


def run_unittest(args: list[str], record: Record) -> int:
    """Runs ``python -m unittest``."""
    import unittest

    class RecordedResult(unittest.TextTestResult):
        def startTest(self, test: Any) -> None:
            record.codes[test.id()] = digest(getattr(test, getattr(test, "_testMethodName", ""), None))
            super().startTest(test)

        def addSuccess(self, test: Any) -> None:
            record.passed.append(test.id())
            super().addSuccess(test)

        def addFailure(self, test: Any, err: Any) -> None:
            record.failed.append(test.id())
            super().addFailure(test, err)

        def addError(self, test: Any, err: Any) -> None:
            record.failed.append(test.id())
            super().addError(test, err)

    class Runner(unittest.TextTestRunner):
        resultclass: Any = RecordedResult

    program = unittest.TestProgram(module=None, argv=["python -m unittest", *args], testRunner=Runner, exit=False)
    return 0 if program.result.wasSuccessful() else 1


def run_script(args: list[str], record: Record) -> int:
    """Runs a script of tests; what ended it is told by the file of the innermost frame."""
    import runpy

    sys.argv[:] = args
    sys.path[0] = os.path.dirname(os.path.abspath(args[0]))
    return ending(lambda: runpy.run_path(args[0], run_name="__main__"), record)


def run_module(args: list[str], record: Record) -> int:
    """Runs ``python -m MODULE``."""
    import runpy

    sys.argv[:] = args
    return ending(lambda: runpy.run_module(args[0], run_name="__main__", alter_sys=True), record)


def ending(run: Callable[[], object], record: Record) -> int:
    """Runs something to its end, whatever that is, and returns its exit code."""
    try:
        run()
    except SystemExit as exited:
        frames = traceback.extract_tb(exited.__traceback__)
        record.ended = os.path.relpath(frames[-1].filename) if frames else ""
        if exited.code is None or isinstance(exited.code, int):
            return exited.code or 0
        print(exited.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


RUNNERS = {"pytest": run_pytest, "unittest": run_unittest, "script": run_script, "module": run_module}
PREPARED = {
    "pytest": ("pytest",),
    "unittest": ("unittest", "unittest.mock"),
    "script": ("unittest",),
    "module": ("unittest",),
}


def main() -> None:
    """Entry of the process; stdin holds one JSON object: kind, args, environment and the key."""
    job = json.loads(sys.stdin.buffer.read())
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    out = os.dup(1)
    # Programs that the tests start have the same user; they must not look into this process for the key.
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    os.environ.update(job["environment"])
    sys.path[0] = os.getcwd()
    sign = hmac.new(bytes.fromhex(job.pop("key")), digestmod="sha256")
    dumps, write, leave = json.dumps, os.write, os._exit
    for name in PREPARED[job["kind"]]:
        importlib.import_module(name)
    record, before = Record(), snapshot()
    code = RUNNERS[job["kind"]](job["args"], record)
    sys.stdout.flush()
    sys.stderr.flush()
    body = dumps(
        {
            "code": code,
            "passed": record.outcomes(),
            "failed": sorted({*record.failed}),
            "plugins": record.plugins,
            "ended": record.ended,
            "altered": altered(before),
        }
    ).encode()
    sign.update(body)
    report = b"\n" + b" ".join((MARK.encode(), sign.hexdigest().encode(), body)) + b"\n"
    while report:
        report = report[write(out, report) :]
    leave(0)


if __name__ == "__main__":
    main()
