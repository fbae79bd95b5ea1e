"""The live page as bytes: one file, its own policy, and no data of the service."""

from __future__ import annotations

import base64
import hashlib
import re
from time import sleep
from typing import TYPE_CHECKING

import pytest

from isoscope.checkers.clock import AXIOMS
from isoscope.live.access import Access
from isoscope.live.check_settings import CheckSettings
from isoscope.live.dashboard import policy, render
from isoscope.live.journal import Fsync
from isoscope.live.service import Settings

from .sent_batches import chain, transaction
from .served import Client, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGE = render().decode()


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Client]:
    with served(tmp_path, Access(token="secret")) as client:
        yield client


def inline(start: str, end: str) -> str:
    """The hash of what stands between two tags, as policies write it."""
    found = re.search(f"{start}(.*?){end}", PAGE, re.DOTALL)
    assert found
    return base64.b64encode(hashlib.sha256(found[1].encode()).digest()).decode()


def test_the_page_is_the_same_bytes_every_time() -> None:
    render.cache_clear()
    assert render() == PAGE.encode()


def test_the_policy_allows_the_own_script_and_style_and_nothing_else() -> None:
    style, script = inline("<style>", "</style>"), inline('<script type="module">', "</script>")
    assert policy() == (
        f"default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; "
        "connect-src 'self'; img-src blob: data:; base-uri 'none'; form-action 'none'"
    )
    assert f'content="{policy()}"' in PAGE


def test_nothing_is_loaded_from_elsewhere() -> None:
    addresses = set(re.findall(r"(?:https?:)?//[\w.]+\.\w+[^\s'\"]*", PAGE))
    assert addresses == {"http://www.w3.org/2000/svg"}
    assert not re.findall(r"<(?:link|img|script|iframe)[^>]* (?:src|href)=[\"'](?!data:)", PAGE)


def test_no_text_can_become_html() -> None:
    assert not re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", PAGE)


def test_every_axiom_of_the_checker_has_a_meaning_on_the_page() -> None:
    known = re.search(r"const MEANING = \{(.*?)\n\};", PAGE, re.DOTALL)
    assert known
    assert set(re.findall(r'^  "?([\w-]+)"?: \{', known[1], re.MULTILINE)) == set(AXIOMS.values())


def test_whoever_has_no_token_gets_the_page_and_nothing_else(guarded: Client) -> None:
    page = guarded.get("/")
    assert page.status == 200
    assert page.body == render()
    assert guarded.get("/v1/status").status == 401


def test_the_page_may_not_be_shown_within_another(guarded: Client) -> None:
    headers = guarded.get("/").headers
    assert headers["content-type"] == "text/html; charset=utf-8"
    assert headers["content-security-policy"] == f"{policy()}; frame-ancestors 'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


def test_a_counterexample_is_shown_although_who_wrote_what_was_read_was_dropped(tmp_path: Path) -> None:
    settings = Settings(fsync=Fsync.NEVER, check=CheckSettings(timeout=1))
    with served(tmp_path, settings=settings) as client:
        client.post(1, chain(50))
        while client.get("/v1/status").document["levels"][0]["live"] == 50:
            sleep(0.05)
        client.post(2, [transaction(51, 9, 101, 102, "r x 1")])
        client.ask("POST", "/v1/flush")
        picture = client.get("/v1/violations/1.svg")
        assert picture.status == 200
        assert b">T51 read x = 1, but by the database&#x27;s clock x was 50" in picture.body
        assert b"No transaction that is still in memory wrote 1.</desc>" in picture.body
