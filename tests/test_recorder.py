"""Recording a history by hand: every kind, every end, any thread."""

from __future__ import annotations

import itertools
import threading
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from isoscope import UNKNOWN, Initial, Recorder, Term, Timestamp
from isoscope.history import Interval, Operation, OperationKind, Range, Status, Transaction, VersionSource
from isoscope.recorder import build

if TYPE_CHECKING:
    from collections.abc import Callable

    from isoscope.history import History, Scalar
    from isoscope.recorder import RecordedTransaction


def record(*actions: Callable[[RecordedTransaction], None]) -> Transaction:
    recorder = Recorder()
    with recorder.transaction(id=1) as t:
        for action in actions:
            action(t)
    return recorder.history()[1]


@pytest.mark.parametrize(
    ("action", "kind", "key", "value"),
    [
        (lambda t: t.read("x", 1), "read", "x", 1),
        (lambda t: t.read("x", [1, 2]), "read", "x", (1, 2)),
        (lambda t: t.read("x", (1, 2)), "read", "x", (1, 2)),
        (lambda t: t.read("x", []), "read", "x", ()),
        (lambda t: t.read("x", UNKNOWN), "read", "x", UNKNOWN),
        (lambda t: t.read("x", None), "read", "x", None),
        (lambda t: t.write(7, "v"), "write", 7, "v"),
        (lambda t: t.append("x", 2), "append", "x", 2),
        (lambda t: t.insert("x", 2.5), "insert", "x", 2.5),
        (lambda t: t.delete("x"), "delete", "x", None),
        (lambda t: t.write(Term(":k"), 2**80), "write", Term(":k"), 2**80),
    ],
)
def test_every_kind_of_operation_comes_back_as_it_was_recorded(
    action: Callable[[RecordedTransaction], None], kind: str, key: Scalar, value: object
) -> None:
    [operation] = record(action).operations
    assert (operation.kind, operation.key, operation.value) == (kind, key, value)
    assert type(operation.value) is type(value)


def test_a_range_read_comes_back_with_bounds_rows_and_tombstones() -> None:
    seen = Range(low=1, high=None, rows=((1, "a"), (2, "b")), tombstones=((3, None),))
    [operation] = record(lambda t: t.range_read(seen)).operations
    assert operation.kind is OperationKind.RANGE_READ
    assert operation.key is None
    assert operation.value == seen


def test_details_of_an_operation_come_back() -> None:
    details: dict[str, Any] = {
        "interval": Interval(3, None),
        "table": "accounts",
        "columns": ("id", "balance"),
        "statement": "update",
        "lock_mode": "EXCLUSIVE_LOCK",
        "read_mode": "LOCKING_READ",
        "predicate": "x > 1",
        "tombstone": True,
    }
    [operation] = record(lambda t: t.write("x", 1, **details)).operations
    assert {name: getattr(operation, name) for name in details} == details


def test_an_unknown_detail_is_rejected_at_once() -> None:
    with pytest.raises(TypeError, match="colour"):
        record(lambda t: t.write("x", 1, colour="red"))


def test_operations_keep_their_program_order() -> None:
    transaction = record(lambda t: t.write("x", 1), lambda t: t.read("y", 0), lambda t: t.write("x", 2))
    assert [(o.key, o.value) for o in transaction.operations] == [("x", 1), ("y", 0), ("x", 2)]


@pytest.mark.parametrize(
    ("end", "status"),
    [
        (lambda t: None, Status.COMMITTED),
        (lambda t: t.abort(), Status.ABORTED),
        (lambda t: t.indeterminate(), Status.INDETERMINATE),
    ],
)
def test_a_transaction_ends_as_it_says(end: Callable[[RecordedTransaction], None], status: Status) -> None:
    assert record(end).status is status


@pytest.mark.parametrize(
    ("before", "status"),
    [(lambda t: None, Status.ABORTED), (lambda t: t.indeterminate(), Status.INDETERMINATE)],
)
def test_an_exception_aborts_the_transaction_and_propagates(
    before: Callable[[RecordedTransaction], None], status: Status
) -> None:
    recorder = Recorder()

    def fail() -> None:
        with recorder.transaction(id=1) as t:
            t.write("x", 1)
            before(t)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    recorded = recorder.history()[1]
    assert recorded.status is status
    assert len(recorded.operations) == 1


