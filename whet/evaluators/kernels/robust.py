"""Task folders in robust-kbench's form: a module that calls the function to be made faster, and its settings.

``func_forward.py`` holds ``forward_fn``, a ``Model`` whose ``forward`` takes the function as ``fn``, and
``get_inputs``; ``func_backward.py`` also an ``AutogradFunction`` with a slot ``backward_fn``.
``config_forward.json`` and ``config_backward.json`` list keywords: each combination of constructor, inputs and shared
ones is a setting.
"""

from __future__ import annotations

import ast
import json
from itertools import product
from pathlib import Path
from typing import Any

from whet.core.errors import UsageError
from whet.core.trees import parse_python
from whet.evaluators.kernels.problem import Setting

FILES = {"func_forward.py": "config_forward.json", "func_backward.py": "config_backward.json"}
FORWARD, BACKWARD = FILES
MAKERS = ("get_inputs",)
HARNESS = "whet_harness.py"
"""In a candidate's tree: the problem's module without the function that is judged."""
SLOTS = {FORWARD: "forward_fn", BACKWARD: "backward_fn"}
MOST_SETTINGS = 64
"""Settings of a task file at most; a table that gives more is refused. Each is a size of its own, so that more make
every rung longer; the lists are multiplied, and a short table can ask for thousands."""
KINDS = ("init", "input", "shared")


def is_robust(path: Path) -> bool:
    """Whether a file or a folder is a task in robust-kbench's form."""
    if path.is_dir():
        return (path / FORWARD).is_file()
    return path.name in FILES and (path.parent / FILES[path.name]).is_file()


def settings_of(path: Path) -> list[Setting]:
    """Returns the settings of a task file, from the table beside it.

    Of each kind the ``multi_`` list counts where there is one, else the ``single_`` one. Shared keywords override the
    others, and several of them count only where both other kinds have a ``multi_`` list, as in the suite.

    Raises:
        UsageError: the table is no JSON, has another form, or gives too many settings.
    """
    table = path.with_name(FILES[path.name])
    try:
        found = json.loads(table.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{table} cannot be read: {error}") from None
    if not isinstance(found, dict):
        raise UsageError(f"{table} holds no table of configurations")
    several = all(found.get(f"multi_{kind}_configs") for kind in ("init", "input"))
    lists = [_configs(table, found, kind, kind != "shared" or several) for kind in KINDS]
    combined: list[Setting] = [({**init, **shared}, {**shapes, **shared}) for init, shapes, shared in product(*lists)]
    if len(combined) > MOST_SETTINGS:
        raise UsageError(f"{table} gives {len(combined)} settings, more than {MOST_SETTINGS}")
    return combined


def _configs(table: Path, found: dict[str, Any], kind: str, several: bool) -> list[dict[str, Any]]:
    configs = (several and found.get(f"multi_{kind}_configs")) or found.get(f"single_{kind}_configs") or [{}]
    if not isinstance(configs, list) or not all(isinstance(one, dict) for one in configs):
        raise UsageError(f"{table}: {kind} configurations are no list of tables")
    return configs


def harness_text(source: str) -> str:
    """Returns a problem's text with the body of its ``forward_fn`` taken out: a candidate shall not meet it."""
    module = parse_python(source)
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and node.name == SLOTS[FORWARD]:
            node.body = [parse_python("raise NotImplementedError").body[0]]
    return ast.unparse(module) + "\n"
