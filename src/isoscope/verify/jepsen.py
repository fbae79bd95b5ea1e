"""Jepsen and Elle histories in EDN: list-append and rw-register."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from isoscope.verify.edn import Form, Map, Reader, as_scalar
from isoscope.verify.history import (
    ABORTED,
    APPEND,
    COMMITTED,
    DELETE,
    INDETERMINATE,
    RANGE,
    READ,
    UNKNOWN,
    WRITE,
    BadInputError,
    History,
    Initial,
    Term,
    Transaction,
)
from isoscope.verify.ranges import RangeRead, replace_ranges

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.verify.history import Operation

__all__ = ["read"]

_STATUS = {":ok": COMMITTED, ":fail": ABORTED, ":info": INDETERMINATE}
_KINDS = {":r": READ, ":w": WRITE, ":insert": WRITE, ":append": APPEND, ":delete": DELETE, ":rp": RANGE}
_TYPE, _PROCESS, _F, _VALUE = (Term("keyword", name) for name in (":type", ":process", ":f", ":value"))
_INDEX, _ID = Term("keyword", ":index"), Term("keyword", ":transaction")
_CLIENT_FUNCTIONS = {":txn", ":init", ":read", ":write", "None"}


class _Event:
    """An event of a client; `position` is its place in real time and its name."""

    __slots__ = ("id", "init", "position", "process", "type", "value")

    def __init__(self, event: Map, process: int | None) -> None:
        self.type = str(event.get(_TYPE))
        self.process = process
        self.value = event.get(_VALUE)
        self.position = 0
        self.id = event.get(_ID)
        self.init = str(event.get(_F)) == ":init"


def read(text: str, name: str) -> History:
    """The history of this text."""
    reader = Reader(text, name)
    raw = list(_client_events(reader))
    events = [event for event, _ in raw]
    for number, position in enumerate(_positions([index for _, index in raw])):
        events[number].position = position
    transactions = list(_transactions(events, reader))
    keys = [(None, key) for t in transactions for kind, key, _ in t.operations if kind != RANGE]
    replace_ranges(transactions, keys)
    history = History(transactions, Initial(value=None), "jepsen")
    history.has_real_time = any(event.type == ":invoke" for event in events)
    return history


def _client_events(reader: Reader) -> Iterator[tuple[_Event, Any]]:
    for form in reader:
        for event in form if isinstance(form, Form) else [form]:
            if not isinstance(event, Map):
                raise reader.fail("an event, a map")
            process = event.get(_PROCESS)
            is_client = isinstance(process, int) or (
                process is None and str(event.get(_F)) in _CLIENT_FUNCTIONS
            )
            if is_client:
                yield _Event(event, process), event.get(_INDEX)


def _positions(indices: list[Any]) -> list[int]:
    """The indices if all events have one and they ascend, else the numbers of the events."""
    if all(isinstance(index, int) and index >= 0 for index in indices) and all(
        one < two for one, two in pairwise(indices)
    ):
        return indices
    return list(range(len(indices)))


def _transactions(events: list[_Event], reader: Reader) -> Iterator[Transaction]:
    """Completions joined with the open invocation of their process; then what never completed."""
    sessions: dict[Any, int] = {}
    open_events: dict[Any, _Event] = {}
    number = 0
    for event in events:
        process: Any = event.process
        if process is None:
            if event.type == ":invoke":
                raise BadInputError("an invocation without a process: convert the history to Parquet first")
            process = ("alone", number)
        if event.type == ":invoke":
            if process in open_events:
                raise reader.fail(f"one transaction at a time of process {process}")
            open_events[process] = event
            sessions.setdefault(process, len(sessions))
            continue
        if event.type not in _STATUS:
            raise reader.fail(f"a :type, found {event.type}")
        session = sessions.setdefault(process, len(sessions))
        yield _transaction(number, session, open_events.pop(process, None), event)
        number += 1
    for process, event in open_events.items():
        yield _transaction(number, sessions[process], event, None)
        number += 1


def _transaction(
    number: int, session: int, invocation: _Event | None, completion: _Event | None
) -> Transaction:
    last = completion or invocation
    if last is None:
        raise AssertionError("a transaction has an event")
    status = INDETERMINATE if completion is None else _STATUS[completion.type]
    name = last.position if last.id is None else as_scalar(last.id)
    transaction = Transaction(number, name, session, status)
    transaction.session_id = UNKNOWN if last.process is None else last.process
    transaction.begin = invocation.position if invocation else None
    transaction.end = completion.position if completion else None
    value = last.value
    if value is None and invocation is not None:
        value = invocation.value
    transaction.operations = list(_operations(value, last, committed=status == COMMITTED))
    transaction.is_first = last.init and status == COMMITTED and bool(transaction.operations)
    return transaction


def _operations(value: Any, event: _Event, *, committed: bool) -> Iterator[Operation]:
    if event.init:
        yield from ((WRITE, key, as_scalar(row)) for key, row in (value or {}).items())
        return
    for micro in value or ():
        kind = _KINDS.get(str(micro[0])) if isinstance(micro, Form) and micro else None
        if kind is None or (len(micro) < 2 and kind != RANGE):
            raise BadInputError(f"expected a micro-operation of transaction {event.position}, found {micro}")
        result = micro[2] if len(micro) > 2 else None
        if kind == RANGE:
            if result is not None or committed:
                yield RANGE, None, _range_read(micro)
        elif kind == READ:
            yield READ, as_scalar(micro[1]), _result(result, committed=committed)
        else:
            yield kind, as_scalar(micro[1]), as_scalar(result)


def _range_read(micro: Form) -> RangeRead:
    """All keys, by a predicate; without rows it showed none."""
    predicate, rows = [*micro[1:], None, None][:2]
    if predicate is None or not isinstance(rows, Map | None):
        raise BadInputError(f"expected a predicate and a map of rows, found {micro.text}")
    text = predicate.text if isinstance(predicate, Form) else str(predicate)
    return RangeRead([(key, as_scalar(value)) for key, value in (rows or {}).items()], predicate=text)


def _result(result: Any, *, committed: bool) -> Any:
    if isinstance(result, Form) and result.text[:1] in "[(":
        return [as_scalar(element) for element in result]
    if result is None and not committed:
        return UNKNOWN
    return as_scalar(result)
