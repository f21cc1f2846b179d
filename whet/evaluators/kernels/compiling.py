"""Compiles answers for a GPU that need not be here, and reads what the compilers tell of their kernels."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from whet.core.candidate import content_id
from whet.core.plain import to_plain
from whet.core.task import Task
from whet.core.verdict import Reason
from whet.evaluators.finding import Fault, Finding, Passed, Skipped
from whet.evaluators.kernels.answers import AnswerLanguage
from whet.evaluators.outcomes import decode_call
from whet.evaluators.processes import REASON_OF
from whet.evaluators.profilers.occupancy import WARP
from whet.evaluators.profilers.ptxas import complaints, dumped, resources
from whet.evaluators.profilers.sass import mixes
from whet.evaluators.profilers.static_facts import KernelFacts, facts, lines
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Incident, Job, Sandbox
from whet.sandbox.toolchains.cuda import compile_cuda, dump, find_tool, packages, prelude

PROBE_SECONDS = 300.0
"""Seconds to load an answer, and again seconds for its call, in which Triton compiles all that is launched. A smaller
limit fails answers that compile many kernels, a larger one only makes a hanging answer slower to report."""
NO_NVCC = "nvcc is not installed; CUDA answers need it: pip install nvidia-cuda-nvcc, or NVIDIA's toolkit"
NO_TRITON = "triton is not installed in the candidates' python; Triton answers need it: pip install triton"
NO_DUMP = "cuobjdump is not installed (triton brings one): no instruction mix"
COMPLAINTS = 8
"""Errors of a compiler that are shown."""
MOST_WARPS = 32  # of a block: 1024 threads, the most that any device takes


@dataclass(frozen=True, slots=True)
class Compiler:
    """Compiles the answers of one task.

    Attributes:
        sandbox: where.
        interpreter: of the candidates.
        task: whose answers they are.
        arch: to compile for.
    """

    sandbox: Sandbox
    interpreter: Interpreter
    task: Task
    arch: str

    def compile(self, source: str, kind: AnswerLanguage, payload: bytes) -> Finding:
        """Compiles an answer; what it tells of the kernels is in the evidence of a pass.

        Args:
            source: the answer.
            kind: what it is written in.
            payload: an input, of whose types and shapes the kernels are.
        """
        if kind is AnswerLanguage.CUDA_C:
            return self._cuda({"answer": source}, (), bare=True)
        if kind is AnswerLanguage.TRITON and "triton" not in packages(self.interpreter):
            return Skipped(Reason.TOOL_MISSING, NO_TRITON)
        found = self._probe(source, payload)
        if isinstance(found, Fault):
            return found
        if kind is AnswerLanguage.TRITON:
            return self._triton(found)
        sources = {
            str(one["name"]): "\n".join(one["cuda_sources"]) for one in found["extensions"] if one.get("cuda_sources")
        }
        flags = tuple(word for one in found["extensions"] for word in one.get("extra_cuda_cflags", ()))
        if not sources:
            return Fault(Reason.BUILD_ERROR, found["raised"] or "no CUDA source reaches torch's load_inline")
        return self._cuda(sources, flags, bare=False)

    def _probe(self, source: str, payload: bytes) -> dict[str, Any] | Fault:
        """Returns what an answer hands to its compilers; its own word, from a process of its own."""
        task = self.task
        tree = self.sandbox.stage(f"probe-{content_id(source)}", {task.filename: source.encode()})
        session = self.sandbox.open(Job("calls", self.interpreter, tree, task.limits))
        capability = int(self.arch.removeprefix("sm_").rstrip("af"))
        try:
            answer, _ = session.ask("load", "probe", task.filename, task.symbol, capability, seconds=PROBE_SECONDS)
            if answer != ("ok",):
                return Fault(Reason.BUILD_ERROR, f"loading raised {answer[1]}: {answer[2]}")
            (_, outcome, _), _ = session.ask("call", payload, seconds=PROBE_SECONDS)
            came = decode_call(outcome)
            if came.kind != "value":
                return Fault(Reason.BUILD_ERROR, f"it raised {came.value}")
            return _checked(json.loads(came.value))
        except Incident as incident:
            return Fault(REASON_OF[incident.kind], f"while it was compiled: {incident}")
        except (ValueError, TypeError, KeyError, IndexError):
            return Fault(Reason.CHEATING, "the process forged its answer")
        finally:
            session.close()

    def _triton(self, found: dict[str, Any]) -> Finding:
        if not found["kernels"]:
            why = found["raised"] or "forward launches no kernel"
            return Skipped(Reason.NO_DEVICE, why) if found["no_device"] else Fault(Reason.BUILD_ERROR, why)
        kernels: list[KernelFacts] = []
        for one in found["kernels"]:
            launched = {one["name"]: (one["warps"] * WARP, one["shared"])}
            usage, sass = self._dumped(one["cubin"])
            kernels += facts(dumped(usage, self.arch), "cuobjdump", mixes(sass), launched)
        names = ", ".join(dict.fromkeys(one["name"] for one in found["kernels"]))
        return self._passed(f"Triton compiles {names}", kernels)

    def _cuda(self, sources: Mapping[str, str], flags: tuple[str, ...], bare: bool) -> Finding:
        nvcc = find_tool("nvcc", self.interpreter)
        if nvcc is None:
            return Skipped(Reason.TOOL_MISSING, NO_NVCC)
        kernels: list[KernelFacts] = []
        for name, source in sources.items():
            before = "" if bare else prelude(source)
            compiled = compile_cuda(self.sandbox, self.interpreter, nvcc, before + source, self.arch, flags)
            if compiled.cubin is None:
                return Fault(Reason.BUILD_ERROR, _told(name, before, compiled.said))
            _, sass = self._dumped(compiled.cubin)
            kernels += facts(resources(compiled.said), "ptxas", mixes(sass), {})
        return self._passed(f"nvcc compiles {', '.join(one.resources.kernel for one in kernels) or 'it'}", kernels)

    def _dumped(self, cubin: bytes) -> tuple[str, str]:
        tool = find_tool("cuobjdump", self.interpreter)
        return ("", "") if tool is None else dump(self.sandbox, self.interpreter, tool, cubin)

    def _passed(self, what: str, kernels: list[KernelFacts]) -> Passed:
        shown = list(lines(kernels))
        if find_tool("cuobjdump", self.interpreter) is None:
            shown.append(NO_DUMP)
        evidence = {"arch": self.arch, "kernels": [to_plain(one) for one in kernels], "static": shown}
        return Passed(f"{what} for {self.arch}", evidence)


def _told(name: str, before: str, said: str) -> str:
    """Returns the errors of a compiler by line of the text that the author wrote."""
    skipped = before.count("\n")
    found = [one for one in complaints(said) if one.kind != "warning"]
    if not found:
        return said or "nvcc failed"
    rows = [f"{name}: line {max(0, one.line - skipped)}: {one.text}" for one in found[:COMPLAINTS]]
    return "\n".join([*rows, f"and {len(found) - COMPLAINTS} more"] if len(found) > COMPLAINTS else rows)


def _checked(value: Any) -> dict[str, Any]:
    """Returns what a hostile process said, of the form that is expected of it.

    Raises:
        ValueError, TypeError, KeyError: it is not.
    """
    kernels = [
        {
            "name": str(one["name"])[:200],
            "cubin": b64decode(_of(str, one["cubin"]), validate=True),
            "warps": min(max(1, _of(int, one["warps"])), MOST_WARPS),
            "shared": max(0, _of(int, one["shared"])),
        }
        for one in value["kernels"]
    ]
    extensions = [{key: _words(words) for key, words in one.items()} for one in value["extensions"]]
    raised = _of(str, value["raised"])
    return {"kernels": kernels, "extensions": extensions, "raised": raised, "no_device": value["no_device"] is True}


def _words(value: Any) -> Any:
    return _of(str, value) if isinstance(value, str) else [_of(str, one) for one in value]


def _of(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise ValueError(f"no {kind.__name__}")
    return value
