"""Leopard's traces: rows and columns, statements and markers, order, and what a mistake is told as."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from isoscope import formats
from isoscope.errors import FormatError
from isoscope.history import UNKNOWN, Initial, Interval, OperationKind, Range, Status
from tests.formats.forms import FORMS

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.history import History, Operation

FORM = FORMS["leopard-lines"]


def trace(kind: str | None, **fields: Any) -> dict[str, Any]:
    return {"threadID": 0, "transactionID": 1, "operationTraceType": kind} | fields


def row(row_key: Any = "7", table: Any = "t", **columns: Any) -> dict[str, Any]:
    return {"table": table, "primaryKey": row_key, "valueMap": columns}


def read(*traces: dict[str, Any]) -> History:
    return FORM.read("\n".join(map(json.dumps, traces)).encode())


def operations(*traces: dict[str, Any]) -> tuple[Operation, ...]:
    [transaction] = read(*traces)
    return transaction.operations


def test_the_sample_of_the_guideline_is_understood() -> None:
    history = read(
        {
            "threadID": "0-0-0",
            "transactionID": "0-0-0,0",
            "operationID": "0-0-0,0,1",
            "operationTraceType": "UPDATE",
            "startTimestamp": 1663798322622208619,
            "finishTimestamp": 1663798322632200949,
            "predicateLock": None,
            "traceLockMode": "EXCLUSIVE_LOCK",
            "readMode": "LOCKING_READ",
            "writeTupleList": [{"table": "0", "primaryKey": "0", "valueMap": {"v": 1}}],
        }
    )
    [transaction] = history
    [write] = transaction.operations
    assert (transaction.id, transaction.session_id, transaction.status) == (
        "0-0-0,0",
        "0-0-0",
        Status.INDETERMINATE,
    )
    assert (write.kind, write.key, write.value) == (OperationKind.WRITE, "0/0/v", 1)
    assert write.interval == Interval(1663798322622208619, 1663798322632200949)
    assert (write.table, write.columns, write.statement) == ("0", ("v",), "update")
    assert (write.lock_mode, write.read_mode, write.predicate) == ("EXCLUSIVE_LOCK", "LOCKING_READ", None)
    assert history.initial == Initial(value=UNKNOWN)


@pytest.mark.parametrize(
    ("name", "kind", "rows", "statement"),
    [
        ("SELECT", OperationKind.READ, "readTupleList", "select"),
        ("select for update", OperationKind.READ, "readTupleList", "select for update"),
        ("SELECT_FOR_UPDATE", OperationKind.READ, "readTupleList", "select_for_update"),
        ("Insert", OperationKind.INSERT, "writeTupleList", "insert"),
        ("update", OperationKind.WRITE, "writeTupleList", "update"),
        ("UPDATE", OperationKind.READ, "readTupleList", "update"),
        ("DELETE", OperationKind.DELETE, "writeTupleList", "delete"),
    ],
)
def test_a_statement_makes_operations_of_its_kind(
    name: str, kind: OperationKind, rows: str, statement: str
) -> None:
    [operation] = operations(trace(name, **{rows: [row(v=None)]}))
    assert (operation.kind, operation.statement) == (kind, statement)


@pytest.mark.parametrize(
    ("name", "kind", "status", "statement"),
    [
        ("START", OperationKind.BEGIN, Status.INDETERMINATE, "start"),
        ("begin", OperationKind.BEGIN, Status.INDETERMINATE, None),
        ("COMMIT", OperationKind.COMMIT, Status.COMMITTED, None),
        ("Rollback", OperationKind.ABORT, Status.ABORTED, "rollback"),
        ("ABORT", OperationKind.ABORT, Status.ABORTED, None),
    ],
)
def test_a_marker_says_where_a_transaction_stands(
    name: str, kind: OperationKind, status: Status, statement: str | None
) -> None:
    [transaction] = read(trace(name, startTimestamp="3", finishTimestamp=4))
    [marker] = transaction.operations
    assert (marker.kind, marker.statement, marker.interval) == (kind, statement, Interval(3, 4))
    assert transaction.status is status


def test_an_end_without_times_says_only_how_it_ended() -> None:
    [transaction] = read(trace("COMMIT"))
    assert (transaction.status, transaction.operations) == (Status.COMMITTED, ())


def test_reads_come_before_writes_and_every_column_counts() -> None:
    found = operations(
        trace("UPDATE", writeTupleList=[row(v=1, w=2)], readTupleList=[row(v=0), row(8, 5, x="y")])
    )
    assert [(o.kind.value, o.key, o.value) for o in found] == [
        ("read", "t/7/v", 0),
        ("read", "5/8/x", "y"),
        ("write", "t/7/v", 1),
        ("write", "t/7/w", 2),
    ]


@pytest.mark.parametrize(
    ("table", "row_key", "column", "key"),
    [
        ("a/b", "c", "v", "a\\/b/c/v"),
        ("a", "b/c", "v", "a/b\\/c/v"),
        ("a\\", "b", "v", "a\\\\/b/v"),
        (None, 7, "value", 7),
        ("", None, "value", None),
        (None, True, "value", True),
        (None, 7, "w", "7/w"),
        ("t", 1.5, "v", "t/1.5/v"),
        ("t", 2**70, "v", f"t/{2**70}/v"),
    ],
)
def test_a_key_names_table_row_and_column(table: Any, row_key: Any, column: str, key: Any) -> None:
    [operation] = operations(trace("UPDATE", writeTupleList=[row(row_key, table, **{column: 1})]))
    assert (operation.key, type(operation.key)) == (key, type(key))


def test_a_delete_leaves_nil_and_may_name_the_row_alone() -> None:
    found = operations(trace("DELETE", writeTupleList=[row(v=5), row(), row(9, None)]))
    assert [(o.kind.value, o.key, o.value, o.table) for o in found] == [
        ("delete", "t/7/v", None, "t"),
        ("delete", "t/7/", None, "t"),
        ("delete", 9, None, None),
    ]
    history = read(trace("DELETE", writeTupleList=[row(v=5)]))
    assert history.notes == {"values of deleted columns, left out": 1}


def test_a_predicate_that_no_row_matched_is_an_empty_range_read() -> None:
    [operation] = operations(trace("SELECT", predicateLock="T.table='T'", readTupleList=[]))
    assert (operation.kind, operation.value) == (OperationKind.RANGE_READ, Range())
    assert operation.predicate == "T.table='T'"


def test_a_predicate_that_is_no_string_is_kept_as_its_text() -> None:
    [operation] = operations(trace("SELECT", predicateLock={"a": [1]}, readTupleList=[row(v=1)]))
    assert operation.predicate == '{"a": [1]}'


def test_left_out_records_are_counted() -> None:
    asides = [trace(name) for name in ("SET_SNAPSHOT", "ddl", "DistributeSchedule", "FAULT")]
    history = read(
        *asides,
        trace("SELECT", readTupleList=[row()]),
        trace("INSERT", writeTupleList=[row(), row(1, None)]),
    )
    assert history.notes == {
        "operations of the test itself, left out": 4,
        "rows without columns, left out": 3,
    }
    assert history.counts["operations"] == 0


def test_a_statement_that_touched_no_row_is_kept() -> None:
    at = {"startTimestamp": 1, "finishTimestamp": 2}
    found = operations(trace("SELECT", **at), trace("UPDATE", writeTupleList=None, readTupleList=[], **at))
    assert [(one.kind, one.value, one.statement, one.predicate) for one in found] == [
        (OperationKind.RANGE_READ, Range(), "select", ""),
        (OperationKind.RANGE_READ, Range(), "update", ""),
    ]


def test_a_statement_without_rows_and_times_is_left_out_and_counted() -> None:
    history = read(trace("SELECT"), trace("COMMIT"))
    assert history.transaction(0).operations == ()
    assert history.notes == {"statements without rows and times, left out": 1}


def test_operations_are_ordered_by_their_ids() -> None:
    ids = ["1,10", "1,9", "1,11"]
    found = operations(*(trace("UPDATE", operationID=name, writeTupleList=[row(v=name)]) for name in ids))
    assert [operation.value for operation in found] == ["1,9", "1,10", "1,11"]


def test_interleaved_transactions_are_told_apart() -> None:
    history = read(
        trace("UPDATE", writeTupleList=[row(v=1)]),
        trace("UPDATE", transactionID=2, threadID=1, writeTupleList=[row(v=2)]),
        trace("UPDATE", writeTupleList=[row(v=3)]),
        trace("COMMIT"),
    )
    assert [[o.value for o in t.operations] for t in history] == [[1, 3], [2]]
    assert [t.status for t in history] == [Status.COMMITTED, Status.INDETERMINATE]
    assert [session.transactions for session in history.sessions] == [(0,), (1,)]


def test_operations_of_one_statement_are_written_as_one_trace() -> None:
    statement = trace(
        "UPDATE",
        operationID=0,
        startTimestamp=1,
        finishTimestamp=2,
        readTupleList=[row(v=0)],
        writeTupleList=[row(v=1, w=2), row("8", v=1)],
    )
    [line] = FORM.write(read(statement)).splitlines()
    assert json.loads(line) == statement


MISTAKES = {
    "no transaction": (
        '{"operationTraceType":"COMMIT"}',
        "PATH:1:1: expected a trace with its `transactionID`, found ",
    ),
    "no type": ('{"transactionID":1}', "PATH:1:1: expected a trace with its `operationTraceType`, found "),
    "another type": (
        '{"transactionID":1,"operationTraceType":"MERGE"}',
        "PATH:1:41: expected SELECT, INSERT, UPDATE, DELETE, START, COMMIT or ROLLBACK, found ",
    ),
    "a type that is no text": (
        '{"transactionID":1,"operationTraceType":5}',
        "PATH:1:41: expected SELECT, INSERT, UPDATE, DELETE, START, COMMIT or ROLLBACK, found ",
    ),
    "a float as id": (
        '{"transactionID":1.5}',
        "PATH:1:18: expected an integer or a string as the id, found ",
    ),
    "a date as time": (
        '{"startTimestamp":"2020-01-01"}',
        "PATH:1:19: expected a time: an integer of at most 64 bits, or such an integer in a string, found ",
    ),
    "a field twice": ('{"threadID":1,"threadID":1}', "PATH:1:26: expected each field only once, found "),
    "a row without key": (
        '{"readTupleList":[{"table":"t"}]}',
        "PATH:1:19: expected a row with its `primaryKey`, found ",
    ),
    "a row that is none": (
        '{"readTupleList":[7]}',
        'PATH:1:19: expected a row such as `{"table":"0","primaryKey":"0","valueMap":{"v":1}}`, found ',
    ),
    "a key that is no name": (
        '{"readTupleList":[{"table":"t","primaryKey":true,"valueMap":{"v":1}}]}',
        "PATH:1:45: expected a string or a number as the primary key, found ",
    ),
    "a column twice": (
        '{"readTupleList":[{"primaryKey":1,"valueMap":{"v":1,"v":2}}]}',
        "PATH:1:57: expected each column of a row only once, found ",
    ),
    "a column without a name": (
        '{"readTupleList":[{"primaryKey":1,"valueMap":{"":1}}]}',
        "PATH:1:50: expected a column with a name, found ",
    ),
    "a select that writes": (
        '{"transactionID":1,"operationTraceType":"SELECT","writeTupleList":[{"primaryKey":1,"valueMap":{"v":1}}]}',
        "PATH:1:67: expected no rows: this kind of operation writes nothing, found ",
    ),
    "a commit that reads": (
        '{"transactionID":1,"operationTraceType":"COMMIT","readTupleList":[{"primaryKey":1,"valueMap":{"v":1}}]}',
        "PATH:1:66: expected no rows: a marker reads nothing, found ",
    ),
    "two ends": (
        '{"transactionID":1,"operationTraceType":"COMMIT"}\n{"transactionID":1,"operationTraceType":"ABORT"}',
        "PATH:2: expected one end of the transaction, found another: it ended on line 1\n",
    ),
    "two threads": (
        '{"threadID":1,"transactionID":"a","operationTraceType":"START"}\n'
        '{"threadID":2,"transactionID":"a","operationTraceType":"COMMIT"}',
        'PATH:2: expected the thread of transaction "a" on line 1, found another\n',
    ),
}


@pytest.mark.parametrize(("text", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_told_where_it_stands(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_text(text)
    with pytest.raises(FormatError) as caught:
        formats.load(path, format="leopard")
    assert str(caught.value).replace(str(path), "PATH").startswith(message)
