"""Cards by full-text search, where few have their signs on the hot lines."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from whet.agents.advice import coder_advice
from whet.agents.card_search import LEAST_WORDS, completed
from whet.agents.knowledge import Match, cards, relevant
from whet.core.profile import HotLine, Profile

# Most of the time goes to the lines of the helper, which show no sign of any card.
ROWS = """
def mean(values):
    total = 0.0
    for value in values:
        total += value
    return total / len(values)

def products(xs, ys):
    found = 0.0
    for x, y in zip(xs, ys):
        found += (x - mean(xs)) * (y - mean(ys))
    return found
"""
HOT = [HotLine(4, 0.4, ""), HotLine(5, 0.4, ""), HotLine(6, 0.1, "")]
SIGNED = """
def both(left, right):
    text = ""
    for item in left:
        if item in right:
            text += item
    return sorted(text)[0]
"""


def found(language: str, source: str, hot: list[HotLine]) -> list[Match]:
    return completed(relevant(language, source, hot), language, source, hot)


def test_a_card_is_found_whose_example_reads_like_the_hot_code() -> None:
    assert "invariant-helper" not in [match.card.name for match in relevant("python", ROWS, HOT)]
    (match,) = (match for match in found("python", ROWS, HOT) if match.card.name == "invariant-helper")
    assert match.signs[0].startswith("reads like its example: ")
    assert match.signs[0].endswith("return_by_len")
    assert match.lines == (4, 5, 6)
    assert "reads like its example: " in coder_advice("python", ROWS, Profile(tuple(HOT), (), "samples", "py-spy"))


def test_cards_by_their_signs_come_first_and_enough_of_them_are_enough() -> None:
    hot = [HotLine(line, 0.2, "") for line in range(3, 8)]
    signed = relevant("python", SIGNED, hot)
    assert found("python", SIGNED, hot)[: len(signed)] == signed
    assert completed([*signed, *signed, *signed], "python", ROWS, HOT) == [*signed, *signed, *signed]


def test_without_hot_lines_nothing_is_searched_for() -> None:
    assert completed([], "python", ROWS, []) == []


@pytest.mark.parametrize("language", ["c", "cpp", "asm", "cuda"])
def test_cards_of_other_languages_are_not_told(language: str) -> None:
    assert all(language in match.card.languages for match in completed([], language, ROWS, HOT))


@pytest.mark.parametrize("source", ["", "\n" * 20, 'x = "a OR b" NEAR(', "for x in y:\n  pass", "\0;--'"])
def test_any_text_can_be_searched_for(source: str) -> None:
    assert completed([], "python", source, [HotLine(1, 0.9, ""), HotLine(99, 0.1, "")]) == []


def test_a_few_common_words_are_not_enough() -> None:
    source = "def f(xs):\n    out = []\n    for x in xs:\n        out.append(x)\n    return out\n"
    hot = [HotLine(line, 0.5, "") for line in (3, 4, 5)]
    for match in completed([], "python", source, hot):
        assert len(match.signs[0].removeprefix("reads like its example: ").split(", ")) >= LEAST_WORDS


def test_several_threads_search_at_once() -> None:
    with ThreadPoolExecutor(8) as pool:
        names = {
            tuple(match.card.name for match in one) for one in pool.map(lambda _: found("python", ROWS, HOT), range(64))
        }
    assert len(names) == 1


def test_every_card_with_examples_can_be_found_by_its_own() -> None:
    unfound = []
    for card in cards():
        slow = card.change.partition("```")[2].partition("\n")[2].partition("```")[0]
        hot = [HotLine(line, 0.1, "") for line in range(1, slow.count("\n") + 1)]
        if card.name not in [match.card.name for match in completed([], card.languages[0], slow, hot)]:
            unfound.append(card.name)
    # Those of few words, which are never told so.
    assert len(unfound) < len(cards()) / 3, unfound
