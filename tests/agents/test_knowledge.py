"""The cards: that they read, that their examples agree, and that they are found."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import textwrap
import time
from collections import Counter
from pathlib import Path

import pytest
from paths import ROOT

from whet.agents.catalogue.registry import EDITS
from whet.agents.embedded import embedded
from whet.agents.knowledge import LONGEST_LINE, Card, CardKind, card_of, cards, parse_card, relevant
from whet.agents.surroundings import surroundings
from whet.core.profile import HotLine

CARDS = {card.name: card for card in cards()}
HEADINGS = ["When it helps", "Change", "Unsafe or useless", "How to see it"]
LONGEST_TEXT = 2500
"""Characters: what a prompt can afford for one card."""
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
C_HEADERS = ("inttypes.h", "stdint.h", "stdio.h", "stdlib.h", "string.h")
CPP_HEADERS = ("algorithm", "cstdint", "iostream", "string", "vector")
FLAGS = ("-O1", "-Wall", "-Wextra", "-Werror", "-fopenmp")
GOOD = ROOT / "whet" / "prompts" / "knowledge" / "patterns" / "list-membership.md"


def examples(card: Card) -> list[tuple[str, str]]:
    """Returns the fenced blocks of a card: the language's tag and the code, before and after."""
    return FENCE.findall(card.text)


def run(command: list[str], folder: Path) -> str:
    """Returns what a command prints."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def printed(language: str, code: str, trial: str, folder: Path) -> str:
    """Returns what an example in Python or C prints when the card's trial follows it."""
    if language == "python":
        source = folder / "example.py"
        source.write_text(f"{code}\n{trial}", encoding="utf-8")
        return run([sys.executable, "-W", "error", str(source)], folder)
    source, program = folder / "example.c", str(folder / "example")
    source.write_text(f"{included(C_HEADERS)}{code}\nint main(void) {{\n{trial}\nreturn 0;\n}}\n", encoding="utf-8")
    run(["gcc", "-std=gnu11", *FLAGS, "-o", program, str(source)], folder)
    return run([program], folder)


def included(headers: tuple[str, ...]) -> str:
    return "".join(f"#include <{name}>\n" for name in headers)


def cpp_program(given: list[Card]) -> str:
    """Returns one program with the examples of many cards: compiling the headers once is what makes it quick.

    Its arguments are a card's number and 0 or 1: before or after.
    """
    includes = [included(CPP_HEADERS)]
    parts: list[str] = []
    calls: list[str] = []
    for number, card in enumerate(given):
        for place, (_, code) in enumerate(examples(card)):
            lines = code.splitlines(keepends=True)
            includes += [line for line in lines if line.startswith("#include")]
            body = "".join(line for line in lines if not line.startswith("#include"))
            name = f"{card.name.replace('-', '_')}_{place}"
            parts.append(f"namespace {name} {{\n{body}\nint trial() {{\n{card.trial}\nreturn 0;\n}}\n}}\n")
            calls.append(f'    if (asked == "{number} {place}") return {name}::trial();\n')
    start = 'int main(int, char** argv) {\n    const std::string asked = std::string(argv[1]) + " " + argv[2];\n'
    return "".join([*includes, *parts, start, *calls, "    return 9;\n}\n"])


def test_there_are_enough_of_every_kind():
    assert len(CARDS) >= 40
    kinds = Counter(card.kind for card in cards())
    assert {kind: kinds[kind] for kind in CardKind if kinds[kind] < 4} == {}


def test_cards_and_edits_name_each_other():
    named = {name for card in cards() for name in card.edits}
    assert named == {edit.name for edit in EDITS}


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.name)
def test_an_edit_and_its_card_fit(edit):
    card = next(card for card in cards() if edit.name in card.edits)
    assert set(edit.languages) <= set(card.languages)


@pytest.mark.parametrize("name", CARDS)
def test_the_text_keeps_its_form(name):
    card = CARDS[name]
    assert re.findall(r"^#+ (.*)$", FENCE.sub("", card.text), re.MULTILINE) == HEADINGS
    assert [tag for tag, _ in examples(card)] == [card.languages[0]] * 2
    assert len(card.text) < LONGEST_TEXT
    assert all(source.strip() for source in card.sources)
    assert FENCE.findall(card.change) == examples(card)


@pytest.mark.corpus
@pytest.mark.parametrize("name", [card.name for card in cards() if card.languages[0] not in ("cpp", "cuda")])
def test_the_examples_agree(name, tmp_path):
    (tag, before), (_, after) = examples(CARDS[name])
    assert before != after
    expected = printed(tag, before, CARDS[name].trial, tmp_path)
    assert expected.strip()
    assert printed(tag, after, CARDS[name].trial, tmp_path) == expected


