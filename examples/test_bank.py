"""Two clients of a bank in SQLite, recorded and checked by pytest: `pytest test_bank.py`.

The plugin comes with Isoscope. `history_recorder` collects what every transaction read and wrote; when the
test ends, the history must keep the level of the marker. Every balance carries the number of its transfer,
because values that are written once are the evidence.
"""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from itertools import count
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    import isoscope

ACCOUNTS = ("alice", "bob", "carol")


class Bank:
    """Accounts in a table; each balance has a number, so that no two versions are the same."""

    def __init__(self, path: Path, recorder: isoscope.Recorder) -> None:
        self.path, self.recorder = path, recorder
        self.numbers = count(1)
        with closing(self.connect()) as connection, recorder.transaction(session="setup") as t:
            connection.execute("CREATE TABLE account (name TEXT PRIMARY KEY, balance INT, version INT)")
            for name in ACCOUNTS:
                number = next(self.numbers)
                connection.execute("INSERT INTO account VALUES (?, 100, ?)", (name, number))
                t.write(name, number)

    def connect(self) -> sqlite3.Connection:
        """A connection that begins transactions only where we say so."""
        return sqlite3.connect(self.path, isolation_level=None, timeout=30)

    def transfer(self, client: str, source: str, target: str) -> None:
        """Moves 1 from one account to another, in one transaction."""
        with closing(self.connect()) as connection, self.recorder.transaction(session=client) as t:
            connection.execute("BEGIN IMMEDIATE")
            for name, amount in ((source, -1), (target, 1)):
                query = "SELECT balance, version FROM account WHERE name = ?"
                balance, version = connection.execute(query, (name,)).fetchone()
                t.read(name, version)
                number = next(self.numbers)
                update = "UPDATE account SET balance = ?, version = ? WHERE name = ?"
                connection.execute(update, (balance + amount, number, name))
                t.write(name, number)
            connection.execute("COMMIT")

    def total(self) -> int:
        """All the money there is."""
        with closing(self.connect()) as connection, self.recorder.transaction(session="audit") as t:
            connection.execute("BEGIN")
            rows = connection.execute("SELECT name, balance, version FROM account").fetchall()
            for name, _, version in rows:
                t.read(name, version)
            connection.execute("COMMIT")
        return sum(balance for _, balance, _ in rows)


@pytest.mark.isolation_level("serializable", "causal")
def test_transfers_are_isolated(tmp_path: Path, history_recorder: isoscope.Recorder) -> None:
    """Two clients at once, and SQLite lets one write at a time."""
    bank = Bank(tmp_path / "bank.db", history_recorder)

    def client(name: str) -> None:
        for source, target in zip(ACCOUNTS, (*ACCOUNTS[1:], ACCOUNTS[0]), strict=True):
            bank.transfer(name, source, target)

    clients = [threading.Thread(target=client, args=(name,)) for name in ("one", "two")]
    for thread in clients:
        thread.start()
    for thread in clients:
        thread.join()
    assert bank.total() == 300


@pytest.mark.isolation_level("serializable")
@pytest.mark.xfail(reason="it is there to show what a failure looks like", strict=True)
def test_a_cache_loses_updates(tmp_path: Path, history_recorder: isoscope.Recorder) -> None:
    """A client that writes what it computed from an old read; the sum is right, the history is not."""
    bank = Bank(tmp_path / "bank.db", history_recorder)
    with closing(bank.connect()) as connection:
        query = "SELECT version FROM account WHERE name = 'alice'"
        [cached] = connection.execute(query).fetchone()
        bank.transfer("one", "alice", "bob")
        with history_recorder.transaction(session="two") as t:
            t.read("alice", cached)
            number = next(bank.numbers)
            connection.execute("UPDATE account SET version = ? WHERE name = 'alice'", (number,))
            t.write("alice", number)
    assert bank.total() == 300
