"""torch.compile's versions of a problem: baselines beside the problem as it stands.

A version is the problem's own text with a few lines behind it. To compile takes half a minute, to load what was
compiled some seconds: so each is compiled once, in a sandbox, and its cache lies beside the text from then on. Every
timed process is a fresh one that finds it there.
"""

from __future__ import annotations

import io
import re
import shlex
import tarfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Protocol

from whet.core.candidate import content_id
from whet.core.task import Module, Task
from whet.core.verdict import Reason
from whet.evaluators.artifacts import Artifact, Builder, task_on_gpu
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.source import Input
from whet.evaluators.pairs import Side
from whet.evaluators.timing.statistics import Stage
from whet.sandbox.inside.torch_flags import switches
from whet.sandbox.staging import write_tree
from whet.sandbox.toolchains.steps import LIMITS, run_steps

MODES = ("default", "max-autotune-no-cudagraphs")
"""Of torch.compile. Graphs of CUDA are left out: their outputs are overwritten by the next call."""
STAGES = (Stage(8, 1.0),)
"""When the measurement against such a baseline is looked at: each turn takes as long as three loads of the cache."""
CACHE = "compiled.tar"
PACKED = f"/tmp/{CACHE}"
"""Where the compiler's sandbox leaves the cache."""
RAISED = re.compile(r"^[\w.]+(?:Error|Exception|Unsupported|Failed)\b.*", re.MULTILINE)
"""The line of a traceback that names the exception; torch prints advice below it."""
LARGEST = 256 << 20
"""Bytes of a cache."""
VERSION = """

# Made by whet: the same module by torch.compile.
import os as _os
import tarfile as _tarfile

_CACHE = "/tmp/compiled-{name}"
_os.environ.update(TORCHINDUCTOR_CACHE_DIR=_CACHE, TORCHINDUCTOR_COMPILE_THREADS="1")
_made = _os.path.join(_os.path.dirname(_os.path.abspath(__file__)), "{cache}")
if _os.path.exists(_made) and not _os.path.exists(_CACHE):
    with _tarfile.open(_made) as _files:
        _files.extractall(_CACHE)


import torch._inductor.config

{flags}torch._inductor.config.cpp_cache_precompile_headers = False  # they are larger than all the rest


class ModelNew(Model):
    forward = torch.compile(Model.forward, mode={mode!r}, dynamic=False)

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        # Compiled where a module is made, which no clock sees. A twin of it runs the same code.
        self.to({device!r})
        given = [_on_device(one) for one in get_inputs()]
        if not {backward!r}:
            with torch.no_grad():
                self(*given)
            return
        given = [one.requires_grad_() if _is_float(one) else one for one in given]
        found = self(*given)
        found = found if isinstance(found, (tuple, list)) else (found,)
        sum(one.sum() for one in found if _is_float(one)).backward()
        self.zero_grad(set_to_none=True)


def _is_float(value):
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def _on_device(value):
    return value.to({device!r}) if isinstance(value, torch.Tensor) else value
"""
FILL = """\
import importlib, os, sys, tarfile
sys.path.insert(0, sys.argv[1])
module = importlib.import_module(sys.argv[2])
module.torch.set_num_threads(int(sys.argv[3]))
module.ModelNew(*module.get_init_inputs())
with tarfile.open(sys.argv[4], "w") as files:
    files.add(os.environ["TORCHINDUCTOR_CACHE_DIR"], ".")
"""


class JudgeOne(Protocol):
    """Compares an outcome with what the problem gives on the input."""

    def __call__(self, item: Input, *, actual: bytes) -> Fault | None:
        """Returns None where it is right."""


@dataclass(frozen=True, slots=True)
class Version:
    """A baseline that torch.compile made.

    Attributes:
        modes: that give this code.
        artifact: ready to be started.
    """

    modes: tuple[str, ...]
    artifact: Artifact

    @property
    def name(self) -> str:
        """What results call it."""
        return f"torch.compile ({', '.join(self.modes)})"


