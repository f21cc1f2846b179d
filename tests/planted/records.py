"""Makes the plain part of the planted package: records of a depot, their rules, stores, texts and tests.

Every module comes of its kind's fields and of a generator of random numbers that is seeded by its name: bounds, rules,
groups and widths differ from kind to kind.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from string import Template

from planted.domain import KINDS, fields_of

Field = tuple[str, str, list[str]]
NUMBERS = ("count", "cents", "grams", "day")
TYPES = {"text": "str", "choice": "str", "flag": "bool"} | dict.fromkeys(NUMBERS, "int")
MOST = {"count": 9_999, "cents": 999_999, "grams": 40_000_000, "day": 40_000}

RECORD = '''
    def faults(self):
        """Returns what is wrong with this $kind, a word a fault."""
        found = []
$tests
        return found

    def row(self):
        """Returns this $kind as cells of text."""
        return [
$cells
        ]


def from_row(row):
    """Reads a $kind from cells of text.

    Raises:
        ValueError: a cell is missing, or is no number where one must be.
    """
    if len(row) != $count:
        raise ValueError(f"a $kind has $count cells, not {len(row)}")
$reads
    return $name($fields)


def changes(before, after):
    """Returns which fields of a $kind differ, each with both values."""
    found = {}
$differences
    return found


def corrected($kind):
    """Returns the $kind with a $number within its bounds."""
    return replace($kind, $number=min(max($kind.$number, 0), $most))
'''
RULES = '''
RULES = ($names,)


def findings($kind):
    """Returns the names of the rules that a $kind meets."""
    return [rule.__name__ for rule in RULES if rule($kind)]


def urgency($kind):
    """Returns how soon somebody should look at a $kind."""
    points = $points * len(findings($kind))
$weights
    return points + $more if $kind.$flag else points
'''
UNUSUAL = (
    "    return $it > $high or ($flag and $it < $low)",
    "    if $flag:\n        return $it > $high\n    return $it > $low + $step",
    "    limit = $high if $flag else $low\n    return $it % $step == 0 and $it > limit",
    "    if $low < $it < $low + 3 * $step:\n        return not $flag\n    return $it > $high",
)
STORE = '''
class ${name}Store:
    """Keeps each $kind once."""

    def __init__(self):
        self.records = {}
        self.history = []

    def put(self, record):
        """Keeps a $kind; returns what changed where one was known by its $key."""
        before = self.records.get(record.$key)
        self.records[record.$key] = record
        if before is None:
            return {}
        found = changes(before, record)
        if found:
            self.history.append((record.$key, found))
        return found

    def get(self, $key):
        """Returns the $kind of that $key, or None."""
        return self.records.get($key)
'''
FLAGGED = '''
    def that_$field(self):
        """Returns those of which $field holds."""
        return [each for each in self.records.values() if each.$field]
'''
GROUPED = '''
    def by_$field(self):
        """Groups all by $field."""
        groups = {}
        for each in self.records.values():
            groups.setdefault(each.$field, []).append(each)
        return groups
'''
BETWEEN = '''
    def between_$field(self, first, last):
        """Returns those whose $field lies between two days, in order."""
        found = [each for each in self.records.values() if first <= each.$field <= last]
        return sorted(found, key=lambda each: (each.$field, each.$key))
'''
SUMMED = '''
    def sum_of_$field(self):
        """Returns the $field of all together."""
        return sum(each.$field for each in self.records.values())

    def most_$field(self, count):
        """Returns those with the largest $field."""
        return sorted(self.records.values(), key=lambda each: (-each.$field, each.$key))[:count]
'''
METHODS = {"flag": FLAGGED, "choice": GROUPED, "text": GROUPED, "day": BETWEEN} | dict.fromkeys(NUMBERS[:3], SUMMED)
SHOWN = {
    "cents": '    return f"{$it // 100}.{$it % 100:02d}"',
    "grams": '    if $it >= $step:\n        return f"{$it / 1000:.1f} kg"\n    return f"{$it} g"',
    "day": '    return f"{1970 + $it // 365}/{$it % 365:03d}"',
    "flag": '    return "x" if $it else ""',
    "count": '    return f"{$it:,}"',
    "text": "    return $it.$change()",
    "choice": "    return $it.$change()",
}
LINES = '''
def line($kind):
    """Returns a line for a $kind."""
    cells = [
$cells
    ]
    return " ".join(cells).rstrip()


def page(records):
    """Returns lines under their heading."""
    heading = " ".join(name[:width].ljust(width) for name, width in WIDTHS.items()).rstrip()
    return "\\n".join([heading, *map(line, records)])


def example(number):
    """Returns a $kind that is made up."""
    return $name(
$values
    )
'''
TESTS = """from depot.records import $kind as records
from depot.rules import $kind as rules
from depot.stores import $kind as stores
from depot.texts import $kind as texts


