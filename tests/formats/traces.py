"""Random histories that traces of operations hold: rows of tables, plain keys, markers, statements."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from isoscope.history import Interval, Operation, OperationKind, Range, Status, Transaction
from isoscope.recorder import build
from tests.varied_histories import INTEGERS, LARGE, PLAIN, TEXTS

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

    from isoscope.history import History, Scalar

__all__ = ["key", "leopard_histories"]

_IDS = INTEGERS | LARGE | TEXTS
_SCALARS = PLAIN | LARGE | st.floats(allow_nan=False, allow_infinity=False)
_NAMES = TEXTS.filter(bool) | st.sampled_from(["v", "a/b", "\\", "value"])
_TIMES = st.none() | st.integers(-3, 3) | st.integers(0, 2**63 - 1)
_INTERVALS = st.builds(Interval, _TIMES, _TIMES).filter(lambda interval: interval != (None, None))
_STATEMENTS = ["select", "select for update", "update", "insert", "rollback", "start", "UPDATE", "merge", ""]
_ROW_KINDS = (OperationKind.READ, OperationKind.WRITE, OperationKind.INSERT, OperationKind.DELETE)


def key(table: str | None, row: str, column: str) -> str:
    """The key of a column of a row, as the page of the format says it."""
    parts = [row, column] if table is None else [table, row, column]
    return "/".join(part.replace("\\", "\\\\").replace("/", "\\/") for part in parts)


@st.composite
def leopard_histories(draw: DrawFn) -> History:
    """What Leopard's traces hold, and all of it."""
    ids = draw(st.lists(_IDS, max_size=4, unique_by=lambda name: (type(name), name)))
    return build([draw(_transactions(name)) for name in ids])


@st.composite
def _transactions(draw: DrawFn, name: Scalar) -> Transaction:
    status = draw(st.sampled_from(Status))
    operations = draw(st.lists(_operations(), max_size=5))
    ends = {Status.COMMITTED: OperationKind.COMMIT, Status.ABORTED: OperationKind.ABORT}
    if status in ends and draw(st.booleans()):
        end = draw(_labelled(Operation(kind=ends[status])))
        place = draw(st.integers(0, len(operations)))
        operations.insert(place, replace(end, interval=draw(_INTERVALS)))
    return Transaction(
        number=0,
        id=name,
        session=0,
        session_id=draw(st.none() | _IDS),
        status=status,
        operations=tuple(operations),
    )


@st.composite
def _operations(draw: DrawFn) -> Operation:
    kind = draw(st.sampled_from([*_ROW_KINDS, *_ROW_KINDS, OperationKind.BEGIN, OperationKind.RANGE_READ]))
    if kind is OperationKind.BEGIN:
        return draw(_labelled(Operation(kind=kind)))
    if kind is OperationKind.RANGE_READ:
        operation = draw(_labelled(Operation(kind=kind, value=Range())))
        return replace(operation, predicate=draw(TEXTS))
    value = None if kind is OperationKind.DELETE else draw(_SCALARS)
    return draw(_labelled(Operation(kind=kind, value=value, **draw(_places(kind)))))


@st.composite
def _places(draw: DrawFn, kind: OperationKind) -> dict[str, Any]:
    """A plain key, a column of a row, or a row as a whole, which only a delete names."""
    if draw(st.booleans()):
        return {"key": draw(_SCALARS)}
    table, row, column = draw(st.none() | _NAMES), draw(TEXTS), draw(_NAMES)
    if table is None and column == "value":
        return {"key": row}
    if kind is OperationKind.DELETE and table is not None and draw(st.booleans()):
        return {"key": key(table, row, ""), "table": table}
    return {"key": key(table, row, column), "table": table, "columns": (column,)}


@st.composite
def _labelled(draw: DrawFn, operation: Operation) -> Operation:
    """Few different labels, so that operations of one statement are likely."""
    return replace(
        operation,
        interval=draw(st.none() | st.just(Interval(1, 2)) | _INTERVALS),
        statement=draw(st.none() | st.sampled_from(_STATEMENTS)),
        lock_mode=draw(st.none() | st.sampled_from(["NON_LOCK", ""])),
        read_mode=draw(st.none() | st.just("LOCKING_READ")),
        predicate=draw(st.none() | st.just("x > 1")),
    )
