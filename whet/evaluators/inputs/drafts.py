"""Workload files written from type hints: inputs of any size, which no hypothesis strategy gives.

A draft is the text of a workload file, so that it is run, shown, stored and repeated like one that a user wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whet.core.task import Task
from whet.evaluators.inputs.type_hints import Parameters, hints_of, signature_of

LETTERS = tuple("abcdefgh 0123")
DIGITS = tuple("0123456789")
LONGEST_LITERAL = 20
"""Characters of a string in the target's text that drafted texts are put together from. A text of size n has n pieces,
so longer ones make it larger than its size says; a smaller limit leaves out longer words that the target looks for."""
INDEX = "rng.randrange({size})"
POSITIVE = "rng.randint(1, {size})"
FEW = "rng.randint(1, 9)"
NEARLY = "rng.randint(size - size // 8, size)"


@dataclass(frozen=True, slots=True)
class Flavour:
    """What stands where a hint leaves it open.

    Attributes:
        item: an integer in a container of ``{size}`` items.
        beside: an integer argument beside one that holds many.
        pieces: what texts are put together from.
    """

    item: str = INDEX
    beside: str = FEW
    pieces: tuple[str, ...] = LETTERS


@dataclass(frozen=True, slots=True)
class Draft:
    """How a value is written down.

    Attributes:
        item: its expression within a container, from that of the container's length.
        alone: its expression as an argument, likewise.
        depth: containers within each other that grow; a text alone is one.
        beside: its expression as an argument beside one that grows; empty where that is the same.
        imports: classes of the target that it names.
    """

    item: Callable[[str], str]
    alone: Callable[[str], str]
    depth: int = 0
    beside: str = ""
    imports: frozenset[str] = frozenset()


def drafts(task: Task, literals: Iterable[Any]) -> Iterator[str]:
    """Yields texts of workload files for a function with type hints, without sizes: the likeliest first.

    Args:
        task: its source is read, never run.
        literals: scalars that the target's text holds.

    Raises:
        UnknownTypeError: a parameter has no hint, or one that no input can be made of.
    """
    words = tuple(dict.fromkeys(x for x in literals if type(x) is str and 0 < len(x) <= LONGEST_LITERAL))
    texts: dict[str, None] = {}
    for flavour in (
        Flavour(pieces=LETTERS + words),
        Flavour(beside=NEARLY, pieces=LETTERS + words),
        Flavour(item=POSITIVE, pieces=DIGITS),
    ):
        signature = signature_of(task, _Writer(flavour))
        if signature is not None:
            texts[_file(task, signature.call, signature.init, flavour)] = None
    yield from texts


def _file(task: Task, call: Parameters[Draft], init: Parameters[Draft] | None, flavour: Flavour) -> str:
    groups = [group for group in (init, call) if group is not None]
    every = [draft for group in groups for part in (group.positional, group.named) for draft in part.values()]
    every += [group.rest for group in groups if group.rest is not None]
    grown = any(draft.depth for draft in every)
    body: list[str] = []

    def written(parts: Mapping[str, Draft]) -> list[str]:
        names = []
        for draft in parts.values():
            names.append(f"a{len(body)}")
            length = "size"
            if draft.depth > 1:
                length = f"side{draft.depth}"
                body.append(f"    {length} = round(size ** (1 / {draft.depth}))")
            body.append(f"    {names[-1]} = {(grown and draft.beside) or draft.alone(length)}")
        return names

    def passed(parts: Parameters[Draft]) -> str:
        rest = {} if parts.rest is None else {"rest": parts.rest}
        return _tuple([*written(parts.positional), *(f"*{name}" for name in written(rest))])

    fields = {} if init is None else {"init": passed(init)}
    fields["args"] = passed(call)
    named = written(call.named)
    fields["kwargs"] = f"{{{', '.join(f'{key!r}: {name}' for key, name in zip(call.named, named, strict=True))}}}"
    plain = init is None and not call.named
    result = fields["args"] if plain else f"{{{', '.join(f'{key!r}: {text}' for key, text in fields.items())}}}"
    imports = sorted(frozenset().union(*(draft.imports for draft in every)))
    parts = [
        f"# Written by whet from the type hints of {task.symbol}: {' '.join(hints_of(task).split())}",
        *imports,
        *(["import numpy"] if any("numpy." in line for line in body) else []),
        f"PIECES = {list(flavour.pieces)!r}",
        "",
        "",
        "def make_input(size, rng):",
        *body,
        f"    return {result}",
    ]
    return "\n".join(parts) + "\n"


class _Writer:
    """See `whet.evaluators.inputs.type_hints.Maker`."""

    def __init__(self, flavour: Flavour) -> None:
        self._flavour = flavour

    def scalar(self, name: str) -> Draft:
        if name in ("int", "Any", "object"):
            # Alone it is the size, but not always: else all inputs of a size would be the same one.
            return Draft(lambda n: self._flavour.item.format(size=n), lambda n: NEARLY, beside=self._flavour.beside)
        if name == "str":
            return _text('"".join(rng.choices(PIECES, k={}))')
        if name in ("bytes", "bytearray"):
            return _text("rng.randbytes({})" if name == "bytes" else "bytearray(rng.randbytes({}))")
        fixed = {
            "float": "rng.uniform(0.0, 1000.0)",
            "bool": "rng.random() < 0.5",
            "complex": "complex(rng.uniform(0.0, 9.0), rng.uniform(0.0, 9.0))",
            "None": "None",
        }[name]
        return _same(fixed)

    def among(self, values: Sequence[Any]) -> Draft:
        return _same(f"rng.choice({list(values)!r})")

    def either(self, parts: Sequence[Draft]) -> Draft:
        """Takes what grows: the other parts meet the target as examples of its hints."""
        return max(parts, key=lambda part: (part.depth, part.item("1") != "None"))

    def together(self, parts: Sequence[Draft], cls: str) -> Draft:
        name, imports = _class(cls)
        return _joined(parts, lambda texts: f"{name}({', '.join(texts)})" if name else _tuple(texts), imports)

    def items(self, kind: str, item: Draft) -> Draft:
        ends = {"list": "[{}]", "set": "{{{}}}", "tuple": "tuple({})", "frozenset": "frozenset({})"}[kind]
        return _many(lambda n: ends.format(f"{item.item(n)} for _ in range({n})"), item)

    def mapping(self, key: Draft, value: Draft) -> Draft:
        number = "randrange" in key.item("1") or "randint" in key.item("1")

        # All numbers, so that what a value refers to is a key too.
        def made(n: str) -> str:
            name = "key" if number else key.item(n)
            return f"{{{name}: {value.item(n)} for key in range({n})}}"

        return _many(made, value, key.imports)

    def array(self, dtype: str) -> Draft:
        made = "numpy.array([rng.randrange(100) for _ in range({})], dtype=" + repr(dtype) + ")"
        return _many(made.format, _same(""))

    def member(self, cls: str, names: Sequence[str]) -> Draft:
        name, imports = _class(cls)
        listed = ", ".join(f"{name}.{member}" for member in names)
        return _same(f"rng.choice([{listed}])", imports)

    def instance(self, cls: str, fields: Mapping[str, Draft]) -> Draft:
        name, imports = _class(cls)

        def made(texts: list[str]) -> str:
            return f"{name}({', '.join(f'{key}={text}' for key, text in zip(fields, texts, strict=True))})"

        return _joined(list(fields.values()), made, imports)


def _same(text: str, imports: frozenset[str] = frozenset()) -> Draft:
    return Draft(lambda n: text, lambda n: text, imports=imports)


def _text(form: str) -> Draft:
    return Draft(lambda n: form.format("rng.randint(1, 8)"), form.format, 1)


def _many(made: Callable[[str], str], item: Draft, imports: frozenset[str] = frozenset()) -> Draft:
    # A text in a container is a word: what grows is how many there are.
    inner = item.depth if item.item("size") == item.alone("size") else 0
    return Draft(made, made, inner + 1, imports=item.imports | imports)


def _joined(parts: Sequence[Draft], made: Callable[[list[str]], str], imports: frozenset[str]) -> Draft:
    return Draft(
        lambda n: made([part.item(n) for part in parts]),
        lambda n: made([part.alone(n) for part in parts]),
        max((part.depth for part in parts), default=0),
        imports=imports.union(*(part.imports for part in parts)),
    )


def _tuple(texts: Sequence[str]) -> str:
    return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"


def _class(cls: str) -> tuple[str, frozenset[str]]:
    """Returns how a class of the target is named in the file, and the line that brings it in."""
    if not cls:
        return "", frozenset()
    module, _, name = cls.partition(":")
    return name, frozenset({f"from {module} import {name}"})