def test_a_${kind}_is_read_back():
    for number in range(5):
        made = texts.example(number)
        assert records.from_row(made.row()) == made
        assert made.faults() == []


def test_a_${kind}_is_kept_once():
    store = stores.${name}Store()
    first, second = texts.example(1), texts.example(2)
    assert [store.put(each) for each in (first, second, first)] == [{}, {}, {}]
    assert store.get("$key 1") == first


def test_a_${kind}_is_told():
    made = texts.example(3)
    assert rules.urgency(made) >= 0
    assert texts.page([made]).count(chr(10)) == 1
    assert records.corrected(made) == made
"""
REHEARSAL = '''"""Records of the depot, kind by kind."""

from importlib import import_module

KINDS = (
$kinds
)


def rehearse(rng, count):
    """Writes and reads some records of each kind; returns how long all their lines are together."""
    length = 0
    for kind in KINDS:
        rooms = ("records", "rules", "stores", "texts")
        records, rules, stores, texts = (import_module(f"depot.{room}.{kind}") for room in rooms)
        store = getattr(stores, f"{kind.capitalize()}Store")()
        for number in rng.sample(range(10 * count), count):
            made = records.from_row(texts.example(number).row())
            store.put(records.corrected(made))
            length += rules.urgency(made) + len(made.faults())
        length += len(texts.page(store.records.values()))
    return length
'''


def modules() -> Iterator[tuple[str, str]]:
    """Yields path and text of each module, the package's own tests among them."""
    for kind in KINDS:
        rng, fields = random.Random(kind), fields_of(kind)
        names = {"kind": kind, "name": kind.capitalize(), "key": fields[0][0]}
        yield f"src/depot/records/{kind}.py", _record(fields, rng, names)
        yield f"src/depot/rules/{kind}.py", _rules(fields, rng, names)
        yield f"src/depot/stores/{kind}.py", _store(fields, names)
        yield f"src/depot/texts/{kind}.py", _texts(fields, rng, names)
        yield f"tests/test_{kind}.py", Template(TESTS).substitute(names)
    yield "src/depot/records/__init__.py", Template(REHEARSAL).substitute(kinds=_rows(f'"{kind}",' for kind in KINDS))
    for room, line in (("rules", "What records must hold."), ("stores", "Records by key."), ("texts", "Plain texts.")):
        yield f"src/depot/{room}/__init__.py", f'"""{line}"""\n'


def _rows(rows: Iterator[str], indent: int = 4) -> str:
    return "\n".join(" " * indent + row.replace("\n", "\n" + " " * indent) for row in rows)


