"""Cobra's logs: what each record means, and what a mistake is told as."""

# ruff: noqa: E501 - messages stand as they are printed

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from isoscope import formats
from isoscope.checkers import check
from isoscope.errors import FormatError
from isoscope.history import UNKNOWN, History, Initial, Interval, OperationKind, Status
from isoscope.levels import Level
from isoscope.verdict import Outcome
from tests.formats.binary import (
    COBRA,
    COBRA_TIMES,
    DELETE,
    GC_FALSE,
    GC_TRUE,
    INIT,
    MISSING,
    NO_ID,
    NULL,
    record,
)  # fmt: skip
from tests.formats.forms import ALL_FORMS, LOG

if TYPE_CHECKING:
    from pathlib import Path

FORM = ALL_FORMS["cobra"]
DISAGREEING = "reads that name another writer than the logs"
START = record("S", 1)
WRITE = record("W", 10, 5, 7)

MISTAKES = {
    "another letter": (
        START + b"X",
        "byte 9: expected a record: `S`, `W`, `R`, `C` or `A`, found the byte 0x58 (`X`)",
    ),
    "a record that is cut short": (
        START + WRITE[:-3],
        "byte 31: expected 3 more bytes of a record `W`, found the end of the file\n\n"
        "hint: the log is cut short inside a record: drop its last bytes to read what is before",
    ),
    "a write outside": (
        WRITE,
        "byte 0: expected the start of a transaction: a record `S`, found a write",
    ),
    "a read outside": (
        START + record("C", 1) + record("R", 1, 10, 5, 7),
        "byte 18: expected the start of a transaction: a record `S`, found a read",
    ),
    "a commit outside": (
        record("C", 7),
        "byte 0: expected the start of a transaction: a record `S`, found the commit of transaction 7",
    ),
    "a commit of another": (
        START + WRITE + record("C", 2),
        "byte 34: expected the commit of transaction 1, which is under way, found that of 2",
    ),
    "an abort of another": (
        START + WRITE + record("A", 2),
        "byte 34: expected the abort of transaction 1, which is under way, found that of 2",
    ),
    "a start inside": (
        START + WRITE + record("S", 2),
        "byte 34: expected the end of transaction 1: a record `C` or `A`, found the start of transaction 2\n\n"
        "hint: a session runs one transaction at a time",
    ),
    "an id twice": (
        START + WRITE + record("C", 1) + START,
        "byte 43: expected an id of its own for each transaction, found 1 again\n\n"
        "hint: does the input hold the same log twice?",
    ),
    "a write of no id": (
        START + record("W", DELETE, 5, 7),
        "byte 10: expected the id of a write, found 0xabcdefab, which only reads have\n\n"
        "hint: is the log damaged? Drop its records from here on to read what is before",
    ),
    "ids that were taken out of a part": (
        START + WRITE + record("R", NO_ID, NO_ID, 5, 7),
        "byte 43: expected the id of a write, as in the records before, found 0xabddefee, which is none\n\n"
        "hint: 0xabddefee stands for a write without an id: all records have ids, or none has",
    ),
    "an id where there were none": (
        START + record("W", NO_ID, 5, 7) + WRITE,
        "byte 35: expected no id of a write, as in the records before, found one\n\n"
        "hint: 0xabddefee stands for a write without an id: all records have ids, or none has",
    ),
}


