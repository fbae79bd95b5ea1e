"""Two small tables, users and their orders, in SQLite and in PostgreSQL."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

import psycopg

if TYPE_CHECKING:
    from tests.databases.postgresql_servers import Running

SCHEMA = """
CREATE TABLE users (id INTEGER PRIMARY KEY, age INTEGER, team INTEGER);
CREATE TABLE orders (number INTEGER PRIMARY KEY, user_id INTEGER, price INTEGER);
"""
COLUMNS = {"users": ("id", "age", "team"), "orders": ("number", "user_id", "price")}


def database(rows: dict[str, dict[int, tuple[Any, ...]]]) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.executescript(SCHEMA)
    for table, found in rows.items():
        connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", found.values())
    return connection


def filled(running: Running, rows: dict[str, dict[int, tuple[Any, ...]]]) -> None:
    tables = [one.replace("INTEGER PRIMARY KEY", "integer PRIMARY KEY") for one in SCHEMA.split(";")[:2]]
    with psycopg.connect(running.url()) as connection:
        connection.execute("DROP TABLE IF EXISTS users, orders")
        for one in tables:
            connection.execute(one)
        for table, found in rows.items():
            connection.cursor().executemany(f"INSERT INTO {table} VALUES (%s, %s, %s)", found.values())
