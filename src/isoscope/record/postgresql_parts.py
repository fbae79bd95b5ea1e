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
    from collections.abc import Sequence
    from functools import partial

    from isoscope.record.plan import Plan
    from isoscope.record.recording import Session

__all__ = ["execute_parts"]


def execute_parts(cursor: Any, sql: str, query: Any, parameters: Any, run: partial[Any]) -> Any:
    """Executes a statement of the program by `run`, between what the recorder asks about it."""
    connection = cursor.connection
    session: Session = connection.session()
    recording, plan = session.recording, session.database.plan(sql)
    reason = ""
    if connection._pipeline:  # noqa: SLF001 - it has no other name
        reason = "it is sent in a pipeline, and its rows come later"
    elif plan.change is not None and (cursor.format or run.keywords["binary"]):
        reason = "its rows are no texts, and it has a subquery"
    recording.hook.before(session)
    invoke = recording.clock()
    rows: list[Any] = []
    try:
        if reason:
            run(query, parameters)
            plan = not_understood(sql, reason)
        else:
            plan, rows = _executed(cursor, plan, (sql, query, parameters), run)
    except BaseException as error:
        session.failed(invoke)
        status = failed_status(error.sqlstate if isinstance(error, psycopg.Error) else None)
        connection.end_if_over(status, invoke)
        raise
    complete = recording.clock()
    session.add(Done(sql, plan, parameters, call_site(), invoke, complete, rows))
    connection.end_if_over("committed", invoke, complete)
    return cursor


def _executed(
    cursor: Any, plan: Plan, given: tuple[str, Any, Any], run: partial[Any]
) -> tuple[Plan, list[Any]]:
    connection, (sql, query, parameters) = cursor.connection, given

    def ask(text: str, values: list[Any] | None) -> Sequence[Any]:
        plain = psycopg.Cursor(connection, row_factory=tuple_row)
        plain.execute(text.encode(), values)
        return [] if plain.description is None else plain.fetchall()

    def is_open() -> bool:
        return bool(connection.pgconn.transaction_status == TransactionStatus.INTRANS)

    around = SameSnapshot(ask, is_in_transaction=is_open)
    if plan.change is None:
        run(query, parameters)
        return around.rows(plan, sql, parameters)
    asked = around.asked(plan, parameters)
    cursor._plan = plan.change  # noqa: SLF001 - the cursor is one of ours
    run(plan.change.sent, parameters)
    own = _hidden(cursor._results[0], plan.change.hidden)  # noqa: SLF001 - it has no other name
    return plan, [own, *(asked or [] if around.is_same() else [])]


def _hidden(result: Any, count: int) -> list[list[Any]]:
    """The hidden columns of each row."""
    columns = range(result.nfields - count, result.nfields)
    return [[result.get_value(row, column) for column in columns] for row in range(result.ntuples)]
