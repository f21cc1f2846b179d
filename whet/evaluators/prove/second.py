"""A second opinion: Triton, an engine with models of its own, and z3.

On straight-line code it proves the same once more. It follows one path only, so code that branches on its inputs is
run on drawn inputs instead, and what comes of it is compared with what the first engine says of them.
"""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from typing import Any

import claripy
import z3

from whet.core.signature import Role, Signature
from whet.evaluators.prove.calling import CONVENTIONS, bits, floating, places
from whet.evaluators.prove.execution import RETURN, RETURNED, PathExploration, passed
from whet.evaluators.prove.image import Image, Undecided
from whet.evaluators.prove.layout import STACK, Layout
from whet.evaluators.prove.solver import Solver, to_z3

MOST_STEPS = 20_000
"""Instructions of one run in Triton, after which it says nothing: as many as the first engine follows. It ends endless
loops, since these steps look at no deadline; a larger bound allows longer loops and takes longer to give up."""
WORD = 32
"""Bytes of memory that are asked for at once: Triton's values are 64 bytes at most."""
DRAWN = 16
"""Inputs that are drawn where the code branches on them; those that break the contract are left out. More find more
disagreements of the engines, and each costs a run of both sides in Triton."""
SEED = 20
"""Of drawn inputs: they are no secret here, and the same inputs give the same answer again."""


@dataclass(frozen=True, slots=True)
class SecondOpinion:
    """What the second engine says of a proof.

    Attributes:
        agrees: None where it says nothing.
        how: it came to that, in words.
    """

    agrees: bool | None
    how: str


class Refused(Exception):
    """The second engine cannot follow the code; the text says why."""


class Branches(Refused):
    """The code branches on its inputs, or computes addresses from them."""


def second_opinion(
    images: tuple[Image, Image],
    signature: Signature,
    inputs: Layout,
    runs: tuple[PathExploration, PathExploration],
    solver: Solver,
) -> SecondOpinion:
    """Returns what Triton says of two functions that the first engine found equivalent."""
    if any(floating(one.type) for one in signature.arguments) or floating(signature.returns or ""):
        return SecondOpinion(None, "Triton does not compute with floats")
    try:
        engine = _engine()
        try:
            ours, theirs = (_Symbolic(engine, image, signature, inputs).results() for image in images)
        except Branches as why:
            return _concretely(engine, images, signature, inputs, runs, str(why))
        different = z3.Or(*(ours[name] != theirs[name] for name in ours))
        contract = [to_z3(one) for one in inputs.contract]
        if solver.ask_z3([*contract, different], "Triton finds them equivalent") is None:
            return SecondOpinion(True, "triton")
        return SecondOpinion(False, "Triton finds inputs on which they differ")
    except (Refused, Undecided) as why:
        return SecondOpinion(None, str(why))
    except TypeError as error:  # as which Triton raises all errors of its own
        return SecondOpinion(None, f"Triton fails: {error}")


def _concretely(
    engine: Any,
    images: tuple[Image, Image],
    signature: Signature,
    inputs: Layout,
    runs: tuple[PathExploration, PathExploration],
    why: str,
) -> SecondOpinion:
    count = 0
    for values in _drawn(signature, inputs):
        pairs = [(to_z3(symbol), z3.BitVecVal(value, symbol.length)) for symbol, value in values.items()]
        for image, made in zip(images, runs, strict=True):
            got = _Concrete(engine, image, signature, inputs, values).results()
            path = next((one for one in made.paths if z3.is_true(_at(one.condition, pairs))), None)
            if path is None:
                return SecondOpinion(None, f"{why}, and on what nobody passed")
            for name, value in got.items():
                said = _at(path.results[name], pairs)
                if z3.is_bv_value(said) and said.as_long() != value:
                    return SecondOpinion(False, f"Triton gets {value} for {name}, and angr {said}, of drawn inputs")
        count += 1
    if not count:
        return SecondOpinion(None, f"{why}, and no drawn input keeps to the contract")
    return SecondOpinion(True, f"triton at {count} inputs")


def _at(one: Any, pairs: list[tuple[Any, Any]]) -> Any:
    return z3.simplify(z3.substitute(to_z3(one), *pairs))


