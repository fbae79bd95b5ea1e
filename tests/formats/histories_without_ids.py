"""Histories for formats without ids: transactions and sessions are called 1, 2, 3, ... session by session."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from isoscope.history import History, Initial, Operation, OperationKind, Scalar, Status, Transaction
from isoscope.recorder import build
from tests.varied_histories import INTEGERS, Variety, varied

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

__all__ = ["awdit_histories", "dbcop_hist_histories", "dbcop_json_histories"]

NATURALS = INTEGERS.filter(lambda number: number >= 0)
#: Names of variables; the last two look like numbers and are none.
NAMES = st.sampled_from(["x", "_", "größe", "X1", "1x", "07", str(2**64)])
ZERO = Initial(value=0, replaceable=True)


def awdit_histories() -> SearchStrategy[History]:
    """Everything that AWDIT's test format can hold: committed transactions that are not empty."""
    variety = _naturals(least_operations=1, initial=st.just(Initial(value=None)))
    return varied(variety).map(_numbered)


def dbcop_hist_histories() -> SearchStrategy[History]:
    """What dbcop's text holds: transactions that are not empty, variables with names."""
    return _dbcop(_naturals(keys=NATURALS | NAMES, least_operations=1, statuses=_STATUSES))


def dbcop_json_histories() -> SearchStrategy[History]:
    """What dbcop's JSON holds."""
    return _dbcop(_naturals(statuses=_STATUSES))


_STATUSES = (Status.COMMITTED, Status.ABORTED)


def _naturals(
    *,
    keys: SearchStrategy[Scalar] = NATURALS,
    least_operations: int = 0,
    statuses: tuple[Status, ...] = (Status.COMMITTED,),
    initial: SearchStrategy[Initial] = st.just(ZERO),  # noqa: B008 - immutable
) -> Variety:
    return Variety(
        keys=keys,
        values=NATURALS,
        session_ids=st.integers(0, 2),
        least_operations=least_operations,
        statuses=statuses,
        initial=initial,
    )


@st.composite
def _dbcop(draw: DrawFn, variety: Variety) -> History:
    """Sometimes with a read of the initial version of a key to which 0 is written as well."""
    history = draw(varied(variety))
    if draw(st.booleans()):
        return _numbered(history)
    key = draw(variety.keys)
    write = Operation(kind=OperationKind.WRITE, key=key, value=0)
    read = Operation(kind=OperationKind.READ, key=key, value=None)
    both = Transaction(
        number=0, id="both", session=0, session_id=draw(variety.session_ids), operations=(write, read)
    )
    return _numbered(build([*history, both], initial=replace(ZERO, of_key={key: None})))


def _numbered(history: History) -> History:
    """The same, session by session and numbered anew."""
    transactions = [
        replace(history.transaction(number), session_id=place)
        for place, session in enumerate(history.sessions, start=1)
        for number in session.transactions
    ]
    numbered = [replace(transaction, id=place) for place, transaction in enumerate(transactions, start=1)]
    return build(numbered, initial=history.initial)
