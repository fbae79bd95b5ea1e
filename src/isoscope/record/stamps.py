"""The times of commits that CockroachDB shows, and which of them may name a writer.

After a commit at SERIALIZABLE, the recorder asks when it happened, and reads show when each version was
committed. By the database's own test `show_commit_timestamp`, the two are the same, also if the server moved
the transaction to a later time; at weaker levels they are not, and nothing is asked there. A pool between
program and server may give the answer of another connection. So a time counts only if some read shows it on a
row that the transaction wrote, with the content that it wrote: two transactions may commit at one time
(https://github.com/cockroachdb/cockroach/issues/62928), but not two versions of one row.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from isoscope.record.plan import Kind
from isoscope.record.rows import seen_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from isoscope.record.rows import SeenRow
    from isoscope.record.traces import Statement, TracedTransaction

__all__ = ["drop_unconfirmed", "own_row"]


def drop_unconfirmed(transactions: Sequence[TracedTransaction]) -> None:
    """Takes the stamps away from transactions of which no read shows a row with them."""
    shown = {(seen.key, Decimal(seen.stamp), _text(seen)) for seen in _read_rows(transactions) if seen.stamp}
    for one in transactions:
        if one.stamp and not any(
            (wrote.key, Decimal(one.stamp), _text(wrote)) in shown for wrote in _written_rows(one)
        ):
            one.stamp = ""


def own_row(reader: TracedTransaction, done: Statement, seen: SeenRow) -> SeenRow | None:
    """The last write of this row by the reader itself, before the read; a deleted row is none."""
    found = None
    for one in reader.statements:
        if one is done:
            break
        for wrote in seen_rows(one, reader.database) if one.is_change else ():
            if wrote.key == seen.key:
                found = None if one.plan.kind is Kind.DELETE else wrote
    return found


def _read_rows(transactions: Iterable[TracedTransaction]) -> Iterator[SeenRow]:
    for one in transactions:
        for done in one.statements if one.database.has_stamps else ():
            if done.plan.kind is Kind.SELECT:
                yield from seen_rows(done, one.database)


def _written_rows(one: TracedTransaction) -> Iterator[SeenRow]:
    for done in one.statements:
        if done.is_change and done.plan.kind is not Kind.DELETE:
            yield from seen_rows(done, one.database)


def _text(seen: SeenRow) -> str:
    return repr(sorted((seen.content or {}).items(), key=lambda item: item[0]))
