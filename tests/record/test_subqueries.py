"""Statements of several SELECTs: what is recorded of them decides their result, and nothing else does."""

from __future__ import annotations

import random
from contextlib import closing
from itertools import count
from typing import TYPE_CHECKING, Any

import duckdb
import psycopg
import psycopg2
import pytest

from isoscope.api.stressing import stress
from isoscope.record import record
from isoscope.record.conditions import AliasedRow, matches
from isoscope.record.plan import Kind
from isoscope.record.rows import seen_rows
from tests.databases.postgresql_servers import Running, server
from tests.record.orders import COLUMNS, SCHEMA, database, filled

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from isoscope.record.traces import Statement

#: Random tables for each form; more if no row of these decides a result.
ROUNDS = 8

#: Statements by form; `?` is a small number.
FORMS = {
    "derived": "SELECT s.id FROM (SELECT id, age FROM users WHERE team = ?) AS s WHERE s.age > ?",
    "renamed": "SELECT number FROM (SELECT id AS number, age a FROM users WHERE age < ?) s"
    " WHERE a > ? OR number = ?",
    "computed": "SELECT x FROM (SELECT age + team AS x FROM users) s WHERE x = ?",
    "nested derived": "SELECT count(*) FROM (SELECT * FROM (SELECT id, age FROM users) a WHERE age > ?) b",
    "count of a page": "SELECT count(*) FROM (SELECT id FROM users WHERE age > ? ORDER BY id LIMIT 2) AS sub",
    "cte": "WITH a AS (SELECT id, team FROM users WHERE age > ?) SELECT id FROM a WHERE team < ?",
    "two ctes": "WITH a AS (SELECT id FROM users WHERE age > ?), b AS (SELECT id FROM a WHERE id <> ?)"
    " SELECT count(*) FROM b",
    "cte that is joined": "WITH a AS (SELECT id FROM users WHERE age > ?)"
    " SELECT o.number FROM a JOIN orders o ON o.user_id = a.id WHERE o.price > ?",
    "cte that is not read": "WITH a AS (SELECT * FROM users) SELECT count(*) FROM orders WHERE price > ?",
    "in": "SELECT id FROM users WHERE age > ? AND id IN (SELECT user_id FROM orders WHERE price = ?)",
    "not in": "SELECT id FROM users WHERE id NOT IN (SELECT user_id FROM orders WHERE price > ?)",
    "value": "SELECT id FROM users WHERE age >= (SELECT max(price) FROM orders WHERE user_id = ?)",
    "value of the result": "SELECT id, (SELECT min(price) FROM orders) FROM users WHERE team = ?",
    "exists alone": "SELECT EXISTS (SELECT 1 FROM orders WHERE price > ? LIMIT 1)",
    "exists": "SELECT id FROM users u WHERE age > ? AND EXISTS"
    " (SELECT 1 FROM orders o WHERE o.user_id = u.id AND o.price > ?)",
    "not exists": "SELECT id FROM users WHERE age = ? AND NOT EXISTS"
    " (SELECT * FROM orders WHERE user_id = (users.id) LIMIT 1)",
    "exists by a smaller value": "SELECT id FROM users u WHERE EXISTS"
    " (SELECT 1 FROM orders o WHERE o.price < u.age AND o.user_id = ?)",
    "two exists": "SELECT id FROM users u WHERE EXISTS (SELECT 1 FROM orders o WHERE o.user_id = u.team)"
    " AND NOT EXISTS (SELECT 1 FROM orders p WHERE p.price = u.age)",
    "value of each row": "SELECT id, (SELECT count(*) FROM orders o WHERE o.user_id = u.id)"
    " FROM users u WHERE age < ?",
    "exists in the result": "SELECT id, EXISTS (SELECT 1 FROM orders WHERE price = age)"
    " FROM users WHERE team = ?",
    "distinct": "SELECT DISTINCT age FROM users WHERE team > ?",
    "first distinct": "SELECT DISTINCT age FROM users WHERE team > ? LIMIT 1",
    "having": "SELECT age FROM users WHERE team > ? GROUP BY age HAVING count(*) > 1",
    "having a subquery": "SELECT age FROM users GROUP BY age"
    " HAVING count(*) > (SELECT count(*) FROM orders WHERE price = ?)",
    "count of distinct": "SELECT count(*) FROM (SELECT DISTINCT age FROM users WHERE team = ?) s",
    "union all": "SELECT id FROM users WHERE age = ? UNION ALL SELECT number FROM orders WHERE price = ?",
    "union": "SELECT age FROM users WHERE team = ? UNION SELECT price FROM orders ORDER BY 1",
    "except": "SELECT age FROM users WHERE team = ? EXCEPT SELECT price FROM orders WHERE user_id = ?",
    "intersect": "SELECT age FROM users WHERE team = ? INTERSECT SELECT price FROM orders",
    "in a union": "SELECT id FROM users WHERE age IN"
    " (SELECT price FROM orders WHERE user_id = ? UNION SELECT team FROM users WHERE age = ?)",
    "in a group": "SELECT id FROM users WHERE age IN"
    " (SELECT price FROM orders GROUP BY price HAVING count(*) > 1)",
    "column of the rows around it": "SELECT id FROM users WHERE team IN"
    " (SELECT age FROM orders WHERE price = ?)",
    "in the same table": "SELECT id FROM users WHERE team IN (SELECT age FROM users WHERE team = ?)",
}


