"""Registers users with psycopg. Two users can get the same name at READ COMMITTED."""

from __future__ import annotations

import os

import psycopg

__all__ = ["create_tables", "register"]


def create_tables() -> None:
    """An empty table of users."""
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS users (id serial PRIMARY KEY, name text NOT NULL)")
        connection.execute("DELETE FROM users")


def register(name: str, *, level: psycopg.IsolationLevel | None = None) -> bool:
    """Add a user; False if the name is taken."""
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        connection.isolation_level = level
        taken = connection.execute("SELECT count(*) FROM users WHERE name = %s", [name]).fetchone()
        if taken is not None and taken[0]:
            return False
        connection.execute("INSERT INTO users (name) VALUES (%s)", [name])
        return True
