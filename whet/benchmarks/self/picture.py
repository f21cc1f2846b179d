"""A search on a graph of answers as a picture in text: ``python -m whet.benchmarks.self.picture [SEED [STRATEGY]]``."""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from whet.benchmarks.self.chain import chain
from whet.benchmarks.self.graphs import Graph, Node
from whet.benchmarks.self.searching import FOCUS, PARTNER, ModelCall, Search

SEED = 10_000
"""Of the graph that docs/search.md shows."""
BAR = 12
"""Signs of a bar for each doubling."""
NAMES = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def picture(seed: int = SEED, strategy: str = "auto") -> Iterator[str]:
    """Yields the lines: one an answer, with a bar as long as the logarithm of its speedup."""
    graph = Graph(seed)
    theirs = chain(graph)
    with tempfile.TemporaryDirectory(prefix="whet-self-") as folder:
        search = Search(graph, Path(folder))
        search.run(strategy, theirs.calls, calls=theirs.calls)
    names = {graph.original: "original"}
    yield f"{'round':<7}{'built upon':<12}{'asked for':<26}came to"
    for one in search.asked:
        if one.node is None:
            yield f"{'':<7}the Judge is asked"
            continue
        parent = names[search.node(one.request.brief.source)]
        yield f"{one.round:<7}{parent:<12}{_aim(one):<26}{_outcome(graph, one.node, names)}".rstrip()
    ours = search.course()
    yield f"{ours.calls} calls, {ours.best:.2f}x; the chain: {theirs.calls} calls, {theirs.best:.2f}x"


def _aim(one: ModelCall) -> str:
    told = one.request.messages[-1].text
    if PARTNER.search(told):
        return "both versions in one"
    if found := FOCUS.search(told):
        return f"a hot line, part {found[1]}"
    return "what the Judge asks for" if "What the Judge asks for" in told else "anything"


def _outcome(graph: Graph, node: Node, names: dict[Node, str]) -> str:
    if node.fault:
        return "wrong" if node.fault == "wrong" else "cheating"
    plain = Node(node.family, node.made)
    if plain in names:
        return f"the same as {names[plain]}"
    names[plain] = NAMES[len(names) - 1]
    speedup = graph.speedup(plain)
    return f"{names[plain]}  {speedup:5.2f}x  {'#' * round(BAR * math.log2(speedup)) if speedup > 1 else ''}"


if __name__ == "__main__":
    asked = sys.argv[1:]
    for line in picture(int(asked[0]) if asked else SEED, asked[1] if asked[1:] else "auto"):
        print(line)
