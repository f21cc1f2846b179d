"""What becomes of the engines' answers: a label, a bound, a counterexample that was run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from whet.core.signature import Signature
from whet.evaluators.prove.calling import floating
from whet.evaluators.prove.cases import Case, Cases
from whet.evaluators.prove.proof import Block, Counterexample, Inputs, Proof, ProofAnswer, Replay


def judged(said: Sequence[Mapping[str, Any]], wanted: Cases, signature: Signature, replay: Replay | None) -> Proof:
    """Returns the proof that the engines' answers come to.

    Args:
        said: the lines of their process: how long the candidate is, what was found of each case, why it stopped.
        wanted: the cases that they were asked for.
        signature: the contract.
        replay: runs an input on both sides.
    """
    found = [one for one in said if "case" in one]
    proof = Proof(
        ProofAnswer.INCONCLUSIVE,
        paths=(sum(one["paths"][0] for one in found), sum(one["paths"][1] for one in found)),
        reached=(
            len({at for one in found for at in one["reached"]}),
            next((one["instructions"] for one in said if "instructions" in one), 0),
        ),
        compared=tuple(dict.fromkeys(words for one in found for words in one["compared"])),
        engines=_engines(found),
        assumptions=tuple(_assumptions(signature, wanted, found)),
    )
    if found and found[-1]["wrong"]:
        return _replayed(proof, found[-1]["wrong"], wanted.all[found[-1]["case"]], replay)
    if against := next((one for one in found if one["second"]["agrees"] is False), None):
        told = wanted.all[against["case"]].told
        return replace(
            proof, reason=f"the engines disagree ({told}): angr finds them equivalent; {against['second']['how']}"
        )
    ended = next((one for one in said if "undecided" in one), None)
    if ended is None and len(found) < len(wanted.all):
        ended = {"undecided": "the engines' process ended before it had an answer", "late": True}  # by its limits
    why = ""
    if ended is not None:
        begun = any("instructions" in one for one in said)
        why = f"{wanted.all[len(found)].told}: {ended['undecided']}" if begun else ended["undecided"]
        if not ended.get("late") and not (begun and wanted.all[len(found)].further):
            return replace(proof, reason=why)
    return _proved(proof, wanted, len(found), why)


def _proved(proof: Proof, wanted: Cases, done: int, why: str) -> Proof:
    """Returns what holds after some of the cases; those beyond came too late."""
    if not wanted.bounds:
        return replace(proof, reason=why) if why else _labelled(proof, "proved", "for all inputs of the contract")
    left = wanted.all[done:]
    bounds = {name: _bound(name, high, wanted.all[:done], left) for name, high in wanted.bounds.items()}
    least = {name: min(one.sizes[name] for one in wanted.all) for name in bounds}
    if any(bounds[name] in (None, low) and wanted.bounds[name] > low for name, low in least.items()):
        return replace(proof, reason=why)
    if wanted.whole and not left:
        return _labelled(proof, "proved", "for all inputs and sizes of the contract")
    limits = ", ".join(f"{name}<={high}" for name, high in bounds.items())
    further = [one.told for one in wanted.all[:done] if one.further and one.overlap is None]
    words = f"for all inputs with {limits}" + (f", and with {'; '.join(further)}" if further else "")
    unreached = proof.reached[1] - proof.reached[0]
    if unreached > 0:
        words += f"; {unreached} of the candidate's {proof.reached[1]} instructions run at larger sizes only, or never"
    words += f"; no further: {why}" if why else ""
    return _labelled(proof, f"bounded-proved({limits})", words)


def _bound(name: str, high: int, done: Sequence[Case], left: Sequence[Case]) -> int | None:
    """Returns up to which value of a size all cases are done."""
    missing = min((one.sizes[name] for one in left if not one.further), default=high + 1)
    return max((one.sizes[name] for one in done if not one.further and one.sizes[name] < missing), default=None)


def _labelled(proof: Proof, label: str, words: str) -> Proof:
    return replace(proof, answer=ProofAnswer.PROVED, label=label, reason=f"equivalent {words}")


def _engines(found: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    if not found:
        return ()
    ways = [one["second"]["how"] if one["second"]["agrees"] else "" for one in found]
    if not all(ways):
        return ("angr",)
    return "angr", next((one for one in ways if one != "triton"), "triton")


def _assumptions(signature: Signature, wanted: Cases, found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    buffers = [one for one in signature.arguments if one.buffer]
    if buffers:
        yield "buffers lie at fixed addresses that are aligned as the contract says and no further"
        shared = {one.overlap for one in wanted.all if one.overlap is not None}
        pairs = sorted({f"{one.name} and {one.other}" for one in shared})
        yield (
            f"{'; '.join(pairs)}: apart, at the same address, and one element before and behind" if pairs
            else "buffers lie apart"
        )  # fmt: skip
    if wanted.bounds:
        yield "sizes are fixed, one after another"
    yield "the processor's state at entry is as the ABI has it"
    yield "the models that the engines have of the instructions are right"
    silent = [one["second"]["how"] for one in found if one["second"]["agrees"] is None and not one["wrong"]]
    if silent:
        yield f"one engine alone says so: {silent[0]}"
    if floating(signature.returns or "") or any(one["floats"] for one in found):
        yield "floats are rounded to nearest, subnormal ones are kept, and any NaN is as good as any other"


def _replayed(proof: Proof, wrong: Mapping[str, Any], case: Case, replay: Replay | None) -> Proof:
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in wrong["values"].items()}
    block = wrong["block"] and Block(wrong["block"]["start"], wrong["block"]["end"], tuple(wrong["block"]["lines"]))
    found = Counterexample(Inputs(values, case.overlap), wrong["what"], block)
    confirmed = replay(found.inputs) if replay is not None else None
    proof = replace(proof, engines=("angr",), counterexample=found)
    if confirmed:
        return replace(proof, answer=ProofAnswer.COUNTEREXAMPLE, engines=("angr", "replay"), reason=found.what)
    why = "could not be run" if confirmed is None else "is right on this machine"
    return replace(proof, reason=f"the engine has a counterexample ({found.what}), which {why}: not believed")