@dataclass(frozen=True, slots=True)
class Versions:
    """What torch.compile made of a problem.

    Attributes:
        made: each code once.
        failed: why there is none, by the mode.
    """

    made: tuple[Version, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()

    def without(self, version: Version, why: str) -> Versions:
        """Returns them without one that turned out to be none."""
        left = tuple(one for one in self.made if one is not version)
        return replace(self, made=left, failed=(*self.failed, *((mode, why) for mode in version.modes)))


def can_be_compiled(task: Task) -> bool:
    """Whether a task is a problem in KernelBench's form; functions of robust-kbench are called by a harness."""
    return task.module is not None and not task.module.slot


def compiled(builder: Builder, threads: int, inputs: Sequence[Input], judge: JudgeOne) -> Versions:
    """Compiles a problem in each mode; modes that give the same kernels are one version.

    Args:
        builder: of the problem.
        threads: that timed processes will have: they are part of the code that is made.
        inputs: on which a version must give what the problem does, or it is none.
        judge: compares an outcome with the problem's.
    """
    made: dict[frozenset[str], Version] = {}
    failed: list[tuple[str, str]] = []
    for mode in MODES:
        cache = _compile(builder, mode, threads)
        if isinstance(cache, Fault):
            failed.append((mode, cache.detail))
            continue
        try:
            kernels = _kernels(cache)
        except tarfile.TarError as error:  # the problem's own code ran where it was made
            failed.append((mode, f"its cache cannot be read: {error}"))
            continue
        if kernels in made:
            known = made[kernels]
            made[kernels] = Version((*known.modes, mode), known.artifact)
            continue
        artifact = builder.build(version_text(builder.task, mode))
        assert isinstance(artifact, Artifact), "it was built before"
        write_tree(artifact.tree.parent, artifact.tree.name, {CACHE: cache}, executable=False)
        if wrong := _wrong(artifact, inputs, judge):
            failed.append((mode, wrong.detail))
            continue
        made[kernels] = Version((mode,), artifact)
    return Versions(tuple(made.values()), tuple(failed))


def _wrong(artifact: Artifact, inputs: Sequence[Input], judge: JudgeOne) -> Fault | None:
    with closing(Side(artifact, hash_seed=0, worker=None)) as side:
        for item in inputs:
            answer = side.call(item.payload, LIMITS.seconds)
            fault = answer if isinstance(answer, Fault) else judge(item, actual=answer[0])
            if fault is not None:
                return fault
    return None


def version_text(task: Task, mode: str) -> str:
    """Returns the text of a problem with its compiled version."""
    module = task.module
    assert isinstance(module, Module), "only modules are compiled"
    name = content_id(f"{mode}\n{module.flags}\n{task.source}")[:16]
    return task.source + VERSION.format(
        name=name,
        cache=CACHE,
        mode=mode,
        flags="".join(f"torch.backends.{switch} = True\n" for switch in switches(module.flags)),
        device=module.device,
        backward=module.backward,
    )


def _compile(builder: Builder, mode: str, threads: int) -> bytes | Fault:
    """Returns the cache of the compiler as an archive."""
    task = builder.task
    artifact = builder.build(version_text(task, mode))
    if isinstance(artifact, Fault):
        return artifact
    words = [str(builder.interpreter.executable), "-s", "-B", "-c", FILL]
    module = task.filename.removesuffix(".py")
    step = f"{shlex.join(words)} $TREE {shlex.join([module, str(threads), PACKED])}"
    gpu = task_on_gpu(task)
    done = run_steps(builder.sandbox, builder.interpreter, [step], artifact.tree, (PACKED,), threads, gpu)
    if done.code != 0:
        raised = RAISED.findall(done.said)
        return Fault(Reason.BUILD_ERROR, raised[-1][:300] if raised else done.said[-300:] or f"exit code {done.code}")
    if len(done.files[PACKED]) > LARGEST:
        return Fault(Reason.BUILD_ERROR, f"its cache has more than {LARGEST >> 20} MiB")
    return done.files[PACKED]


def _kernels(cache: bytes) -> frozenset[str]:
    """Returns the names of the kernels in a cache, which the compiler makes from what they hold."""
    with tarfile.open(fileobj=io.BytesIO(cache)) as files:
        return frozenset(name for name in files.getnames() if name.endswith((".so", ".cubin")))
