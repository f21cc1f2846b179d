"""``whet bench self search``, in small: the graph of answers, the chain, and what is counted of a search."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import replace

import pytest
from paths import ROOT

from whet.agents.models.base import Message
from whet.benchmarks.self import climb, search
from whet.benchmarks.self.chain import Course, chain
from whet.benchmarks.self.graphs import CLASSES, VERSION, Graph, Node
from whet.benchmarks.self.picture import picture
from whet.benchmarks.self.searching import Search

FROZEN = {1: "f353a0e1a0cb6aef00cf3f673d9a7f28f0e8635fd773a9265741c6da0eaf8aff"}
"""By version: of what the first graphs answer. Another graph is another version."""


def walked(seed: int) -> list[str]:
    """What a graph says on a walk: texts, directives and verdicts."""
    graph = Graph(seed)
    at, said = graph.original, []
    for number in range(12):
        asked = graph.directive(at, number)
        answer = graph.answer(at, asked, f"{number}.0")
        crossed = graph.cross(at, replace(answer, fault="", mark=""), f"{number}.1")
        row = graph.row(answer)
        said += [asked, graph.text(answer), f"{row.reason} {row.ratio:.6f}", *(one.text for one in row.hot)]
        said.append(graph.text(crossed))
        at = at if answer.fault else replace(answer, mark="")
    return said


def test_the_graphs_are_the_ones_that_were_published():
    said = "\n".join(line for seed in range(5) for line in walked(seed))
    assert hashlib.sha256(said.encode()).hexdigest() == FROZEN[VERSION]


def test_a_graph_has_answers_of_every_kind():
    kinds = Counter()
    for seed in range(10):
        graph = Graph(seed)
        for sample in map(str, range(40)):
            answer = graph.answer(graph.original, "algorithm", sample)
            kinds["fault: " + answer.fault] += 1
            kinds["again"] += not answer.fault and answer.made == graph.original.made and answer.family == 0
            kinds["slower"] += not answer.fault and graph.speedup(answer) < 1
            kinds["faster"] += not answer.fault and graph.speedup(answer) > 1
            kinds["another family"] += answer.family != 0
    assert all(count >= 10 for count in kinds.values()), kinds
    assert kinds.keys() >= {"fault: wrong", "fault: cheat", "fault: "}


def test_what_is_asked_for_is_answered_more_often():
    def asked_for(kind: str) -> int:
        hits = 0
        for seed in range(30):
            graph = Graph(seed)
            answers = (graph.answer(graph.original, kind, str(n)) for n in range(20))
            hits += sum(any(graph.kind(0, step) == "memory" for step in one.made) for one in answers if not one.family)
        return hits

    assert asked_for("memory") > 1.5 * asked_for("vectorisation")
    assert {Graph(seed).directive(Node(), 1) for seed in range(50)} == set(CLASSES)


def test_hot_lines_are_those_of_steps_that_are_left():
    graph = Graph(3)
    for made in (frozenset(), frozenset({0, 1})):
        node = Node(0, made)
        lines = graph.text(node).split("\n")
        for hot in graph.row(node).hot:
            assert lines[hot.line - 1] == hot.text
            assert not any(f"part_{step}." in hot.text for step in made)


def test_the_chain_goes_on_from_the_last_right_answer_and_keeps_the_best():
    for seed in range(20):
        course = chain(Graph(seed))
        bests = [best for _, best in course.bests]
        assert course.calls == 19
        assert [calls for calls, _ in course.bests] == list(range(1, 20, 2))
        assert bests == sorted(bests)
    graph = Graph(0)
    first = graph.answer(graph.original, "", "1.0")
    assert chain(graph, 1).best == (1.0 if first.fault else max(1.0, graph.speedup(first)))


def test_calls_until_a_speedup_are_those_of_the_whole_round():
    course = Course(9, ((1, 1.0), (5, 1.5), (9, 2.0)))
    assert (course.reached(1.0), course.reached(1.2), course.reached(2.0), course.reached(2.1)) == (1, 5, 9, None)
    assert course.best == 2.0
    compared = search.Compared(Course(10, ((1, 1.5),)), course, 2.0, (0, 0, 0))
    assert compared.share == 0.5
    assert not compared.ends_worse
    assert replace(compared, shown=1.9).ends_worse
    assert replace(compared, chain=Course(10, ((1, 1.0),))).share is None


@pytest.mark.parametrize("strategy", search.COMPARED)
def test_a_search_is_counted_as_the_run_counts_it(tmp_path, strategy):
    graph = Graph(10_003)
    found = Search(graph, tmp_path)
    result = found.run(strategy, rounds=19, calls=19)
    course = found.course()
    assert course.calls == result.cost.calls == len(found.asked) <= 19
    assert course.bests[-1][0] == course.calls
    assert result.speedup.ratio == pytest.approx(course.best)
    parents = {one.request.brief.source for one in found.asked}
    assert graph.text(graph.original) in parents


def test_a_prompts_prefix_counts_where_all_of_it_was_sent_before():
    def prompt(*texts, stable=2):
        return tuple(Message("user", text, place < stable) for place, text in enumerate(texts))

    prompts = [(1, prompt("aa", "bb", "c")), (2, prompt("aa", "bb", "ddd")), (2, prompt("aa", "ee", "f"))]
    assert search.prefixes(iter(prompts)) == (7 + 5, 4 + 4, 4 + 2)


def test_a_climb_neither_ends_early_nor_stays_at_one_width(tmp_path):
    model = climb.Climb(tmp_path / "auto", "auto").run(12)
    widths = Counter(climb.round_of(one) for one in model.requests if one.role == "coder")
    assert [widths[number] for number in range(1, 13)] == [1, 2, 4, 2, 2, 4, 2, 2, 4, 2, 2, 4]


def test_growth_is_the_power_of_the_round():
    assert climb.power({number: 7 * number**0.5 for number in range(1, 50)}) == pytest.approx(0.5)
    assert climb.power(dict.fromkeys(range(1, 50), 7.0)) == pytest.approx(0.0)


def test_the_manual_shows_the_search_as_it_goes():
    assert "\n".join(picture()) in (ROOT / "docs/search.md").read_text()


@pytest.mark.corpus
def test_the_report_on_a_few_graphs_says_all_its_figures():
    lines = list(search.report(range(10_000, 10_006)))
    text = "\n".join(lines)
    for part in ("auto: ", "than an earlier round had: 0 of 6", "cacheable prefix", "ms a round"):
        assert part in text
