"""Statements of several SELECTs through psycopg 3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row

from isoscope.record.call_site import call_site
from isoscope.record.done import Done
from isoscope.record.plan import not_understood
from isoscope.record.postgresql_catalog import failed_status
from isoscope.record.postgresql_snapshot import SameSnapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from isoscope.record.plan import Plan
    from isoscope.record.recording import Session

__all__ = ["execute_parts"]


def execute_parts(cursor: Any, sql: str, parameters: Any, run: Callable[[], Any]) -> Any:
    """Executes a statement of the program, between what the recorder asks about it."""
    connection = cursor.connection
    session: Session = connection.session()
    recording, plan = session.recording, session.database.plan(sql)
    recording.hook.before(session)
    invoke = recording.clock()
    rows: list[Any] = []
    try:
        if connection._pipeline:  # noqa: SLF001 - it has no other name
            run()
            plan = not_understood(sql, "it is sent in a pipeline, and its rows come later")
        else:
            plan, rows = _executed(connection, plan, sql, parameters, run)
    except BaseException as error:
        if session.done:
            session.has_failed = True
            status = failed_status(error.sqlstate if isinstance(error, psycopg.Error) else None)
            connection.end_if_over(status, invoke)
        raise
    complete = recording.clock()
    session.add(Done(sql, plan, parameters, call_site(), invoke, complete, rows))
    connection.end_if_over("committed", invoke, complete)
    return cursor


def _executed(
    connection: Any, plan: Plan, sql: str, parameters: Any, run: Callable[[], Any]
) -> tuple[Plan, list[Any]]:
    def ask(text: str, values: list[Any] | None) -> Sequence[Any]:
        cursor = psycopg.Cursor(connection, row_factory=tuple_row)
        cursor.execute(text.encode(), values)
        return [] if cursor.description is None else cursor.fetchall()

    def is_open() -> bool:
        return bool(connection.pgconn.transaction_status == TransactionStatus.INTRANS)

    around = SameSnapshot(ask, is_in_transaction=is_open)
    run()
    return around.rows(plan, sql, parameters)