@pytest.mark.parametrize(("content", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_told_with_its_byte(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "T1.log"
    path.write_bytes(content)
    with pytest.raises(FormatError) as caught:
        formats.load(path, format="cobra")
    assert str(caught.value) == f"{path}: {message}"


def test_a_mistake_in_a_directory_is_told_with_the_byte_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "T1.log").write_bytes(START + WRITE + record("C", 1))
    (tmp_path / "T2.log").write_bytes(b"")
    (tmp_path / "T10.log").write_bytes(record("S", 2) + b"X")
    with pytest.raises(FormatError) as caught:
        formats.load(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / 'T10.log'}: byte 9: expected a record")
    (tmp_path / "T1.log").write_bytes(START + b"X")
    with pytest.raises(FormatError) as caught:
        formats.load(tmp_path, format="cobra")
    assert str(caught.value).startswith(f"{tmp_path / 'T1.log'}: byte 9: expected a record")


def test_each_log_is_a_session_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    (tmp_path / "T10.log").write_bytes(record("S", 3) + record("C", 3))
    (tmp_path / "T2.log.gz").write_bytes(gzip.compress(START + WRITE + record("C", 1)))
    (tmp_path / "T9.log").write_bytes(b"")
    (tmp_path / "late.log").write_bytes(record("S", 4) + record("R", 1, 10, 5, 7) + record("C", 4))
    history = formats.load(tmp_path)
    assert [session.id for session in history.sessions] == [2, 10, "late"]
    assert [len(session.transactions) for session in history.sessions] == [1, 1, 1]
    assert history.source.place(history[4].operations[0].line) == f"{tmp_path / 'late.log'}: byte 9"


def test_two_logs_of_one_session_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "T1.log").write_bytes(START + record("C", 1))
    (tmp_path / "T01.log").write_bytes(record("S", 2) + record("C", 2))
    with pytest.raises(FormatError) as caught:
        formats.load(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}: expected one log a session, found two called T1\n\n"
        "hint: is a log there twice, once of them compressed?"
    )


def test_a_transaction_commits_aborts_or_is_indeterminate() -> None:
    history = FORM.read(COBRA)
    assert [(t.id, t.status) for t in history] == [
        (1, Status.COMMITTED),
        (2, Status.ABORTED),
        (3, Status.INDETERMINATE),
    ]
    assert history.initial == Initial(value=0, replaceable=True)


def test_without_ids_the_value_is_the_hash_of_the_value() -> None:
    log = (
        record("S", 1) + record("R", INIT, INIT, 5, 6) + record("W", NO_ID, 5, 7) + record("C", 1)
        + record("S", 2) + record("R", NO_ID, NO_ID, 5, 7) + record("R", NULL, NULL, 6, 1) + record("C", 2)
        + record("S", 3) + record("R", NO_ID, NO_ID, 5, 8) + record("C", 3)
    )  # fmt: skip
    history = FORM.read(log)
    assert [[o.value for o in t.operations] for t in history] == [[0, 7], [7, 0], [8]]
    note = "reads and writes without an id (0xabddefee), told apart by the hash of the value"
    assert history.notes == {note: 3}
    [found] = check(history, [Level.PL_2]).verdicts
    assert found.anomaly_counts == {"thin-air-read": 1}


def test_hashes_that_repeat_leave_a_level_open_and_accuse_no_transaction() -> None:
    log = b"".join(
        record("S", number) + record("W", NO_ID, 5, 7) + record("R", NO_ID, NO_ID, 5, 7) + record("C", number)
        for number in (1, 2)
    ) + (record("S", 3) + record("R", NO_ID, NO_ID, 5, 7) + record("C", 3))
    [found] = check(FORM.read(log), [Level.SERIALIZABLE]).verdicts
    assert found.outcome is not Outcome.VIOLATED


def test_the_value_is_the_id_of_the_write_and_the_key_its_hash() -> None:
    operations = FORM.read(COBRA)[2].operations
    assert [(o.kind, o.key, o.value) for o in operations] == [
        (OperationKind.READ, 5, 10),
        (OperationKind.READ, -(2**63) + 1, 0),
    ]


def test_times_are_the_clients_interval() -> None:
    history = ALL_FORMS["cobra-times"].read(COBRA_TIMES)
    assert [t.interval for t in history] == [
        Interval(1_600_000_000, 1_600_000_001),
        Interval(1_600_000_002, None),
    ]
    assert [(t.start, t.commit) for t in history] == [(None, None)] * 2
    assert [t.interval for t in FORM.read(COBRA)] == [None] * 3


