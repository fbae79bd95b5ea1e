"""Stress without a server: interleavings of SQLite, mistakes, and the changes that are tried out."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import isoscope
from isoscope.api.stressing import stress
from isoscope.record import Change

if TYPE_CHECKING:
    from pathlib import Path


class Counters:
    """A program that counts in a database of SQLite."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def setup(self) -> None:
        connection = sqlite3.connect(self._path)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE IF NOT EXISTS counters (id INTEGER PRIMARY KEY, value INTEGER)")
        connection.execute("INSERT OR REPLACE INTO counters VALUES (1, 0)")
        connection.commit()
        connection.close()

    def increment(self) -> None:
        connection = sqlite3.connect(self._path, isolation_level=None, timeout=0.1)
        try:
            connection.execute("BEGIN")
            (value,) = connection.execute("SELECT value FROM counters WHERE id = 1").fetchone()
            connection.execute("UPDATE counters SET value = ? WHERE id = 1", (value + 1,))
            connection.execute("COMMIT")
        finally:
            connection.close()


def test_sqlite_refuses_the_second_writer(tmp_path: Path) -> None:
    program = Counters(tmp_path / "a.db")
    result = stress([program.increment], setup=program.setup)
    assert (str(result.outcome), result.rounds) == ("holds", 2)


def test_time_that_is_over_leaves_the_answer_unknown(tmp_path: Path) -> None:
    program = Counters(tmp_path / "a.db")
    result = stress([program.increment], setup=program.setup, max_seconds=0)
    assert (str(result.outcome), result.is_complete, result.rounds) == ("unknown", False, 0)


def test_a_transaction_that_fails_alone_is_a_mistake() -> None:
    def broken() -> None:
        raise RuntimeError("no table")

    with pytest.raises(isoscope.UsageError, match="broken fails when it runs alone: RuntimeError: no table"):
        stress([broken])


def test_a_transaction_without_recorded_statements_is_a_mistake() -> None:
    def idle() -> None:
        pass

    with pytest.raises(isoscope.UsageError, match="no statement of it was recorded"):
        stress([idle])


@pytest.mark.parametrize(
    ("sql", "changed"),
    [
        ("SELECT a\n FROM t;", "SELECT a\n FROM t FOR UPDATE"),
        ("SELECT b FROM t", "SELECT b FROM t"),
        ("SELECT c FROM t FOR UPDATE", "SELECT c FROM t FOR UPDATE"),
    ],
)
def test_a_change_locks_the_reads_that_it_names(sql: str, changed: str) -> None:
    change = Change(locked=frozenset({"SELECT a FROM t;", "SELECT c FROM t FOR UPDATE"}))
    assert change.statement(sql) == changed


def test_a_change_raises_the_level_unless_the_program_names_one() -> None:
    change = Change(level="SERIALIZABLE")
    assert change.begin("BEGIN") == "BEGIN ISOLATION LEVEL SERIALIZABLE"
    assert change.begin("BEGIN ISOLATION LEVEL READ COMMITTED") == "BEGIN ISOLATION LEVEL READ COMMITTED"


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "isoscope", "stress", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.slow
def test_a_file_without_transactions_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.py").write_text("")
    done = run(tmp_path, "empty.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert "empty.py has no list TRANSACTIONS of functions" in done.stderr


@pytest.mark.parametrize(
    ("program", "place", "hint"),
    [
        ("import os\n\nos.environ['SHOP_URL']\n", ":3 cannot", "the environment variable SHOP_URL"),
        ("import no_such_module\n", ":1 cannot", "`pip install no_such_module`"),
        ("1 / 0\n", ":1 cannot", ""),
    ],
)
@pytest.mark.slow
def test_a_program_that_cannot_be_imported_is_told_with_its_line(
    program: str, place: str, hint: str, tmp_path: Path
) -> None:
    (tmp_path / "app.py").write_text(program)
    done = run(tmp_path, "app.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: app.py{place} be imported: ")
    assert ("hint: " in done.stderr) is bool(hint)
    assert hint in done.stderr


@pytest.mark.slow
def test_a_program_that_is_not_there_is_one_message(tmp_path: Path) -> None:
    done = run(tmp_path, "shop.py")
    assert done.returncode == 2
    assert done.stderr.startswith("error: shop.py does not exist\n\nhint: the file has TRANSACTIONS = [")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (("--max-seconds", "0.1"), "Not decided: whether all interleavings satisfy serializability (0 inter"),
        (("--level", "pl-2"), "Yes. All interleavings satisfied PL-2 ("),
    ],
)
def test_options_may_follow_the_file_and_the_answer_comes_first(
    arguments: tuple[str, str], answer: str, tmp_path: Path
) -> None:
    (tmp_path / "app.py").write_text(
        "import sqlite3, time\n"
        "def order():\n"
        "    time.sleep(0.1)\n"
        "    connection = sqlite3.connect('app.db', timeout=20)\n"
        "    connection.execute('CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY)')\n"
        "    connection.execute('INSERT INTO t DEFAULT VALUES')\n"
        "    connection.commit()\n"
        "TRANSACTIONS = [order]\n"
    )
    done = run(tmp_path, "app.py", *arguments)
    assert done.stdout.startswith(answer), done.stderr


@pytest.mark.slow
def test_an_unknown_option_is_not_taken_for_a_command(tmp_path: Path) -> None:
    done = run(tmp_path, "--levels", "pl-2", "app.py")
    assert done.returncode == 2
    assert done.stderr.startswith("error: No such option '--levels'")


@pytest.mark.slow
def test_copies_of_a_command_run_at_the_same_time(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(
        "import sqlite3\n"
        "connection = sqlite3.connect('app.db', timeout=20)\n"
        "connection.execute('CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY)')\n"
        "connection.execute('INSERT INTO t DEFAULT VALUES')\n"
        "connection.commit()\n"
    )
    done = run(tmp_path, "--max-seconds", "0.1", "--", sys.executable, "app.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "Yes. All runs of 2 copies satisfied serializability (1 run, 0 undecided).\n"
