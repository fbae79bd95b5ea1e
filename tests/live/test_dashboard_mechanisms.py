"""The live page of a service with a profile, in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .live_page import Opened
from .served import served
from .test_mechanisms import LOST, SETTINGS, batch

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser


pytestmark = pytest.mark.server


@pytest.mark.parametrize("width", [1280, 390])
def test_each_mechanism_has_a_card_and_dependencies_have_a_table(
    tmp_path: Path,
    browser: Browser,
    width: int,
) -> None:
    with served(tmp_path, settings=SETTINGS) as client:
        opened = Opened(browser, client.url, width=width)
        opened.becomes("live")
        client.service.take(batch(1, LOST))
        client.service.flush()
        page = opened.page
        page.wait_for_selector("#answer[data-outcome='violated']", timeout=20_000)
        page.wait_for_selector("#contents button", timeout=20_000)
        assert page.locator(".card h3").first.inner_text() == "consistent-read"
        assert opened.outcomes()[0] == "violated"
        assert "consistent-read: violated, 1 violation" in page.locator("#answer").inner_text()
        assert page.locator("#dependency-rows th").all_inner_texts() == ["wr", "ww", "rw"]
        assert page.locator("#levels-head").inner_text() == "Mechanisms"
        assert "consistent-read" in opened.rows()[0]
        overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.evaluate(overflow) <= 0
        assert opened.complaints == []
        assert "waits for session" in page.locator("#profile-facts").inner_text()
        opened.context.close()
