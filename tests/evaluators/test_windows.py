"""What a window holds besides the calls."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from whet.core.options import Options
from whet.evaluators.artifacts import Artifact
from whet.evaluators.ladder import open_ladder
from whet.evaluators.processes import Pass
from whet.evaluators.targets import read_task
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.decode import decode

COUNTS = """\
import gc

def f(n):
    return gc.get_freeze_count(), len(gc.get_objects()), gc.isenabled()
"""


def test_collections_within_a_window_leave_out_what_was_loaded_before(tmp_path: Path) -> None:
    (tmp_path / "counts.py").write_text(COUNTS)
    (tmp_path / "workload.py").write_text("sizes = [1]\n\ndef make_input(size, rng):\n    return (size,)\n")
    settings = Options(workload=tmp_path / "workload.py")
    with closing(open_ladder(read_task(f"{tmp_path}/counts.py::f", settings), settings, 1)) as ladder:
        artifact = ladder.builder.build(COUNTS)
        assert isinstance(artifact, Artifact)
        process = artifact.start()
        with closing(process):
            measured = process.timed([encode((1,))], 30.0)
    assert isinstance(measured, Pass)
    frozen, looked_at, enabled = decode(measured.outcomes[0])[3]
    assert frozen > 10 * looked_at
    assert not enabled
