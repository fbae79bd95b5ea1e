"""Hypothesis profiles: the same few examples every time, or many new ones with ISOSCOPE_HYPOTHESIS=deep."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from playwright.sync_api import expect, sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

# Tests compare captured output byte for byte: no colours.
os.environ.pop("FORCE_COLOR", None)
# Nor does the width of the terminal matter.
os.environ["COLUMNS"] = "100"

# Drawing a history takes many small steps, and the machine may be busy: neither is a fault of the code.
_QUIET = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture)

settings.register_profile(
    "fast", derandomize=True, max_examples=30, deadline=None, database=None, suppress_health_check=_QUIET
)
settings.register_profile("deep", max_examples=3000, deadline=None, suppress_health_check=_QUIET)
settings.load_profile(os.environ.get("ISOSCOPE_HYPOTHESIS", "fast"))

# Milliseconds after which a state of a page counts as missed, also on a busy machine.
_PATIENCE = 60_000


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, driven by Playwright."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no `chromium`: `apt-get install chromium`")
    expect.set_options(timeout=_PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()
