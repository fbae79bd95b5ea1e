"""dbcop's bincode: what each byte means, and what a mistake is told as."""

# ruff: noqa: E501 - messages stand as they are printed

from __future__ import annotations

import gzip
import struct
from typing import TYPE_CHECKING

import pytest

from isoscope import formats
from isoscope.checkers import check
from isoscope.errors import FormatError, UsageError
from isoscope.history import Initial, OperationKind, Status
from tests.formats.binary import BINCODE, bincode
from tests.formats.forms import ALL_FORMS

if TYPE_CHECKING:
    from pathlib import Path

FORM = ALL_FORMS["dbcop-bincode"]
#: Where the number of sessions stands, and the parts of the first session behind it.
SESSIONS = 40 + 8 + 10 + 2 * (8 + 27)
EVENT = SESSIONS + 8 + 8 + 8
CUT = "found the end of the file\n\nhint: the file is cut short, or it is no bincode"
ANOTHER = "\n\nhint: is this another format? Name it with --format"

MISTAKES = {
    "a header that is cut short": (BINCODE[:39], f"byte 39: expected a header of 40 bytes, {CUT}"),
    "no length of a text": (BINCODE[:47], f"byte 47: expected the length of the text `info`, {CUT}"),
    "a text that is cut short": (BINCODE[:57], f"byte 57: expected 1 more byte of the text `info`, {CUT}"),
    "a text that is too long": (
        BINCODE[:40] + struct.pack("<Q", 2**20 + 1),
        f"byte 40: expected the length of the text `info`, at most 1 MiB, found 1048577{ANOTHER}",
    ),
    "no sessions": (BINCODE[:SESSIONS], f"byte {SESSIONS}: expected the number of sessions, {CUT}"),
    "fewer sessions than said": (
        BINCODE[: SESSIONS + 8],
        f"byte {SESSIONS + 8}: expected 3 more sessions, {CUT}",
    ),
    "fewer transactions than said": (
        BINCODE[: SESSIONS + 16],
        f"byte {SESSIONS + 16}: expected 2 more transactions of a session, {CUT}",
    ),
    "fewer events than said": (
        BINCODE[: EVENT + 18],
        f"byte {EVENT + 18}: expected 1 more event of a transaction, {CUT}",
    ),
    "an event that is cut short": (
        BINCODE[: EVENT + 17],
        f"byte {EVENT + 17}: expected 2 more events of a transaction, {CUT}",
    ),
    "no end of a transaction": (
        BINCODE[: EVENT + 36],
        f"byte {EVENT + 36}: expected whether the transaction committed (0 or 1), {CUT}",
    ),
    "an event that is neither read nor write": (
        bincode([([(2, 1, 1, 1)], 1)]),
        f"byte {EVENT}: expected whether the event is a write (0 or 1), found the byte 0x02{ANOTHER}",
    ),
    "an event of no known success": (
        bincode([([(1, 1, 1, 0x53)], 1)]),
        f"byte {EVENT + 17}: expected whether the event succeeded (0 or 1), found the byte 0x53 (`S`){ANOTHER}",
    ),
    "a transaction of no known success": (
        bincode([([], 255)]),
        f"byte {EVENT}: expected whether the transaction committed (0 or 1), found the byte 0xff{ANOTHER}",
    ),
    "more behind the end": (
        bincode() + b"\x00",
        f"byte {SESSIONS + 8}: expected the end of the file after the last session, found more bytes{ANOTHER}",
    ),
    "more sessions than any file has": (
        bincode()[:-8] + b"\xff" * 8,
        f"byte {SESSIONS + 8}: expected 18446744073709551615 more sessions, {CUT}",
    ),
    "more events than any file has": (
        bincode([([], 1)])[:-9] + b"\xff" * 8,
        f"byte {EVENT}: expected 18446744073709551615 more events of a transaction, {CUT}",
    ),
}