def random_rows(chance: random.Random) -> dict[str, dict[int, tuple[Any, ...]]]:
    def cell() -> int | None:
        return chance.choice([None, 0, 1, 1, 2, 2])

    return {
        table: {key: (key, cell(), cell()) for key in chance.sample(range(4), chance.randrange(2, 5))}
        for table in COLUMNS
    }


def random_values(chance: random.Random, sql: str) -> list[int]:
    return [chance.choice([0, 1, 1, 2]) for _ in range(sql.count("?"))]


def recorded_statements(
    rows: dict[str, dict[int, tuple[Any, ...]]], sql: str, values: list[int]
) -> tuple[list[Statement], list[Any], set[str]]:
    """The statements that a recording has of one, its result, and the rows that it read."""
    with record() as recorded:
        connection = database(rows)
        result = connection.execute(sql, values).fetchall()
        connection.close()
    [*_, transaction] = recorded.transactions
    statements = [one for one in transaction.statements if one.sql == sql]
    shown = {row.key for one in statements for row in seen_rows(one, transaction.database)}
    return statements, result, shown


def other_versions(table: str, key: int, row: tuple[Any, ...] | None) -> Iterator[tuple[Any, ...] | None]:
    """What a row may be instead: deleted, or there with other columns."""
    del table
    for first in (None, 0, 1, 2):
        for second in (None, 0, 1, 2):
            if (key, first, second) != row:
                yield key, first, second
    if row is not None:
        yield None


def answers(statements: list[Statement], table: str, row: tuple[Any, ...] | None) -> set[bool | None]:
    """Whether this version of a row would be shown by the parts that read its table."""
    if row is None:
        return {False}
    content = dict(zip(COLUMNS[table], row, strict=True))
    return {
        matches(one.plan.condition, AliasedRow(reference.alias, content), one.values)
        for one in statements
        for reference in one.plan.references
        if reference.table == table
    }


def result_with(
    connection: sqlite3.Connection,
    change: tuple[str, int, tuple[Any, ...] | None],
    sql: str,
    values: list[int],
) -> list[Any]:
    """The result if one row were another."""
    table, key, row = change
    connection.execute("BEGIN")
    connection.execute(f"DELETE FROM {table} WHERE {COLUMNS[table][0]} = ?", [key])
    if row is not None:
        connection.execute(f"INSERT INTO {table} VALUES (?, ?, ?)", row)
    result = connection.execute(sql, values).fetchall()
    connection.execute("ROLLBACK")
    return result


@pytest.mark.parametrize("form", FORMS)
def test_no_row_that_is_not_recorded_decides_the_result(form: str) -> None:
    """A row that was not shown may change to any version that the condition excludes."""
    chance, sql = random.Random(form), FORMS[form]
    decided = excluded = 0
    for number in range(60):
        if number >= ROUNDS and decided and excluded:
            break
        rows, values = random_rows(chance), random_values(chance, sql)
        statements, result, shown = recorded_statements(rows, sql, values)
        assert all(one.plan.kind is Kind.SELECT for one in statements), statements[0].plan.reason
        connection = database(rows)
        for table in COLUMNS:
            for key in range(4):
                row = rows[table].get(key)
                for other in other_versions(table, key, row):
                    changed = result_with(connection, (table, key, other), sql, values)
                    if f"{table}/{key}" in shown:
                        decided += sorted(map(repr, changed)) != sorted(map(repr, result))
                    elif answers(statements, table, other) <= {False}:
                        excluded += 1
                        assert sorted(map(repr, changed)) == sorted(map(repr, result)), (
                            rows,
                            values,
                            table,
                            other,
                        )
        connection.close()
    assert decided, "rows that are recorded decide the result"
    assert excluded, "conditions exclude versions of rows that were not shown"


