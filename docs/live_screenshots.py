"""`python -m docs.live_screenshots`: pictures of the live page for the pages; needs `chromium` and a minute.

A bank of 40 accounts is told to a service on this machine; for some of that minute its database forgets the
newest version now and then. The pages' clocks run ten times as fast, so that a minute fills ten of theirs.
"""

from __future__ import annotations

import math
import random
import shutil
import sys
import tempfile
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

from isoscope.collect import Collector
from isoscope.live.access import Access
from isoscope.live.check_settings import CheckSettings
from isoscope.live.http_server import HttpServer, listen
from isoscope.live.journal import Fsync
from isoscope.live.service import Service, Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

__all__ = ["SHOTS"]

FOLDER = Path(__file__).with_name("screenshots")
SECONDS, FASTER = 60, 10
#: When the database forgets, in seconds from the start.
ILL = range(25, 40)
CLOCK = f"const real = performance.now.bind(performance); performance.now = () => {FASTER} * real();"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """What one picture shows: the page from an element on, a size, a theme."""

    name: str
    top: str = "body"
    width: int = 1280
    height: int = 900
    scheme: str = "light"


SHOTS = (
    Shot(name="live", height=1160),
    Shot(name="live-dark", scheme="dark", top="#latest", height=680),
    Shot(name="live-phone", width=390, height=840),
)


class Bank:
    """Transfers between accounts, by a database with a clock."""

    def __init__(self, url: str) -> None:
        self._random = random.Random(1)
        self._balances = {f"account:{number}": [1000] for number in range(40)}
        self._number = self._time = 0
        self._collectors = Collector(url, name="near"), Collector(url, name="far")
        #: What the far collector hears late.
        self._late: deque[tuple[float, dict[str, object]]] = deque()

    def work(self, until: Event) -> None:
        """Transfers money, now faster and now slower."""
        started = monotonic()
        while not until.wait(0.05):
            seconds = monotonic() - started
            for _ in range(round(25 + 15 * math.sin(seconds / 8))):
                self._transfer(is_ill=int(seconds) in ILL)
            while self._late and self._late[0][0] < monotonic():
                self._send(1, self._late.popleft()[1])
        for collector in self._collectors:
            collector.close()

    def _transfer(self, *, is_ill: bool) -> None:
        accounts = self._random.sample(sorted(self._balances), 2)
        operations: list[tuple[str, str, int]] = []
        for account in accounts:
            versions = self._balances[account]
            is_forgotten = is_ill and self._random.random() < 0.004
            operations.append(("r", account, versions[0 if is_forgotten else -1]))
        self._number += 1
        self._time += 10
        for account in accounts:
            self._balances[account] = [self._balances[account][-1], 1000 + self._number]
            operations.append(("w", account, 1000 + self._number))
        told: dict[str, object] = {
            "transaction_id": self._number,
            "session": self._number % 12,
            "start": self._time,
        }
        told |= {"commit": self._time + 5, "operations": operations}
        if self._number % 12 == 0:
            self._late.append((monotonic() + self._random.uniform(0.1, 0.5), told))
        else:
            self._send(0, told)

    def _send(self, collector: int, told: dict[str, object]) -> None:
        self._collectors[collector].add(**told)  # type: ignore[arg-type]


def main() -> None:
    """Takes all pictures."""
    chromium = shutil.which("chromium") or sys.exit("no `chromium` was found")
    FOLDER.mkdir(exist_ok=True)
    with served() as url, at_work(Bank(url)), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        pages = [_open(browser, url, shot) for shot in SHOTS]
        pages[0].wait_for_timeout(SECONDS * 1000)
        for shot, page in zip(SHOTS, pages, strict=True):
            page.locator(shot.top).evaluate("element => scrollTo(0, element.offsetTop - 60)")
            page.screenshot(path=FOLDER / f"{shot.name}.png")
        browser.close()


@contextmanager
def served() -> Iterator[str]:
    """The address of a service."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(check=CheckSettings(timeout=1_000_000_000), fsync=Fsync.NEVER)
        service = Service(Path(folder), settings)
        serving = HttpServer(service, Access(), listen("127.0.0.1", 0), drain=1.0)
        thread = Thread(target=serving.run)
        thread.start()
        try:
            yield serving.url
        finally:
            serving.stop()
            thread.join()
            service.close()


@contextmanager
def at_work(bank: Bank) -> Iterator[None]:
    """The bank works meanwhile."""
    is_over = Event()
    thread = Thread(target=bank.work, args=(is_over,))
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _open(browser: Browser, url: str, shot: Shot) -> Page:
    size = {"width": shot.width, "height": shot.height}
    page = browser.new_page(viewport=size, color_scheme=shot.scheme)  # type: ignore[arg-type]
    page.add_init_script(CLOCK)
    page.goto(f"{url}/")
    # The address is another one every time.
    page.locator("#host").evaluate("element => { element.textContent = 'bank.example:8642'; }")
    return page


if __name__ == "__main__":
    main()
