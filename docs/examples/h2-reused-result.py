"""H2: a transaction gets the result of an earlier one of its session, although the row has changed since.

`python h2-reused-result.py [FOLDER]` needs `isoscope[jdbc]`. It writes the history and the page into FOLDER.
"""

from __future__ import annotations

import sys
from pathlib import Path

from isoscope import Recorder, check, save
from isoscope.databases import jdbc
from isoscope.databases.h2 import JAR
from isoscope.reports.html import render_html
from isoscope.reports.text import render_text

_LEVELS = ["consistent-view", "snapshot-isolation", "serializable"]
#: TRANSACTION_SERIALIZABLE of `java.sql.Connection`.
_SERIALIZABLE = 8


def main(folder: Path) -> None:
    """Moves 50 between two accounts, audits them twice, prints the answers of H2 and the verdict on them."""
    jdbc.library()
    place = "jdbc:h2:mem:bank;NON_KEYWORDS=VALUE"
    audit, transfer = (jdbc.connect(JAR.folder(), "org.h2.Driver", place) for _ in range(2))
    for connection in (audit, transfer):
        connection.java.setTransactionIsolation(_SERIALIZABLE)
    cursors = {"audit": audit.cursor(), "transfer": transfer.cursor()}
    recorder = Recorder(initial=100)

    def ask(session: str, statement: str, *parameters: int) -> int:
        """Prints what a statement answers; a cursor prepares each statement once."""
        cursor = cursors[session]
        cursor.execute(statement, parameters)
        answer = [tuple(map(int, row)) for row in cursor.fetchall()]
        print(f"{session:8} {statement:44} {list(parameters)!s:9} {answer}")
        return answer[0][0] if answer else 0

    change, look = "UPDATE account SET balance = ? WHERE id = ?", "SELECT balance FROM account WHERE id = ?"
    cursors["transfer"].execute("SELECT H2VERSION()")
    print(f"H2 {cursors['transfer'].fetchall()[0][0]}, SERIALIZABLE")
    for statement in (
        "CREATE TABLE account (id BIGINT PRIMARY KEY, balance BIGINT)",
        "INSERT INTO account VALUES (1, 100), (2, 100)",
        "COMMIT",
    ):
        cursors["transfer"].execute(statement)
    with recorder.transaction(session="audit", id="first audit") as first:
        first.read("account 1", ask("audit", look, 1))
        with recorder.transaction(session="transfer", id="transfer") as moved:
            ask("transfer", change, 50, 1)
            moved.write("account 1", 50)
            ask("transfer", change, 150, 2)
            moved.write("account 2", 150)
            ask("transfer", "COMMIT")
        first.read("account 2", ask("audit", look, 2))
        ask("audit", "ROLLBACK")
    with recorder.transaction(session="audit", id="second audit") as second:
        second.read("account 2", ask("audit", look, 2))
        second.read("account 1", ask("audit", look, 1))
        ask("audit", "COMMIT")
    history = recorder.history()
    report = check(history, _LEVELS)
    print(f"\n{render_text(report)}")
    save(history, folder / "h2-reused-result.parquet")
    (folder / "h2-reused-result.html").write_text(render_html(report), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path())
