"""Recorded cases with their values in other places: fresh inputs where no generator says what a program reads.

Values change places with others of the same column or list and none is added or lost, so that counts, ranges and each
case's values stay. What all cases have in common stays too; see `whet.evaluators.inputs.case_layout`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import lru_cache

from whet.evaluators.inputs.case_layout import HEAD, Layout, Rows, counts, kind_of, layout_of, parts_of, tokens_of
from whet.evaluators.inputs.edges import Edge

PASSES = 24
"""How often each case is rearranged at most."""
TRIES = 6
"""Attempts at a case until one keeps what all cases have in common: the first third shuffle whole columns or lists, the
others move a few values. Fewer give no input of strict cases; more take time on cases that give none."""
MOST_SWAPS = 4
"""Pairs of values that change places in such an attempt at most. More break what cases have in common more often; fewer
give inputs that are nearer to the recorded ones."""
LARGEST = 1 << 20
"""Bytes of a case; to look through a larger one takes seconds."""

Position = tuple[int, int]
"""A line and a token in it; in a grid, a character."""
Pool = list[Position]
"""Positions whose tokens may change places with each other."""


def rearranged(cases: Sequence[bytes], seed: int) -> Iterator[Edge]:
    """Yields recorded cases rearranged: each once, then again.

    Args:
        cases: what the program reads.
        seed: nobody who lacks it can foresee what comes.
    """
    texts = _texts(tuple(cases))
    layout = _layout(texts)
    rng = random.Random(seed)
    if layout is None:
        return
    for _ in range(PASSES):
        for base in rng.sample(range(len(texts)), len(texts)):
            text = rearrange(texts[base], layout, random.Random(rng.getrandbits(64)))
            if text is not None:
                yield Edge(text.encode(), "values in other places", base, ("rearranged", ()), True)


def rearrange(text: str, layout: Layout, rng: random.Random) -> str | None:
    """Returns a case with some of its values in other places; None where none was found that fits the rest."""
    parts = parts_of(text)
    rows = tokens_of(parts)
    pools = _cells(rows, layout) if layout.grid else _pools(rows, layout)
    if not pools:
        return None
    for number in range(TRIES):
        changed = [row[:] for row in rows]
        for pool in rng.sample(pools, min(len(pools), 1 + rng.randrange(3))):
            _swap(changed, pool, layout.grid, rng, every=number < TRIES // 3)
        if changed != rows and layout.common <= layout.facts(changed):
            return _joined(parts, changed)
    return None


@lru_cache(maxsize=2)
def _texts(cases: tuple[bytes, ...]) -> tuple[str, ...]:
    texts = []
    for case in cases:
        try:
            texts.append(case.decode() if len(case) <= LARGEST else "")
        except UnicodeDecodeError:
            continue
    return tuple(text for text in texts if text)


@lru_cache(maxsize=2)  # the same for all candidates of a task
def _layout(texts: tuple[str, ...]) -> Layout | None:
    return layout_of([tokens_of(parts_of(text)) for text in texts])


def _pools(rows: Rows, layout: Layout) -> list[Pool]:
    """Returns the columns of lines with as many tokens, and lines that are lists, each kind of token apart."""
    pools: dict[tuple[object, ...], Pool] = {}
    table = frozenset(layout.table(rows))
    for i, row in enumerate(rows):
        listed = layout.role(i) in layout.lists
        if (i not in table and not listed) or (i == 0 and layout.heads(rows)):
            continue
        if not all(map(kind_of, row)):  # quotes, brackets and the like: more than tokens
            continue
        for j, token in enumerate(row):
            if j < 3 and counts(rows, i, j):
                continue
            if i in table and layout.role(i) == HEAD:
                pools.setdefault(("column", len(row), j, kind_of(token)), []).append((i, j))
            if listed:
                pools.setdefault(("line", i, kind_of(token)), []).append((i, j))
    return [pool for pool in pools.values() if len({rows[i][j] for i, j in pool}) > 1]


def _cells(rows: Rows, layout: Layout) -> list[Pool]:
    """Returns the characters of a grid, as one pool."""
    pool = [(i, j) for i in layout.table(rows) for j in range(len(rows[i][0]))]
    return [pool] if len({rows[i][0][j] for i, j in pool}) > 1 else []


def _swap(rows: Rows, pool: Pool, grid: bool, rng: random.Random, every: bool) -> None:
    places = pool if every else rng.sample(pool, min(len(pool), 2 * rng.randrange(1, MOST_SWAPS + 1)))
    lines = {i: list(rows[i][0]) if grid else rows[i] for i, _ in places}
    values = [lines[i][j] for i, j in places]
    rng.shuffle(values)
    for (i, j), value in zip(places, values, strict=True):
        lines[i][j] = value
    if grid:
        for i, line in lines.items():
            rows[i][0] = "".join(line)


def _joined(parts: Rows, rows: Rows) -> str:
    for line, row in zip(parts, rows, strict=False):  # the empty lines at the end have no tokens
        line[1::2] = row
    return "\n".join("".join(line) for line in parts)
