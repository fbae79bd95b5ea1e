"""The live page of a service, open in a browser."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .sent_batches import STALE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

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
        self.page.wait_for_selector(f"#connection[data-state='{state}']", timeout=20_000)

    def rows(self) -> list[str]:
        return self.page.locator("#contents button").all_inner_texts()

    def outcomes(self) -> list[str]:
        return self.page.locator(".card .pill").all_inner_texts()


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
