"""The package of a target in evidence: its files where it is none that is installed, else its name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from whet.core.errors import UsageError
from whet.core.evidence import PackageRecord
from whet.core.task import Package, Task
from whet.evaluators.evidence.bundle import Bundle, safe
from whet.evaluators.package import counted, package_files, site_packages
from whet.sandbox.interpreter import Interpreter

PACKAGE = "package"


def package_record(task: Task) -> PackageRecord | None:
    """Returns what evidence says of the package of a task."""
    found = task.package
    return None if found is None else PackageRecord(found.name, found.installed, found.files, found.bytes, found.sha256)


def package_parts(task: Task) -> dict[str, bytes]:
    """Returns the files of a package that is not installed: path in the bundle -> bytes.

    Raises:
        UsageError: they are not what they were.
    """
    if task.package is None or task.package.installed:
        return {}
    return {f"{PACKAGE}/{path}": data for path, data in package_files(task.package).items()}


def with_package(task: Task, bundle: Bundle, interpreter: Interpreter, folder: Path) -> Task:
    """Returns the task of a bundle with its package.

    Args:
        task: as its texts tell.
        bundle: was found consistent.
        interpreter: of whoever repeats it.
        folder: an empty one, where the files of the package are written.

    Raises:
        UsageError: the package is not installed here, or the files are not those that the evidence names.
    """
    recorded = bundle.record.task.package
    if recorded is None:
        return task
    if not safe(recorded.name) or not task.filename.startswith(f"{recorded.name}/"):
        raise UsageError(f"the evidence names a package {recorded.name!r} in which {task.filename} is not")
    if recorded.installed:
        site = next((site for site in site_packages(interpreter) if (site / recorded.name).is_dir()), None)
        if site is None:
            raise UsageError(
                f"the target is in the package {recorded.name}, which {interpreter.executable} has not; install it "
                "there, or name another interpreter with --python"
            )
        package = counted(Package(site, recorded.name, task.filename, installed=True))
        if package.sha256 != recorded.sha256:
            raise UsageError(
                f"the sources of {site / recorded.name} are not those of the evidence; install the version that it is "
                "about, or name another interpreter with --python"
            )
        return replace(task, package=package)
    names = []
    for name, data in bundle.texts.items():
        if name.startswith(f"{PACKAGE}/"):
            names.append(name.removeprefix(f"{PACKAGE}/"))
            place = folder / names[-1]
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
    package = counted(Package(folder, recorded.name, task.filename, tuple(sorted(names))))
    if package.sha256 != recorded.sha256:
        raise UsageError(f"the files of the package {recorded.name} in the evidence are not those that it names")
    return replace(task, package=package)