def _record(fields: list[Field], rng: random.Random, names: dict[str, str]) -> str:
    kind, numbers = names["kind"], [field for field, form, _ in fields if form in NUMBERS]
    bounds = {
        f"{field.upper()}_{'WORDS' if words else 'MOST'}": tuple(words) or rng.randrange(MOST[form] // 2, MOST[form])
        for field, form, words in fields
        if words or form in NUMBERS
    }
    number = rng.choice(numbers)
    parts = {
        "tests": _rows((f'if {_wrong(f)}:\n    found.append("{f[0]}")' for f in fields if f[1] != "flag"), 8),
        "cells": _rows((f"{_cell(field)}," for field in fields), 12),
        "reads": _rows(f"{field[0]} = {_read(place, field[1])}" for place, field in enumerate(fields)),
        "differences": _rows(
            f'if before.{f} != after.{f}:\n    found["{f}"] = (before.{f}, after.{f})' for f, _, _ in fields
        ),
        "fields": ", ".join(field for field, _, _ in fields),
        "count": str(len(fields)),
        "number": number,
        "most": f"{number.upper()}_MOST",
    }
    head = f'"""Records of a {kind}: rows of text, and what changes from one version to the next."""\n'
    head += "\nfrom dataclasses import dataclass, replace\n\n"
    head += "".join(f"{name} = {value!r}\n" for name, value in bounds.items())
    head += f'\n\n@dataclass(frozen=True)\nclass {names["name"]}:\n    """One {kind}."""\n\n'
    head += _rows(f"{field}: {TYPES[form]}" for field, form, _ in fields)
    return head + "\n" + Template(RECORD).substitute(names | parts)


def _wrong(field: Field) -> str:
    name, form, _ = field
    if form in NUMBERS:
        return f"not 0 <= self.{name} <= {name.upper()}_MOST"
    return f"self.{name} not in {name.upper()}_WORDS" if form == "choice" else f"not self.{name}.strip()"


def _cell(field: Field) -> str:
    name, form, _ = field
    if form == "flag":
        return f'"yes" if self.{name} else "no"'
    return f"str(self.{name})" if form in NUMBERS else f"self.{name}"


def _read(place: int, form: str) -> str:
    cell = f"row[{place}].strip()"
    if form in NUMBERS:
        return f"int({cell} or 0)"
    return {"choice": f"{cell}.lower()", "flag": f'{cell} in ("yes", "1", "true")'}.get(form, cell)


def _rules(fields: list[Field], rng: random.Random, names: dict[str, str]) -> str:
    kind = names["kind"]
    flag = next(field for field, form, _ in fields if form == "flag")
    text = f'"""Rules for a {kind}: what the office wants to be told of."""\n'
    numbers = [(field, form) for field, form, _ in fields if form in NUMBERS]
    for field, form in numbers:
        low, high = sorted(rng.sample(range(1, MOST[form]), 2))
        parts = {
            "it": f"{kind}.{field}",
            "flag": f"{kind}.{flag}",
            "low": low,
            "high": high,
            "step": rng.randrange(3, 30),
        }
        text += f'\n\ndef unusual_{field}({kind}):\n    """Whether the {field} is unusual."""\n'
        text += Template(rng.choice(UNUSUAL)).substitute(parts) + "\n"
    choices = [(field, words) for field, _, words in fields if words]
    for field, words in choices:
        text += (
            f"\n\nWEIGHT_OF_{field.upper()} = {{\n{_rows(f'{word!r}: {rng.randrange(1, 20)},' for word in words)}\n}}\n"
        )
        text += f'\n\ndef weight_of_{field}({kind}):\n    """Returns how much the {field} counts."""\n'
        text += f"    return WEIGHT_OF_{field.upper()}.get({kind}.{field}, {rng.randrange(3)})\n"
    parts = {
        "names": ", ".join(f"unusual_{field}" for field, _ in numbers),
        "weights": _rows(f"points += weight_of_{field}({kind})" for field, _ in choices),
        "points": rng.randrange(2, 9),
        "more": rng.randrange(1, 5),
        "flag": flag,
    }
    return text + "\n" + Template(RULES).substitute(names | parts)


def _store(fields: list[Field], names: dict[str, str]) -> str:
    head = Template(
        '"""A store of $kind records, by $key."""\n\nfrom depot.records.$kind import changes\n\n'
    ).substitute(names)
    body = "".join(Template(METHODS[form]).substitute(names, field=field) for field, form, _ in fields[1:])
    return head + Template(STORE).substitute(names) + body


def _texts(fields: list[Field], rng: random.Random, names: dict[str, str]) -> str:
    kind, name = names["kind"], names["name"]
    text = f'"""{name} records as lines of a fixed width."""\n\nfrom depot.records.{kind} import {name}\n\n'
    text += f"WIDTHS = {{\n{_rows(f'{field!r}: {rng.randrange(6, 16)},' for field, _, _ in fields)}\n}}\n"
    for field, form, _ in fields:
        parts = {"it": f"{kind}.{field}", "step": rng.choice((1_000, 10_000)), "change": rng.choice(("upper", "title"))}
        text += f'\n\ndef shown_{field}({kind}):\n    """Returns the {field} as it is printed."""\n'
        text += Template(SHOWN[form]).substitute(parts) + "\n"
    cells = (
        f'shown_{field}({kind})[: WIDTHS["{field}"]].{_side(form)}(WIDTHS["{field}"]),' for field, form, _ in fields
    )
    values = (f"{field[0]}={_example(place, field, rng)}," for place, field in enumerate(fields))
    return text + "\n" + Template(LINES).substitute(names, cells=_rows(cells, 8), values=_rows(values, 8))


def _side(form: str) -> str:
    return "rjust" if form in NUMBERS else "ljust"


def _example(place: int, field: Field, rng: random.Random) -> str:
    name, form, words = field
    if form in NUMBERS:
        return f"number * {rng.randrange(3, 99)} % {rng.randrange(100, 2000)}"
    if form == "flag":
        return f"number % {place + 2} == 0"
    return f"{words!r}[number % {len(words)}]" if words else f'f"{name} {{number}}"'