@pytest.mark.parametrize(("content", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_told_with_its_byte(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "history.bincode"
    path.write_bytes(content)
    with pytest.raises(FormatError) as caught:
        formats.load(path, format="dbcop-bincode")
    assert str(caught.value) == f"{path}: {message}"
    assert (caught.value.line, caught.value.column) == (0, 0)
    assert f"byte {caught.value.byte}:" in message


def test_sessions_and_transactions_are_numbered() -> None:
    history = FORM.read(BINCODE)
    assert [session.id for session in history.sessions] == [0, 2]
    assert [transaction.id for transaction in history] == [0, 1, 2, "failed-1"]
    assert [(o.kind, o.key, o.value) for o in history[0].operations] == [
        (OperationKind.WRITE, 1, 5),
        (OperationKind.READ, 2**64 - 1, 0),
    ]
    assert history.initial == Initial(value=0, replaceable=True)


def test_a_transaction_that_failed_is_aborted_and_serves_aborted_reads() -> None:
    history = FORM.read(bincode([([(1, 1, 5, 1)], 0)], [([(0, 1, 5, 1)], 1)]))
    assert [transaction.status for transaction in history] == [Status.ABORTED, Status.COMMITTED]
    counts = [verdict.anomaly_counts for verdict in check(history, ["pl-2"]).verdicts]
    assert counts == [{"aborted-read": 1}]


def test_a_failed_write_of_a_committed_transaction_is_an_aborted_one_of_its_own() -> None:
    history = FORM.read(bincode([([(1, 1, 5, 0), (1, 2, 6, 1)], 1)], [([(0, 1, 5, 1), (0, 2, 6, 1)], 1)]))
    assert [(t.id, t.session_id, t.status) for t in history] == [
        (0, 0, Status.COMMITTED),
        ("failed-1", 0, Status.ABORTED),
        (1, 1, Status.COMMITTED),
    ]
    assert history.notes == {"failed writes kept as aborted transactions": 1}
    assert check(history, ["pl-2"]).verdicts[0].anomaly_counts == {"aborted-read": 1}


def test_a_failed_read_is_dropped_and_counted() -> None:
    history = FORM.read(bincode([([(0, 1, 99, 0)], 1)]))
    assert history[0].operations == ()
    assert history.notes == {"failed reads dropped": 1}


@pytest.mark.parametrize("texts", [(b"", b"", b""), (b"\xff\x00", b"", b""), (b"x" * 2**20, b"", b"")])
def test_texts_of_the_header_mean_nothing(texts: tuple[bytes, bytes, bytes]) -> None:
    assert FORM.read(bincode([([(1, 1, 5, 1)], 1)], texts=texts)) == FORM.read(bincode([([(1, 1, 5, 1)], 1)]))


def test_a_place_is_a_byte(tmp_path: Path) -> None:
    history = FORM.read(BINCODE)
    assert history.source.place(history[0].operations[0].line) == f"<bytes>: byte {EVENT}"


def test_a_directory_with_one_file_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "history.bincode.gz").write_bytes(gzip.compress(BINCODE))
    history = formats.load(tmp_path)
    assert history == FORM.read(BINCODE)
    assert history.source.place(1) == f"{tmp_path / 'history.bincode.gz'}: byte 0"


def test_two_files_are_two_histories(tmp_path: Path) -> None:
    for name in ("10.bincode", "9.bincode"):
        (tmp_path / name).write_bytes(BINCODE)
    with pytest.raises(UsageError) as caught:
        formats.load(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}: one file is one dbcop-bincode history, and this directory holds 2\n\n"
        f"hint: name one of them, such as {tmp_path / '9.bincode'}; "
        "`isoscope check --summary` takes each file for a history of its own"
    )


HEADER = struct.pack("<5Q", 0, 1, 10, 2, 3)
TEXTS = struct.pack("<Q", 0) * 3
STRANGERS = {
    "short": HEADER,
    "no texts": HEADER + bytes(7),
    "large numbers": struct.pack("<5Q", 2**32, 1, 1, 1, 1) + TEXTS + bytes(8),
    "a long text": HEADER + struct.pack("<Q", 2**40),
    "no date": HEADER + struct.pack("<Q", 0) + struct.pack("<Q", 5) + b"hello" + bytes(16),
    "too many sessions": HEADER + TEXTS + b"\xff" * 8,
    "no sessions": HEADER + TEXTS,
    "text": b"S" * 200,
}


@pytest.mark.parametrize("content", STRANGERS.values(), ids=STRANGERS.keys())
def test_similar_content_is_not_recognised(content: bytes) -> None:
    assert not formats.find("dbcop-bincode").sniff(content)


def test_dates_may_be_missing() -> None:
    assert formats.find("dbcop-bincode").sniff(HEADER + TEXTS + bytes(8))
