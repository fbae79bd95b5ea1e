"""The look of the live page in a browser: themes, phones, screen readers, and thousands of violations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser_time import BrowserTime, yardstick
from tests.interrupts import wait_until

from .live_page import Opened, opened, stale
from .sent_batches import chain, in_batches, transaction

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from .served import Client

pytestmark = pytest.mark.server
CONTRAST = (Path(__file__).parents[1] / "reports" / "contrast.js").read_text(encoding="utf-8")
#: How much of the page moved without an action of the user, as browsers count it.
WATCH = """
window.shifts = [];
window.observer = new PerformanceObserver((seen) => window.shifts.push(...seen.getEntries()));
window.observer.observe({ type: "layout-shift" });
"""
#: The last shift is known when the frame after it is drawn.
SHIFTED = """async () => {
  for (const _ of "12") await new Promise(requestAnimationFrame);
  return [...window.shifts, ...window.observer.takeRecords()].reduce((sum, one) => sum + one.value, 0);
}"""


def test_ten_thousand_violations_leave_the_page_quick(browser: Browser, client: Client) -> None:
    shown = Opened(browser, client.url)
    shown.becomes("live")
    page, time = shown.page, BrowserTime(shown.page)
    rows = chain(10_001, stale_every=2)
    for number, part in enumerate(in_batches(rows, 2000), start=1):
        assert client.post(number, part).status == 200
    client.ask("POST", "/v1/flush")
    count = client.service.latest_violation
    assert count >= 10_000 - 2
    shown.has_picture(count)
    assert page.locator("#contents li").count() <= 101
    lines, before = yardstick(browser), time.seconds()
    page.keyboard.press("j")
    shown.has_picture(count - 1)
    assert 0 < time.seconds() - before < 2 * lines
    page.reload()
    shown.has_picture(count)
    assert 0 < time.seconds() < 10 * lines
    expect(page.locator("#held")).to_have_text(f"The last 100 of {count:,}")
    # The browser itself notes pictures that were gone when they were asked for; nothing else went wrong.
    assert [one for one in shown.complaints if "404" not in one] == []
    shown.context.close()


def test_nothing_jumps_when_violations_come(browser: Browser, client: Client) -> None:
    stale(client)
    with opened(browser, client.url) as shown:
        page = shown.page
        shown.has_picture(2)
        page.evaluate(WATCH)
        client.connection.close()  # the service ends one that was idle while a slow browser started
        client.post(2, [transaction(n, n, 2 * n, 2 * n + 1, "r x 1") for n in range(10, 60)])
        client.ask("POST", "/v1/flush")
        shown.has_picture(102)
        expect(page.locator("#told")).to_have_text("102")
        assert page.evaluate(SHIFTED) < 0.01


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read(browser: Browser, client: Client, scheme: str) -> None:
    stale(client)
    with opened(browser, client.url, scheme=scheme) as shown:
        shown.has_picture(2)
        assert shown.page.evaluate(CONTRAST) == []
        shown.page.click("#theme")
        assert shown.page.evaluate(CONTRAST) == []


def test_the_picture_has_the_theme_of_the_page(browser: Browser, client: Client) -> None:
    stale(client)
    with opened(browser, client.url) as shown:
        shown.has_picture(2)
        image = shown.page.locator("#picture img")
        light = image.screenshot()
        shown.page.click("#theme")
        wait_until(lambda: image.screenshot() != light)


def test_nothing_on_a_phone_is_wider_than_the_screen(browser: Browser, client: Client) -> None:
    stale(client)
    with opened(browser, client.url, width=360) as shown:
        shown.has_picture(2)
        assert shown.page.evaluate("document.documentElement.scrollWidth") <= 360


def test_landmarks_and_names_are_there_for_screen_readers(client: Client, shown: Opened) -> None:
    stale(client)
    page = shown.page
    shown.has_picture(2)
    for role in ("banner", "main", "contentinfo"):
        expect(page.get_by_role(role)).to_have_count(1)
    expect(page.get_by_role("article", name="clock-serializable", exact=True)).to_be_visible()
    expect(page.get_by_role("navigation", name="latest violations, newest first")).to_be_visible()
    expect(page.get_by_role("checkbox", name="Follow the newest")).to_be_visible()
    expect(page.get_by_role("img", name="throughput, last ten minutes")).to_be_visible()
    named = "all => all.filter(e => e.checkVisibility() && !(e.textContent.trim() || e.ariaLabel)).length"
    assert page.locator("button, a").evaluate_all(named) == 0
