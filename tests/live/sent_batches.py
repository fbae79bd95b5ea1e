"""Batches as collectors send them, and a clock that tests advance."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from isoscope import checkers
from isoscope.history import Initial
from isoscope.live.batches import FORMS, Batch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isoscope.history import History

LINES = FORMS.index("application/x-ndjson")
SECOND = 1_000_000_000


class Clock:
    """A clock that tests set, in nanoseconds."""

    def __init__(self) -> None:
        self.now = 7 * SECOND

    def __call__(self) -> int:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += int(seconds * SECOND)


def transaction(number: int, session: int, start: int, commit: int, *operations: str) -> dict[str, Any]:
    """`transaction(1, 1, 1, 2, "w x 1", "r y 2")`."""
    rows = [operation.split() for operation in operations]
    ops = [{"t": kind, "k": key, "v": int(value)} for kind, key, value in rows]
    return {"tid": number, "sid": session, "sts": start, "cts": commit, "ops": ops}


#: The third one reads what was overwritten before it started.
STALE = [
    transaction(1, 1, 1, 2, "w x 1"),
    transaction(2, 2, 3, 4, "w x 2"),
    transaction(3, 3, 5, 6, "r x 1"),
]
FINE = [*STALE[:2], transaction(3, 3, 5, 6, "r x 2")]


def chain(count: int, *, stale_every: int = 0, sessions: int = 4) -> list[dict[str, Any]]:
    """Transactions that each read what the one before wrote, or now and then what the first one did."""
    found = [transaction(1, 0, 1, 2, "w x 1")]
    for number in range(2, count + 1):
        is_stale = stale_every and number > 2 and number % stale_every == 0
        read = f"r x {1 if is_stale else number - 1}"
        found.append(
            transaction(number, number % sessions, 2 * number - 1, 2 * number, read, f"w x {number}")
        )
    return found


def body(transactions: Iterable[dict[str, Any]]) -> bytes:
    return "\n".join(map(json.dumps, transactions)).encode()


def batch(sequence: int, transactions: Iterable[dict[str, Any]], collector: str = "c") -> Batch:
    return Batch(collector=collector, sequence=sequence, form=LINES, body=body(transactions))


def in_batches(transactions: list[dict[str, Any]], most: int) -> list[list[dict[str, Any]]]:
    return [transactions[place : place + most] for place in range(0, len(transactions), most)]


def offline(transactions: Iterable[dict[str, Any]], most: int = 10) -> dict[str, tuple[str, dict[str, int]]]:
    """What `isoscope check` says of the same transactions: outcome and counts by level."""
    history: History = batch(1, transactions).read()
    assert history.initial == Initial()
    return answers(checkers.check(history, method="timestamps", max_anomalies=most))


def answers(report: checkers.Report) -> dict[str, tuple[str, dict[str, int]]]:
    return {
        str(verdict.level): (str(verdict.outcome), dict(verdict.anomaly_counts))
        for verdict in report.verdicts
    }
