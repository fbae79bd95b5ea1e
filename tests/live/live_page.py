"""The live page of a service, open in a browser."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

from .sent_batches import STALE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Locator, Page

    from .served import Client


class Opened:
    """A page at a service, with its errors and its requests."""

    def __init__(self, browser: Browser, url: str, *, width: int = 1280, scheme: str = "light") -> None:
        self.url = url
        self.context = browser.new_context(
            color_scheme=scheme,  # type: ignore[arg-type]
            viewport={"width": width, "height": 900},
        )
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        if url:
            self.page.goto(f"{url}/")

    def becomes(self, state: str) -> None:
        expect(self.page.locator("#connection")).to_have_attribute("data-state", state)

    def has_outcomes(self, *outcomes: str) -> None:
        expect(self.page.locator(".card .pill")).to_have_text(outcomes)

    def has_picture(self, number: int) -> None:
        """The violation of this number is selected, and its picture is drawn."""
        expect(self.row(number)).to_have_attribute("aria-current", "true")
        expect(self.page.locator("#shown-head")).to_contain_text(f" {number} breaks ")
        expect(self.page.locator("#picture img")).to_be_visible()

    @property
    def rows(self) -> Locator:
        return self.page.locator("#contents button")

    def row(self, number: int) -> Locator:
        return self.page.locator(f"button[data-id='{number}']")


@contextmanager
def opened(browser: Browser, url: str, **how: Any) -> Iterator[Opened]:
    """The page; at the end, it must have sent no request elsewhere and logged no error."""
    shown = Opened(browser, url, **how)
    yield shown
    foreign = [one for one in shown.requests if not one.startswith((f"{url}/", "blob:", "data:"))]
    assert (shown.complaints, foreign) == ([], [])
    shown.context.close()


def stale(client: Client, *, sequence: int = 1) -> None:
    assert client.post(sequence, STALE).status == 200
    client.ask("POST", "/v1/flush")


def violations(client: Client) -> Any:
    return client.get("/v1/violations").document
