"""Writes a package of 10,000 lines in which slow functions are planted: the same one every time.

``python tests/planted/build.py FOLDER`` writes it; ``python -m depot.nightly`` is its work.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
RUN = "python -m depot.nightly"
TESTS = "python -m pytest -q tests"
SPOTS = {
    "src/depot/manifest.py::distinct_parcels": "list-membership",
    "src/depot/invoices.py::statement_lines": "nested-loop-join",
    "src/depot/packing.py::packings": "cache-recursion",
    "src/depot/tallies.py::frequent_codes": "count-once",
    "src/depot/dispatch.py::dispatch_order": "heap-for-minimum",
    "src/depot/ledger.py::rolling_balances": "prefix-sums",
    "src/depot/labels.py::scan_labels": "compile-pattern",
    "src/depot/yard.py::nearest_docks": "",
    "src/depot/cartons.py::price_list": "",
    "src/depot/checks.py::similarity": "",
}
"""The planted functions, each with the edit of the catalogue that it is planted for, if any."""
LARGEST = {
    "src/depot/manifest.py::distinct_parcels",
    "src/depot/tallies.py::frequent_codes",
    "src/depot/packing.py::packings",
    "src/depot/ledger.py::rolling_balances",
    "src/depot/invoices.py::statement_lines",
}
"""Those that take most of the time."""
PROJECT = """[project]
name = "depot"
version = "1.0"
requires-python = ">=3.10"

[tool.pytest.ini_options]
testpaths = ["tests"]
"""


def build(folder: Path) -> None:
    """Writes the package with its tests into a folder."""
    from planted.records import modules

    files = {"pyproject.toml": PROJECT, "src/depot/__init__.py": '"""The computing of a freight depot."""\n'}
    files |= dict(modules())
    for path in sorted((HERE / "spots").glob("*.py")):
        name = "tests/test_spots.py" if path.name == "suite.py" else f"src/depot/{path.name}"
        files[name] = path.read_text(encoding="utf-8")
    for name, text in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))
    build(Path(sys.argv[1]))
