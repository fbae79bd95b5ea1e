"""The page in a real browser: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import pytest

from isoscope import Recorder, check
from isoscope.reports.html import render_html
from tests.reports.pages import HOSTILE, many

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

    from isoscope.verdict import Report

pytestmark = pytest.mark.server
MANY = many(60)
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


def heading(page: Page) -> str:
    page.wait_for_selector("#articles article:visible h3")
    return page.locator("#articles article:visible h3").inner_text()


def test_the_page_opens_with_the_summary_and_its_lattice(opened: Opened) -> None:
    page = opened.at()
    page.wait_for_selector(".js")
    assert page.locator("#summary").is_visible()
    assert page.locator(".lattice .violated .outcome").all_text_contents() == ["violated", "violated"]
    assert not page.locator("#counterexamples").is_visible()


def test_a_level_leads_to_its_counterexample_and_the_back_button_back(opened: Opened) -> None:
    page = opened.at()
    page.wait_for_selector(".js")
    page.locator(".lattice a").first.click()
    assert heading(page).startswith("fractured-read-co 1 of 60")
    page.go_back()
    page.wait_for_selector("#summary:visible")


def test_a_fragment_opens_a_packed_counterexample(opened: Opened) -> None:
    assert heading(opened.at("#fractured-read-co-47")) == "fractured-read-co 47 of 60"
    assert opened.page.locator("#articles svg.isoscope").count() == 1


def test_hovering_a_step_lights_up_its_arrow_and_its_operations(opened: Opened) -> None:
    page = opened.at("#fractured-read-co-1")
    heading(page)
    page.locator(".steps li").first.hover()
    assert page.locator("g.step.lit").get_attribute("data-step") == "0"
    assert page.locator("svg .operation.lit").evaluate_all("all => all.map(e => e.dataset.operation)") == [
        "T1:1",
        "T2:1",
    ]
    page.locator("h3:visible").hover()
    assert page.locator(".lit").count() == 0


def test_hovering_an_arrow_lights_up_its_step(opened: Opened) -> None:
    page = opened.at("#fractured-read-co-1")
    heading(page)
    page.locator('svg g.step[data-step="0"] text').hover()
    assert page.locator(".steps li.lit").count() == 1
    assert page.locator(".operations li.lit").count() == 2


def test_focus_does_what_hovering_does(opened: Opened) -> None:
    page = opened.at("#fractured-read-co-1")
    heading(page)
    page.locator(".steps li").first.focus()
    assert page.locator("g.step.lit").count() == 1


def test_keys_go_through_the_counterexamples(opened: Opened) -> None:
    page = opened.at("#fractured-read-co-1")
    assert heading(page).endswith("1 of 60")
    for key, number in (("j", 2), ("j", 3), ("k", 2), ("k", 1), ("k", 1)):
        page.keyboard.press(key)
        page.wait_for_selector(f"#fractured-read-co-{number}:visible")
    page.keyboard.press("t")
    page.wait_for_selector("#transactions:visible")
    page.keyboard.press("s")
    page.wait_for_selector("#summary:visible")


def test_arrow_keys_go_through_the_list_and_scroll_elsewhere(opened: Opened) -> None:
    page = opened.at("#fractured-read-co-1")
    heading(page)
    page.keyboard.press("ArrowDown")
    assert heading(page).endswith("1 of 60")
    page.locator("#contents a").first.focus()
    for key, number in (("ArrowDown", 2), ("ArrowDown", 3), ("ArrowUp", 2)):
        page.keyboard.press(key)
        page.wait_for_selector(f"#fractured-read-co-{number}:visible")
        page.wait_for_selector(f"a[href='#fractured-read-co-{number}']:focus")


def test_the_help_opens_and_closes_by_keys(opened: Opened) -> None:
    page = opened.at()
    page.wait_for_selector(".js")
    page.keyboard.press("?")
    page.wait_for_selector("#help:visible")
    page.keyboard.press("Escape")
    page.wait_for_selector("#help", state="hidden")


def test_the_filter_finds_by_transaction_and_by_key(opened: Opened) -> None:
    page = opened.at("#counterexamples")
    heading(page)
    page.keyboard.press("/")
    # The page's policy forbids what `wait_for_function` does.
    page.wait_for_selector("#filter:focus")
    page.keyboard.type("x37")
    assert page.locator("#contents a").all_inner_texts() == ["38. T75 T76\non x37, y37"]
    page.keyboard.press("Escape")
    assert page.locator("#contents a").count() == 60


def test_the_table_is_searched_sorted_and_leads_to_counterexamples(opened: Opened) -> None:
    page = opened.at("#transactions")
    page.wait_for_selector("#table tbody tr")
    assert page.locator("#table tbody tr").count() == 120
    page.get_by_role("button", name="transaction", exact=True).click()
    assert page.locator("#table tbody tr th").first.inner_text() == "T120"
    page.fill("#search", "T16")
    assert page.locator("#table tbody tr").count() == 1
    page.locator("#table tbody .jumps a").click()
    assert heading(page).startswith("fractured-read-co 8 of")


def test_the_theme_can_be_changed(opened: Opened) -> None:
    page = opened.at()
    page.wait_for_selector(".js")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("#theme")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", ["#summary", "#fractured-read-co-1", "#transactions"])
def test_every_text_can_be_read(opened: Opened, browser: Browser, scheme: str, view: str) -> None:
    shown = Opened(browser, opened.path, scheme=scheme)
    page = shown.at(view)
    page.wait_for_selector(".js")
    page.wait_for_timeout(200)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.evaluate(CONTRAST) == []
    shown.context.close()


def test_without_a_script_the_summary_and_the_first_of_each_name_are_there(
    opened: Opened, browser: Browser
) -> None:
    shown = Opened(browser, opened.path, script=False)
    page = shown.at()
    assert page.locator("#summary").is_visible()
    assert page.locator("#fractured-read-co-1 svg.isoscope").is_visible()
    assert not page.locator("#transactions").is_visible()
    shown.context.close()


def test_landmarks_and_names_are_there_for_screen_readers(opened: Opened) -> None:
    page = opened.at("#fractured-read-co-1")
    heading(page)
    for role in ("banner", "main", "contentinfo"):
        assert page.get_by_role(role).count() == 1
    assert page.get_by_role("article", name="fractured-read-co 1 of 60").is_visible()
    assert page.get_by_role("searchbox", name="Filter by name, transaction or key").is_visible()
    assert page.get_by_role("img", name="fractured-read-co").is_visible()
    named = "all => all.filter(e => e.checkVisibility() && !(e.textContent.trim() || e.ariaLabel)).length"
    assert page.locator("button, a").evaluate_all(named) == 0


def test_nothing_on_a_phone_is_wider_than_the_screen(opened: Opened) -> None:
    page = opened.at("#fractured-read-co-1")
    for view in ("summary", "fractured-read-co-1", "transactions"):
        page.set_viewport_size({"width": 390, "height": 800})
        page.goto(f"{opened.path.as_uri()}#{view}")
        page.wait_for_timeout(100)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


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
    page.wait_for_selector("#table tbody tr")
    for number in range(1, len(HOSTILE) + 2):
        page.goto(f"{path.as_uri()}#fractured-read-co-{number}")
        page.wait_for_selector(f"#fractured-read-co-{number}:visible")
    assert "longlong" in page.inner_text("#articles")
    assert page.evaluate("window.harmed") is None
    assert shown.complaints == []
    assert len(shown.requests) == len([url for url in shown.requests if url.startswith(path.as_uri())])
    shown.context.close()


def test_a_thousand_counterexamples_open_quickly(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(render_html(check(many(1000), ["read-atomic"], max_anomalies=1000)), encoding="utf-8")
    shown = Opened(browser, path)
    shown.at()  # the browser itself is warm after this
    started = perf_counter()
    page = shown.at("#fractured-read-co-900")
    page.reload()
    heading(page)
    assert perf_counter() - started < 2
    assert page.locator("#contents a").count() == 1000
    assert path.stat().st_size < 2_000_000
    assert shown.complaints == []
    shown.context.close()


def test_a_fragment_that_leads_nowhere_shows_the_summary(opened: Opened) -> None:
    page = opened.at("#nothing-of-the-kind")
    page.wait_for_selector(".js #summary:visible")
