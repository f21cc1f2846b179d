"""The leaderboard in a real browser, from files and served: what is read, sorted, compared, and what is refused."""

from __future__ import annotations

import threading
from dataclasses import replace
from itertools import pairwise

import pytest
from boards import THERE, Drawn, many, row, told, written
from browsing import COLOURS, OVERFLOW, READABLE, SIZES, contrast, luminance

from whet.benchmarks.board.build import build
from whet.benchmarks.board.serve import serving
from whet.benchmarks.results import Own

pytestmark = pytest.mark.corpus

ATTACK = (
    "</script></style></title><script>document.title='caught'</script><img src=https://example.org/x onerror=alert(1)>"
    "\"'><svg onload=alert(1)> javascript:alert(1) {{ 7*7 }} \u202e " + "w" * 60
)
PAGES = ("index", "suite", "compare", "problem")


class Attacking(Drawn):
    title = status = ATTACK
    origin = replace(Drawn.origin, source=ATTACK)

    def score(self, rows):
        points = super().score(rows)
        figures = tuple(replace(figure, name=ATTACK, note=ATTACK, unit=ATTACK) for figure in points.figures)
        return replace(points, figures=figures, excluded={ATTACK: ATTACK})


def attacking_rows():
    """Returns rows in which every word that is free is an attack."""
    document = told(2.0, message=ATTACK)
    document["candidate"] |= {
        "origin": ATTACK,
        "labels": [ATTACK],
        "diff": f"--- {ATTACK}\n+++ {ATTACK}\n@@ {ATTACK}\n-{ATTACK}\n+{ATTACK}\n",
    }
    document["speedup"] |= {"metric": ATTACK, "baseline": ATTACK}
    document["rungs"] = [{"name": "screen", "status": "failed", "reason": "cheating", "detail": ATTACK, "seconds": 1.0}]
    machine = replace(THERE, processor=ATTACK, gpu=ATTACK, sandbox=ATTACK, system=ATTACK, whet=ATTACK)
    words = {
        "suite": ATTACK,
        "data": ATTACK,
        "strategy": ATTACK,
        "budget": ATTACK,
        "language": ATTACK,
        "answer": ATTACK,
        "evidence": ATTACK,
        "when": ATTACK,
    }
    own = Own(True, ATTACK, {"speedup": 2.0, ATTACK: [ATTACK]}, ATTACK, ATTACK)
    return [
        row(f"{ATTACK}{number}", f"{ATTACK}{model}", machine=machine, own=own, result=result, **words)
        for number in range(2)
        for model, result in enumerate((document, None, told(2.0)))
    ] + [row(ATTACK, f"{ATTACK}9", own=None, excluded=ATTACK, **words)]


def site(folder, rows, suite=Drawn):
    build([written(rows, folder / "rows.jsonl")], folder / "site", suite)
    (own,) = (path for path in (folder / "site").iterdir() if path.is_dir())
    problems = sorted(path for path in own.glob("*.html") if path.name not in ("index.html", "compare.html"))
    problem = max(problems, key=lambda path: path.stat().st_size)
    return {
        "index": folder / "site" / "index.html",
        "suite": own / "index.html",
        "compare": own / "compare.html",
        "problem": problem,
    }


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    return site(tmp_path_factory.mktemp("board"), many(9, 6))


@pytest.fixture(scope="module")
def attacked(tmp_path_factory):
    return site(tmp_path_factory.mktemp("attacked"), attacking_rows(), Attacking)


@pytest.fixture
def opened(chromium):
    """Opens a page; at the end nothing was asked for but pages that a test opened, and the console is empty."""
    contexts, asked, said = [], [], []

    def open_page(address, width=SIZES["desk"], scheme="light", **options):
        context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **options)
        contexts.append(context)
        shown = context.new_page()
        shown.on("request", lambda request: asked.append(request.url))
        for event in ("console", "pageerror", "dialog"):
            shown.on(event, lambda what: said.append(str(what)))
        shown.goto(address)
        return shown

    yield open_page
    for context in contexts:
        context.close()
    assert all(url == "data:," or url.startswith(("file:///", "http://127.0.0.1:")) for url in asked)
    assert said == []


def unfold(shown):
    shown.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")


def column(shown, number, table="table.cards"):
    return shown.evaluate(
        "([table, at]) => [...document.querySelector(table).tBodies[0].rows].map(row => row.cells[at].dataset.value"
        " ?? row.cells[at].textContent.trim())",
        [table, number],
    )


# what is seen


