"""The page in a real browser: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from isoscope import Recorder, check
from isoscope.reports.html import render_html
from tests.browser_time import BrowserTime, yardstick
from tests.reports.pages import HOSTILE, many

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Locator, Page

    from isoscope.verdict import Report

pytestmark = pytest.mark.server
MANY = many(60)
#: Fragments, and what is visible when the page has followed them.
VIEWS = {
    "#summary": ".js #summary",
    "#fractured-read-co-1": ".js #articles #fractured-read-co-1",
    "#transactions": "#table tbody tr:last-child",
}
CONTRAST = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8")


class Opened:
    """A page in the browser, with its errors and requests."""

    def __init__(self, browser: Browser, path: Path, *, scheme: str = "light", script: bool = True) -> None:
        self.path = path
        self.context = browser.new_context(
            color_scheme=scheme,  # type: ignore[arg-type]
            java_script_enabled=script,
            viewport={"width": 1400, "height": 900},
        )
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def at(self, fragment: str = "") -> Page:
        self.page.goto(f"{self.path.as_uri()}{fragment}")
        return self.page


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Opened]:
    """The page of a history with 60 fractured reads."""
    path = tmp_path / "report.html"
    path.write_text(render_html(_report()), encoding="utf-8")
    shown = Opened(browser, path)
    yield shown
    assert shown.complaints == []
    assert shown.requests == [url for url in shown.requests if url.startswith(path.as_uri())]
    shown.context.close()


def _report() -> Report:
    return check(MANY, ["read-atomic", "causal", "pl-2"], max_anomalies=60)


def article(page: Page, number: int) -> Locator:
    """The counterexample of this number, when it is shown."""
    shown = page.locator(f"#articles #fractured-read-co-{number}")
    expect(shown).to_be_visible()
    return shown


def test_the_page_opens_with_the_summary_and_its_lattice(opened: Opened) -> None:
    page = opened.at()
    expect(page.locator(".js #summary")).to_be_visible()
    expect(page.locator(".lattice .violated .outcome")).to_have_text(["violated", "violated"])
    expect(page.locator("#counterexamples")).to_be_hidden()


def test_one_level_is_drawn_no_larger_than_many(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(render_html(check(MANY, ["read-atomic"])), encoding="utf-8")
    shown = Opened(browser, path)
    box = shown.at().locator("svg.lattice").bounding_box()
    assert box is not None
    assert box["width"] < 300
    shown.context.close()


def test_a_level_leads_to_its_counterexample_and_the_back_button_back(opened: Opened) -> None:
    page = opened.at()
    page.wait_for_selector(".js")
    page.locator(".lattice a").first.click()
    expect(article(page, 1).locator("h3")).to_contain_text("fractured-read-co 1 of 60")
    page.go_back()
    expect(page.locator("#summary")).to_be_visible()


def test_a_fragment_opens_a_packed_counterexample(opened: Opened) -> None:
    page = opened.at("#fractured-read-co-47")
    expect(article(page, 47).locator("h3")).to_have_text("fractured-read-co 47 of 60")
    expect(page.locator("#articles svg.isoscope")).to_have_count(1)


def test_hovering_a_step_lights_up_its_arrow_and_its_operations(opened: Opened) -> None:
    page = opened.at("#fractured-read-co-1")
    article(page, 1).locator(".steps li").first.hover()
    expect(page.locator("g.step.lit")).to_have_attribute("data-step", "0")
    lit = page.locator("svg .operation.lit")
    expect(lit).to_have_count(2)
    expect(lit.nth(0)).to_have_attribute("data-operation", "T1:1")
    expect(lit.nth(1)).to_have_attribute("data-operation", "T2:1")
    page.locator("h3:visible").hover()
    expect(page.locator(".lit")).to_have_count(0)


def test_hovering_an_arrow_lights_up_its_step(opened: Opened) -> None:
    page = opened.at("#fractured-read-co-1")
    article(page, 1).locator('svg g.step[data-step="0"] text').hover()
    expect(page.locator(".steps li.lit")).to_have_count(1)
    expect(page.locator(".operations li.lit")).to_have_count(2)


def test_focus_does_what_hovering_does(opened: Opened) -> None:
    page = opened.at("#fractured-read-co-1")
    article(page, 1).locator(".steps li").first.focus()
    expect(page.locator("g.step.lit")).to_have_count(1)


def test_keys_go_through_the_counterexamples(opened: Opened) -> None:
    page = opened.at("#fractured-read-co-1")
    article(page, 1)
    for key, number in (("j", 2), ("j", 3), ("k", 2), ("k", 1), ("k", 1)):
        page.keyboard.press(key)
        article(page, number)
    page.keyboard.press("t")
    expect(page.locator("#transactions")).to_be_visible()
    page.keyboard.press("s")
    expect(page.locator("#summary")).to_be_visible()


def test_arrow_keys_go_through_the_list_and_scroll_elsewhere(opened: Opened) -> None:
    page = opened.at("#fractured-read-co-1")
    article(page, 1)
    page.keyboard.press("ArrowDown")
    page.locator("#contents a").first.focus()
    # If the list had taken the first key, every number below would be one too small.
    for key, number in (("ArrowDown", 2), ("ArrowDown", 3), ("ArrowUp", 2)):
        page.keyboard.press(key)
        article(page, number)
        expect(page.locator(f"a[href='#fractured-read-co-{number}']")).to_be_focused()


def test_the_help_opens_and_closes_by_keys(opened: Opened) -> None:
    page = opened.at()
    expect(page.locator(".js #summary")).to_be_visible()
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#help")).to_be_hidden()


def test_the_filter_finds_by_transaction_and_by_key(opened: Opened) -> None:
    page = opened.at("#counterexamples")
    article(page, 1)
    page.keyboard.press("/")
    expect(page.locator("#filter")).to_be_focused()
    page.keyboard.type("x37")
    # New rows have no visible text before the browser has drawn them (`content-visibility`).
    expect(page.locator("#contents a")).to_have_text(["38. T75 T76\non x37, y37"], use_inner_text=True)
    page.keyboard.press("Escape")
    expect(page.locator("#contents a")).to_have_count(60)


def test_the_table_is_searched_sorted_and_leads_to_counterexamples(opened: Opened) -> None:
    page = opened.at("#transactions")
    rows = page.locator("#table tbody tr")
    expect(rows).to_have_count(120)
    page.get_by_role("button", name="transaction", exact=True).click()
    expect(rows.locator("th").first).to_have_text("T120")
    page.fill("#search", "T16")
    expect(rows).to_have_count(1)
    rows.locator(".jumps a").click()
    expect(article(page, 8).locator("h3")).to_contain_text("fractured-read-co 8 of")


def test_the_theme_can_be_changed(opened: Opened) -> None:
    page = opened.at()
    expect(page.locator(".js #summary")).to_be_visible()
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("#theme")
    expect(page.locator("body")).not_to_have_css("background-color", before)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_every_text_can_be_read(opened: Opened, browser: Browser, scheme: str, view: str) -> None:
    shown = Opened(browser, opened.path, scheme=scheme)
    page = shown.at(view)
    expect(page.locator(VIEWS[view])).to_be_visible()
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.evaluate(CONTRAST) == []
    shown.context.close()


def test_without_a_script_the_summary_and_the_first_of_each_name_are_there(
    opened: Opened, browser: Browser
) -> None:
    shown = Opened(browser, opened.path, script=False)
    page = shown.at()
    expect(page.locator("#summary")).to_be_visible()
    expect(page.locator("#fractured-read-co-1 svg.isoscope")).to_be_visible()
    expect(page.locator("#transactions")).to_be_hidden()
    shown.context.close()


def test_landmarks_and_names_are_there_for_screen_readers(opened: Opened) -> None:
    page = opened.at("#fractured-read-co-1")
    article(page, 1)
    for role in ("banner", "main", "contentinfo"):
        expect(page.get_by_role(role)).to_have_count(1)
    expect(page.get_by_role("article", name="fractured-read-co 1 of 60")).to_be_visible()
    expect(page.get_by_role("searchbox", name="Filter by name, transaction or key")).to_be_visible()
    expect(page.get_by_role("img", name="fractured-read-co")).to_be_visible()
    named = "all => all.filter(e => e.checkVisibility() && !(e.textContent.trim() || e.ariaLabel)).length"
    assert page.locator("button, a").evaluate_all(named) == 0


def test_nothing_on_a_phone_is_wider_than_the_screen(opened: Opened) -> None:
    opened.page.set_viewport_size({"width": 390, "height": 800})
    for view, sign in VIEWS.items():
        page = opened.at(view)
        expect(page.locator(sign)).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_phone_has_one_row_of_links_and_cards_instead_of_tables(opened: Opened) -> None:
    opened.page.set_viewport_size({"width": 390, "height": 800})
    page = opened.at("#transactions")
    expect(page.locator("#table tbody tr").first).to_be_visible()
    bar = page.locator(".bar").bounding_box()
    assert bar is not None
    assert bar["height"] < 60
    cell = page.locator("#table tbody td").first
    assert cell.evaluate("e => getComputedStyle(e).display") == "block"
    assert cell.evaluate("e => getComputedStyle(e, '::before').content").startswith('"session')


def test_the_head_answers_and_leads_to_the_counterexample(opened: Opened) -> None:
    page = opened.at("#summary")
    head = page.get_by_role("status").first
    expect(head).to_contain_text("No. The history broke read atomicity and causal consistency")
    head.get_by_role("link", name="See the counterexample").click()
    expect(page.locator("#articles #fractured-read-co-1")).to_be_visible()


def test_a_printed_page_has_everything_open(opened: Opened) -> None:
    page = opened.at("#summary")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(page.locator("details:not([open])").first).to_be_attached()


def hostile() -> Report:
    recorder = Recorder(initial=0)
    for number, text in enumerate((*HOSTILE, "long" * 2_500_000)):
        with recorder.transaction(session=text, id=f"{number}{text}") as writer:
            writer.write(text, text)
            writer.write(f"other {number}", text)
        with recorder.transaction(session=f"reader {number}", id=f"reader {number}{text}") as reader:
            reader.read(text, 0)
            reader.read(f"other {number}", text)
    return check(recorder.history(), ["read-atomic"], max_anomalies=20)


def test_hostile_texts_are_shown_and_never_run(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(render_html(hostile()), encoding="utf-8")
    shown = Opened(browser, path)
    page = shown.at("#transactions")
    expect(page.locator("#table tbody tr").first).to_be_visible()
    for number in range(1, len(HOSTILE) + 2):
        article(shown.at(f"#fractured-read-co-{number}"), number)
    expect(page.locator("#articles")).to_contain_text("longlong", use_inner_text=True)
    assert page.evaluate("window.harmed") is None
    assert shown.complaints == []
    assert len(shown.requests) == len([url for url in shown.requests if url.startswith(path.as_uri())])
    shown.context.close()


def test_a_thousand_counterexamples_open_quickly(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(render_html(check(many(1000), ["read-atomic"], max_anomalies=1000)), encoding="utf-8")
    shown = Opened(browser, path)
    time = BrowserTime(shown.page)
    page = shown.at("#fractured-read-co-900")
    article(page, 900)
    assert 0 < time.seconds() < 10 * yardstick(browser)
    expect(page.locator("#contents a")).to_have_count(1000)
    assert path.stat().st_size < 2_000_000
    assert shown.complaints == []
    shown.context.close()


def test_a_fragment_that_leads_nowhere_shows_the_summary(opened: Opened) -> None:
    page = opened.at("#nothing-of-the-kind")
    expect(page.locator(".js #summary")).to_be_visible()
