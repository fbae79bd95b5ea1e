"""The live page of a service with a profile, in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

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
        expect(page.locator("#answer")).to_have_attribute("data-outcome", "violated")
        expect(page.locator("#answer")).to_contain_text("consistent-read: violated, 1 violation")
        expect(page.locator(".card h3").first).to_have_text("consistent-read")
        expect(page.locator(".card .pill").first).to_have_text("violated")
        expect(page.locator("#dependency-rows th")).to_have_text(["wr", "ww", "rw"])
        expect(page.locator("#levels-head")).to_have_text("Mechanisms")
        expect(opened.rows.first).to_contain_text("consistent-read")
        overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.evaluate(overflow) <= 0
        expect(page.locator("#profile-facts")).to_contain_text("waits for session")
        assert opened.complaints == []
        opened.context.close()