def test_logs_with_and_without_times_do_not_mix(tmp_path: Path) -> None:
    (tmp_path / "T1.log").write_bytes(COBRA)
    (tmp_path / "T2.log").write_bytes(COBRA_TIMES)
    with pytest.raises(FormatError) as caught:
        formats.load(tmp_path)
    assert caught.value.path == str(tmp_path / "T2.log")


def reading(writer: int, write: int, *others: bytes) -> History:
    """A transaction that reads `write` of key 5, between others."""
    return FORM.read(
        START + WRITE + record("C", 1) + b"".join(others)
        + record("S", 2) + record("R", writer, write, 5, 7) + record("C", 2)
    )  # fmt: skip


@pytest.mark.parametrize(("writer", "write"), [(INIT, INIT), (NULL, NULL), (NULL, INIT), (INIT, NULL)])
def test_reads_of_the_first_state_and_of_nothing_are_reads_of_the_initial_value(
    writer: int, write: int
) -> None:
    history = reading(writer, write)
    assert history[2].operations[0].value == 0
    assert history.notes == {}


@pytest.mark.parametrize("magic", [DELETE, MISSING])
def test_a_deleted_key_and_a_write_that_was_not_read_are_unknown_results(magic: int) -> None:
    history = reading(magic, magic)
    assert history[2].operations[0].value is UNKNOWN
    assert history.notes == {"reads of a deleted key or of no known write, result unknown": 1}


@pytest.mark.parametrize("magic", [GC_TRUE, GC_FALSE])
def test_the_switch_of_the_garbage_collection_is_no_data(magic: int) -> None:
    history = reading(INIT, magic, record("S", 3), record("W", magic, 1, 1), record("C", 3))
    assert [t.operations for t in history][1:] == [(), ()]
    assert history.notes == {"garbage-collection reads and writes dropped": 2}


@pytest.mark.parametrize("magic", [INIT, NULL])
def test_a_write_of_nothing_is_a_write_of_the_initial_value(magic: int) -> None:
    history = FORM.read(START + record("W", magic, 5, 0) + record("C", 1))
    assert history[1].operations[0].value == 0


@pytest.mark.parametrize(("writer", "write"), [(2, 10), (99, 10), (1, 99), (1, INIT), (NULL, 10)])
def test_a_read_that_names_another_writer_is_counted(writer: int, write: int) -> None:
    assert reading(writer, write).notes == {DISAGREEING: 1}


@pytest.mark.parametrize(("writer", "write"), [(1, 10), (99, 99)])
def test_a_read_that_names_its_writer_or_one_of_no_log_is_not(writer: int, write: int) -> None:
    assert reading(writer, write).notes == {}


def test_a_read_of_an_aborted_write_is_found() -> None:
    log = START + WRITE + record("A", 1) + record("S", 2) + record("R", 1, 10, 5, 7) + record("C", 2)
    assert check(FORM.read(log), ["pl-2"]).verdicts[0].anomaly_counts == {"aborted-read": 1}


STRANGERS = {
    "SQL": b"SELECT 1;\n",
    "text with the right letters": b"S12345678C12345678",
    "a word": b"S\ta",
    "a log of ArangoDB": LOG,
    "another letter": b"T" + COBRA[1:],
    "another letter later": record("S", 1) + b"X" * 40,
}


@pytest.mark.parametrize("content", STRANGERS.values(), ids=STRANGERS.keys())
def test_similar_content_is_not_recognised(content: bytes) -> None:
    assert not formats.find("cobra").sniff(content)


@pytest.mark.parametrize(
    "content", [COBRA, COBRA_TIMES, COBRA[:-1], START, START * 2, START + record("C", 2)]
)
def test_a_log_is_recognised_even_if_it_is_cut_short_or_damaged(content: bytes) -> None:
    assert formats.find("cobra").sniff(content)
