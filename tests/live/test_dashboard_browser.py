"""The live page in a real browser, at a real service: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from isoscope.live.access import Access
from isoscope.live.check_settings import CheckSettings
from isoscope.live.journal import Fsync
from isoscope.live.service import Settings, State
from tests.reports.pages import HOSTILE

from .live_page import Opened, opened, stale, violations
from .sent_batches import FINE, STALE, chain, transaction
from .served import Client, served

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

pytestmark = pytest.mark.server


def test_before_the_first_transaction_nothing_is_claimed(shown: Opened) -> None:
    assert shown.outcomes() == ["no transaction yet", "no transaction yet"]
    assert shown.page.locator("#none").is_visible()
    assert shown.page.title() == "no transaction yet · Isoscope"


def test_levels_that_nothing_contradicts_hold_so_far(client: Client, shown: Opened) -> None:
    client.post(1, FINE)
    shown.page.wait_for_selector(".card .pill[data-state=holds]")
    assert shown.outcomes() == ["holds so far", "holds so far"]
    assert shown.page.inner_text("#answer") == (
        "clock-snapshot-isolation: holds so far\nclock-serializable: holds so far"
    )
    assert shown.page.inner_text("#sizes div:first-child") == "transactions\n3"
    assert shown.page.title() == "✓ holds so far · Isoscope"


def test_a_violation_appears_while_the_page_is_open(client: Client, shown: Opened) -> None:
    stale(client)
    page = shown.page
    page.wait_for_selector("#picture img")
    assert shown.rows() == [
        "2. stale-read\ntransaction 3 on x\nclock-serializable",
        "1. stale-read\ntransaction 3 on x\nclock-snapshot-isolation",
    ]
    assert page.inner_text("#shown-head") == "stale-read 2 breaks clock-serializable"
    assert page.inner_text("#shown-words").startswith("T3 read x = 1, but by the database's clock x was 2")
    assert page.locator("#picture img").get_attribute("alt") == page.inner_text("#shown-words")
    assert page.locator("#picture img").evaluate("image => image.naturalWidth") > 100
    page.wait_for_selector(".card .pill[data-state=violated]")
    assert page.inner_text("#told") == "2"
    assert page.title() == "✗ violated · Isoscope"
    assert page.locator(".card").first.locator("tbody tr td.some").all_inner_texts() == ["1"]


def test_a_new_violation_is_announced_to_screen_readers(client: Client, shown: Opened) -> None:
    region = shown.page.locator("#news")
    assert region.get_attribute("aria-live") == "polite"
    assert region.inner_text() == ""
    stale(client)
    shown.page.wait_for_selector("#news:has-text('new violation')")
    assert region.inner_text().endswith("the latest: stale-read, transaction 3 on x")


def test_violations_before_the_page_are_shown_and_not_announced(browser: Browser, client: Client) -> None:
    stale(client)
    with opened(browser, client.url) as shown:
        shown.page.wait_for_selector("#picture img")
        shown.page.wait_for_timeout(600)
        assert len(shown.rows()) == 2
        assert shown.page.inner_text("#news") == ""


def test_charts_show_what_grew_and_when(client: Client, shown: Opened) -> None:
    stale(client)
    page = shown.page
    page.wait_for_selector(".card svg[aria-label='final violations, per 10 s, last ten minutes: 1']")
    drawn = "all => all.filter((path) => path.getAttribute('d')).map((path) => path.getAttribute('class'))"
    assert page.locator(".card").first.locator(".plot").first.locator("path:not(.grid)").evaluate_all(
        drawn
    ) == ["rw"]
    page.wait_for_selector("#gauges svg[aria-label^='memory, last ten minutes: now']")
    assert page.locator("#gauges .value").nth(1).inner_text().endswith(("ms", "µs"))


def test_provisional_violations_and_flip_flops_are_counted(browser: Browser, tmp_path: Path) -> None:
    with served(tmp_path) as client, opened(browser, client.url) as shown:
        early = [transaction(1, 1, 1, 2, "w x 1"), transaction(3, 3, 5, 6, "r x 2")]
        client.post(1, early)
        first = shown.page.locator(".card").first
        first.locator(".why:has-text('1 read is wrong so far')").wait_for()
        assert first.locator(".pill").inner_text() == "holds so far"
        client.post(2, [transaction(2, 2, 3, 4, "w x 2")])
        client.ask("POST", "/v1/flush")
        first.locator(".facts dd:has-text('1 in 1 read; half were right within')").wait_for()
        first.locator(".why:has-text('nothing contradicts it')").wait_for()


def test_a_level_is_unknown_when_something_came_too_late(browser: Browser, tmp_path: Path) -> None:
    settings = Settings(fsync=Fsync.NEVER, check=CheckSettings(timeout=1))
    with served(tmp_path, settings=settings) as client, opened(browser, client.url) as shown:
        client.post(1, chain(50))
        shown.page.wait_for_selector(".facts dd:text-is('4, 0 of them not final')")
        client.post(2, [transaction(1000, 99, 3, 4, "w x 77")])
        shown.page.wait_for_selector(".card .pill[data-state=unknown]")
        assert shown.page.locator(".why").first.inner_text() == (
            "1 transaction came after what they must be held against was dropped."
        )
        assert shown.page.title() == "? unknown · Isoscope"


def test_a_violation_that_is_taken_back_is_struck_out(browser: Browser, tmp_path: Path) -> None:
    settings = Settings(fsync=Fsync.NEVER, check=CheckSettings(keep=1000))
    with served(tmp_path, settings=settings) as client, opened(browser, client.url) as shown:
        client.post(1, [transaction(1, 1, 1, 2, "w x 1"), transaction(3, 3, 5, 6, "r x 2")])
        client.ask("POST", "/v1/flush")
        shown.page.wait_for_selector("#contents button")
        client.post(2, [transaction(2, 2, 3, 4, "w x 2")])
        client.ask("POST", "/v1/flush")
        shown.page.wait_for_selector("#contents button:has-text('taken back')")
        assert shown.page.locator("#contents .retracted").count() == 2
        shown.page.wait_for_selector("#shown-words:has-text('Taken back')")


def test_the_newest_violation_is_shown_until_the_user_selects_another(client: Client, shown: Opened) -> None:
    page = shown.page
    stale(client)
    page.wait_for_selector("button[data-id='2'][aria-current]")
    page.click("button[data-id='1']")
    assert not page.locator("#follow").is_checked()
    page.wait_for_selector("#shown-head:has-text('clock-snapshot-isolation')")
    client.post(2, [transaction(4, 3, 7, 8, "r x 1")])
    client.ask("POST", "/v1/flush")
    page.wait_for_selector("button[data-id='4']")
    assert page.locator("[aria-current]").get_attribute("data-id") == "1"
    page.keyboard.press("f")
    page.wait_for_selector("button[data-id='4'][aria-current]")


def test_keys_go_through_the_list(client: Client, shown: Opened) -> None:
    page = shown.page
    stale(client)
    page.wait_for_selector("button[data-id='2'][aria-current]")
    for key, number in (("j", 1), ("j", 1), ("k", 2), ("k", 2), ("ArrowDown", 1), ("ArrowUp", 2)):
        page.keyboard.press(key)
        page.wait_for_selector(f"button[data-id='{number}'][aria-current]:focus")


def test_numbers_beyond_javascript_stay_exact(client: Client, shown: Opened) -> None:
    rows = [{**row, "tid": 2**62 + row["tid"]} for row in STALE]
    client.post(1, rows)
    client.ask("POST", "/v1/flush")
    shown.page.wait_for_selector("#contents button")
    assert f"transaction {2**62 + 3} on x" in shown.rows()[0]


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
    page = shown.page
    page.wait_for_selector(f"button[data-id='{2 * len(HOSTILE) + 2}'][aria-current]")
    for _ in range(2 * len(HOSTILE) + 2):
        page.keyboard.press("j")
        page.wait_for_timeout(30)
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
        shown.page.wait_for_selector("button[data-id='2']")
    shown.becomes("reconnecting")
    assert shown.page.inner_text("#problem").startswith("Nothing was heard for ")
    with served(tmp_path, port=port) as client:
        shown.becomes("live")
        client.post(2, [transaction(4, 3, 7, 8, "r x 1")])
        client.ask("POST", "/v1/flush")
        shown.page.wait_for_selector("button[data-id='4']")
        assert [row.split(".")[0] for row in shown.rows()] == ["4", "3", "2", "1"]
        assert shown.page.inner_text("#problem") == ""
    shown.context.close()


def test_a_service_that_began_anew_is_shown_anew(browser: Browser, tmp_path: Path) -> None:
    with served(tmp_path / "first") as client:
        port = int(client.url.rsplit(":", 1)[1])
        shown = Opened(browser, client.url)
        stale(client)
        shown.page.wait_for_selector("button[data-id='2']")
    with served(tmp_path / "second", port=port) as client:
        client.post(1, FINE)
        shown.becomes("live")
        shown.page.wait_for_selector(".card .pill[data-state=holds]")
        shown.page.wait_for_selector("#none", state="visible")
        stale_again = [transaction(9, 9, 9, 10, "r x 1")]
        client.post(2, stale_again)
        client.ask("POST", "/v1/flush")
        shown.page.wait_for_selector("button[data-id='2']:has-text('transaction 9')")
        assert len(shown.rows()) == 2
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
    shown.page.wait_for_selector("button[data-id='2']")
    assert len(shown.rows()) == 2
    assert shown.outcomes() == ["violated", "violated"]
    shown.context.close()


def test_the_page_says_when_the_service_takes_no_more(client: Client, shown: Opened) -> None:
    client.service.state = State.DRAINING
    shown.becomes("draining")
    shown.page.wait_for_selector("#problem:text-is('The service is draining: it takes no more batches.')")
    # The reason first: the page may read between the two assignments.
    client.service.problem, client.service.state = "the journal is not safe: <b>full</b>", State.FAILED
    shown.becomes("failed")
    shown.page.wait_for_selector("#problem:text-is('the journal is not safe: <b>full</b>')")
    client.service.state, client.service.problem = State.RUNNING, ""


def test_a_token_is_asked_for_and_sent_in_no_address(browser: Browser, tmp_path: Path) -> None:
    with served(tmp_path, Access(token="open sesame")) as client:
        assert client.post(1, STALE, Authorization="Bearer open sesame").status == 200
        client.ask("POST", "/v1/flush", Authorization="Bearer open sesame")
        shown = Opened(browser, client.url)
        page = shown.page
        page.wait_for_selector("#token:focus")
        assert not page.locator("#main").is_visible()
        page.keyboard.type("sesame")
        page.keyboard.press("Enter")
        page.wait_for_selector("#entrance-why:has-text('That token was refused.')")
        page.get_by_role("textbox", name="Token").fill("open sesame")
        page.get_by_role("button", name="Show").click()
        page.wait_for_selector("#picture img")
        assert not page.locator("#entrance").is_visible()
        page.reload()
        page.wait_for_selector("#picture img")
        assert not [url for url in shown.requests if "sesame" in url]
        # The browser itself notes each refusal; nothing else went wrong.
        assert [one for one in shown.complaints if "401" not in one] == []
        shown.context.close()