def _drawn(signature: Signature, inputs: Layout) -> Iterator[Mapping[Any, int]]:
    """Yields values of all symbols that the inputs consist of."""
    rng = random.Random(SEED)
    values = (*inputs.numbers.values(), *inputs.memory.values())
    symbols = {leaf for one in values for leaf in one.leaf_asts() if leaf.op == "BVS"}
    ordered = sorted(symbols, key=lambda one: str(one.args[0]))
    limits = {one.name: one for one in signature.arguments}
    for _ in range(DRAWN):
        drawn = {}
        for symbol in ordered:
            argument = limits[str(symbol.args[0]).partition("[")[0]]
            drawn[symbol] = _number(rng, argument.low, argument.high, symbol.length)
        pairs = [(to_z3(symbol), z3.BitVecVal(value, symbol.length)) for symbol, value in drawn.items()]
        if all(z3.is_true(_at(one, pairs)) for one in inputs.contract):
            yield drawn


def _number(rng: random.Random, low: float | None, high: float | None, width: int) -> int:
    if low is not None or high is not None:
        least = int(low) if low is not None else -(1 << (width - 1))
        most = int(high) if high is not None else (1 << (width - 1)) - 1
        return rng.randint(min(least, most), max(least, most)) % (1 << width)
    edges = (0, 1, (1 << width) - 1, 1 << (width - 1), (1 << (width - 1)) - 1, rng.randrange(256))
    return rng.choice(edges) % (1 << width) if rng.random() < 0.4 else rng.getrandbits(width)


class _Concrete:
    """One call in Triton with numbers for inputs.

    Args:
        engine: Triton's module.
        image: the function.
        signature: its contract.
        inputs: where they lie.
        values: of the symbols that they consist of.
    """

    def __init__(
        self, engine: Any, image: Image, signature: Signature, inputs: Layout, values: Mapping[Any, int]
    ) -> None:
        self.engine, self.image, self.signature, self.inputs = engine, image, signature, inputs
        self.convention = CONVENTIONS[image.isa]
        self.pairs = [(to_z3(symbol), z3.BitVecVal(value, symbol.length)) for symbol, value in values.items()]
        machine = {"x86_64": engine.ARCH.X86_64, "aarch64": engine.ARCH.AARCH64}[image.isa]
        self.context = engine.TritonContext(machine)
        self.context.setMode(engine.MODE.AST_OPTIMIZATIONS, True)
        self._load()

    def results(self) -> dict[str, Any]:
        """Returns what the function returns and writes.

        Raises:
            Refused: Triton cannot follow it.
        """
        self._walk()
        found = {}
        if (kind := self.signature.returns) is not None:
            found[RETURNED] = self._register(self.convention.result, bits(kind))
        for name, buffer in self.inputs.buffers.items():
            if buffer.argument.role is not Role.IN and buffer.bytes:
                found[name] = self._memory(buffer.address, buffer.bytes)
        return found

    def _register(self, name: str, width: int) -> Any:
        return self.context.getConcreteRegisterValue(self._named(name)) % (1 << width)

    def _memory(self, address: int, count: int) -> Any:
        return int.from_bytes(self.context.getConcreteMemoryAreaValue(address, count), "little")

    def _symbolize(self) -> None:
        """Makes inputs symbolic: nothing to do here."""

    def _check(self, instruction: Any) -> None:
        """Refuses what this way of running cannot follow: nothing here."""

    def _named(self, name: str) -> Any:
        return self.context.getRegister(name)

    def _load(self) -> None:
        loaded = self.image.project.loader.memory
        for one in self.image.sections:
            self.context.setConcreteMemoryAreaValue(one.start, loaded.load(one.start, one.end - one.start))
        top = STACK - self.convention.at_entry
        self.context.setConcreteRegisterValue(self._named(self.convention.stack), top)
        if self.convention.link is None:
            self.context.setConcreteMemoryAreaValue(top, RETURN.to_bytes(8, "little"))
            top += 8
        else:
            self.context.setConcreteRegisterValue(self._named(self.convention.link), RETURN)
        for address, value in self.inputs.memory.items():
            self.context.setConcreteMemoryValue(address, _at(value, self.pairs).as_long())
        for argument, place in places(self.signature.arguments, self.convention):
            value = self._argument(argument.name)
            number = _at(value, self.pairs).as_long()
            if isinstance(place, int):
                self.context.setConcreteMemoryAreaValue(top + place, number.to_bytes(8, "little"))
            else:
                self.context.setConcreteRegisterValue(self._named(place), number)
        self._symbolize()

    def _argument(self, name: str) -> Any:
        """Returns what is passed for an argument, in 64 bits."""
        if name in self.inputs.buffers:
            return claripy.BVV(self.inputs.buffers[name].address, 64)
        kind = next(one.type for one in self.signature.arguments if one.name == name)
        value = passed(self.inputs.numbers[name], kind, self.image.isa)
        return value.zero_extend(64 - value.length)

    def _walk(self) -> None:
        address = self.image.start
        for _ in range(MOST_STEPS):
            if address == RETURN:
                return
            if not self.image.executable(address):
                raise Refused("Triton goes on where there is no code")
            found = self.image.instruction(address)
            if found is None:
                raise Refused("Triton comes to bytes that are no instruction")
            instruction = self.engine.Instruction(address, bytes(found.bytes))
            if self.context.processing(instruction) != self.engine.EXCEPTION.NO_FAULT:
                raise Refused(f"Triton does not know {self.image.told(address)}")
            self._check(instruction)
            address = self.context.getConcreteRegisterValue(self._named("rip" if self.image.isa == "x86_64" else "pc"))
        raise Refused(f"Triton took more than {MOST_STEPS} steps")


