"""Of an input on which two sides differ, the smallest that there is to find: that is what the Coder is shown."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from whet.core.task import Kind
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.domain import Domain
from whet.evaluators.inputs.plain_data import read, write
from whet.evaluators.inputs.shrink import shrink, smaller_texts, smaller_values
from whet.evaluators.inputs.source import Input, InputSource, derive
from whet.sandbox.inside.codec import CodecError

SMALLEST = "smallest_input"
"""Names the smallest failing input in a fault's evidence: base64 of its payload."""
LARGEST_KEPT = 1 << 14
"""Bytes of such an input."""
SMALL_DRAWS = 3
"""Inputs that are drawn of each smaller size, of eight sizes at most. More find a small failing input more often, and
leave fewer tries to shrink it."""
FEW_EXAMPLES = 4
"""Inputs from which what they have in common is relied on: fewer would take what is alike by chance for a rule (see
`whet.evaluators.inputs.shapes.EXAMPLES_OF_A_RECORD`). A larger number leaves more targets without edited inputs."""

Failing = Callable[[Input], Fault | None]
"""Returns what is wrong with the candidate on an input, in the same way as on the first; None where nothing is."""


def smallest(
    item: Input,
    fault: Fault,
    failing: Failing,
    source: InputSource,
    seed: int,
    examples: Iterable[bytes],
    tries: int,
) -> Fault:
    """Returns what is wrong on the smallest input found.

    Args:
        item: one on which something is wrong.
        fault: what that is.
        failing: asks the same of another input.
        source: draws smaller sizes, and knows what is valid.
        seed: of those draws; no other input of the run comes from it.
        examples: inputs that show what the target is for.
        tries: inputs that are tried at most, half of them drawn.
    """
    drawn = list(_smaller_sizes(item, source, seed))
    for smaller in drawn[: tries // 2]:
        tries -= 1
        if found := failing(smaller):
            item, fault = smaller, found
            break
    reducer = _reduced_text if source.task.kind is Kind.PROGRAM else _reduced_value
    faults = {item.payload: fault}

    def still(payload: bytes) -> bool:
        if not source.valid([payload])[0]:
            return False
        found = failing(replace(item, name=f"{item.name}, made smaller", payload=payload))
        if found is not None:
            faults[payload] = found
        return found is not None

    payload = reducer(item.payload, still, [*examples, *(one.payload for one in drawn)], tries)
    found = faults[payload]
    if len(payload) > LARGEST_KEPT:
        return found
    return replace(found, evidence={**found.evidence, SMALLEST: b64encode(payload).decode("ascii")})


def _smaller_sizes(item: Input, source: InputSource, seed: int) -> Iterator[Input]:
    if item.size is None:
        return
    sizes = {size for size in (*source.sizes, *source.unlisted_sizes(derive(seed, "sizes"))) if size < item.size}
    for size in sorted(sizes)[:8]:
        yield from source.try_draw(size, [derive(seed, "smaller", size, i) for i in range(SMALL_DRAWS)])


def _reduced_value(payload: bytes, still: Callable[[bytes], bool], examples: list[bytes], tries: int) -> bytes:
    domain = Domain()
    try:
        values = [read(example) for example in examples]
        domain.learn(values)
        shape = domain.shape if len(values) >= FEW_EXAMPLES else None
        value = read(payload)
        found = shrink(
            value,
            lambda one: smaller_values(one, shape),
            lambda one: domain.admits(one) and still(write(one)),
            tries,
        )
        return payload if found is value else write(found)
    except (CodecError, RecursionError):  # too deep to be walked through: it is shown as it is
        return payload


def _reduced_text(payload: bytes, still: Callable[[bytes], bool], examples: list[bytes], tries: int) -> bytes:
    try:
        text = payload.decode()
    except UnicodeDecodeError:
        return payload
    return shrink(text, smaller_texts, lambda one: still(one.encode()), tries).encode()
