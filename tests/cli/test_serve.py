"""`isoscope serve`: what it prints, how it ends, and one message for every mistake."""

from __future__ import annotations

import json
import signal
import socket
import sys
from typing import TYPE_CHECKING
from unittest import mock
from urllib.parse import urlsplit

import pytest

from isoscope.collect import Collector
from tests.live.sent_batches import FINE, STALE, chain
from tests.live.serve_process import apart

from .running import run

if TYPE_CHECKING:
    from pathlib import Path


def send(url: str, transactions: list[dict[str, object]], token: str | None = None) -> None:
    with Collector(url, token=token) as collector:
        for row in transactions:
            operations = [(op["t"], op["k"], op["v"]) for op in row["ops"]]  # type: ignore[attr-defined]
            collector.add(
                row["tid"],  # type: ignore[arg-type]
                session=row["sid"],  # type: ignore[arg-type]
                start=row["sts"],  # type: ignore[arg-type]
                commit=row["cts"],  # type: ignore[arg-type]
                operations=operations,
            )


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_the_report_of_all_that_was_taken(tmp_path: Path, how: signal.Signals) -> None:
    files = {"--out": tmp_path / "out.json", "--report": tmp_path / "out.html"}
    with apart("--data", tmp_path / "data", *(word for pair in files.items() for word in pair)) as service:
        send(service.url, STALE)
        status, out, err = service.end(how)
    assert (status, err) == (1, "")
    assert out == (
        "clock-snapshot-isolation: violated by 1 stale-read; "
        "clock-serializable: violated by 1 stale-read (3 transactions)\n"
    )
    document = json.loads(files["--out"].read_text())
    assert [verdict["outcome"] for verdict in document["verdicts"]] == ["violated", "violated"]
    assert "stale-read" in files["--report"].read_text()


def test_levels_that_hold_end_with_status_0(tmp_path: Path) -> None:
    with apart("--level", "si") as service:
        send(service.url, FINE)
        status, out, err = service.end()
    assert (status, out) == (0, "clock-snapshot-isolation: holds (3 transactions)\n")
    assert err == "note: without --data, a restart begins anew\n"


def test_a_listener_that_does_not_read_is_cut_off_at_the_end_without_a_traceback(tmp_path: Path) -> None:
    with socket.socket() as deaf, apart("--data", tmp_path) as service:
        address = urlsplit(service.url)
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect((address.hostname, address.port))
        deaf.sendall(f"GET /v1/events HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode())
        send(service.url, chain(30_000, stale_every=1))
        status, _, err = service.end()
    assert status == 1
    assert "timeout graceful shutdown exceeded" in err
    assert "Traceback" not in err


def test_a_restart_goes_on_where_it_was(tmp_path: Path) -> None:
    with apart("--data", tmp_path) as service:
        send(service.url, STALE[:2])
        assert service.end()[0] == 0
    with apart("--data", tmp_path) as service:
        send(service.url, STALE[2:])
        assert service.end()[0] == 1


def test_beyond_this_computer_a_token_is_needed(tmp_path: Path) -> None:
    done = run("serve", "--host", "0.0.0.0", "--port", "0", "--data", tmp_path)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("error: any client could write to 0.0.0.0, so a token is needed\n")
    with apart("--host", "0.0.0.0", "--token", "secret", "--data", tmp_path) as service:
        send(service.url.replace("0.0.0.0", "127.0.0.1"), FINE, token="secret")
        assert service.end()[0] == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--level", "causal"], "causal cannot be checked online"),
        (["--level", "clok"], "clok"),
        (["--memory-limit", "much"], "expected a size such as 700M, found 'much'"),
        (["--memory-limit", "0"], "expected a size such as 700M"),
        (["--timeout", "-1"], "--timeout"),
        (["--fsync", "sometimes"], "--fsync"),
        (["--host", "no.such.host.invalid", "--token", "t"], "cannot listen on no.such.host.invalid"),
        (["--host", "0.0.0.0", "--token", ""], "expected a token in ASCII, not empty"),
        (["--token", " "], "expected a token in ASCII, not empty"),
        (["--token", "schlüssel"], "expected a token in ASCII"),
        (["--out", "/nowhere/at/all.json"], "/nowhere/at/all.json"),
    ],
)
def test_a_mistake_is_one_message(tmp_path: Path, options: list[str], message: str) -> None:
    done = run("serve", "--port", "0", "--data", tmp_path, *options)
    assert (done.status, done.out) == (2, "")
    assert message in done.err


def test_another_service_in_the_same_folder_is_one_message(tmp_path: Path) -> None:
    with apart("--data", tmp_path):
        done = run("serve", "--port", "0", "--data", tmp_path)
    assert done.status == 2
    assert "is used by another service" in done.err


def test_a_missing_server_says_how_to_install_it(tmp_path: Path) -> None:
    hidden = {name: None for name in sys.modules if name.split(".")[0] == "uvicorn"}
    hidden |= {"uvicorn": None, "isoscope.live.http_server": None}
    with mock.patch.dict(sys.modules, hidden):
        sys.modules.pop("isoscope.live.http_server")
        done = run("serve", "--data", tmp_path)
    assert (done.status, done.out) == (2, "")
    assert done.err == "error: `isoscope serve` needs uvicorn\n\nhint: pip install 'isoscope[serve]'\n"
