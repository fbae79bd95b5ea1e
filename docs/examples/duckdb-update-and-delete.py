"""DuckDB: an update and a delete of one row, by two transactions at the same time, both commit.

`python duckdb-update-and-delete.py [FOLDER]` needs `duckdb` and `isoscope`. It writes the history and the
page into FOLDER.
"""

from __future__ import annotations

import sys
from pathlib import Path

import duckdb

from isoscope import Recorder, check, save
from isoscope.reports.html import render_html
from isoscope.reports.text import render_text

_LEVELS = ["cursor-stability", "snapshot-isolation", "serializable"]


def main(folder: Path) -> None:
    """Runs both transactions, prints the answers of DuckDB and the verdict on them."""
    database = duckdb.connect()
    database.execute("CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER)")
    database.execute("INSERT INTO account VALUES (1, 0)")
    payment, closing, later = database.cursor(), database.cursor(), database.cursor()
    recorder = Recorder(initial=0)

    def ask(session: str, cursor: duckdb.DuckDBPyConnection, statement: str) -> list[tuple[int]]:
        answer = cursor.execute(statement).fetchall()
        print(f"{session:8} {statement:63} {answer}")
        return answer

    print(f"DuckDB {duckdb.__version__}")
    ask("payment", payment, "BEGIN")
    ask("closing", closing, "BEGIN")
    [(paid,)] = ask("payment", payment, "SELECT balance FROM account WHERE id = 1")
    [(closed,)] = ask("closing", closing, "SELECT balance FROM account WHERE id = 1")
    ask("payment", payment, "UPDATE account SET balance = balance + 100 WHERE id = 1")
    ask("payment", payment, "COMMIT")
    ask("closing", closing, "DELETE FROM account WHERE id = 1 AND balance = 0")
    ask("closing", closing, "COMMIT")
    rows = ask("later", later, "SELECT balance FROM account WHERE id = 1")

    with recorder.transaction(session="payment", id="payment") as transaction:
        transaction.read("account 1", paid)
        transaction.write("account 1", paid + 100)
    with recorder.transaction(session="closing", id="closing") as transaction:
        transaction.read("account 1", closed)
        transaction.delete("account 1")
    with recorder.transaction(session="later", id="later") as transaction:
        transaction.read("account 1", rows[0][0] if rows else None)
    history = recorder.history()
    report = check(history, _LEVELS)
    print(f"\n{render_text(report)}")
    save(history, folder / "duckdb-update-and-delete.parquet")
    (folder / "duckdb-update-and-delete.html").write_text(render_html(report), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path())
