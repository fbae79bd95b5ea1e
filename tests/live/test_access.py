"""Requests from pages of other sites, odd hosts, and numbers and nesting without end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isoscope import profiles
from isoscope.live.access import Access
from isoscope.live.check_settings import CheckSettings
from isoscope.live.journal import Fsync
from isoscope.live.service import Settings

from .hostile_clients import connected, until_closed
from .sent_batches import STALE
from .served import Client, served

if TYPE_CHECKING:
    from pathlib import Path

JUDGING = CheckSettings(levels=(), profile=profiles.load("postgresql/read-committed"))
HUGE = "9" * 5000


@pytest.mark.parametrize("site", ["cross-site", "same-site", "another-word"])
@pytest.mark.parametrize("token", [None, "secret"])
def test_pages_of_other_sites_are_refused(tmp_path: Path, site: str, token: str | None) -> None:
    with served(tmp_path, Access(token=token)) as client:
        known = {"Authorization": f"Bearer {token}"}
        for path in ("/v1/status", "/v1/report", "/metrics", "/v1/events"):
            assert client.get(path, Sec_Fetch_Site=site, **known).status == 403
        assert client.ask("POST", "/v1/flush", Sec_Fetch_Site=site, **known).status == 403
        # The page itself holds no data, and a link may lead to it.
        assert client.get("/", Sec_Fetch_Site=site).status == 200


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_the_own_page_and_the_address_bar_are_admitted(client: Client, site: str) -> None:
    assert client.get("/v1/status", Sec_Fetch_Site=site).status == 200


@pytest.mark.parametrize(
    "host",
    ["user@localhost", "evil.example@localhost", "user:word@127.0.0.1", "@localhost", "localhost/x",
     "localhost?x", "localhost#x", "localhost:1:2", "localhost:x", "local host", "[::1", "::1",
     "localhost\\@evil", "localhost,evil", "127.0.0.1.evil.example", ""],
)  # fmt: skip
def test_a_host_is_a_name_of_this_computer_with_a_port_and_nothing_else(client: Client, host: str) -> None:
    assert client.get("/v1/status", Host=host).status == 403


@pytest.mark.parametrize("host", ["user@localhost", "a/b", "a:b:c"])
def test_an_odd_host_is_refused_with_the_token_too(tmp_path: Path, host: str) -> None:
    with served(tmp_path, Access(token="secret")) as client:
        assert client.get("/v1/status", Host=host, Authorization="Bearer secret").status == 403
        assert client.get("/v1/status", Host="db.example:80", Authorization="Bearer secret").status == 200


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:80", "127.0.0.1", "127.0.0.2:8642", "[::1]:8642"])
def test_this_computer_has_many_names(client: Client, host: str) -> None:
    assert client.get("/v1/status", Host=host).status == 200


def test_two_hosts_are_none(client: Client) -> None:
    with connected(client.host) as connection:
        connection.sendall(
            b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
        )
        assert until_closed(connection).startswith(b"HTTP/1.1 403 ")


@pytest.mark.parametrize(
    "number", [HUGE, "9" * 19, str(2**63), str(2**63 - 1), str(2**64), "-1", "1e9", "%00", "x"]
)
def test_no_number_in_an_address_is_an_error_of_ours(client: Client, number: str) -> None:
    client.post(1, STALE)
    client.ask("POST", "/v1/flush")
    paths = ("violations/{}.svg", "violations?after={}", "violations?limit={}", "events?after=x{}",
             "violations?after={0}&limit={0}", "collectors/{}")  # fmt: skip
    for path in paths:
        answer = client.get(f"/v1/{path.format(number)}")
        assert answer.status in {200, 400, 404}
    assert client.post(number, STALE).status in {400, 409}
    assert client.post(2, STALE, Content_Length=number).status in {400, 413}
    client.connection.close()
    assert client.get("/v1/events", Last_Event_ID=f"x{number}").status == 400


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"sessions":' * 50_000,
     '{"sessions": [[' + "[" * 100_000, '{"sessions": [[1, ' + HUGE + "]]}",
     '{"sessions": [[' + HUGE + ', 1]]}', '{"sessions": [["\\ud800", 1]]}', '{"sessions": [[1, 1e999]]}',
     '{"sessions": [[NaN, 1]]}', '{"sessions": {"1": 2}}', '{"sessions": ["ab"]}', "null", "\ufeff{}", ""],
    ids=lambda text: text[:20],
)  # fmt: skip
def test_no_heartbeat_is_an_error_of_ours(tmp_path: Path, text: str) -> None:
    with served(tmp_path, settings=Settings(check=JUDGING, fsync=Fsync.NEVER)) as client:
        answer = client.ask("POST", "/v1/heartbeat", text.encode())
        assert answer.status in {400, 422}
        assert "error" in answer.document
        for form in ("application/json", "application/x-ndjson", "application/vnd.apache.arrow.stream"):
            assert client.post(1, text.encode(), Content_Type=form).status in {200, 400, 422}
            client.connection.close()
        assert client.get("/healthz").status == 200