def shown_rows(transaction: Any) -> set[str]:
    statements = transaction.statements
    assert all(one.plan.kind is Kind.SELECT for one in statements), statements[0].plan.reason
    return {row.key for one in statements for row in seen_rows(one, transaction.database)}


def duckdb_results(
    rows: dict[str, dict[int, tuple[Any, ...]]], statements: list[tuple[str, list[int]]]
) -> list[list[str]]:
    connection = duckdb.connect()
    connection.execute(SCHEMA)
    for table, found in rows.items():
        connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", list(found.values()))
    results = [connection.execute(sql, values).fetchall() for sql, values in statements]
    connection.close()
    return [sorted(map(repr, result)) for result in results]


def test_duckdb_reads_the_rows_that_sqlite_reads() -> None:
    chance = random.Random(8)
    rows = random_rows(chance)
    statements = [(sql, random_values(chance, sql)) for sql in FORMS.values() if "LIMIT 1" not in sql]
    expected = [recorded_statements(rows, sql, values)[2] for sql, values in statements]
    plain = duckdb_results(rows, statements)
    with record() as recorded:
        assert duckdb_results(rows, statements) == plain
    reading = recorded.transactions[-len(expected) :]
    assert [shown_rows(one) for one in reading] == expected


@server
@pytest.mark.parametrize("driver", [psycopg, psycopg2])
def test_postgresql_reads_the_rows_that_sqlite_reads(running: Running, driver: Any) -> None:
    chance = random.Random(7)
    rows = random_rows(chance)
    filled(running, rows)
    plain = driver.connect(running.url())
    expected, results = [], []
    for sql in FORMS.values():
        values = random_values(chance, sql)
        expected.append((sql, values, recorded_statements(rows, sql, values)[2]))
        with plain.cursor() as cursor:
            cursor.execute(sql.replace("?", "%s"), values)
            results.append((cursor.fetchall(), cursor.rowcount, len(cursor.description)))
    plain.close()
    with record() as recorded:
        connection = driver.connect(running.url())
        for (sql, values, _), result in zip(expected, results, strict=True):
            with connection.cursor() as cursor:
                cursor.execute(sql.replace("?", "%s"), values)
                assert (cursor.fetchall(), cursor.rowcount, len(cursor.description)) == result
            connection.commit()
        connection.close()
    found = [shown_rows(one) for one in recorded.transactions]
    assert found == [shown for _, _, shown in expected]


@server
def test_errors_and_transactions_of_the_program_stay_as_they_are(running: Running) -> None:
    filled(running, {"users": {1: (1, 0, 1)}, "orders": {}})
    sql = "SELECT id FROM users WHERE 1 / age > (SELECT count(*) FROM orders)"
    with record() as recorded, psycopg.connect(running.url()) as connection:
        with pytest.raises(psycopg.errors.DivisionByZero), connection.transaction():
            connection.execute(sql)
        assert connection.execute("SELECT count(*) FROM (SELECT 1 FROM users) s").fetchone() == (1,)
        connection.commit()
        with pytest.raises(psycopg.errors.UndefinedColumn):
            connection.execute("SELECT nothing FROM users WHERE id IN (SELECT user_id FROM orders)")
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            connection.execute("SELECT id FROM users WHERE id IN (SELECT user_id FROM orders)")
        connection.rollback()
        connection.autocommit = True
        found = connection.execute("SELECT DISTINCT age FROM users WHERE team = %(team)s", {"team": 1})
        assert found.fetchall() == [(0,)]
    assert [shown_rows(one) for one in recorded.transactions if one.status == "committed"] == [
        {"users/1"},
        {"users/1"},
    ]


