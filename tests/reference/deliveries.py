"""How transactions arrive at the engine that judges them online: late, in batches, some of them twice.

In each session they arrive in order, as a collector sends them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from isoscope._native import judge_clock
from isoscope.checkers.clock import Judged
from isoscope.history import UNKNOWN, Initial, OperationKind, Status
from isoscope.recorder import build

from .clock_histories import random_clock_parts, shuffled
from .histories import Chooser, Drawn

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator

    from isoscope.checkers.online import Online
    from isoscope.history import History, Transaction
    from isoscope.levels import Level

JUDGED = (OperationKind.READ, OperationKind.WRITE, OperationKind.APPEND)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Transactions that arrive together, in nanoseconds."""

    transactions: tuple[Transaction, ...]
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """All batches of a history, in the order of arrival."""

    batches: tuple[Batch, ...]
    initial: Initial

    def history(self, batch: Batch) -> History:
        """A batch as the engine takes it."""
        return build(batch.transactions, initial=self.initial)


@st.composite
def deliveries(draw: st.DrawFn) -> Delivery:
    """Any delivery of `random_delivery`."""
    return random_delivery(Drawn(draw))


def random_delivery(chooser: Chooser, *, known: bool = False) -> Delivery:
    """A small history in batches of any size; `known`: with an initial value that is known."""
    parts = random_clock_parts(chooser)
    value = parts["initial"].value
    arriving = shuffled([_plain(t) for t in parts["transactions"] if _is_judged(t)], chooser)
    initial = Initial(value=7 if known and value is UNKNOWN else value)
    return Delivery(batches=tuple(_batches(arriving, chooser)), initial=initial)


def _is_judged(transaction: Transaction) -> bool:
    is_timed = transaction.start is not None and transaction.commit is not None
    is_known = transaction.status is Status.ABORTED or (transaction.status is Status.COMMITTED and is_timed)
    return is_known and all(operation.kind in JUDGED for operation in transaction.operations)


def _plain(transaction: Transaction) -> Transaction:
    """The order of arrival is that of the session."""
    return replace(transaction, sequence=None)


def _batches(arriving: list[Transaction], chooser: Chooser) -> Iterator[Batch]:
    now, sent = 0, 0
    while sent < len(arriving):
        size = chooser.choice((1, 1, 2, 3))
        again = [t for t in arriving[:sent] if chooser.choice((False, False, False, True))]
        yield Batch(transactions=(*again, *arriving[sent : sent + size]), at=now)
        sent += size
        now += chooser.choice((0, 1, 1, 3))


def delayed(transactions: Iterable[Transaction], chance: random.Random, *, most: int) -> Iterator[Batch]:
    """Each arrives at most so long after its last timestamp, and after all before it in its session."""
    latest: dict[object, int] = {}
    arrivals: list[tuple[int, Transaction]] = []
    for transaction in transactions:
        times = [time.physical for time in (transaction.start, transaction.commit) if time is not None]
        arrival = max(times) + chance.randint(0, most)
        arrival = max(arrival, latest.get(transaction.session_id, 0))
        latest[transaction.session_id] = arrival
        arrivals.append((arrival, transaction))
    for arrival, transaction in sorted(arrivals, key=lambda pair: pair[0]):
        yield Batch(transactions=(transaction,), at=arrival)


def taken(online: Online, delivery: Delivery) -> Iterator[list[Transaction]]:
    """Everything that was taken, after each batch; a batch that is refused leaves nothing."""
    known: dict[object, Transaction] = {}
    for batch in delivery.batches:
        try:
            new = online.take(delivery.history(batch), batch.at)
        except ValueError:
            continue
        before = len(known)
        for transaction in batch.transactions:
            known.setdefault(transaction.id, transaction)
        assert new == len(known) - before
        yield [*known.values()]


def offline(
    transactions: Iterable[Transaction], initial: Initial, level: Level, max_anomalies: int = 1000
) -> Judged:
    """The judgement of the engine that has the whole history."""
    history = build([*transactions], initial=initial)
    [judgement] = judge_clock(history.columns, [level], max_anomalies)
    return Judged(history, judgement)
