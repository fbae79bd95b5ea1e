"""The live page in a real browser, at a real service: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from isoscope.live.access import Access
from isoscope.live.check_settings import CheckSettings
from isoscope.live.journal import Fsync
from isoscope.live.service import Settings, State
from tests.reports.pages import HOSTILE

from .live_page import Opened, opened, stale, violations
from .sent_batches import FINE, SECOND, STALE, chain, transaction
from .served import Client, served

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

pytestmark = pytest.mark.server


def test_before_the_first_transaction_nothing_is_claimed(shown: Opened) -> None:
    shown.has_outcomes("no transaction yet", "no transaction yet")
    expect(shown.page.locator("#none")).to_be_visible()
    expect(shown.page).to_have_title("no transaction yet · Isoscope")


def test_levels_that_nothing_contradicts_hold_so_far(client: Client, shown: Opened) -> None:
    client.post(1, FINE)
    shown.has_outcomes("holds so far", "holds so far")
    expect(shown.page.locator("#answer")).to_have_text(
        "clock-snapshot-isolation: holds so far\nclock-serializable: holds so far"
    )
    expect(shown.page.locator("#sizes div").first).to_have_text("transactions\n3", use_inner_text=True)
    expect(shown.page).to_have_title("✓ holds so far · Isoscope")


def test_a_violation_appears_while_the_page_is_open(client: Client, shown: Opened) -> None:
    stale(client)
    shown.has_picture(2)
    page, image = shown.page, shown.page.locator("#picture img")
    rows = [
        "2. stale-read\ntransaction 3 on x\nclock-serializable",
        "1. stale-read\ntransaction 3 on x\nclock-snapshot-isolation",
    ]
    expect(shown.rows).to_have_text(rows, use_inner_text=True)
    expect(page.locator("#shown-head")).to_have_text("stale-read 2 breaks clock-serializable")
    words = page.inner_text("#shown-words")
    assert words.startswith("T3 read x = 1, but by the database's clock x was 2")
    expect(image).to_have_attribute("alt", words)
    assert image.evaluate("image => image.naturalWidth") > 100
    shown.has_outcomes("violated", "violated")
    expect(page.locator("#told")).to_have_text("2")
    expect(page).to_have_title("✗ violated · Isoscope")
    expect(page.locator(".card").first.locator("tbody tr td.some")).to_have_text(["1"])


def test_a_new_violation_is_announced_to_screen_readers(client: Client, shown: Opened) -> None:
    region = shown.page.locator("#news")
    expect(region).to_have_attribute("aria-live", "polite")
    expect(region).to_have_text("")
    stale(client)
    expect(region).to_have_text(re.compile(r"new violations?, the latest: stale-read, transaction 3 on x$"))


def test_violations_before_the_page_are_shown_and_not_announced(browser: Browser, client: Client) -> None:
    stale(client)
    with opened(browser, client.url) as shown:
        expect(shown.rows).to_have_count(2)
        # A row and its announcement appear together: none follows.
        assert shown.page.inner_text("#news") == ""


def test_charts_show_what_grew_and_when(client: Client, shown: Opened) -> None:
    stale(client)
    page, first = shown.page, shown.page.locator(".card").first
    expect(first.get_by_label("final violations, per 10 s, last ten minutes: 1", exact=True)).to_be_visible()
    drawn = first.locator(".plot").first.locator("path:not(.grid):not([d=''])")
    expect(drawn).to_have_count(1)
    expect(drawn).to_have_class("rw")
    expect(page.get_by_label("memory, last ten minutes: now")).to_be_visible()
    expect(page.locator("#gauges .value").nth(1)).to_have_text(re.compile(r"\d (s|ms|µs)$"))


def test_provisional_violations_and_flip_flops_are_counted(browser: Browser, tmp_path: Path) -> None:
    # A provisional violation lasts until the flush, however long the page takes to show it.
    settings = Settings(fsync=Fsync.NEVER, check=CheckSettings(timeout=3600 * SECOND))
    with served(tmp_path, settings=settings) as client, opened(browser, client.url) as shown:
        early = [transaction(1, 1, 1, 2, "w x 1"), transaction(3, 3, 5, 6, "r x 2")]
        client.post(1, early)
        first = shown.page.locator(".card").first
        expect(first.locator(".why")).to_contain_text("1 read is wrong so far")
        expect(first.locator(".pill")).to_have_text("holds so far")
        client.post(2, [transaction(2, 2, 3, 4, "w x 2")])
        client.ask("POST", "/v1/flush")
        expect(first.locator(".facts")).to_contain_text("1 in 1 read; half were right within")
        expect(first.locator(".why")).to_have_text("nothing contradicts it.")


def test_a_level_is_unknown_when_something_came_too_late(browser: Browser, tmp_path: Path) -> None:
    settings = Settings(fsync=Fsync.NEVER, check=CheckSettings(timeout=1))
    with served(tmp_path, settings=settings) as client, opened(browser, client.url) as shown:
        client.post(1, chain(50))
        expect(shown.page.locator(".facts").first).to_contain_text("4, 0 of them not final")
        client.post(2, [transaction(1000, 99, 3, 4, "w x 77")])
        expect(shown.page.locator(".card .pill").first).to_have_text("unknown")
        expect(shown.page.locator(".why").first).to_have_text(
            "1 transaction came after what they must be held against was dropped."
        )
        expect(shown.page).to_have_title("? unknown · Isoscope")


def test_a_violation_that_is_taken_back_is_struck_out(browser: Browser, tmp_path: Path) -> None:
    settings = Settings(fsync=Fsync.NEVER, check=CheckSettings(keep=1000))
    with served(tmp_path, settings=settings) as client, opened(browser, client.url) as shown:
        client.post(1, [transaction(1, 1, 1, 2, "w x 1"), transaction(3, 3, 5, 6, "r x 2")])
        client.ask("POST", "/v1/flush")
        expect(shown.rows).to_have_count(2)
        client.post(2, [transaction(2, 2, 3, 4, "w x 2")])
        client.ask("POST", "/v1/flush")
        expect(shown.rows.filter(has_text="taken back")).to_have_count(2)
        expect(shown.page.locator("#contents .retracted")).to_have_count(2)
        expect(shown.page.locator("#shown-words")).to_contain_text("Taken back")


def test_the_newest_violation_is_shown_until_the_user_selects_another(client: Client, shown: Opened) -> None:
    page = shown.page
    stale(client)
    shown.has_picture(2)
    shown.row(1).click()
    expect(page.locator("#follow")).not_to_be_checked()
    shown.has_picture(1)
    client.post(2, [transaction(4, 3, 7, 8, "r x 1")])
    client.ask("POST", "/v1/flush")
    expect(shown.row(4)).to_be_visible()
    shown.has_picture(1)
    page.keyboard.press("f")
    shown.has_picture(4)


def test_keys_go_through_the_list(client: Client, shown: Opened) -> None:
    page = shown.page
    stale(client)
    shown.has_picture(2)
    for key, number in (("j", 1), ("j", 1), ("k", 2), ("k", 2), ("ArrowDown", 1), ("ArrowUp", 2)):
        page.keyboard.press(key)
        shown.has_picture(number)
        expect(shown.row(number)).to_be_focused()


def test_numbers_beyond_javascript_stay_exact(client: Client, shown: Opened) -> None:
    rows = [{**row, "tid": 2**62 + row["tid"]} for row in STALE]
    client.post(1, rows)
    client.ask("POST", "/v1/flush")
    expect(shown.rows.first).to_contain_text(f"transaction {2**62 + 3} on x")


def test_hostile_keys_are_shown_and_never_run(client: Client, shown: Opened) -> None:
    rows = []
    for number, text in enumerate((*HOSTILE, "long" * 100_000)):
        first = 10 * number
        for place, (kind, value) in enumerate((("w", 1), ("w", 2), ("r", 1))):
            operation = {"t": kind, "k": text, "v": value}
            start = first + 2 * place + 1
            rows.append({"tid": start, "sid": place, "sts": start, "cts": start + 1, "ops": [operation]})
    assert client.post(1, rows).status == 200
    client.ask("POST", "/v1/flush")
    page, count = shown.page, 2 * len(HOSTILE) + 2
    shown.has_picture(count)
    for number in range(count - 1, 0, -1):
        page.keyboard.press("j")
        shown.has_picture(number)
    text = page.inner_text("#contents")
    assert "on <script>window.harmed = 1</script>" in text
    assert "\\u202egnirts" in text
    assert "\u202e" not in text
    assert page.evaluate("window.harmed") is None
    assert page.locator("main script, main iframe, #contents img, #shown svg").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_the_page_comes_back_when_the_service_does(browser: Browser, tmp_path: Path) -> None:
    with served(tmp_path) as client:
        port = int(client.url.rsplit(":", 1)[1])
        shown = Opened(browser, client.url)
        stale(client)
        expect(shown.row(2)).to_be_visible()
    shown.becomes("reconnecting")
    expect(shown.page.locator("#problem")).to_contain_text("Nothing was heard for ")
    with served(tmp_path, port=port) as client:
        shown.becomes("live")
        client.post(2, [transaction(4, 3, 7, 8, "r x 1")])
        client.ask("POST", "/v1/flush")
        expect(shown.rows).to_have_text([re.compile(rf"^{number}\. ") for number in (4, 3, 2, 1)])
        expect(shown.page.locator("#problem")).to_have_text("")
    shown.context.close()


def test_a_service_that_began_anew_is_shown_anew(browser: Browser, tmp_path: Path) -> None:
    with served(tmp_path / "first") as client:
        port = int(client.url.rsplit(":", 1)[1])
        shown = Opened(browser, client.url)
        stale(client)
        expect(shown.row(2)).to_be_visible()
    with served(tmp_path / "second", port=port) as client:
        client.post(1, FINE)
        shown.becomes("live")
        shown.has_outcomes("holds so far", "holds so far")
        expect(shown.page.locator("#none")).to_be_visible()
        stale_again = [transaction(9, 9, 9, 10, "r x 1")]
        client.post(2, stale_again)
        client.ask("POST", "/v1/flush")
        expect(shown.row(2)).to_contain_text("transaction 9")
        expect(shown.rows).to_have_count(2)
    shown.context.close()


def test_a_status_that_is_older_than_the_violations_takes_nothing_back(
    browser: Browser, client: Client
) -> None:
    old = client.get("/v1/status").body.decode()
    stale(client)
    told = [f"event: violation\nid: {row['id']}\ndata: {json.dumps(row)}" for row in violations(client)]
    stream = "\n\n".join([*told, f"event: status\ndata: {old}", ""])
    shown = Opened(browser, "")
    shown.page.route(
        "**/v1/events", lambda route: route.fulfill(body=stream, content_type="text/event-stream")
    )
    shown.page.goto(f"{client.url}/")
    # The stream ends at once, again and again: what it said was read when the page connects anew.
    shown.becomes("reconnecting")
    expect(shown.rows).to_have_count(2)
    shown.has_outcomes("violated", "violated")
    shown.context.close()


def test_the_page_says_when_the_service_takes_no_more(client: Client, shown: Opened) -> None:
    client.service.state = State.DRAINING
    shown.becomes("draining")
    problem = shown.page.locator("#problem")
    expect(problem).to_have_text("The service is draining: it takes no more batches.")
    # Under the lock: a tick that has begun would clear the reason again.
    with client.service._lock:
        client.service._failed(500, "the journal is not safe: <b>full</b>")
    shown.becomes("failed")
    expect(problem).to_have_text("the journal is not safe: <b>full</b>")
    client.service.state, client.service.problem = State.RUNNING, ""


def test_a_token_is_asked_for_and_sent_in_no_address(browser: Browser, tmp_path: Path) -> None:
    with served(tmp_path, Access(token="open sesame")) as client:
        assert client.post(1, STALE, Authorization="Bearer open sesame").status == 200
        client.ask("POST", "/v1/flush", Authorization="Bearer open sesame")
        shown = Opened(browser, client.url)
        page = shown.page
        expect(page.locator("#token")).to_be_focused()
        expect(page.locator("#main")).to_be_hidden()
        page.keyboard.type("sesame")
        page.keyboard.press("Enter")
        expect(page.locator("#entrance-why")).to_have_text("That token was refused.")
        page.get_by_role("textbox", name="Token").fill("open sesame")
        page.get_by_role("button", name="Show").click()
        shown.has_picture(2)
        expect(page.locator("#entrance")).to_be_hidden()
        page.reload()
        shown.has_picture(2)
        assert not [url for url in shown.requests if "sesame" in url]
        # The browser itself notes each refusal; nothing else went wrong.
        assert [one for one in shown.complaints if "401" not in one] == []
        shown.context.close()
