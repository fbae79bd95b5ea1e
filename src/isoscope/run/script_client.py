"""A client of a script and its transaction: statements are sent one by one, and recorded."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from time import perf_counter_ns
from typing import TYPE_CHECKING

from isoscope.databases.database import Aborted
from isoscope.history import Interval, Operation, OperationKind, Range, Status, Transaction
from isoscope.workloads.hermitage import KEYS, Step

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from isoscope.databases.database import Session
    from isoscope.history import Value
    from isoscope.workloads.hermitage import Action

__all__ = ["Client", "ScriptTransaction"]

#: A range read asks for all keys of a script, which are all keys of its history.
_EVERYTHING = ":true"
_KINDS: Mapping[Action, OperationKind] = {
    "begin": OperationKind.BEGIN,
    "read": OperationKind.READ,
    "write": OperationKind.WRITE,
    "insert": OperationKind.INSERT,
    "delete": OperationKind.DELETE,
    "range-read": OperationKind.RANGE_READ,
    "commit": OperationKind.COMMIT,
    "rollback": OperationKind.ABORT,
}
_ENDS: Mapping[Action, Status] = {"commit": Status.COMMITTED, "rollback": Status.ABORTED}


class Client:
    """A connection and the one thread that uses it.

    The thread is a daemon: a statement that waits for ever must not keep the program from ending.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self._calls: SimpleQueue[tuple[Callable[[], None], Future[None]] | None] = SimpleQueue()
        self._thread = Thread(target=self._work, daemon=True)
        self._thread.start()

    def submit(self, call: Callable[[], None]) -> Future[None]:
        """Calls it in the thread, after earlier calls."""
        future: Future[None] = Future()
        self._calls.put((call, future))
        return future

    def stop(self) -> None:
        """Closes the connection after the last answer; does not wait for that."""
        self._calls.put(None)

    def join(self, seconds: float) -> None:
        """Waits until the connection is closed, but no longer than this."""
        self._thread.join(seconds)

    def _work(self) -> None:
        while (given := self._calls.get()) is not None:
            call, future = given
            try:
                call()
            except BaseException as error:  # raised again where the answer is awaited
                future.set_exception(error)
            else:
                future.set_result(None)
        self.session.close()


class ScriptTransaction:
    """The statements that a transaction still has to send, its recorded operations, and how it ended.

    Scripts count their keys from 1, and so does the history; in the table they begin after `base`.
    """

    def __init__(self, number: int | str, client: Client, base: int) -> None:
        self.number = number
        self.todo: deque[Step] = deque()
        self.answer: Future[None] | None = None
        self.reads: dict[str, Mapping[int, int]] = {}
        self.status: Status | None = None
        self.reason: str | None = None
        self._operations: list[Operation] = []
        self._client = client
        self._base = base

    @property
    def is_ready(self) -> bool:
        """Whether its next statement can be sent."""
        return self.answer is None and bool(self.todo)

    def start(self) -> Future[None]:
        """Sends its next statement."""
        step = self.todo.popleft()
        self.answer = self._client.submit(lambda: self._do(step))
        return self.answer

    def collect(self) -> None:
        """Takes the answer to the last statement if there is one; raises what the connection raised."""
        if self.answer is not None and self.answer.done():
            self.answer.result()
            self.answer = None
        if self.answer is None and self.status is not None:
            self.todo.clear()

    def transaction(self) -> Transaction:
        """The transaction as a part of a history."""
        times = [time for operation in self._operations for time in operation.interval or ()]
        return Transaction(
            number=0,
            id=self.number,
            session=0,
            session_id=self.number,
            status=self.status or Status.INDETERMINATE,
            operations=tuple(self._operations),
            interval=Interval(times[0], times[-1]),
        )

    def left(self) -> dict[int, int | None]:
        """The last value of each key that it changed; None for a deleted key."""
        kinds = (OperationKind.WRITE, OperationKind.INSERT, OperationKind.DELETE)
        changes = [operation for operation in self._operations if operation.kind in kinds]
        return {change.key: change.value for change in changes}  # type: ignore[misc]

    def _do(self, step: Step) -> None:
        """Sends one statement, in the thread of the connection."""
        start = perf_counter_ns()
        try:
            value = self._ask(step)
        except Aborted as error:
            self.reason = str(error)
            # Others may have seen the write; the result of a read is unknown.
            if step.action in {"write", "insert", "delete"}:
                self._note(step, step.value, start)
            self._do(Step(step.transaction, "rollback"))
        else:
            self._note(step, value, start)
            self.status = _ENDS.get(step.action)

    def _ask(self, step: Step) -> Value | Range:
        """Sends a statement; returns the value that it read or wrote."""
        session, key = self._client.session, self._base + step.key
        match step.action:
            case "read":
                found = session.read(key)
                self.reads[step.name] = {step.key: found} if isinstance(found, int) else {}
                return found
            case "range-read":
                rows = session.range_read(self._base + KEYS[0], self._base + KEYS[1])
                self.reads[step.name] = {key - self._base: value for key, value in rows}
                return Range(rows=tuple(self.reads[step.name].items()))
            case "write" | "insert" as change:
                getattr(session, change)(key, step.value)
                return step.value
            case "delete":
                session.delete(key)
            case end:
                getattr(session, end)()
        return None

    def _note(self, step: Step, value: Value | Range, start: int) -> None:
        self._operations.append(
            Operation(
                kind=_KINDS[step.action],
                key=step.key or None,
                value=None if step.action == "delete" else value,
                interval=Interval(start, perf_counter_ns()),
                predicate=_EVERYTHING if step.action == "range-read" else None,
            )
        )
