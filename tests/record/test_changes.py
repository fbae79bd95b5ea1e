"""Statements that change rows after they have read others: what is recorded of both."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import psycopg
import psycopg2
import pytest

from isoscope.record import record
from isoscope.record.plan import Kind
from isoscope.record.rows import seen_rows
from tests.databases.postgresql_servers import Running, server
from tests.record.orders import COLUMNS, database, filled

CHANGES = {
    "UPDATE users SET age = age + 1 WHERE id IN (SELECT user_id FROM orders WHERE price > %s)": (
        {"orders/1"},
        {"users/1"},
    ),
    "UPDATE users SET age = (SELECT max(price) FROM orders) WHERE team = %s": (
        {"orders/1", "orders/2"},
        {"users/1", "users/2"},
    ),
    "UPDATE users SET age = (SELECT price FROM orders o WHERE o.user_id = users.id) WHERE team = %s": (
        {"orders/1"},
        {"users/1", "users/2"},
    ),
    "DELETE FROM users WHERE team = %s AND NOT EXISTS (SELECT 1 FROM orders WHERE user_id = users.id)": (
        {"orders/1"},
        {"users/2"},
    ),
    "DELETE FROM users WHERE age < (SELECT max(age) FROM users WHERE team = %s)": (
        {"users/1", "users/2"},
        {"users/1"},
    ),
    "INSERT INTO orders SELECT id + 10, id, age FROM users WHERE team = %s": (
        {"users/1", "users/2"},
        {"orders/11", "orders/12"},
    ),
    "INSERT INTO orders VALUES (9, (SELECT max(id) FROM users WHERE team = %s), 0)": (
        {"users/1", "users/2"},
        {"orders/9"},
    ),
}
TABLES: dict[str, dict[int, tuple[Any, ...]]] = {
    "users": {1: (1, 4, 1), 2: (2, 5, 1), 3: (3, 6, 2)},
    "orders": {1: (1, 1, 7), 2: (2, None, 0)},
}


def accesses(transaction: Any, *, is_change: bool) -> set[str]:
    statements = [one for one in transaction.statements if one.is_change is is_change]
    return {row.key for one in statements for row in seen_rows(one, transaction.database)}


@pytest.mark.parametrize("sql", CHANGES)
def test_a_change_shows_what_its_subqueries_read(sql: str) -> None:
    """On SQLite: in the transaction that the change itself begins."""
    connection = database(TABLES)
    plain = connection.execute(sql.replace("%s", "?"), [1]).rowcount
    left = [connection.execute(f"SELECT * FROM {table}").fetchall() for table in COLUMNS]
    connection.close()
    with record() as recorded:
        connection = database(TABLES)
        connection.isolation_level = "DEFERRED"
        assert connection.execute(sql.replace("%s", "?"), [1]).rowcount == plain
        connection.commit()
        assert [connection.execute(f"SELECT * FROM {table}").fetchall() for table in COLUMNS] == left
        connection.close()
    text = sql.replace("%s", "?")
    [found] = [one for one in recorded.transactions if any(part.sql == text for part in one.statements)]
    assert (accesses(found, is_change=False), accesses(found, is_change=True)) == CHANGES[sql]


@server
@pytest.mark.parametrize("driver", [psycopg, psycopg2])
def test_changes_of_postgresql_show_what_their_subqueries_read(running: Running, driver: Any) -> None:
    for sql, expected in CHANGES.items():
        filled(running, TABLES)
        with closing(driver.connect(running.url())) as connection, connection.cursor() as cursor:
            cursor.execute(sql, [1])
            plain = cursor.rowcount
            # After the connection is closed, the server would end the transaction at any time.
            connection.rollback()
        with record() as recorded, closing(driver.connect(running.url())) as connection:
            with connection.cursor() as cursor:
                cursor.execute(sql, [1])
                assert (cursor.rowcount, cursor.description) == (plain, None)
            connection.commit()
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(sql.replace("9", "8").replace("10", "20"), [1])
                wrote = cursor.rowcount > 0
        first, alone = recorded.transactions
        assert (accesses(first, is_change=False), accesses(first, is_change=True)) == expected
        # Outside of a transaction, its own commit is one that ended, if it wrote a row.
        is_unknown = [one.plan.kind is Kind.NOT_UNDERSTOOD for one in alone.statements]
        assert is_unknown == [True, False] if wrote else not any(is_unknown)