@pytest.mark.parametrize("reading", [5, Timestamp(5), Timestamp(5, 2)])
def test_timestamps_are_integers_or_pairs(reading: int | Timestamp) -> None:
    transaction = record(lambda t: t.timestamps(reading, 9))
    assert transaction.start == (Timestamp(reading) if isinstance(reading, int) else reading)
    assert transaction.commit == Timestamp(9, 0)


def test_a_clock_records_the_interval_of_each_transaction() -> None:
    recorder = Recorder(clock=itertools.count(10).__next__)
    for number in (1, 2):
        with recorder.transaction(id=number):
            pass
    assert [t.interval for t in recorder.history()] == [Interval(10, 11), Interval(12, 13)]


def test_without_a_clock_there_is_no_interval() -> None:
    assert record().interval is None


def test_ids_are_numbers_from_one_unless_given() -> None:
    recorder = Recorder()
    for name in (None, "other", None):
        with recorder.transaction(id=name):
            pass
    assert [t.id for t in recorder.history()] == [1, "other", 2]


def test_an_id_used_twice_is_rejected_by_name() -> None:
    recorder = Recorder()
    with recorder.transaction(id="t1"):
        pass
    with pytest.raises(ValueError, match="the transaction id 't1' is used twice"):
        recorder.transaction(id="t1")
    assert [t.id for t in recorder.history()] == ["t1"]


def test_numbers_that_are_taken_are_left_out() -> None:
    recorder = Recorder()
    for name in (2, None, None):
        with recorder.transaction(id=name):
            pass
    assert [t.id for t in recorder.history()] == [2, 1, 3]


def test_a_mistake_costs_nothing_that_was_recorded_before() -> None:
    recorder = Recorder()
    with recorder.transaction(session=1) as t:
        t.write("x", 1)
        mistakes: list[tuple[str, Any, Any]] = [("write", "y", (1,)), ("read", "y", {}), ("append", [], 1)]
        for method, key, value in mistakes:
            with pytest.raises(TypeError, match="expected None, a bool, int, float, str, Decimal"):
                getattr(t, method)(key, value)
    with pytest.raises(RuntimeError, match="transaction 1 has ended"):
        t.write("x", 2)
    assert [operation.value for operation in recorder.history().transaction(0).operations] == [1]


def test_without_a_session_a_transaction_is_its_own() -> None:
    recorder = Recorder()
    for session in (None, "a", None, "a"):
        with recorder.transaction(session=session):
            pass
    assert [(s.id, s.transactions) for s in recorder.history().sessions] == [
        (None, (0,)),
        ("a", (1, 3)),
        (None, (2,)),
    ]


def test_session_order_is_the_order_in_which_transactions_end() -> None:
    recorder = Recorder()
    outer = recorder.transaction(session=1, id="outer")
    with outer, recorder.transaction(session=1, id="inner"):
        pass
    assert [t.id for t in recorder.history()] == ["inner", "outer"]


def test_a_history_is_a_snapshot_of_the_recorded_transactions() -> None:
    recorder = Recorder()
    with recorder.transaction():
        pass
    early = recorder.history()
    with recorder.transaction():
        pass
    assert (len(early), len(recorder.history())) == (1, 2)


