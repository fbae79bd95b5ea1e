"""`isoscope watch`: a file that grows, standard input, and how both end."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.interrupts import wait_until
from tests.live.sent_batches import FINE, STALE, body, chain, offline

from .running import COMMAND, run, run_apart

if TYPE_CHECKING:
    from collections.abc import Iterator

SECONDS = 120


@contextmanager
def watching(*arguments: object, **streams: object) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [*COMMAND, "watch", *map(str, arguments)],
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams},  # type: ignore[call-overload]
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def append(path: Path, text: bytes) -> None:
    with path.open("ab") as sink:
        sink.write(text)


def has_read_all(process: subprocess.Popen[bytes], path: Path) -> bool:
    """Whether the process has the file open and is at its end."""
    for number in Path(f"/proc/{process.pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # the process closed it meanwhile
            if number.readlink() == path:
                position = Path(f"/proc/{process.pid}/fdinfo/{number.name}").read_text().split()[1]
                return int(position) == path.stat().st_size
    return False


def test_a_file_is_followed_and_a_violation_printed_while_it_grows(tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    path.write_bytes(body(STALE[:2]) + b"\n")
    with watching(path, "--level", "si", "--timeout", "0.2") as process:
        assert process.stdout is not None
        text = body(STALE[2:])
        # A line may come in pieces.
        append(path, text[:20])
        wait_until(lambda: has_read_all(process, path))
        append(path, text[20:] + b"\n")
        line = process.stdout.readline().decode()
        assert line.startswith("clock-snapshot-isolation: stale-read in transaction 3, key 'x'")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, err) == (1, b"")
    assert b"broke snapshot isolation by its clock: 1 stale read.\n\nstale-read: 1 found\n" in out


def test_the_end_of_standard_input_is_the_end(tmp_path: Path) -> None:
    done = run_apart("watch", "-", stdin=body(FINE))
    assert (done.status, done.err) == (0, "")
    assert "<stdin> (aion): 3 sessions, 3 transactions, 3 operations, 1 key" in done.out


def test_the_final_report_is_that_of_the_offline_check(tmp_path: Path) -> None:
    transactions = chain(3000, stale_every=100)
    (tmp_path / "h.jsonl").write_bytes(body(transactions))
    done = run("watch", tmp_path / "h.jsonl", "--to-the-end", "--json")
    assert done.status == 1
    verdicts = json.loads(done.out)["verdicts"]
    assert {row["level"]: (row["outcome"], row["anomaly_counts"]) for row in verdicts} == offline(
        transactions
    )


def test_a_half_line_at_the_end_of_a_followed_file_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    path.write_bytes(body(STALE) + b'\n{"tid":4,')
    with watching(path, "--timeout", "0") as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"clock-snapshot-isolation: ")
        process.terminate()
        process.communicate(timeout=SECONDS)
    assert process.returncode == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (body(STALE) + b'\n{"tid":4,', "h.jsonl:4:10: expected"),
        (body(STALE) + b"\nnonsense\n", "h.jsonl:4:1: expected"),
        (
            body([{**STALE[0], "status": "indeterminate"}]),
            "h.jsonl:1: transaction 1: it is not known whether it committed",
        ),
    ],
)
def test_a_line_that_is_no_transaction_is_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: bytes, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "h.jsonl").write_bytes(text)
    done = run("watch", "h.jsonl", "--to-the-end")
    assert done.status == 2
    assert message in done.err


def test_a_file_of_another_format_is_told_what_is_watched(tmp_path: Path) -> None:
    path = tmp_path / "h.edn"
    path.write_text("{:type :ok, :process 0, :value [[:append :x 1]]}\n")
    done = run("watch", path, "--to-the-end")
    assert (done.status, done.out) == (2, "")
    assert (
        "hint: `isoscope watch` reads JSON lines of the format aion; `isoscope check` reads all" in done.err
    )


def test_a_file_that_is_cut_while_it_is_followed_is_one_message(tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    path.write_bytes(body(STALE) + b"\n")
    with watching(path, "--timeout", "0") as process:
        assert process.stdout is not None
        process.stdout.readline()
        os.truncate(path, 10)
        _, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 2
    assert b"was cut while it was followed" in err


def test_a_file_that_is_not_there_is_one_message(tmp_path: Path) -> None:
    done = run("watch", tmp_path / "none.jsonl")
    assert (done.status, done.out) == (2, "")
    assert "none.jsonl: No such file or directory" in done.err


def test_a_folder_is_one_message(tmp_path: Path) -> None:
    done = run("watch", tmp_path)
    assert (done.status, done.err) == (2, f"error: cannot read {tmp_path}: Is a directory\n")


def test_a_terminal_shows_a_table(tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    path.write_bytes(body(STALE) + b"\n")
    ours, theirs = pty.openpty()
    try:
        with watching(path, stderr=theirs) as process:
            shown = b""
            while b"clock-serializable" not in shown:
                shown += os.read(ours, 1000)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=SECONDS)
    finally:
        os.close(ours)
        os.close(theirs)
    text = shown.decode().replace("\r\n", "\n")
    assert f"{path}: 3 transactions"[:60] in text
    assert "not final  provisional  final\n" in text
