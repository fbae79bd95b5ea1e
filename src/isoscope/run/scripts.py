"""Run scripts on a database: several sessions, one statement after the other.

A statement without an answer in time waits for another transaction: the other sessions go on, and the next
statements of its own session are sent after the answer. A transaction that the database rolled back sends
nothing more. When all have ended, one more transaction reads every key, which shows the last writer of each.
"""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from isoscope.databases.database import ConnectionLost
from isoscope.errors import DatabaseError
from isoscope.history import Initial, Source, Status, VersionSource
from isoscope.recorder import build
from isoscope.run.script_client import Client, ScriptTransaction
from isoscope.workloads.hermitage import INITIAL, SCRIPTS, Seen, Step
from isoscope.workloads.published import cells

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Future

    from isoscope.databases.database import Database
    from isoscope.history import History, Scalar, Unknown
    from isoscope.workloads.hermitage import Answer, Script
    from isoscope.workloads.published import Cell

__all__ = ["FINAL", "ScriptResult", "ScriptedRun", "run_scripts"]

#: The transaction that reads every key at the end.
FINAL = "final"
#: Seconds after which a statement without an answer counts as waiting for another transaction.
_PATIENCE = 0.3
#: Seconds after which no answer will come: databases end a deadlock sooner.
_LIMIT = 60.0
#: Seconds that connections may take to close.
_GRACE = 5.0
# s of the final transaction.
_TRIES = 5
#: Numbers of keys that belong to one script: scripts share none.
_STRIDE = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptResult:
    """The result of one script; `reasons` are the database's messages to transactions that it rolled back."""

    script: Script
    answer: Answer
    seen: Seen
    history: History
    reasons: Mapping[int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedRun:
    """The results of all scripts; `database` is its name and version."""

    database: str
    results: tuple[ScriptResult, ...]

    @property
    def found(self) -> Mapping[str, Cell]:
        """The results as a row of Hermitage's table."""
        return cells({result.script.name: result.answer for result in self.results})


def run_scripts(
    database: Database,
    scripts: Sequence[Script] = SCRIPTS,
    *,
    patience: float = _PATIENCE,
    limit: float = _LIMIT,
    progress: Callable[[ScriptResult], None] | None = None,
) -> ScriptedRun:
    """Opens `database`, runs `scripts` on it one after the other, and closes it.

    Raises `DatabaseError` if it cannot be used, is gone, or does not answer within `limit` seconds.
    """
    clients: list[Client] = []
    try:
        name = database.open("register")
        for _ in range(1 + max((script.transactions for script in scripts), default=0)):
            clients.append(Client(database.session()))  # noqa: PERF401 - after a failure, the earlier ones are closed
        results = []
        for number, script in enumerate(scripts):
            base = number * _STRIDE
            database.insert([(base + key, value) for key, value in INITIAL.items()])
            results.append(_ScriptRun(script, clients, base, patience=patience, limit=limit).run())
            if progress is not None:
                progress(results[-1])
        return ScriptedRun(database=name, results=tuple(results))
    except ConnectionLost as error:
        raise DatabaseError(f"the database is gone: {error}") from error
    finally:
        _close(clients)
        database.close()


def _close(clients: Sequence[Client]) -> None:
    """Closes all connections at once: one may wait for a lock of another."""
    for client in clients:
        client.stop()
    end = monotonic() + _GRACE
    for client in clients:
        client.join(max(0.0, end - monotonic()))


class _ScriptRun:
    """One run of one script."""

    def __init__(
        self, script: Script, clients: Sequence[Client], base: int, *, patience: float, limit: float
    ) -> None:
        self._script = script
        numbers = range(1, script.transactions + 1)
        self._transactions = {
            number: ScriptTransaction(number, clients[number - 1], base) for number in numbers
        }
        self._last = [ScriptTransaction(FINAL, clients[-1], base) for _ in range(_TRIES)]
        self._patience = patience
        self._limit = limit

    def run(self) -> ScriptResult:
        for step in self._script.steps:
            self._transactions[step.transaction].todo.append(step)
            self._collect()
            self._send_ready()
        self._finish()
        final = self._final()
        seen = self._seen(final)
        return ScriptResult(
            script=self._script,
            answer=self._script.answer(seen),
            seen=seen,
            history=self._history(final, seen.final),
            reasons={number: a.reason for number, a in self._transactions.items() if a.reason is not None},
        )

    def _send_ready(self) -> None:
        """Sends one statement after the other until all that is left waits for an answer."""
        while ready := [transaction for transaction in self._transactions.values() if transaction.is_ready]:
            wait([ready[0].start()], self._patience)
            if ready[0].status is not None:
                # Statements that waited for its locks get their answers now.
                wait(self._unanswered(), self._patience)
            self._collect()

    def _finish(self) -> None:
        """Waits for the missing answers; the database has to end a deadlock."""
        while unanswered := self._unanswered():
            self._wait(unanswered)
            self._collect()
            self._send_ready()

    def _collect(self) -> None:
        for transaction in self._transactions.values():
            transaction.collect()

    def _unanswered(self) -> list[Future[None]]:
        return [
            transaction.answer
            for transaction in self._transactions.values()
            if transaction.answer is not None
        ]

    def _wait(self, unanswered: Iterable[Future[None]]) -> None:
        if not wait(unanswered, self._limit, return_when=FIRST_COMPLETED).done:
            raise DatabaseError(
                f"the script {self._script.name} is stuck: no answer for {self._limit:g} seconds\n\n"
                "hint: give the database a lock timeout, which ends deadlocks that it does not see"
            )

    def _final(self) -> ScriptTransaction:
        """Reads every key in one transaction, after all others have ended."""
        for transaction in self._last:
            transaction.todo.extend([Step(0, "begin"), *self._last_reads(), Step(0, "commit")])
            while transaction.is_ready:
                self._wait([transaction.start()])
                transaction.collect()
            if transaction.status is Status.COMMITTED:
                return transaction
        raise DatabaseError(
            f"the rows that the script {self._script.name} left cannot be read: {transaction.reason}"
        )

    def _last_reads(self) -> list[Step]:
        """Reads of all keys; by a predicate only if the script has one: some levels ignore predicates."""
        if any(step.action == "range-read" for step in self._script.steps):
            return [Step(0, "range-read", name=FINAL)]
        return [Step(0, "read", key, name=f"{FINAL} {key}") for key in self._script.keys]

    def _seen(self, final: ScriptTransaction) -> Seen:
        reads = {
            name: rows
            for transaction in self._transactions.values()
            for name, rows in transaction.reads.items()
        }
        left = {key: value for rows in final.reads.values() for key, value in rows.items()}
        return Seen(reads=reads, committed=frozenset(self._committed()), final=left)

    def _committed(self) -> dict[int, ScriptTransaction]:
        return {
            number: transaction
            for number, transaction in self._transactions.items()
            if transaction.status is Status.COMMITTED
        }

    def _history(self, final: ScriptTransaction, final_rows: Mapping[int, int]) -> History:
        initial: dict[Scalar, Scalar | Unknown] = dict(INITIAL.items())
        return build(
            [each.transaction() for each in (*self._transactions.values(), final)],
            initial=Initial(value=None, of_key=initial),
            versions=self._versions(final_rows),
            source=Source(path=f"<{self._script.name}>", format="run"),
        )

    def _versions(self, final_rows: Mapping[int, int]) -> Iterator[tuple[VersionSource, Scalar, Scalar]]:
        """The order of versions where it is known: of two, the one that is left at the end came last."""
        left = [transaction.left() for transaction in self._committed().values()]
        for key, last in final_rows.items():
            versions = [changes[key] for changes in left if key in changes]
            if last in versions and None not in versions and len(versions) <= 2:
                versions.sort(key=lambda version: version == last)
                yield from ((VersionSource.DECLARED, key, version) for version in versions)
