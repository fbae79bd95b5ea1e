"""The record of a run: slices hold the same transactions as the history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from isoscope._native import Builder
from isoscope.collect import Recorded, as_history
from isoscope.history import KINDS, STATUSES, UNKNOWN, History, OperationKind, Status
from isoscope.run.attempt import Attempt
from isoscope.run.recording import Recording

if TYPE_CHECKING:
    from isoscope.collect import SliceSource
    from isoscope.history import Transaction

_KEYS = st.integers(0, 3) | st.sampled_from(["x", "a long text that is interned"])
_VALUES = st.integers(-(2**70), 2**70) | st.text(max_size=3)
_LISTS = st.lists(st.integers(0, 9), max_size=4)
_TIMES = st.tuples(st.integers(0, 2**40), st.integers(0, 2**40)).map(sorted)


def _row(kind: OperationKind, key: Any, value: Any, times: list[int]) -> tuple[Any, ...]:
    return (KINDS.index(kind), key, value, *times)


_ROWS = st.one_of(
    st.builds(_row, st.just(OperationKind.WRITE), _KEYS, _VALUES, _TIMES),
    st.builds(_row, st.just(OperationKind.READ), _KEYS, _VALUES | st.none() | st.just(UNKNOWN), _TIMES),
    st.builds(_row, st.just(OperationKind.READ), st.just("list"), _LISTS, _TIMES),
    st.builds(_row, st.just(OperationKind.APPEND), st.just("list"), st.integers(0, 9), _TIMES),
    st.builds(
        _row,
        st.just(OperationKind.RANGE_READ),
        st.none(),
        st.lists(st.tuples(_KEYS, _VALUES), max_size=3).map(lambda rows: (0, 3, rows, ())),
        _TIMES,
    ),
    st.builds(_row, st.just(OperationKind.COMMIT), st.none(), st.none(), _TIMES),
)
_TRANSACTIONS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(range(len(STATUSES))), st.lists(_ROWS, max_size=4)),
    min_size=1,
    max_size=6,
)


def shown(history: History) -> list[tuple[object, ...]]:
    return [_shown(transaction) for transaction in history]


def _shown(transaction: Transaction) -> tuple[object, ...]:
    return (
        transaction.id,
        transaction.session_id,
        transaction.status,
        transaction.interval,
        transaction.operations,
    )


@given(_TRANSACTIONS, st.data())
def test_a_slice_equals_the_columns_of_the_same_rows(
    transactions: list[tuple[int, int, list[Any]]], data: st.DataObject
) -> None:
    rows = [
        Recorded(number, session, status, list(operations))
        for number, (session, status, operations) in enumerate(transactions, start=1)
    ]
    builder = Builder()
    for row in rows:
        builder.recorded(*row)
    chosen = data.draw(st.lists(st.sampled_from(rows), unique_by=lambda row: row.id))
    slice_ = History(builder.slice([row.id for row in chosen], initial=False))
    assert shown(slice_) == shown(as_history(chosen))


class Sliced:
    """A sink that keeps a slice of every two transactions."""

    def __init__(self) -> None:
        self.slices: list[History] = []
        self.waiting: list[int] = []
        self.is_closed = False

    def connect(self, slice_of: SliceSource) -> None:
        self.slice_of = slice_of

    def began(self, session: int) -> None:
        pass

    def transaction(self, number: int, *_: object) -> None:
        self.waiting.append(number)
        if len(self.waiting) == 2:
            self.slices.append(self.slice_of(self.waiting, initial=True))
            self.waiting = []

    def close(self) -> None:
        self.is_closed = True


def attempt(value: int) -> Attempt:
    ended = Attempt(None, 0)  # type: ignore[arg-type]
    ended.status = STATUSES.index(Status.COMMITTED)
    ended.rows = [(KINDS.index(OperationKind.WRITE), 1, value, value, value + 1)]
    return ended


def test_a_sink_gets_slices_of_the_recorded_history_and_each_initial_value_once() -> None:
    sink = Sliced()
    recording = Recording(record=True, sink=sink)
    recording.initial([(1, 5), (2, 0), (3, 6)])
    for value in (10, 20):
        recording.ended(attempt(value))
    recording.initial([(4, 7)])
    for value in (30, 40):
        recording.ended(attempt(value))
    recording.close_sink()
    history = recording.history(None)
    assert history is not None
    assert sink.is_closed
    assert [shown(part) for part in sink.slices] == [shown(history)[:2], shown(history)[2:]]
    assert [dict(part.initial.of_key) for part in sink.slices] == [{1: 5, 3: 6}, {4: 7}]
    assert dict(history.initial.of_key) == {1: 5, 3: 6, 4: 7}
