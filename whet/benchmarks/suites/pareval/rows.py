"""ParEval's prompts and drivers, as its repository holds them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from whet.benchmarks.suites.base import Problem, Reading
from whet.benchmarks.suites.files import json_of, text_of
from whet.benchmarks.suites.jsonl import RowFault, digest, field, shown
from whet.benchmarks.suites.reading import read_problems
from whet.core.errors import UsageError

PROMPTS = "prompts/generation-prompts.json"
DRIVERS = "drivers/cpp"
SIZES = "drivers/problem-sizes.json"
CONFIGS = "drivers/launch-configs.json"
USUAL_SIZE = "(1<<18)"
"""Of a problem that `SIZES` does not name, as the suite has it."""
SIZE = re.compile(r"\(1<<[0-9]{1,2}\)")
NAME = re.compile(r"[A-Za-z0-9][\w.+-]*")
CORRECT = re.compile(r"^\w[^;=\n]*?\b(correct\w+)\s*\(", re.MULTILINE)
SIGNATURE = re.compile(r"(?P<returns>[\w:<>,\s*&]+?)\s+(?P<name>\w+)\s*\((?P<parameters>.*)\)\s*\{\s*")

MODELS = {
    "serial": ("cpu.cc", "serial-driver.cc", ""),
    "omp": ("cpu.cc", "omp-driver.cc", ""),
    "mpi": ("cpu.cc", "mpi-driver.cc", "mpi"),
    "mpi+omp": ("cpu.cc", "mpi-omp-driver.cc", "mpi"),
    "cuda": ("gpu.cu", "cuda-driver.cu", "cuda"),
    "hip": ("gpu.cu", "hip-driver.cu", "hipcc"),
    "kokkos": ("kokkos.cc", "kokkos-driver.cc", "kokkos"),
}
"""Model of parallelism -> the problem's driver, the model's driver, and what it needs of the machine."""


def read(root: Path) -> Reading:
    """See `whet.benchmarks.suites.base.Suite.read`."""
    prompts = root / PROMPTS
    if not prompts.is_file():
        raise UsageError(f"no {PROMPTS} under {root}; see whet bench fetch-help pareval")
    sizes, configs = _table(root / SIZES), _table(root / CONFIGS)
    return read_problems(prompts, lambda row: _problem(root, row, sizes, configs))


def _table(file: Path) -> dict[str, Any]:
    value = json_of(file)
    if not isinstance(value, dict):
        raise UsageError(f"{file} is no JSON object")
    return value


def _problem(root: Path, row: dict[str, Any], sizes: dict[str, Any], configs: dict[str, Any]) -> Problem:
    kind, name, model, language = (
        field(row, key, str) for key in ("problem_type", "name", "parallelism_model", "language")
    )
    prompt = field(row, "prompt", str)
    if language != "cpp":
        raise RowFault(f"language {shown(language)} is not cpp")
    if model not in MODELS:
        raise RowFault(f"parallelism_model {shown(model)} is none that is known")
    if not (NAME.fullmatch(kind) and NAME.fullmatch(name)):
        raise RowFault(f"{shown(f'{kind}/{name}')} is no name of a folder")
    bench, main, needs = MODELS[model]
    folder = f"{DRIVERS}/benchmarks/{kind}/{name}"
    files = {
        f"bench.{bench.partition('.')[2]}": _text(root, f"{folder}/{bench}"),
        f"main.{main.partition('.')[2]}": _text(root, f"{DRIVERS}/models/{main}"),
        "serial.cc": _text(root, f"{DRIVERS}/models/serial-driver.cc"),
        "cpu.cc": _text(root, f"{folder}/cpu.cc"),
        "utilities.hpp": _text(root, f"{DRIVERS}/utilities.hpp"),
        "baseline.hpp": _text(root, f"{folder}/baseline.hpp"),
    }
    size = _size(sizes, name, model)
    data = {
        "name": name, "problem_type": kind, "model": model, "prompt": prompt, "files": files, "size": size,
        "resources": _resources(configs, model), "reference": reference(prompt, files["baseline.hpp"]),
    }  # fmt: skip
    unchanged = data["reference"] or f"{prompt}\n}}\n"
    return Problem(f"{name}/{model}", name, "cpp", str(unchanged), None, data, digest(data), model, needs)


def _text(root: Path, path: str) -> str:
    file = root / path
    try:
        if not file.resolve(strict=True).is_relative_to(root.resolve()):
            raise RowFault(f"{path} leads out of the given folder")
        return text_of(file)
    except (OSError, UsageError):
        raise RowFault(f"{path} is not there, or is no text") from None


def _size(sizes: dict[str, Any], name: str, model: str) -> str:
    of_problem = sizes.get(name, {})
    size = of_problem.get(model, USUAL_SIZE) if isinstance(of_problem, dict) else None
    if not isinstance(size, str) or not SIZE.fullmatch(size):
        raise RowFault(f"the problem's size is {shown(size)}, and not such as (1<<18)")
    return size


def _resources(configs: dict[str, Any], model: str) -> list[dict[str, int]]:
    """Returns threads and ranks of each run that the suite's launch configuration asks for."""
    config = configs.get(model, {})
    params = config.get("params") if isinstance(config, dict) else None
    if not isinstance(params, list):
        raise RowFault(f"launch-configs.json has no list of runs for {model}")
    runs = [
        {key: one[key] for key in ("num_procs", "num_threads") if key in one} for one in params if isinstance(one, dict)
    ]
    if not runs or any(type(value) is not int or not 0 < value <= 4096 for run in runs for value in run.values()):
        raise RowFault(f"launch-configs.json has runs for {model} without proper counts")
    return runs


def reference(prompt: str, baseline: str) -> str:
    """Returns the text of an answer that calls the suite's own sequential program; empty where none can be written.

    The driver includes an answer before the baseline as often as behind it, so the text declares what it calls.
    """
    head, _, last = prompt.rpartition("\n")
    signature, correct = SIGNATURE.fullmatch(last), CORRECT.search(baseline)
    if signature is None or correct is None or "__global__" in last:
        return ""
    returns, parameters = signature["returns"], signature["parameters"]
    names = [re.split(r"[\s&*]+", one.split("[")[0].strip())[-1] for one in _split(parameters)]
    declared = f"{returns} {correct[1]}({parameters});"
    return f"{head}\n{declared}\n{last}\n    return {correct[1]}({', '.join(names)});\n}}\n"


def _split(parameters: str) -> list[str]:
    """Returns parameters one by one; commas within template arguments part nothing."""
    parts, depth = [""], 0
    for letter in parameters:
        depth += {"<": 1, ">": -1}.get(letter, 0)
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part.strip()]
