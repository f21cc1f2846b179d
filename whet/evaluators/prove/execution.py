"""Runs a function on symbolic inputs, instruction by instruction, along all of its paths."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import angr
import claripy
import pyvex
from angr import sim_options
from angr.concretization_strategies import SimConcretizationStrategySolutions
from angr.errors import AngrError, SimError

from whet.core.signature import Role, Signature
from whet.evaluators.prove.calling import CONVENTIONS, Convention, bits, floating, places
from whet.evaluators.prove.image import Image, OutOfTime, Undecided
from whet.evaluators.prove.instructions import TRAPS, doubtful, on_floats, refused, trap
from whet.evaluators.prove.layout import GAP, STACK, STACK_BYTES, Layout
from whet.evaluators.prove.operations import install

RETURN = 0x7EFF_FFFF_F000
"""Where the function returns to: nothing lies there."""
MOST_STEPS = 20_000
"""Instructions on all paths of one function in one case, beyond which it is undecided: this ends loops without a bound,
unless the deadline comes first. More allow longer loops, and leave less time to the cases that follow."""
MOST_PATHS = 512
"""Paths of one function in one case that return, beyond which it is undecided. More follow more branches, and the
conditions that the solver is given grow with them."""
MOST_ADDRESSES = 512
"""That one access may go to; larger tables than that are not followed."""
ON = ("Ijk_Boring", "Ijk_Call", "Ijk_Ret")
"""How a path goes on from one instruction to the next."""
STARTS_AS = {
    "x86_64": {"d": 1, "cc_op": 0, "cc_dep2": 0, "cc_ndep": 0, "sseround": 0, "fpround": 0, "ftop": 0},
    "aarch64": {"cc_op": 0, "cc_dep2": 0, "cc_ndep": 0, "fpcr": 0},
}
"""State of the processor at entry: no direction flag, the usual rounding, flags of no known origin."""
CONTROL = {
    "x86_64": {
        "d": "the direction flag",
        "sseround": "the rounding mode",
        "fpround": "the x87 rounding mode",
        "ftop": "the x87 stack",
    },
    "aarch64": {"fpcr": "the rounding mode"},
}
"""State of the processor that is at return as it was at entry -> what people call it."""


@dataclass(frozen=True, slots=True)
class Violation:
    """Something that a function may not do.

    Attributes:
        condition: under which it does.
        what: it does, in words.
        address: of the instruction.
    """

    condition: Any
    what: str
    address: int


@dataclass(frozen=True, slots=True)
class Path:
    """One way through a function, from its entry to its return.

    Attributes:
        condition: under which it is taken.
        results: what the caller sees: the returned value, and contents of each buffer that may be written.
        kept: of each register that must be as it was, the value at entry and at return.
        writers: of each of these, and of each element, the instruction that wrote it last.
    """

    condition: Any
    results: dict[str, Any]
    kept: dict[str, tuple[Any, Any]]
    writers: dict[str, int]


@dataclass(slots=True)
class PathExploration:
    """All paths of a function.

    Attributes:
        paths: those that returned.
        faults: what happened that may not.
        reached: addresses of instructions that were run.
        arithmetic: whether it computes with floats.
        stopped: why not all paths were followed; None where all were.
    """

    paths: list[Path] = field(default_factory=list)
    faults: list[Violation] = field(default_factory=list)
    reached: set[int] = field(default_factory=set)
    arithmetic: bool = False
    stopped: Undecided | None = None


RETURNED = "the returned value"
NOWHERE = "goes on where there is no code of its own"


def run(image: Image, signature: Signature, inputs: Layout, deadline: float, query_seconds: float) -> PathExploration:
    """Returns all paths of a function, or those until an instruction was not understood, or time was over.

    Args:
        image: of the function.
        signature: its contract.
        inputs: symbolic ones, the same for both sides.
        deadline: of `time.monotonic`.
        query_seconds: that one question to the solver may take.
    """
    install()
    return _Execution(image, signature, inputs, deadline, query_seconds).run()


class _Execution:
    def __init__(
        self, image: Image, signature: Signature, inputs: Layout, deadline: float, query_seconds: float
    ) -> None:
        self.image, self.signature, self.inputs = image, signature, inputs
        self.deadline, self.query_seconds = deadline, query_seconds
        self.convention: Convention = CONVENTIONS[image.isa]
        self.found = PathExploration()
        self.watched = self._watched()
        self.entry = self._entry()
        self.readable, self.writable = _intervals(self._regions(False)), _intervals(self._regions(True))

    def run(self) -> PathExploration:
        try:
            self._follow()
        except Undecided as why:
            self.found.stopped = why
        except claripy.errors.ClaripySolverInterruptError:
            self.found.stopped = OutOfTime(f"a question to the solver took more than {self.query_seconds:g} s")
        return self.found

    def _follow(self) -> None:
        waiting = [self.entry]
        steps = 0
        while waiting:
            state = waiting.pop()
            steps += 1
            if time.monotonic() > self.deadline:
                raise OutOfTime(f"time was over after {steps} steps and {len(self.found.paths)} paths")
            if steps > MOST_STEPS or len(self.found.paths) > MOST_PATHS:
                raise Undecided(f"it has more than {MOST_PATHS} paths or {MOST_STEPS} steps")
            if state.addr == RETURN:
                self.found.paths.append(self._returned(state))
            else:
                waiting += self._step(state)

    # one step

    def _step(self, state: Any) -> Iterator[Any]:
        address = state.addr
        if not self.image.executable(address):
            if name := self.image.import_at(address):
                raise Undecided(f"it calls {name}, which the object does not hold")
            self._fault(state, claripy.true(), NOWHERE, state.globals["at"])
            return
        instruction = self.image.instruction(address)
        if instruction is None:
            raise Undecided(f"no instruction can be read at {address - self.image.start:+#x}")
        if why := refused(self.image.isa, instruction):
            raise Undecided(f"{self.image.told(address)}: {why}")
        self.found.reached.add(address)
        state.globals["at"] = address
        if instruction.mnemonic in TRAPS:
            self._fault(state, claripy.true(), "traps", address)
            return
        if (condition := trap(state, instruction, self.image.isa)) is not None:
            self._exclude(state, condition, "divides by zero or overflows a quotient", address)
        yield from self._successors(state, address)

    def _successors(self, state: Any, address: int) -> Iterator[Any]:
        try:
            found = self.image.project.factory.successors(state, num_inst=1)
        except claripy.errors.ClaripySolverInterruptError:
            raise
        except angr.errors.SimIRSBNoDecodeError:
            raise Undecided(f"{self.image.told(address)}: the engine cannot decode it") from None
        except (AngrError, SimError, claripy.errors.ClaripyError, pyvex.PyVEXError, NotImplementedError) as error:
            raise Undecided(
                f"{self.image.told(address)}: the engine cannot follow it: {error or type(error)}"
            ) from None
        self._expect_operations(found.artifacts.get("irsb"), address)
        for one in found.unconstrained_successors:
            code = [
                claripy.And(one.ip >= part.start, one.ip < part.end) for part in self.image.sections if part.executable
            ]
            self._exclude(one, claripy.Not(claripy.Or(one.ip == RETURN, *code)), NOWHERE, address)
            if one.solver.satisfiable():
                raise Undecided(f"{self.image.told(address)}: it goes on where the input says")
        for one in found.flat_successors:
            kind = one.history.jumpkind
            if kind.startswith("Ijk_Sig"):
                self._fault(one, claripy.true(), f"raises {kind.removeprefix('Ijk_')}", address)
            elif kind not in ON:
                raise Undecided(f"{self.image.told(address)}: the engine does not follow {kind.removeprefix('Ijk_')}")
            else:
                yield one

    def _expect_operations(self, block: Any, address: int) -> None:
        for operation in block.operations if block is not None else ():
            if doubtful(operation, self.image.isa):
                raise Undecided(f"{self.image.told(address)}: the engine's {operation} is not exact")
            self.found.arithmetic |= on_floats(operation)

    # faults

    def _fault(self, state: Any, condition: Any, what: str, address: int) -> None:
        whole = claripy.And(condition, *state.solver.constraints)
        self.found.faults.append(Violation(whole, what, address))

    def _exclude(self, state: Any, condition: Any, what: str, address: int) -> None:
        """Notes a fault under a condition, and goes on without it."""
        if not condition.is_false() and state.solver.satisfiable(extra_constraints=(condition,)):
            self._fault(state, condition, what, address)
            state.add_constraints(claripy.Not(condition))

    # memory

    def _access(self, state: Any, writing: bool) -> None:
        kind = "write" if writing else "read"
        address = getattr(state.inspect, f"mem_{kind}_address")
        length = getattr(state.inspect, f"mem_{kind}_length")
        given = getattr(state.inspect, f"mem_{kind}_condition")
        address = claripy.BVV(address, 64) if isinstance(address, int) else address
        count = length if isinstance(length, int) else state.solver.eval_one(length)
        within = [
            claripy.And(claripy.UGE(address, start), claripy.ULE(address, end - count))
            for start, end in (self.writable if writing else self.readable)
            if end - start >= count
        ]
        outside = claripy.Not(claripy.Or(claripy.false(), *within))
        if writing:
            below = claripy.And(claripy.ULT(address, state.regs.sp - self.convention.below), self._on_stack(address))
            outside = claripy.Or(outside, below)
        if given is not None:
            outside = claripy.And(outside, given)
        at = state.globals["at"]
        where = self._place(address.concrete_value) if address.concrete else "where the input says"
        self._exclude(state, outside, f"{kind}s {count} bytes {where}, which it may not {kind}", at)
        if writing and address.concrete:
            for i in range(count):
                state.globals["wrote", address.concrete_value + i] = at

    def _place(self, address: int) -> str:
        """Returns an address in words."""
        if abs(address - STACK) <= STACK_BYTES:
            return f"at {address - self._stack_at_entry():+d} from the stack pointer at entry"
        for name, buffer in self.inputs.buffers.items():
            if abs(address - buffer.address) < GAP // 2:
                return f"at {name}{address - buffer.address:+d} bytes, of {buffer.bytes}"
        return "of its object" if self.image.section(address) is not None else "that nobody gave it"

    def _on_stack(self, address: Any) -> Any:
        return claripy.And(claripy.UGE(address, STACK - STACK_BYTES), claripy.ULT(address, STACK))

    def _regions(self, writing: bool) -> Iterator[tuple[int, int]]:
        top = self._stack_at_entry() + (8 if self.convention.link is None else 0)
        yield STACK - STACK_BYTES, self._stack_at_entry()
        on_stack = [place for _, place in places(self.signature.arguments, self.convention) if isinstance(place, int)]
        if not writing:
            yield self._stack_at_entry(), top
            yield from ((one.start, one.end) for one in self.image.sections)
        yield top, top + 8 * len(on_stack)
        for buffer in self.inputs.buffers.values():
            if not writing or buffer.argument.role is not Role.IN:
                yield buffer.address, buffer.address + buffer.bytes

    def _stack_at_entry(self) -> int:
        return STACK - self.convention.at_entry

    # entry and return

    def _entry(self) -> Any:
        state = self.image.project.factory.blank_state(
            addr=self.image.start,
            add_options={sim_options.SYMBOL_FILL_UNCONSTRAINED_MEMORY, sim_options.SYMBOL_FILL_UNCONSTRAINED_REGISTERS},
        )
        state.solver._solver.timeout = int(self.query_seconds * 1000)
        state.memory.read_strategies = [SimConcretizationStrategySolutions(MOST_ADDRESSES)]
        state.memory.write_strategies = [SimConcretizationStrategySolutions(MOST_ADDRESSES)]
        state.globals["at"] = self.image.start
        for name, value in STARTS_AS[self.image.isa].items():
            setattr(state.regs, name, value)
        for name in (*self.convention.kept, *self.convention.kept_low):
            setattr(state.regs, name, claripy.BVS(f"caller's {name}", getattr(state.regs, name).length))
        state.regs.sp = self._stack_at_entry()
        if self.convention.link is None:
            state.memory.store(self._stack_at_entry(), claripy.BVV(RETURN, 64), endness="Iend_LE", inspect=False)
        else:
            setattr(state.regs, self.convention.link, RETURN)
        for address, value in self.inputs.memory.items():
            state.memory.store(address, value, inspect=False)
        self._pass_arguments(state)
        state.add_constraints(*self.inputs.contract)
        for when, writing in (("mem_read", False), ("mem_write", True)):
            state.inspect.b(when, when=angr.BP_BEFORE, action=_watch(self._access, writing))
        state.inspect.b("reg_write", when=angr.BP_BEFORE, action=self._note)
        return state

    def _pass_arguments(self, state: Any) -> None:
        top = self._stack_at_entry() + (8 if self.convention.link is None else 0)
        for argument, place in places(self.signature.arguments, self.convention):
            if argument.buffer:
                value = claripy.BVV(self.inputs.buffers[argument.name].address, 64)
            else:
                value = passed(self.inputs.numbers[argument.name], argument.type, self.image.isa)
            if isinstance(place, int):
                state.memory.store(top + place, widened(value, 64), endness="Iend_LE", inspect=False)
            else:
                setattr(state.regs, place, widened(value, getattr(state.regs, place).length))

    def _returned(self, state: Any) -> Path:
        writers = {name: at for name, at in state.globals.items() if isinstance(name, str)}
        results = {}
        if (kind := self.signature.returns) is not None:
            register = self.convention.vectors[0] if floating(kind) else self.convention.result
            results[RETURNED] = getattr(state.regs, register)[bits(kind) - 1 : 0]
            writers[RETURNED] = writers.get(register, self.image.start)
        for name, buffer in self.inputs.buffers.items():
            if buffer.argument.role is not Role.IN and buffer.bytes:
                results[name] = state.memory.load(buffer.address, buffer.bytes, endness="Iend_LE", inspect=False)
                width = bits(buffer.argument.type) // 8
                for i in range(len(buffer.elements)):
                    writers[f"{name}[{i}]"] = state.globals.get(("wrote", buffer.address + i * width), self.image.start)
        condition = claripy.And(claripy.true(), *state.solver.constraints)
        return Path(condition, results, dict(self._kept(state)), writers)

    def _kept(self, state: Any) -> Iterator[tuple[str, tuple[Any, Any]]]:
        for name in self.convention.kept:
            yield name, (getattr(self.entry.regs, name), getattr(state.regs, name))
        for name in self.convention.kept_low:
            yield name.replace("q", "d"), (getattr(self.entry.regs, name)[63:0], getattr(state.regs, name)[63:0])
        after = self._stack_at_entry() + (8 if self.convention.link is None else 0)
        yield self.convention.stack, (claripy.BVV(after, 64), state.regs.sp)
        for name, words in CONTROL[self.image.isa].items():
            yield words, (getattr(self.entry.regs, name), getattr(state.regs, name))

    def _watched(self) -> dict[int, str]:
        """Returns of which register each byte of the processor's state is, for those that a caller looks at."""
        convention, control = self.convention, CONTROL[self.image.isa]
        kept = (*convention.kept, *convention.kept_low, *control, convention.stack)
        found: dict[int, str] = {}
        for name in (convention.result, convention.vectors[0], *kept):
            start, size = self.image.project.arch.registers[name]
            found |= dict.fromkeys(range(start, start + size), control.get(name, name))
        return found

    def _note(self, state: Any) -> None:
        """Notes which instruction wrote a register last."""
        place = state.inspect.reg_write_offset
        name = self.watched.get(place if isinstance(place, int) else place.concrete_value)
        if name is not None:
            state.globals[name] = state.globals["at"]


def passed(value: Any, kind: str, isa: str) -> Any:
    """Returns a number as its caller passes it: on x86-64 compilers extend narrow ones to 32 bits."""
    if isa == "x86_64" and not floating(kind) and value.length < 32:
        more = 32 - value.length
        return value.zero_extend(more) if kind.startswith("u") else value.sign_extend(more)
    return value


def widened(value: Any, width: int) -> Any:
    """Returns a value in a wider place, with anything in the bits above it."""
    return value if value.length == width else claripy.Concat(claripy.BVS("garbage", width - value.length), value)


def _watch(action: Callable[[Any, bool], None], writing: bool) -> Callable[[Any], None]:
    return lambda state: action(state, writing)


def _intervals(regions: Iterator[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns regions in order, those that touch or overlap made one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(one for one in regions if one[0] < one[1]):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found
