"""Run scripts on a database: several sessions in lockstep, one statement after the other.

A statement that is not answered in time waits for somebody else: the other sessions go on, and what its own
session was to do next is done when it has been answered. A transaction that the database rolled back does
nothing more. When all have ended, one more transaction reads what is there, which tells who wrote last.
"""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from isoscope.databases.database import ConnectionLost
from isoscope.directed.attempt import Attempt, Client
from isoscope.errors import DatabaseError
from isoscope.history import Initial, Source, Status, VersionSource
from isoscope.recorder import build
from isoscope.workloads.hermitage import INITIAL, SCRIPTS, Seen, Step
from isoscope.workloads.published import cells

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Future

    from isoscope.databases.database import Database
    from isoscope.history import History, Scalar, Unknown
    from isoscope.workloads.hermitage import Answer, Script
    from isoscope.workloads.published import Cell

__all__ = ["FINAL", "Directed", "Result", "run"]

#: The transaction that reads what is there in the end.
FINAL = "final"
#: Seconds after which a statement that has not been answered is said to wait for somebody else.
_PATIENCE = 0.3
#: Seconds after which it will never be answered: databases end a deadlock sooner.
_LIMIT = 60.0
#: Seconds that connections may take to close.
_GRACE = 5.0
#: How often somebody tries to read what is there in the end.
_TRIES = 5
#: Scripts share no keys: so many numbers belong to each.
_STRIDE = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of one script; `reasons` are what the database said to transactions that it rolled back."""

    script: Script
    answer: Answer
    seen: Seen
    history: History
    reasons: Mapping[int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Directed:
    """What became of all scripts; `database` is what was running."""

    database: str
    results: tuple[Result, ...]

    @property
    def found(self) -> Mapping[str, Cell]:
        """The row of Hermitage's table that was found."""
        return cells({result.script.name: result.answer for result in self.results})


def run(
    database: Database,
    scripts: Sequence[Script] = SCRIPTS,
    *,
    patience: float = _PATIENCE,
    limit: float = _LIMIT,
    progress: Callable[[Result], None] | None = None,
) -> Directed:
    """Opens `database`, runs `scripts` on it one after the other, and closes it.

    Raises `DatabaseError` if it cannot be used, is gone, or does not answer within `limit` seconds.
    """
    clients: list[Client] = []
    try:
        name = database.open("register")
        for _ in range(1 + max((script.transactions for script in scripts), default=0)):
            clients.append(Client(database.session()))  # noqa: PERF401 - those before one that fails are closed
        results = []
        for number, script in enumerate(scripts):
            base = number * _STRIDE
            database.insert([(base + key, value) for key, value in INITIAL.items()])
            results.append(_Lockstep(script, clients, base, patience=patience, limit=limit).run())
            if progress is not None:
                progress(results[-1])
        return Directed(database=name, results=tuple(results))
    except ConnectionLost as error:
        raise DatabaseError(f"the database is gone: {error}") from error
    finally:
        _close(clients)
        database.close()


def _close(clients: Sequence[Client]) -> None:
    """Closes all connections at once: one may wait for what another holds."""
    for client in clients:
        client.stop()
    end = monotonic() + _GRACE
    for client in clients:
        client.join(max(0.0, end - monotonic()))


class _Lockstep:
    """One script on its way."""

    def __init__(
        self, script: Script, clients: Sequence[Client], base: int, *, patience: float, limit: float
    ) -> None:
        self._script = script
        numbers = range(1, script.transactions + 1)
        self._attempts = {number: Attempt(number, clients[number - 1], base) for number in numbers}
        self._last = [Attempt(FINAL, clients[-1], base) for _ in range(_TRIES)]
        self._patience = patience
        self._limit = limit

    def run(self) -> Result:
        for step in self._script.steps:
            self._attempts[step.transaction].todo.append(step)
            self._collect()
            self._go_on()
        self._finish()
        final = self._final()
        seen = self._seen(final)
        return Result(
            script=self._script,
            answer=self._script.answer(seen),
            seen=seen,
            history=self._history(final, seen.final),
            reasons={number: a.reason for number, a in self._attempts.items() if a.reason is not None},
        )

    def _go_on(self) -> None:
        """Sends one statement after the other until all that is left waits for an answer."""
        while ready := [attempt for attempt in self._attempts.values() if attempt.is_ready]:
            wait([ready[0].start()], self._patience)
            if ready[0].status is not None:
                # Whoever waited for its locks is answered now.
                wait(self._unanswered(), self._patience)
            self._collect()

    def _finish(self) -> None:
        """Waits for what has not been answered; a deadlock is for the database to end."""
        while unanswered := self._unanswered():
            self._wait(unanswered)
            self._collect()
            self._go_on()

    def _collect(self) -> None:
        for attempt in self._attempts.values():
            attempt.collect()

    def _unanswered(self) -> list[Future[None]]:
        return [attempt.answer for attempt in self._attempts.values() if attempt.answer is not None]

    def _wait(self, unanswered: Iterable[Future[None]]) -> None:
        if not wait(unanswered, self._limit, return_when=FIRST_COMPLETED).done:
            raise DatabaseError(
                f"the script {self._script.name} is stuck: no answer for {self._limit:g} seconds\n\n"
                "hint: give the database a lock timeout, which ends deadlocks that it does not see"
            )

    def _final(self) -> Attempt:
        """The transaction that reads what is there in the end."""
        for attempt in self._last:
            attempt.todo.extend([Step(0, "begin"), *self._last_reads(), Step(0, "commit")])
            while attempt.is_ready:
                self._wait([attempt.start()])
                attempt.collect()
            if attempt.status is Status.COMMITTED:
                return attempt
        raise DatabaseError(f"nobody can read what the script {self._script.name} left: {attempt.reason}")

    def _last_reads(self) -> list[Step]:
        """All keys; by a predicate only if the script has one, since not every level speaks of those."""
        if any(step.action == "range-read" for step in self._script.steps):
            return [Step(0, "range-read", name=FINAL)]
        return [Step(0, "read", key, name=f"{FINAL} {key}") for key in self._script.keys]

    def _seen(self, final: Attempt) -> Seen:
        reads = {name: rows for attempt in self._attempts.values() for name, rows in attempt.reads.items()}
        left = {key: value for rows in final.reads.values() for key, value in rows.items()}
        return Seen(reads=reads, committed=frozenset(self._committed()), final=left)

    def _committed(self) -> dict[int, Attempt]:
        return {
            number: attempt
            for number, attempt in self._attempts.items()
            if attempt.status is Status.COMMITTED
        }

    def _history(self, final: Attempt, there: Mapping[int, int]) -> History:
        initial: dict[Scalar, Scalar | Unknown] = dict(INITIAL.items())
        return build(
            [attempt.transaction() for attempt in (*self._attempts.values(), final)],
            initial=Initial(value=None, of_key=initial),
            versions=self._versions(there),
            source=Source(path=f"<{self._script.name}>", format="run"),
        )

    def _versions(self, there: Mapping[int, int]) -> Iterator[tuple[VersionSource, Scalar, Scalar]]:
        """The order of versions where it is known: of two, the one that is there in the end came last."""
        left = [attempt.left() for attempt in self._committed().values()]
        for key, last in there.items():
            versions = [changes[key] for changes in left if key in changes]
            if last in versions and None not in versions and len(versions) <= 2:
                versions.sort(key=lambda version: version == last)
                yield from ((VersionSource.DECLARED, key, version) for version in versions)
