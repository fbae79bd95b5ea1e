"""Statements are understood, or named as not understood; the text of the program stays as it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from isoscope.record.dialects import DIALECTS
from isoscope.record.placeholders import bound, mark
from isoscope.record.plan import Kind, Plan
from isoscope.record.rows import has_integer_key
from isoscope.record.sql import analyse
from isoscope.record.tables import Table

TABLES = {
    "users": Table("users", ("id",), ("id", "name", "age")),
    "orders": Table("orders", ("shop", "number"), ("shop", "number", "user_id")),
    "notes": Table("notes", (), ("text",)),
    "Mixed": Table("Mixed", ("Id",), ("Id",)),
    "sales.users": Table("sales.users", ("id",), ("id",)),
}


def plan(sql: str, database: str = "postgresql") -> Plan:
    return analyse(sql, DIALECTS[database], TABLES.get)


READS = {
    "SELECT name FROM users WHERE id = %s": ["users"],
    "select u.name from users u where u.age > %(age)s order by 1 limit 3": ["users"],
    "SELECT * FROM users AS u JOIN orders o ON o.user_id = u.id": ["users", "orders"],
    "SELECT * FROM users u LEFT JOIN orders o ON o.user_id = u.id WHERE u.id = 1": ["users", "orders"],
    "SELECT u.*, o.* FROM users u, orders o WHERE o.user_id = u.id": ["users", "orders"],
    "SELECT name FROM users WHERE id = 1 FOR UPDATE": ["users"],
    "SELECT name FROM users WHERE id = 1 FOR SHARE SKIP LOCKED": ["users"],
    "SELECT count(*) FROM users WHERE age BETWEEN 1 AND 2": ["users"],
    "SELECT age, max(name) FROM users GROUP BY age": ["users"],
    "SELECT rank() OVER (ORDER BY age) FROM users": ["users"],
    "SELECT extract(year FROM now()), name FROM users": ["users"],
    'SELECT "Id" FROM "Mixed"': ["Mixed"],
    "SELECT id FROM sales.users": ["sales.users"],
    "SELECT id FROM public.users": ["users"],
    "SELECT name FROM users WHERE name LIKE 'a%%' AND note IS NULL": ["users"],
    "SELECT 'FROM', name FROM users -- FROM nowhere": ["users"],
    "SELECT name::text FROM users WHERE age = ANY(%s)": ["users"],
}


@pytest.mark.parametrize("sql", READS)
def test_a_select_names_its_rows_behind_its_own_columns(sql: str) -> None:
    found = plan(sql)
    assert found.kind is Kind.SELECT, found.reason
    assert [one.table for one in found.references] == READS[sql]
    before, after = _around(sql, found.text)
    assert sql == before + after
    assert ".xmin" in found.text


def _around(sql: str, text: str) -> tuple[str, str]:
    """The parts of the executed text before and after the hidden columns."""
    start = next(n for n in range(len(text)) if n >= len(sql) or text[n] != sql[n])
    added = len(text) - len(sql)
    for first in range(start + 1):
        if text[:first] + text[first + added :] == sql:
            return text[:first], text[first + added :]
    return "", ""


def test_an_aggregate_collects_the_rows_of_each_group() -> None:
    found = plan("SELECT age, count(*) FROM users GROUP BY age")
    assert found.is_aggregate
    assert 'array_agg(ARRAY["users".xmin::text, "users"."id"::text])' in found.text


def test_columns_are_cast_only_where_their_text_is_not_that_of_the_result() -> None:
    known = Table("users", ("id",), ("id", "name"), ("int4", "text"))
    of_text = analyse("SELECT name FROM users", DIALECTS["postgresql"], {"users": known}.get)
    assert '"users".xmin AS isoscope_0, "users"."id" AS isoscope_1' in of_text.text
    binary = replace(DIALECTS["postgresql"], plain=frozenset())
    found = analyse("INSERT INTO users VALUES (1)", binary, {"users": known}.get)
    assert '"users".xmin::text' in found.text
    assert 'ROW("users".*)::text' in found.text


def test_a_window_is_no_aggregate() -> None:
    assert not plan("SELECT sum(age) OVER () FROM users").is_aggregate


CHANGES = {
    "INSERT INTO users (name) VALUES (%s)": Kind.INSERT,
    "INSERT INTO users VALUES (1, 'a', 2), (2, 'b', 3)": Kind.INSERT,
    "INSERT INTO users (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET age = excluded.age": Kind.INSERT,
    "INSERT INTO users (id) VALUES (1) ON CONFLICT DO NOTHING": Kind.INSERT,
    "UPDATE users SET age = age + 1 WHERE id = %s": Kind.UPDATE,
    "UPDATE users AS u SET age = o.number FROM orders o WHERE o.user_id = u.id": Kind.UPDATE,
    "UPDATE users SET (age, name) = (1, 'b')": Kind.UPDATE,
    "DELETE FROM users WHERE age < 3;": Kind.DELETE,
    "DELETE FROM orders USING users WHERE orders.user_id = users.id": Kind.DELETE,
}


@pytest.mark.parametrize("sql", CHANGES)
def test_a_change_returns_the_rows_that_it_wrote(sql: str) -> None:
    found = plan(sql)
    assert (found.kind, found.is_returning) == (CHANGES[sql], False), found.reason
    assert found.text.startswith(f"{sql.rstrip(';')} RETURNING ")


def test_columns_of_the_program_come_before_hidden_ones() -> None:
    found = plan("UPDATE users SET age = 1 RETURNING name")
    assert found.is_returning
    assert found.text.startswith('UPDATE users SET age = 1 RETURNING name, "users".xmin ')
    assert found.written == {"age"}


SEVERAL = {
    "WITH a AS (SELECT 1) SELECT * FROM users": ["FROM users"],
    "SELECT DISTINCT name FROM users WHERE age = %s": ["FROM users WHERE age = %s"],
    "SELECT age FROM users GROUP BY age HAVING count(*) > 1": ["FROM users"],
    "SELECT name FROM users WHERE id IN (SELECT user_id FROM orders)": [
        "FROM orders",
        "FROM users WHERE id IN (SELECT user_id FROM orders)",
    ],
    "SELECT EXISTS (SELECT 1 FROM users)": ["FROM users"],
    "SELECT name FROM users UNION SELECT name FROM users WHERE id = 1": [
        "FROM users",
        "FROM users WHERE id = 1",
    ],
    "WITH a AS (SELECT * FROM users WHERE age > %s) SELECT 1 FROM a WHERE id = %s": [
        "FROM users AS a WHERE id = %s AND a.age > %s"
    ],
    "SELECT name FROM users WHERE EXISTS (SELECT 1 FROM orders WHERE user_id = id) AND age > 1": [
        'FROM users, orders WHERE "users".age > 1 AND "orders".user_id = "users".id',
        "FROM users WHERE EXISTS(SELECT 1 FROM orders WHERE user_id = id) AND age > 1",
    ],
}


@pytest.mark.parametrize("sql", SEVERAL)
def test_each_part_of_a_query_is_asked_for_by_a_statement_of_its_own(sql: str) -> None:
    found = plan(sql)
    assert (found.kind, found.text) == (Kind.SELECT, sql), found.reason
    asked = [part.separate for part in found.parts]
    assert [one[one.index("FROM") :] for one in asked] == SEVERAL[sql]
    assert all(one.startswith("SELECT DISTINCT ") for one in asked)


def test_parameters_of_a_part_follow_its_own_text() -> None:
    found = plan("WITH a AS (SELECT * FROM users WHERE age > %s) SELECT 1 FROM a WHERE id = %s")
    assert found.parts[0].kept == (1, 0)


NOT_UNDERSTOOD = {
    "WITH RECURSIVE a AS (SELECT 1) SELECT * FROM a, users": "it has a recursive common table expression",
    "WITH a AS (DELETE FROM users RETURNING id) SELECT * FROM a": (
        "it changes rows in a common table expression"
    ),
    "SELECT name FROM users UNION SELECT name FROM users LIMIT 1": "LIMIT may hide rows that a UNION read",
    "SELECT * FROM (SELECT name FROM users LIMIT 3) a LIMIT 2": "LIMIT may hide rows of a derived table",
    "SELECT * FROM (SELECT age FROM users GROUP BY age) a WHERE age = 1": (
        "it chooses rows of a derived table that is no plain selection"
    ),
    "SELECT * FROM users WHERE age = 1 OR EXISTS (SELECT 1 FROM orders WHERE user_id = id)": (
        "a subquery that depends on the rows around it stands beside OR"
    ),
    "SELECT * FROM users WHERE EXISTS (SELECT 1 FROM orders WHERE user_id = id) LIMIT 2": (
        "LIMIT may hide rows that a subquery read"
    ),
    "SELECT * FROM users WHERE id IN (SELECT number FROM orders) FOR UPDATE SKIP LOCKED": (
        "it skips rows that are locked, and has several SELECTs"
    ),
    "SELECT DISTINCT name FROM users WHERE random() < age": (
        "it calls a function whose value changes, and has several SELECTs"
    ),
    "SELECT name FROM users WHERE id IN (SELECT nothing FROM orders)": (
        "the table of its column nothing is not found"
    ),
    "SELECT text FROM notes": "the table notes has no primary key",
    "SELECT 1 FROM nothing": "nothing is no table of the database",
    "UPDATE users SET age = 1 FROM orders WHERE id IN (SELECT number FROM orders)": (
        "it changes rows of a join, and has a subquery"
    ),
    "UPDATE users SET id = 2": "it changes the primary key of users",
    "DELETE FROM users -- all": "it ends in a comment",
    "COPY users FROM STDIN": "COPY is not a statement about rows",
    "SELEC name": "ALIAS is not a statement about rows",
    "SELECT 1; SELECT 2": "it cannot be parsed",
}


@pytest.mark.parametrize("sql", NOT_UNDERSTOOD)
def test_what_is_not_understood_is_executed_unchanged_and_named(sql: str) -> None:
    found = plan(sql)
    assert (found.kind, found.text) == (Kind.NOT_UNDERSTOOD, sql)
    assert found.reason == NOT_UNDERSTOOD[sql]


@pytest.mark.parametrize(
    "sql", ["BEGIN", "commit;", "SET x = 1", "SELECT 1", "SELECT now()", "", "CREATE TABLE t (a int)"]
)
def test_some_statements_are_not_about_rows(sql: str) -> None:
    assert plan(sql).kind is Kind.NO_ROWS


def test_sqlite_names_rows_by_a_second_statement_with_the_parameters_that_it_needs() -> None:
    sql = "SELECT DISTINCT name, ? FROM users WHERE age > ? GROUP BY name HAVING count(*) > ?"
    found = plan(sql, "sqlite")
    assert found.text == sql
    assert found.separate.endswith('CAST("users"."id" AS TEXT) FROM users WHERE age > ? ')
    assert found.kept == (1,)


@pytest.mark.parametrize(
    ("sql", "style", "originals"),
    [
        ("a = %s AND b = '%s' AND c = %(x)s -- %s", "pyformat", ["%s", "%(x)s"]),
        ("a LIKE 'x%%' AND 1 %% 2 = %s", "pyformat", ["%s"]),
        ("a = ? AND b = '?' AND c = :x AND d::int = 1", "qmark", ["?", ":x"]),
        ('"a?" = ?1 /* ? */', "qmark", ["?1"]),
        ("a = $2 AND b = $name AND c = $$ $1 $$", "qmark", ["$2", "$name"]),
        ("$$ %s $$ = %s", "pyformat", ["%s"]),
    ],
)
def test_placeholders_are_found_outside_of_texts_and_comments(
    sql: str, style: str, originals: list[str]
) -> None:
    assert mark(sql, style).originals == originals


NUMBERED = {
    "pairs": Table("pairs", ("a", "b"), ("a", "b", "c"), ("int4", "int8", "text")),
    "names": Table("names", ("name",), ("name", "age"), ("text", "int4")),
}


@pytest.mark.parametrize(
    ("sql", "point"),
    [
        ("SELECT c FROM pairs WHERE b = %s AND c > %s AND a = %s", (2, 0)),
        ("SELECT c FROM pairs p WHERE p.a = %(a)s AND p.b = %(b)s FOR UPDATE", (0, 1)),
        ("SELECT c FROM pairs WHERE a = %s", (0, None)),
        ("SELECT c FROM pairs WHERE a = %s AND b = 3", (0, None)),
        ("SELECT c FROM pairs WHERE a = %s AND b = %s OR c = %s", ()),
        ("SELECT count(*) FROM pairs WHERE a = %s AND b = %s", (0, 1)),
        ("SELECT age FROM names WHERE name = %s", ()),
    ],
)
def test_a_key_that_the_condition_names_by_integers_is_not_read_again(
    sql: str, point: tuple[int | None, ...]
) -> None:
    found = analyse(sql, DIALECTS["postgresql"], NUMBERED.get)
    assert found.point == point
    assert not point or found.hidden == 1 + point.count(None)


SILENT = {
    "INSERT INTO pairs VALUES (%s, %s, %s)": ((0, int), (1, int)),
    "INSERT INTO pairs (c, b, a) VALUES ('x', %s, 7)": ((0, int),),
    "INSERT INTO names VALUES (%s, %s)": ((0, str),),
    "UPDATE pairs SET c = %s WHERE a = %s AND b = %s": ((1, int), (2, int)),
    "UPDATE pairs SET c = c || %s WHERE b = %s AND a = 3 AND c = %s": ((1, int),),
}
ASKING = (
    "INSERT INTO pairs VALUES (%s, %s, %s) RETURNING a",
    "INSERT INTO pairs VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
    "INSERT INTO pairs VALUES (%s, %s, 'a'), (%s, %s, 'b')",
    "INSERT INTO pairs (a, c) VALUES (%s, %s)",
    "INSERT INTO pairs VALUES (%s, %s + 1, 'x')",
    "INSERT INTO pairs VALUES (%(a)s, %(b)s, 'x')",
    "UPDATE pairs SET c = %s WHERE a = %s",
    "UPDATE pairs SET c = %s WHERE a = %s AND b > %s",
    "UPDATE names SET age = 1 WHERE name = 5",
    "DELETE FROM pairs WHERE a = %s AND b = %s",
)


@pytest.mark.parametrize("sql", [*SILENT, *ASKING])
def test_a_change_that_tells_the_row_it_writes_need_not_return_it(sql: str) -> None:
    plain = {name: replace(table, is_plain=True) for name, table in NUMBERED.items()}
    found = analyse(sql, DIALECTS["postgresql"], plain.get)
    assert found.is_silent is (sql in SILENT)
    assert found.checked == SILENT.get(sql, ())
    assert not analyse(sql, DIALECTS["postgresql"], NUMBERED.get).is_silent, "a trigger may change the row"


@pytest.mark.parametrize(
    ("values", "is_known"),
    [
        ([1, 2], True),
        (["7", 2], True),
        (["7.0", 2], True),
        (["x", 2], False),
        ([1], False),
        ([1.5, 2], False),
    ],
)
def test_a_key_is_known_by_parameters_that_are_integers(values: list[object], *, is_known: bool) -> None:
    sql = "SELECT c FROM pairs WHERE a = %s AND b = %s"
    assert has_integer_key(analyse(sql, DIALECTS["postgresql"], NUMBERED.get), values) is is_known


def test_parameters_are_bound_by_place_or_name() -> None:
    assert bound(mark("%s, %s", "pyformat"), (1, 2)) == [1, 2]
    assert bound(mark("%(b)s, %(a)s", "pyformat"), {"a": 1, "b": 2}) == [2, 1]
    assert bound(mark("$2, $1, $2", "qmark"), [1, 2]) == [2, 1, 2]
    assert bound(mark("?, ?2, ?1", "qmark"), (1, 2)) == [1, 2, 1]
    assert bound(mark("$3", "qmark"), [1, 2]) is None
    assert bound(mark("%s", "pyformat"), None) is None
    assert bound(mark("1", "pyformat"), None) == []