@pytest.mark.corpus
@pytest.mark.parametrize("width", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("name", PAGES)
def test_nothing_overflows(opened, board, attacked, name, width):
    for pages in (board, attacked):
        shown = opened(pages[name].as_uri(), width)
        unfold(shown)
        inside = OVERFLOW.replace("svg, .skip", "svg, .skip, .scroll")
        assert shown.evaluate(inside) == []
        assert shown.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.corpus
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_all_text_can_be_read(opened, board, name, scheme):
    shown = opened(board[name].as_uri(), scheme=scheme)
    unfold(shown)
    found = shown.evaluate(COLOURS)
    assert len(found) > 20
    assert {row[2] for row in found if contrast(row[0], row[1]) < READABLE} == set()
    ground = shown.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert (luminance(ground) < 0.1) is (scheme == "dark")


@pytest.mark.corpus
@pytest.mark.parametrize("name", PAGES)
def test_headings_tables_and_landmarks_are_real(opened, board, name):
    shown = opened(board[name].as_uri())
    levels = shown.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map(one => Number(one.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    for role in ("banner", "main", "contentinfo"):
        assert shown.get_by_role(role).count() == 1, role
    tables = shown.evaluate(
        "[...document.querySelectorAll('table')].map(one => [!!one.caption, one.querySelectorAll('thead th[scope=col]')"
        ".length === one.rows[0].cells.length, one.querySelectorAll('tbody tr').length"
        " - one.querySelectorAll('tbody th[scope=row]').length])"
    )
    assert tables
    assert all(caption and columns and not without for caption, columns, without in tables)
    unnamed = shown.evaluate(
        "[...document.querySelectorAll('svg:not([aria-hidden])')].filter(one => !one.parentElement.closest('svg')"
        " && !document.getElementById(one.getAttribute('aria-labelledby').split(' ')[0])).length"
    )
    assert unnamed == 0


def test_on_a_phone_a_table_is_still_one(opened, board):
    shown = opened(board["index"].as_uri(), SIZES["phone"])
    table = shown.get_by_role("table").first
    assert table.get_by_role("columnheader").count() == 12
    assert table.get_by_role("row").count() == 7
    assert table.get_by_role("rowheader").count() == 6


# sorting


def test_a_table_is_sorted_by_keyboard_and_says_so(opened, board):
    shown = opened(board["index"].as_uri())
    shown.keyboard.press("Tab")
    assert shown.evaluate("document.activeElement.textContent") == "Skip to the content"
    head = shown.get_by_role("columnheader", name="Failed")
    for _ in range(60):
        shown.keyboard.press("Tab")
        if head.evaluate("one => one.contains(document.activeElement)"):
            break
    assert shown.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    shown.keyboard.press("Enter")
    values = [int(value) for value in column(shown, 6)]
    assert values == sorted(values, reverse=True)
    assert head.get_attribute("aria-sort") == "descending"
    assert shown.get_by_role("status").text_content() == "Sorted by Failed, descending"
    shown.keyboard.press("Space")
    assert column(shown, 6) == [str(value) for value in sorted(values)]
    assert head.get_attribute("aria-sort") == "ascending"
    assert shown.locator("[aria-sort]").count() == 1


def test_names_are_sorted_as_words_with_numbers(opened, tmp_path):
    pages = site(tmp_path, [row(id, speedup=speed) for id, speed in (("p10", None), ("p2", 3.0), ("p1", 2.0))])
    shown = opened(pages["suite"].as_uri())
    problems = "#problems ~ table"
    assert column(shown, 0, problems) == ["p1", "p2", "p10"]
    shown.locator(problems).get_by_role("button", name="Best").click()
    assert column(shown, 0, problems) == ["p2", "p1", "p10"]
    shown.locator(problems).get_by_role("button", name="Best").click()
    assert column(shown, 0, problems) == ["p1", "p2", "p10"], "what has no value comes last, whatever the order"
    for _ in range(2):
        shown.locator(problems).get_by_role("button", name="Problem").click()
    assert column(shown, 0, problems) == ["p10", "p2", "p1"]


@pytest.mark.parametrize("width", SIZES.values(), ids=SIZES)
def test_the_axis_of_speedups_stands_over_what_it_measures(opened, board, width):
    shown = opened(board["suite"].as_uri(), width)
    axis, *rows = shown.evaluate(
        "[...document.querySelectorAll('.spread svg.row')].map(one => one.getBoundingClientRect())"
        ".map(({left, width}) => [left, width])"
    )
    assert rows
    assert all(one == pytest.approx(axis, abs=0.5) for one in rows)


# comparing


@pytest.mark.corpus
def test_any_two_rows_are_compared_from_a_file(opened, board):
    shown = opened(board["compare"].as_uri())
    assert "Common problems" in shown.locator("#summary").inner_text()
    shown.get_by_label("Row A").select_option("6")
    shown.get_by_label("Row B").select_option("1")
    assert shown.url.endswith("#a=6&b=1")
    assert "different machines" in shown.locator("#caution").inner_text()
    first = shown.locator("#summary").inner_text()
    again = opened(board["compare"].as_uri() + "#a=6&b=1")
    assert again.locator("#summary").inner_text() == first
    other = opened(board["compare"].as_uri() + "#a=1&b=6")
    ratios = [float(page.locator("#summary dd").last.inner_text().partition("×")[0]) for page in (again, other)]
    assert ratios[0] * ratios[1] == pytest.approx(1.0, abs=0.01)
    shown.get_by_label("Row B").select_option("6")
    assert "the same row" in shown.locator("#summary").inner_text()
    assert not shown.locator("#caution").is_visible()


def test_only_common_problems_are_listed(opened, tmp_path):
    rows = [row("p1", "a", 4.0), row("p1", "b", 2.0), row("p2", "a"), row("p3", "b"), row("p4", "a", None)]
    pages = site(tmp_path, [*rows, row("p4", "b", 2.0)])
    shown = opened(pages["compare"].as_uri())
    listed = shown.locator("#problems tbody tr").all_inner_texts()
    assert "interval" not in shown.locator("#summary").inner_text()  # of one problem there is none
    assert [line.split() for line in sorted(listed)] in (
        [["p1", "4.00×", "2.00×", "2.00×"], ["p4", "failed", "2.00×"]],
        [["p1", "2.00×", "4.00×", "0.500×"], ["p4", "2.00×", "failed"]],
    )


def test_a_hash_that_means_nothing_is_passed_over(opened, board):
    shown = opened(board["compare"].as_uri() + "#a=99&b=<img src=x onerror=alert(1)>")
    assert shown.get_by_label("Row A").input_value() == "1"
    assert shown.get_by_label("Row B").input_value() == "2"


def test_served_it_is_the_same(opened, board):
    with serving(board["index"].parent, 0) as (server, address):
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            shown = opened(address)
            shown.get_by_role("link", name="Compare two rows").click()
            shown.get_by_label("Row A").select_option("3")
            assert "Common problems" in shown.locator("#summary").inner_text()
            shown.locator("#problems tbody a").first.click()
            assert shown.get_by_role("heading", level=1).inner_text().startswith("level")
        finally:
            server.shutdown()
            thread.join()


# without a script, and against scripts of others


@pytest.mark.corpus
@pytest.mark.parametrize("name", PAGES)
def test_it_reads_without_a_script(opened, board, name):
    shown = opened(board[name].as_uri(), java_script_enabled=False)
    assert shown.get_by_role("table").count() >= 1
    assert shown.get_by_role("button").count() == 0
    assert not shown.get_by_label("Row A").is_visible()


@pytest.mark.corpus
@pytest.mark.parametrize("name", PAGES)
def test_no_attack_comes_through_any_field(opened, attacked, name):
    shown = opened(attacked[name].as_uri())
    unfold(shown)
    assert shown.title() != "caught"
    assert shown.locator("img, iframe, object, embed, form, base").count() == 0
    own = {"index": 1, "suite": 1, "compare": 3, "problem": 0}[name]
    assert shown.locator("script").count() == own
    for attribute in ("href", "src"):
        values = shown.evaluate(
            f"[...document.querySelectorAll('[{attribute}]')].map(one => one.getAttribute('{attribute}'))"
        )
        assert all(value == "data:," or value.startswith("#") or value.endswith((".html", ".json")) for value in values)
        assert not [value for value in values if ":" in value and value != "data:,"]
    attributes = "[...document.querySelectorAll('*')].flatMap(one => [...one.attributes]).map(one => one.name)"
    assert not [name for name in shown.evaluate(attributes) if name.startswith("on") or name == "style"]
    assert "<script>document.title" in shown.locator("body").inner_text()
    assert "\u202e" not in shown.locator("main").inner_text()


def test_the_attack_is_in_every_field_that_is_shown(attacked):
    """Else the test above would say nothing."""
    text = attacked["problem"].read_text()
    assert text.count("document.title=") >= 20


@pytest.mark.parametrize("name", PAGES)
def test_a_script_that_came_in_all_the_same_would_not_run(chromium, board, tmp_path, name):
    text = board[name].read_text()
    assert "unsafe" not in text.partition("</head>")[0]
    inside = "<script>document.title = 'caught'</script><img src=x onerror=\"document.title = 'caught'\"></body>"
    (tmp_path / "page.html").write_text(text.replace("</body>", inside))
    context = chromium.new_context()
    shown = context.new_page()
    refused = []
    shown.on("console", lambda what: refused.append(what.text))
    shown.goto((tmp_path / "page.html").as_uri())
    assert shown.title() != "caught"
    assert any("Content Security Policy" in line for line in refused)
    context.close()
