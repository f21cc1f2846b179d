"""The report in a real browser: nothing is asked for, nothing overflows, all can be read and reached by keyboard."""

from __future__ import annotations

from itertools import pairwise

import pytest
from browsing import COLOURS, OVERFLOW, READABLE, SIZES, contrast, luminance
from told import recorded

from whet.cli.report.page import page
from whet.core.store import Store

pytestmark = pytest.mark.corpus


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The page of a run in which every word that somebody else chose is an attack of some length."""
    folder = tmp_path_factory.mktemp("report")
    said = (
        "</pre><script>document.title='caught'</script><img src='https://example.org/x' onerror=alert(1)> " + "w" * 90
    )
    run = recorded(folder, said=said, rounds=3)
    store = Store(folder / "home")
    (folder / "report.html").write_text(page(store, store.run(run)), encoding="utf-8")
    store.close()
    return folder / "report.html"


@pytest.fixture
def opened(chromium, report):
    """Opens the report; at the end nothing was asked for but the page itself, and the console is empty."""
    contexts, asked, said = [], [], []

    def open_page(width=SIZES["desk"], scheme="light", part=""):
        context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        shown = context.new_page()
        shown.on("request", lambda request: asked.append(request.url))
        for event in ("console", "pageerror", "dialog"):
            shown.on(event, lambda what: said.append(str(what)))
        shown.goto(report.as_uri() + part)
        return shown

    yield open_page
    for context in contexts:
        context.close()
    assert {url.partition("#")[0] for url in asked} <= {report.as_uri(), "data:,"}
    assert said == []


def unfold(shown):
    shown.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")


@pytest.mark.corpus
@pytest.mark.parametrize("width", SIZES.values(), ids=SIZES)
def test_nothing_overflows(opened, width):
    shown = opened(width)
    unfold(shown)
    assert shown.evaluate(OVERFLOW) == []
    assert shown.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.corpus
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_can_be_read(opened, scheme):
    shown = opened(scheme=scheme)
    unfold(shown)
    found = shown.evaluate(COLOURS)
    assert len(found) > 200
    assert {row[2] for row in found if contrast(row[0], row[1]) < READABLE} == set()
    ground = shown.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert (luminance(ground) < 0.1) is (scheme == "dark")


def test_no_attack_came_through(opened):
    shown = opened()
    assert shown.title().startswith("1.331× faster, verified")
    assert shown.locator("script, img").count() == 0


def test_headings_and_landmarks_are_in_order(opened):
    shown = opened()
    levels = shown.evaluate("[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(one => Number(one.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    for role in ("banner", "navigation", "main", "contentinfo"):
        assert shown.get_by_role(role).count() == 1, role
    assert shown.get_by_role("img", name="Best ratio so far over the candidates").count() == 1
    tables = shown.evaluate(
        "[...document.querySelectorAll('table')].map(one => [!!one.caption, one.querySelectorAll('thead th[scope=col]')"
        ".length, one.querySelectorAll('tbody tr').length - one.querySelectorAll('tbody th[scope=row]').length])"
    )
    assert all(caption and columns and not without for caption, columns, without in tables)


def test_all_can_be_reached_by_keyboard(opened):
    shown = opened()
    shown.keyboard.press("Tab")
    assert shown.evaluate("document.activeElement.textContent") == "Skip to the report"
    first = shown.locator("#rounds ~ section details").first
    assert not first.evaluate("one => one.open")
    for _ in range(200):
        shown.keyboard.press("Tab")
        if first.evaluate("one => one.firstElementChild === document.activeElement"):
            break
    assert shown.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    shown.keyboard.press("Enter")
    assert first.evaluate("one => one.open")
    shown.keyboard.press("Space")
    assert not first.evaluate("one => one.open")


def test_a_link_to_a_candidate_unfolds_it(opened):
    shown = opened()
    assert not shown.locator("#c2").is_visible()
    shown.locator("table.forest a[href='#c2']").click()
    shown.locator("#c2").wait_for(state="visible", timeout=5000)


def test_it_prints_in_ink(opened):
    shown = opened(scheme="dark")
    shown.emulate_media(media="print")
    assert shown.evaluate("getComputedStyle(document.documentElement).color") == "rgb(0, 0, 0)"
    assert not shown.get_by_role("navigation").is_visible()
    assert shown.pdf().startswith(b"%PDF")