class _Symbolic(_Concrete):
    """The same call with symbols: its results are terms of z3 over the first engine's symbols."""

    def __init__(self, engine: Any, image: Image, signature: Signature, inputs: Layout) -> None:
        self.meaning: dict[str, Any] = {}
        values = next(iter(_drawn(signature, inputs)), None)
        if values is None:
            raise Refused("no drawn input keeps to the contract")
        super().__init__(engine, image, signature, inputs, values)

    def _symbolize(self) -> None:
        for address, value in self.inputs.memory.items():
            made = self.context.symbolizeMemory(self.engine.MemoryAccess(address, 1))
            self.meaning[made.getName()] = to_z3(value)
        for argument, place in places(self.signature.arguments, self.convention):
            if argument.role is not Role.SCALAR:
                continue
            if isinstance(place, int):
                raise Refused("arguments on the stack are not passed to Triton")
            made = self.context.symbolizeRegister(self._named(place))
            self.meaning[made.getName()] = to_z3(self._argument(argument.name))

    def _check(self, instruction: Any) -> None:
        if instruction.isBranch() and instruction.isSymbolized():
            raise Branches("the code branches on its inputs")
        for access, _ in (*instruction.getLoadAccess(), *instruction.getStoreAccess()):
            address = access.getLeaAst()
            if address is not None and address.isSymbolized():
                raise Branches("the code computes addresses from its inputs")

    def _register(self, name: str, width: int) -> Any:
        context = self.context.getAstContext()
        return self._term(context.extract(width - 1, 0, self.context.getRegisterAst(self._named(name))), width)

    def _memory(self, address: int, count: int) -> Any:
        context = self.context.getAstContext()
        parts = []
        for start in range(0, count, WORD):
            end = min(start + WORD, count)
            found = [self.context.getMemoryAst(self.engine.MemoryAccess(address + i, 1)) for i in range(start, end)]
            whole = found[0] if len(found) == 1 else context.concat(found[::-1])
            parts.append(self._term(whole, 8 * len(found)))
        return parts[0] if len(parts) == 1 else z3.Concat(*reversed(parts))

    def _term(self, node: Any, width: int) -> Any:
        made = self.context.newSymbolicExpression(node)
        text = self.context.liftToSMT(made)
        asked = f"(declare-fun RESULT () (_ BitVec {width}))(assert (= RESULT ref!{made.getId()}))"
        where = z3.main_ctx()
        (equation,) = z3.parse_smt2_string(text + asked, ctx=where)
        pairs = [(z3.BitVec(name, term.size(), where), term) for name, term in self.meaning.items()]
        return z3.substitute(equation.arg(1), *pairs)


def _engine() -> Any:
    """Returns Triton's module by its file: another package of this name, of kernels for GPUs, may stand before it."""
    try:
        files = distribution("triton-library").files or []
    except PackageNotFoundError:
        raise Refused("triton-library is not installed") from None
    file = next((one for one in files if one.name.startswith("triton.") and one.suffix in (".so", ".pyd")), None)
    spec = importlib.util.spec_from_file_location("triton", str(file.locate())) if file is not None else None
    if spec is None or spec.loader is None:
        raise Refused("triton-library has no engine for this Python")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made
