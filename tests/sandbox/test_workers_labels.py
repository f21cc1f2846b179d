"""What a host says of itself: the same as what whet finds when it works there."""

from __future__ import annotations

import json
import platform
import sys

from whet.core.errors import UsageError
from whet.sandbox.backends import open_sandbox
from whet.sandbox.workers import labels
from whet.sandbox.workers.labels import labels_here


def taken() -> str:
    try:
        sandbox = open_sandbox("auto", False)
    except UsageError:
        return labels.NONE
    sandbox.close()
    return sandbox.name


def test_the_labels_of_this_host_are_plain_texts():
    here = labels_here()
    assert json.loads(json.dumps(here)) == here
    assert list(here) == ["arch", "processor", "cores", "gpu", "sandbox", "os", "python"]
    assert here["arch"] == platform.machine()
    assert here["python"] == ".".join(map(str, sys.version_info[:3]))
    assert int(here["cores"]) >= 1


def test_the_sandbox_is_the_one_that_auto_takes():
    assert labels_here()["sandbox"] == taken()


def test_who_changes_them_changes_a_copy():
    labels_here()["arch"] = "vax"
    assert labels_here()["arch"] == platform.machine()


def test_a_processor_without_a_name_is_no_crash(tmp_path):
    assert labels.processor(tmp_path / "missing")
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nmodel name\t: AMD EPYC 9654\nmodel name\t: other\n")
    assert labels.processor(tmp_path / "cpuinfo") == "AMD EPYC 9654"


def test_without_bubblewrap_there_is_no_sandbox(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none")
    assert labels._sandbox() == labels.NONE
