"""The look of the live page in a browser: themes, phones, screen readers, and thousands of violations."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import pytest

from .live_page import Opened, opened, stale
from .sent_batches import chain, in_batches, transaction

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from .served import Client

pytestmark = pytest.mark.server
CONTRAST = (Path(__file__).parents[1] / "reports" / "contrast.js").read_text(encoding="utf-8")
#: How much of the page moved without an action of the user, as browsers count it.
SHIFTS = """
window.shifted = 0;
new PerformanceObserver((seen) => { for (const one of seen.getEntries()) window.shifted += one.value; })
  .observe({ type: "layout-shift", buffered: true });
"""


def test_ten_thousand_violations_leave_the_page_quick(browser: Browser, client: Client) -> None:
    shown = Opened(browser, client.url)
    shown.becomes("live")
    page = shown.page
    rows = chain(10_001, stale_every=2)
    for number, part in enumerate(in_batches(rows, 2000), start=1):
        assert client.post(number, part).status == 200
    client.ask("POST", "/v1/flush")
    count = client.service.latest_violation
    assert count >= 10_000 - 2
    page.wait_for_selector(f"button[data-id='{count}']", timeout=30_000)
    assert page.locator("#contents li").count() <= 101
    page.wait_for_selector("#picture img")
    started = perf_counter()
    page.keyboard.press("j")
    page.wait_for_selector(f"button[data-id='{count - 1}'][aria-current]")
    assert perf_counter() - started < 0.5
    started = perf_counter()
    page.reload()
    page.wait_for_selector(f"button[data-id='{count}'][aria-current]")
    assert perf_counter() - started < 3
    assert page.inner_text("#held") == f"The last 100 of {count:,}"
    # The browser itself notes pictures that were gone when they were asked for; nothing else went wrong.
    assert [one for one in shown.complaints if "404" not in one] == []
    shown.context.close()


def test_nothing_jumps_when_violations_come(browser: Browser, client: Client) -> None:
    stale(client)
    with opened(browser, client.url) as shown:
        page = shown.page
        page.wait_for_selector("#picture img")
        page.evaluate(SHIFTS)
        page.wait_for_timeout(200)
        page.evaluate("window.shifted = 0")
        client.post(2, [transaction(n, n, 2 * n, 2 * n + 1, "r x 1") for n in range(10, 60)])
        client.ask("POST", "/v1/flush")
        page.wait_for_selector("button[data-id='102']")
        page.wait_for_timeout(1500)
        assert page.evaluate("window.shifted") < 0.01


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read(browser: Browser, client: Client, scheme: str) -> None:
    stale(client)
    with opened(browser, client.url, scheme=scheme) as shown:
        shown.page.wait_for_selector("#picture img")
        assert shown.page.evaluate(CONTRAST) == []
        shown.page.click("#theme")
        assert shown.page.evaluate(CONTRAST) == []


def test_the_picture_has_the_theme_of_the_page(browser: Browser, client: Client) -> None:
    stale(client)
    with opened(browser, client.url) as shown:
        page = shown.page
        page.wait_for_selector("#picture img")
        light = page.locator("#picture img").screenshot()
        page.click("#theme")
        page.wait_for_timeout(300)
        assert page.locator("#picture img").screenshot() != light


def test_nothing_on_a_phone_is_wider_than_the_screen(browser: Browser, client: Client) -> None:
    stale(client)
    with opened(browser, client.url, width=360) as shown:
        shown.page.wait_for_selector("#picture img")
        assert shown.page.evaluate("document.documentElement.scrollWidth") <= 360


def test_landmarks_and_names_are_there_for_screen_readers(client: Client, shown: Opened) -> None:
    stale(client)
    page = shown.page
    page.wait_for_selector("#picture img")
    for role in ("banner", "main", "contentinfo"):
        assert page.get_by_role(role).count() == 1
    assert page.get_by_role("article", name="clock-serializable", exact=True).is_visible()
    assert page.get_by_role("navigation", name="latest violations, newest first").is_visible()
    assert page.get_by_role("checkbox", name="Follow the newest").is_visible()
    assert page.get_by_role("img", name="throughput, last ten minutes").is_visible()
    named = "all => all.filter(e => e.checkVisibility() && !(e.textContent.trim() || e.ariaLabel)).length"
    assert page.locator("button, a").evaluate_all(named) == 0
