"""The CPU time of a page in the browser, and a yardstick: limits in seconds fail on slow machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["BrowserTime", "yardstick"]

_LINES = """() => {
  for (let number = 0; number < 20000; number++) {
    const line = document.createElement("p");
    line.textContent = `line ${number} of the yardstick`;
    document.body.append(line);
  }
  return document.body.scrollHeight;
}"""


class BrowserTime:
    """Counts the seconds that a page's main thread worked."""

    def __init__(self, page: Page) -> None:
        self._session = page.context.new_cdp_session(page)
        self._session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def seconds(self) -> float:
        """Seconds since the document that is open was opened."""
        metrics = self._session.send("Performance.getMetrics")["metrics"]
        return float(next(one["value"] for one in metrics if one["name"] == "TaskDuration"))


def yardstick(browser: Browser) -> float:
    """Seconds in which this browser writes a page of 20,000 lines."""
    context = browser.new_context()
    page = context.new_page()
    time = BrowserTime(page)
    before = time.seconds()
    assert page.evaluate(_LINES) > 0
    seconds = time.seconds() - before
    context.close()
    return seconds
