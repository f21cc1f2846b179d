"""Problems in KernelBench's form for tests, and what opens and judges them."""

from __future__ import annotations

from pathlib import Path

from whet.core.candidate import Candidate, content_id
from whet.core.options import Options
from whet.evaluators.ladder import open_ladder
from whet.evaluators.targets import read_task
from whet.sandbox.inside.module_target import ModuleTarget

IMPORTS = "import torch\nimport torch.nn as nn\n\n\n"
INPUTS = """

N = 16
width = 24


def get_inputs():
    return [torch.randn(N, width), torch.randint(0, width, (N,))]


def get_init_inputs():
    return [width]
"""
MODULE = """\
class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.norm = nn.BatchNorm1d(width)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x, labels):
        self.calls += 1
        y = self.norm(self.linear(x)) + self.calls
        return torch.relu(y), y.gather(1, labels[:, None])
"""
PROBLEM = IMPORTS + MODULE + INPUTS
ANSWER = IMPORTS + MODULE.replace("class Model(", "class ModelNew(")
RIGHT = ANSWER.replace("torch.relu(y)", "y.clamp(min=0)")


def problem(module: str, inputs: str = "torch.randn(16, 32)") -> str:
    """A problem of one input whose ``forward`` is given."""
    head = "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    tail = f"\n\ndef get_inputs():\n    return [{inputs}]\n\n\ndef get_init_inputs():\n    return []\n"
    return IMPORTS + head + module + tail


def forward(*lines: str) -> str:
    return "\n    def forward(self, x):\n" + "".join(f"        {line}\n" for line in lines)


def written(folder: Path, source: str, name: str = "19_Problem.py") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source)
    return path


def opened(target: object, **options: object):
    options = {"until": "prove", "seed": 7, **options}
    settings = Options(**options)
    return open_ladder(read_task(str(target), settings), settings, 7, explain=False)


def target_of(folder: Path, source: str, **words: object) -> ModuleTarget:
    written(folder, source, "answer.py")
    given = {"device": "cpu", "backward": False, "harness": "", "slot": "", "flags": (), **words}
    return ModuleTarget(str(folder), "answer.py", "Model", *given.values())


def failed(ladder, source: str):
    return ladder.check(Candidate(source, content_id(ladder.task.source), "test")).failed
