"""Fixtures of the live service: a client, and the live page in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .live_page import Opened, opened
from .served import Client, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with served(tmp_path) as found:
        yield found


@pytest.fixture
def shown(browser: Browser, client: Client) -> Iterator[Opened]:
    with opened(browser, client.url) as page:
        page.becomes("live")
        yield page
