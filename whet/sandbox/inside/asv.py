"""Calls the timed benchmarks of an airspeed velocity suite on the code that is there, without checkouts of asv's own.

Every ``time_*`` function and method is called a fixed number of times for each of its parameters, with its ``setup``
before and its ``teardown`` after each: the same work in every run. The format is that of asv's manual.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from collections.abc import Iterator
    from types import ModuleType
    from typing import Any

CONFIG = "asv.conf.json"
CALLS = 3
"""Calls of each benchmark at each of its points. More make a run longer; fewer give imports and setups more weight."""
COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)


def main() -> None:
    """Entry of the process; its working directory is the project's."""
    with open(CONFIG, encoding="utf-8") as file:
        config = json.loads(COMMENT.sub(lambda match: match[1] or "", file.read()))
    folder = config.get("benchmark_dir", "benchmarks")
    sys.path.insert(0, os.path.dirname(os.path.abspath(folder)))
    called = sum(benchmark(owner, name) for module in modules(folder) for owner, name in timed(module))
    print(f"{called} benchmarks called {CALLS} times each")
    if not called:
        sys.exit(f"{folder} holds no time_ benchmark")


def modules(folder: str) -> Iterator[ModuleType]:
    """Yields the modules of a folder and of those below it, as parts of a package of the folder's name."""
    package = os.path.basename(os.path.abspath(folder))
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
        for name in sorted(name for name in files if name.endswith(".py")):
            path = os.path.join(place, name)
            parts = os.path.relpath(path, folder)[:-3].split(os.sep)
            dotted = ".".join([package, *(part for part in parts if part != "__init__")])
            if dotted not in sys.modules:
                spec = importlib.util.spec_from_file_location(
                    dotted, path, submodule_search_locations=[place] if name == "__init__.py" else None
                )
                assert spec is not None, "it is a file"
                assert spec.loader is not None
                sys.modules[dotted] = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(sys.modules[dotted])
            yield sys.modules[dotted]


def timed(module: ModuleType) -> Iterator[tuple[Any, str]]:
    """Yields (owner, name) of what is timed: the module, or a class of it, and a function there."""
    for owner in (module, *(value for value in vars(module).values() if isinstance(value, type))):
        if owner is module or owner.__module__ == module.__name__:
            yield from ((owner, name) for name in dir(owner) if name.startswith("time_"))


def benchmark(owner: Any, name: str) -> bool:
    """Calls one benchmark with all its parameters; returns whether it was called at all."""
    function = getattr(owner, name)
    params = list(getattr(function, "params", getattr(owner, "params", [])))
    axes = params if params and isinstance(params[0], (list, tuple)) else [params] if params else []
    cache = getattr(owner() if isinstance(owner, type) else owner, "setup_cache", None)
    given = () if cache is None else (cache(),)
    return sum(call(owner, name, (*given, *point)) for point in itertools.product(*axes)) > 0


def call(owner: Any, name: str, arguments: tuple[Any, ...]) -> bool:
    """Calls a benchmark at one point; a setup that is not implemented leaves it out, as asv does."""
    holder = owner() if isinstance(owner, type) else owner
    function = getattr(holder, name)
    setup, teardown = (getattr(function, word, None) or getattr(holder, word, None) for word in ("setup", "teardown"))
    try:
        if setup is not None:
            setup(*arguments)
    except NotImplementedError:
        return False
    for _ in range(CALLS):
        function(*arguments)
    if teardown is not None:
        teardown(*arguments)
    return True


if __name__ == "__main__":
    main()