@pytest.mark.corpus
def test_the_examples_in_cpp_agree(tmp_path):
    given = [card for card in cards() if card.languages[0] == "cpp"]
    source, program = tmp_path / "examples.cpp", str(tmp_path / "examples")
    source.write_text(cpp_program(given), encoding="utf-8")
    run(["g++", "-std=c++17", *FLAGS, "-o", program, str(source)], tmp_path)
    for number, card in enumerate(given):
        before, after = (run([program, str(number), place], tmp_path) for place in "01")
        assert before.strip(), card.name
        assert (card.name, after) == (card.name, before)


@pytest.mark.corpus
def test_the_examples_in_cuda_compile_and_agree(tmp_path):
    """One compilation for all; without a GPU nothing of it is run."""
    if shutil.which("nvcc") is None:
        pytest.skip("no nvcc")
    given = [card for card in cards() if card.languages[0] == "cuda"]
    source, program = tmp_path / "examples.cu", str(tmp_path / "examples")
    source.write_text(cpp_program(given), encoding="utf-8")
    done = subprocess.run(
        ["nvcc", "-std=c++17", "-arch=sm_80", "-o", program, str(source)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    if not Path("/dev/nvidiactl").exists():
        return
    for number, card in enumerate(given):
        before, after = (run([program, str(number), place], tmp_path) for place in "01")
        assert before.strip(), card.name
        assert (card.name, after) == (card.name, before)


KERNELS = '''
import torch
import triton

SOURCE = r"""
#include <vector>
float norm(const float *x, int n) {
  float squares = 0.0f;
  for (int i = 0; i < n; i++) squares += x[i] * x[i];
  return squares;
}
"""
CUDA = """__global__ void turned(const float *in, float *out) {
  __shared__ float tile[32][32];
  out[threadIdx.x] = tile[threadIdx.x][0];
}
"""
'''


def test_kernels_within_a_python_text_are_looked_at_too():
    found = {match.card.name: match.lines for match in relevant("python", KERNELS, limit=99)}
    assert found["simd-loops"] == (9,)
    assert found["bank-conflicts"] == (14, 15)


def test_hot_lines_of_python_do_not_hide_its_kernels():
    found = relevant("python", KERNELS, [HotLine(2, 0.9, "import torch")], limit=99)
    assert "simd-loops" in [match.card.name for match in found]


def test_other_texts_hold_no_kernels():
    assert [part.language for part in embedded("python", KERNELS)] == ["triton", "cpp", "cuda"]
    assert embedded("cpp", KERNELS) == ()
    assert embedded("python", "def f(:") == ()
    assert embedded("python", 'x = "import triton and #include are only words here, and long ones"') == ()


@pytest.mark.parametrize("name", CARDS)
def test_a_card_is_found_by_its_own_example(name):
    tag, before = examples(CARDS[name])[0]
    assert name in [match.card.name for match in relevant(tag, before)]


def test_signs_answer_quickly_whatever_the_line_holds():
    texts = [piece * LONGEST_LINE for piece in ("a", " ", "(", "[", "a.", "a[", "a, ", "for a in ", '"', "+= ", "a*")]
    begun = time.process_time()
    for card in cards():
        for sign in card.signs:
            for text in texts:
                sign.pattern.search(text[:LONGEST_LINE])
    assert time.process_time() - begun < 5


SOURCE = """
def both(left, right):
    text = ""
    for item in left:
        if item in right:
            text += item
    return text
"""


def test_the_example_of_the_manual(capsys):
    page = (ROOT / "docs" / "knowledge.md").read_text(encoding="utf-8")
    code, shown = re.search(r"^```python\n(.*?)^```\n\n((?:    [^\n]*\n)+)", page, re.MULTILINE | re.DOTALL).groups()
    exec(code, {})
    assert capsys.readouterr().out == textwrap.dedent(shown)


def test_hot_lines_come_first():
    def first(line: int) -> str:
        return relevant("python", SOURCE, [HotLine(line, 0.9, "")])[0].card.name

    assert (first(5), first(6)) == ("list-membership", "string-join")


def test_where_hot_lines_are_known_no_others_are_looked_at():
    assert [match.lines for match in relevant("python", SOURCE, [HotLine(5, 0.9, "")])] == [(5,)]
    assert relevant("python", SOURCE, [HotLine(7, 0.9, "")]) == []


def test_an_edit_has_a_card_and_what_is_no_edit_has_none():
    assert card_of("join-strings") is CARDS["string-join"]
    assert card_of("no-such-edit") is None


def test_a_match_tells_its_reasons():
    match = next(match for match in relevant("python", SOURCE, [HotLine(5, 0.9, "")]) if match.share)
    assert (match.card.name, match.lines, match.share) == ("list-membership", (5,), 0.9)
    assert match.signs == ("`in` asked in a loop",)


def test_a_sign_of_a_loop_is_not_seen_outside_one():
    assert "list-membership" not in names("python", "def f(x, xs):\n    if x in xs:\n        return 1\n")


PYTHON_LOOPS = """
def walk(node):
    for child in node.children:
        walk(child)
    return [x for row in node.rows for x in row]
"""
CPP_LOOPS = """
struct Tree { int count(int n) {
    return n ? count(n - 1) : 0;
} };
int sum(int n) {
    for (int i = 0; i < n; i++)
        while (n) n--;
    return n;
}
"""


PYTHON_HELPERS = """
def total(values):
    return inner(values)
def inner(values):
    return sum(values)
def alone(values):
    return sum(values)
def many(rows):
    return [total(row) for row in rows]
"""
CPP_HELPERS = """
int Map::get(int i) {
    return cells[i];
}
int all(Map& map) {
    int sum = 0;
    for (int i = 0; i < 9; i++) sum += map.get(i);
    return sum;
}
"""


@pytest.mark.parametrize(
    ("language", "source", "depths"),
    [("python", PYTHON_HELPERS, {3: 1, 5: 1, 7: 0, 9: 1}), ("cpp", CPP_HELPERS, {3: 1, 6: 0, 7: 1})],
)
def test_what_a_loop_calls_counts_as_a_loop(language, source, depths):
    found = surroundings(language, source)
    assert {line: found.depth(line) for line in depths} == depths
    assert found.recursive == []


@pytest.mark.parametrize(
    ("language", "source", "depths", "recursive"),
    [
        ("python", PYTHON_LOOPS, {2: 0, 3: 1, 4: 1, 5: 2}, {2, 3, 4, 5}),
        ("cpp", CPP_LOOPS, {3: 0, 5: 0, 6: 1, 7: 2, 8: 0}, {2, 3, 4}),
    ],
)
def test_loops_and_recursion_are_seen(language, source, depths, recursive):
    found = surroundings(language, source)
    assert {line: found.depth(line) for line in depths} == depths
    assert {line for line in range(1, 12) if found.in_recursion(line)} == recursive


def test_cards_of_another_language_stay_away():
    found = relevant("cpp", "int main() { for (int i = 0; i < 3; i++) std::cout << i << std::endl; }", limit=99)
    assert "newline-not-endl" in [match.card.name for match in found]
    assert {language for match in found for language in match.card.languages} >= {"cpp"}
    assert all("cpp" in match.card.languages for match in found)


@pytest.mark.parametrize("source", ["", "\n\n", "def f(:\n", "\0", "x = " + "(" * 5000, "\ud800"])
@pytest.mark.parametrize("language", ["python", "c", "cpp"])
def test_any_text_is_answered(language, source):
    assert isinstance(relevant(language, source), list)


def test_no_more_than_the_limit():
    assert len(relevant("python", SOURCE, limit=1)) == 1


def names(language: str, source: str) -> list[str]:
    return [match.card.name for match in relevant(language, source, limit=99)]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("+++\n", "", "no header"),
        ('kind = "', "kind = ", "not valid TOML"),
        ('kind = "', 'knid = 1\nkind = "', "unknown key 'knid'; did you mean 'kind'?"),
        ('kind = "data structure"', 'kind = "magic"', "kind: "),
        ('labels = ["data structure"]', 'labels = ["magic"]', "labels.0: "),
        ("kind = ", 'text = "x"\nkind = ', "unknown key 'text'"),
        ("pattern = '", "pattern = '(", "signs.0.pattern: "),
        ('name = "list-membership"', 'name = "another"', "calls itself another"),
    ],
)
def test_a_bad_card_is_named_with_its_fault(old, new, complaint):
    text = GOOD.read_text(encoding="utf-8")
    with pytest.raises(ValueError, match=f"^card list-membership.*{re.escape(complaint)}"):
        parse_card("list-membership", text.replace(old, new, 1))


def test_a_format_is_no_remainder():
    text = "void f(int n, int m) {{\n    for (int i = 0; i < n; i++) {{\n        {}\n    }}\n}}\n"
    for line, seen in (('printf("%d %ld", i, 2L);', False), ('printf("%d", i % m);', True), ("i = (i + 1) % m;", True)):
        names = {match.card.name for match in relevant("c", text.format(line))}
        assert ("division-avoided" in names) == seen, line