def test_threads_may_record_at_the_same_time() -> None:
    recorder = Recorder()

    def client(session: int) -> None:
        for number in range(50):
            with recorder.transaction(session=session, id=f"{session}/{number}") as t:
                t.write(session, number)

    threads = [threading.Thread(target=client, args=(session,)) for session in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    history = recorder.history()
    assert len(history) == 400
    for session in history.sessions:
        written = [history.transaction(number).operations[0].value for number in session.transactions]
        assert written == list(range(50))


def test_numbered_ids_differ_between_threads() -> None:
    recorder = Recorder()

    def client() -> None:
        for _ in range(100):
            with recorder.transaction():
                pass

    threads = [threading.Thread(target=client) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {t.id for t in recorder.history()} == set(range(1, 401))


@pytest.mark.parametrize(
    ("initial", "expected"),
    [
        (0, Initial(value=0)),
        (None, Initial(value=None)),
        (UNKNOWN, Initial()),
        (Initial(value=0, replaceable=True), Initial(value=0, replaceable=True)),
        (Initial(value=0, of_key={"x": 1, "y": UNKNOWN}), Initial(value=0, of_key={"x": 1, "y": UNKNOWN})),
    ],
)
def test_the_initial_value_is_kept(initial: Initial | Scalar, expected: Initial) -> None:
    assert Recorder(initial=initial).history().initial == expected


def test_the_initial_value_is_unknown_unless_given() -> None:
    assert Recorder().history().initial == Initial(value=UNKNOWN)


def test_declared_versions_are_kept_by_source_and_key() -> None:
    recorder = Recorder()
    recorder.version_order("x", [1, 2])
    recorder.version_order("y", [5], source=VersionSource.LOG)
    recorder.version_order("x", [3])
    orders = {order.source: order.versions for order in recorder.history().version_orders}
    assert orders == {VersionSource.DECLARED: {"x": (1, 2, 3)}, VersionSource.LOG: {"y": (5,)}}


def one(operation: Operation) -> History:
    transaction = Transaction(number=0, id=1, session=0, session_id=1, operations=(operation,))
    return build([transaction])


WRITE, READ = OperationKind.WRITE, OperationKind.READ


@pytest.mark.parametrize(
    ("operation", "named"),
    [
        (Operation(kind=WRITE, key="x", value=Decimal(1)), "Decimal"),  # type: ignore[arg-type]
        (Operation(kind=WRITE, key=b"x", value=1), "bytes"),  # type: ignore[arg-type]
        (Operation(kind=WRITE, key=("x",), value=1), "tuple"),  # type: ignore[arg-type]
        (Operation(kind=WRITE, key="x", value=(1, 2)), "tuple"),
        (Operation(kind=READ, key="x", value=(1, (2,))), "tuple"),  # type: ignore[arg-type]
        (Operation(kind=READ, key="x", value={1}), "set"),  # type: ignore[arg-type]
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_a_value_of_another_type_is_rejected_by_the_name_of_its_type(
    operation: Operation, named: str
) -> None:
    with pytest.raises(TypeError, match=f"expected None, a bool, int, float, str or Term, found {named}"):
        one(operation)


def test_a_text_that_no_file_could_hold_is_rejected() -> None:
    with pytest.raises(ValueError, match="lone surrogates"):
        one(Operation(kind=WRITE, key="\ud800", value=1))


@pytest.mark.parametrize("value", [UNKNOWN, Range()], ids=["unknown", "range"])
def test_a_result_of_reads_only_cannot_be_written(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        one(Operation(kind=WRITE, key="x", value=value))  # type: ignore[arg-type]


def test_a_range_read_without_a_range_is_rejected() -> None:
    with pytest.raises((TypeError, ValueError)):
        one(Operation(kind=OperationKind.RANGE_READ, value=3))


def test_the_unknown_result_is_no_key() -> None:
    with pytest.raises((TypeError, ValueError)):
        one(Operation(kind=READ, key=UNKNOWN, value=3))  # type: ignore[arg-type]


def test_explicit_sequence_numbers_order_a_session() -> None:
    transactions = [
        Transaction(number=0, id=name, session=0, session_id=1, sequence=place)
        for name, place in (("second", 2), ("first", 1))
    ]
    history = build(transactions)
    assert history.sessions[0].transactions == (1, 0)
    assert [t.sequence for t in history] == [2, 1]


def test_a_sequence_number_used_twice_in_a_session_is_rejected() -> None:
    transactions = [
        Transaction(number=0, id=number, session=0, session_id=1, sequence=5) for number in range(2)
    ]
    with pytest.raises(ValueError, match="sequence numbers that differ inside a session"):
        build(transactions)