@server
def test_another_transaction_that_ends_in_between_leaves_the_rows_unknown(running: Running) -> None:
    """At READ COMMITTED the question of the recorder would see another snapshot than the program."""
    filled(running, {"users": {1: (1, 0, 1)}, "orders": {}})

    class Cursor(psycopg.Cursor[Any]):
        def execute(self, *given: Any, **named: Any) -> Any:
            found = super().execute(*given, **named)
            if given[0] == sql:
                running.ask("UPDATE users SET age = age + 1")
            return found

    sql = "SELECT DISTINCT age FROM users"
    for level in (psycopg.IsolationLevel.READ_COMMITTED, psycopg.IsolationLevel.REPEATABLE_READ):
        with record() as recorded, psycopg.connect(running.url(), cursor_factory=Cursor) as connection:
            connection.isolation_level = level
            connection.execute(sql)
        [statement] = [one for each in recorded.transactions for one in each.statements if one.sql == sql]
        is_exact = level is psycopg.IsolationLevel.REPEATABLE_READ
        assert (statement.plan.kind is Kind.SELECT) is is_exact
        assert is_exact or statement.plan.reason == "another transaction ended while its rows were asked for"


class Bookings:
    """A transaction that asks whether there is an order, and else makes one: two at a time make two."""

    def __init__(self, running: Running, question: str, level: psycopg.IsolationLevel) -> None:
        self._running, self._question, self._level = running, question, level
        self._numbers = count(1)

    def setup(self) -> None:
        self._running.ask("DROP TABLE IF EXISTS orders, users")
        self._running.ask("CREATE TABLE users (id integer PRIMARY KEY, age integer, team integer)")
        self._running.ask("CREATE TABLE orders (number integer PRIMARY KEY, user_id integer, price integer)")
        self._running.ask("INSERT INTO users VALUES (1, 7, 7)")

    def book(self) -> None:
        with closing(psycopg.connect(self._running.url())) as connection:
            connection.isolation_level = self._level
            if not connection.execute(self._question, {"user": 1}).fetchall()[0][0]:
                connection.execute("INSERT INTO orders VALUES (%s, 1, 5)", (next(self._numbers),))
            connection.commit()

    def book_at_once(self) -> None:
        with closing(psycopg.connect(self._running.url())) as connection:
            connection.isolation_level = self._level
            connection.execute("SELECT count(*) FROM users").fetchall()
            connection.execute(self._question, (next(self._numbers),))
            connection.commit()


ONLY_ONE = "INSERT INTO orders SELECT %s, 1, 5 WHERE NOT EXISTS (SELECT 1 FROM orders WHERE user_id = 1)"


@server
def test_stress_finds_two_inserts_that_each_saw_no_row(running: Running) -> None:
    for level, outcome in {"READ_COMMITTED": "violated", "SERIALIZABLE": "holds"}.items():
        program = Bookings(running, ONLY_ONE, psycopg.IsolationLevel[level])
        assert str(stress([program.book_at_once], setup=program.setup).outcome) == outcome


QUESTIONS = {
    "exists": "SELECT EXISTS (SELECT 1 FROM orders WHERE user_id = %(user)s)",
    "derived": "SELECT count(*) FROM (SELECT number FROM orders WHERE user_id = %(user)s LIMIT 21) AS sub",
    "cte": "WITH mine AS (SELECT * FROM orders WHERE user_id = %(user)s) SELECT count(*) FROM mine",
    "in": "SELECT count(*) FROM users WHERE id IN (SELECT user_id FROM orders WHERE user_id = %(user)s)",
    "correlated": "SELECT count(*) FROM users u WHERE u.id = %(user)s AND EXISTS"
    " (SELECT 1 FROM orders o WHERE o.user_id = u.id)",
    "value of each row": "SELECT (SELECT count(*) FROM orders o WHERE o.user_id = u.id) FROM users u"
    " WHERE u.id = %(user)s",
    "having": "SELECT count(*) FROM orders WHERE user_id = %(user)s HAVING count(*) >= 0",
    "distinct": "SELECT count(*) FROM (SELECT DISTINCT user_id FROM orders WHERE user_id = %(user)s) AS s",
    "union all": "SELECT count(*) FROM (SELECT number FROM orders WHERE user_id = %(user)s UNION ALL"
    " SELECT number FROM orders WHERE number = 99) AS s",
}


@server
@pytest.mark.parametrize("form", QUESTIONS)
def test_stress_finds_a_phantom_through_a_subquery(running: Running, form: str) -> None:
    levels = psycopg.IsolationLevel
    broken = Bookings(running, QUESTIONS[form], levels.READ_COMMITTED)
    found = stress([broken.book], setup=broken.setup)
    assert str(found.outcome) == "violated"
    fixed = Bookings(running, QUESTIONS[form], levels.SERIALIZABLE)
    assert str(stress([fixed.book], setup=fixed.setup).outcome) == "holds"
