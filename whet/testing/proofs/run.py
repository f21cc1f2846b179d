"""Has the prover look at each pair: ``python -m whet.testing.proofs.run [NAME ...]`` prints a row of each."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from whet.core.verdict import Reason
from whet.evaluators.finding import Skipped
from whet.evaluators.prove.proof import Proof, ProofAnswer
from whet.evaluators.prove.prove import prove
from whet.testing.proofs.corpus import BASELINE, FunctionPair, compiled, missing, mnemonics, pairs
from whet.testing.proofs.replay import replay_of

DECIDED = {True: ProofAnswer.PROVED, False: ProofAnswer.COUNTEREXAMPLE}


@dataclass(frozen=True, slots=True)
class Row:
    """What came of a pair.

    Attributes:
        name: of the pair.
        isa: of both sides.
        equal: whether they are equivalent.
        answer: of the prover; None where it could not be asked.
        engines: that came to it.
        seconds: wall time.
        reason: the answer in words.
    """

    name: str
    isa: str
    equal: bool
    answer: ProofAnswer | None
    engines: tuple[str, ...]
    seconds: float
    reason: str

    @property
    def decided(self) -> bool:
        """Whether the answer says yes or no."""
        return self.answer in (ProofAnswer.PROVED, ProofAnswer.COUNTEREXAMPLE)

    @property
    def wrong(self) -> bool:
        """Whether the answer is the wrong one."""
        return self.decided and self.answer is not DECIDED[self.equal]


def rows(chosen: Sequence[FunctionPair]) -> Iterator[Row]:
    """Yields what comes of each pair, in its turn."""
    for pair in chosen:
        found = proof_of(pair)
        isa = f"{BASELINE}, {pair.isa}"
        if isinstance(found, Skipped):
            yield Row(pair.name, isa, pair.equal, None, (), 0.0, found.detail)
        else:
            yield Row(pair.name, isa, pair.equal, found.answer, found.engines, found.seconds, found.reason)


def proof_of(pair: FunctionPair) -> Proof | Skipped:
    """Returns what the prover says of a pair.

    Raises:
        AssertionError: the candidate lacks instructions that it is about.
    """
    if compiler := next(filter(None, map(missing, (BASELINE, pair.isa))), None):
        return Skipped(Reason.TOOL_MISSING, f"{compiler} is not installed")
    baseline, candidate = compiled(pair.baseline, BASELINE), compiled(pair.candidate, pair.isa)
    lacking = set(pair.holds) - mnemonics(candidate)
    assert not lacking, f"{pair.name} lacks {', '.join(sorted(lacking))}"
    return prove(baseline, candidate, pair.signature, replay_of(baseline, candidate, pair.signature))


def main() -> None:
    """Prints a row of each pair that is named, or of all."""
    named = sys.argv[1:]
    made = []
    for row in rows([pair for pair in pairs() if not named or pair.name in named]):
        made.append(row)
        expected = "equal" if row.equal else "different"
        answer = row.answer or "skipped"
        engines = "+".join(row.engines)
        print(f"{row.name:32} {row.isa:15} {expected:9} {answer:14} {engines:24} {row.seconds:5.1f} s  {row.reason}")
        sys.stdout.flush()
    decided, wrong = sum(row.decided for row in made), sum(row.wrong for row in made)
    print(f"decided {decided} of {len(made)}, wrongly {wrong}")


if __name__ == "__main__":
    main()
