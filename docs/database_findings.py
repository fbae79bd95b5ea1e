"""What real databases did: each run, what it must show, and what it says."""

from __future__ import annotations

import re
from dataclasses import dataclass

from isoscope import Level

__all__ = ["FINDINGS", "Finding"]

_REGISTERS = (
    "--workload key-value --sessions 8 --keys 20 --min-txn-length 2 --max-txn-length 4 "
    "--distribution uniform --transactions 3000"
)
_LISTS = "--workload list-append --sessions 8 --min-txn-length 2 --max-txn-length 4 --transactions 3000"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A run, and what is to be seen there; of the anomalies the first stands on the page.

    `arguments` are those of `isoscope run`; without them, the script `NAME.py` beside the page is the run.
    `shrinks` is the level of which `NAME-shrunk.txt` has a counterexample of few transactions.
    """

    name: str
    title: str
    says: str
    arguments: str = ""
    holds: tuple[Level, ...] = ()
    violated: tuple[Level, ...] = ()
    shows: tuple[str, ...] = ()
    shrinks: Level | None = None

    @property
    def database(self) -> str:
        """What must be installed."""
        return self.arguments.split()[0] if self.arguments else self.name.split("-")[0]

    @property
    def command(self) -> str:
        """What a reader runs."""
        if not self.arguments:
            return f"python {self.name}.py"
        return re.sub(" --(?=workload|min-)", " \\\\\n    --", f"isoscope run {self.arguments} --all")


FINDINGS = (
    Finding(
        name="duckdb-update-and-delete",
        title="DuckDB: an update and a delete of one row both commit",
        says="DuckDB promises snapshot isolation, and its manual says that the second of two transactions "
        "that update or delete the same row at the same time fails ([Concurrency]"
        "(https://duckdb.org/docs/2.0/connect/concurrency.html)). Two updates do conflict, and so do two "
        "deletes; an update and a delete do not, whichever comes first, in memory and in a file, with a "
        "primary key and without. A payment into an account is lost because another transaction deletes the "
        "account as empty. Seen in 1.1.3, 1.4.1 and 2.0.0. "
        "[A report for the vendor](duckdb-update-and-delete-report.md)",
        violated=(Level.CURSOR_STABILITY, Level.SNAPSHOT_ISOLATION, Level.SERIALIZABLE),
        shows=("lost-update",),
    ),
    Finding(
        name="h2-reused-result",
        title="H2: a transaction gets the result of an earlier one",
        says="H2 keeps the last result of each prepared statement. After a transaction that read an old "
        "version in its snapshot and ended by `ROLLBACK`, the next transaction of the session gets the same "
        "result for the same question, although the row has changed since: here it sees one account after "
        "a transfer and the other before it. That breaks snapshot isolation, which is what H2 promises at "
        "SERIALIZABLE. Seen in 2.1.214, 2.2.224, 2.3.232, 2.4.240 and 2.5.252; in 2.5.252 also at SNAPSHOT "
        "and REPEATABLE READ, and not with `OPTIMIZE_REUSE_RESULTS=FALSE` in the URL. "
        "`isoscope run h2 --isolation serializable` showed it once in 195,374 transactions, after an abort. "
        "Other defects of these kept results were reported and closed "
        "([h2database#1878](https://github.com/h2database/h2database/issues/1878), "
        "[#4208](https://github.com/h2database/h2database/issues/4208)).",
        violated=(Level.CONSISTENT_VIEW, Level.SNAPSHOT_ISOLATION, Level.SERIALIZABLE),
        shows=("read-skew",),
    ),
    Finding(
        name="mariadb-repeatable-read",
        title="MariaDB, repeatable read",
        says="Reads show a snapshot, but an update changes the newest version, whatever the snapshot shows. "
        "So a transaction overwrites what it never saw: lost updates and read skew, and no snapshot "
        "isolation.",
        arguments=f"mariadb --isolation repeatable-read --set innodb_snapshot_isolation=OFF {_REGISTERS}",
        holds=(Level.READ_ATOMIC,),
        violated=(Level.SNAPSHOT_ISOLATION, Level.SERIALIZABLE),
        shows=("lost-update", "read-skew"),
    ),
    Finding(
        name="mariadb-snapshot-isolation",
        title="MariaDB, repeatable read with innodb_snapshot_isolation=ON",
        says="The same work; a transaction that would overwrite a version outside its snapshot is aborted: "
        "snapshot isolation holds. The remaining anomalies are those that snapshot isolation allows.",
        arguments=f"mariadb --isolation repeatable-read --set innodb_snapshot_isolation=ON {_REGISTERS}",
        holds=(Level.SNAPSHOT_ISOLATION,),
        violated=(Level.SERIALIZABLE,),
        shows=("write-skew",),
    ),
    Finding(
        name="postgresql-read-committed",
        title="PostgreSQL, read committed",
        says="Every statement sees what was committed before it began, so a transaction sees one part of "
        "another before its commit and one part after it. Read atomic is violated, read committed holds.",
        arguments=f"postgresql --isolation read-committed {_REGISTERS}",
        holds=(Level.READ_COMMITTED,),
        violated=(Level.READ_ATOMIC, Level.SNAPSHOT_ISOLATION),
        shows=("non-repeatable-read", "read-skew"),
    ),
    Finding(
        name="postgresql-repeatable-read",
        title="PostgreSQL, repeatable read",
        says="Every transaction sees a snapshot, and the first to update a row wins: snapshot isolation. Two "
        "transactions that read what the other then writes both commit, which is write skew.",
        arguments=f"postgresql --isolation repeatable-read {_REGISTERS}",
        holds=(Level.SNAPSHOT_ISOLATION,),
        violated=(Level.SERIALIZABLE,),
        shows=("write-skew",),
    ),
    Finding(
        name="postgresql-serializable",
        title="PostgreSQL, serializable",
        says="The same, and of transactions that could be part of a circle one is aborted: "
        "serializability holds.",
        arguments=f"postgresql --isolation serializable {_REGISTERS}",
        holds=(Level.SNAPSHOT_ISOLATION, Level.SERIALIZABLE),
    ),
    Finding(
        name="h2-serializable",
        title="H2: SERIALIZABLE allows write skew",
        says="The name suggests serializability. H2's manual says that this level does not ensure that "
        "concurrent transactions that write are equivalent to serial ones ([Transaction isolation]"
        "(https://www.h2database.com/html/advanced.html#transaction_isolation)); so the promise that is "
        "checked is snapshot isolation, and it is kept. Two transactions that read what the other then "
        "writes both commit. [The shrunk counterexample](h2-serializable-shrunk.txt).",
        arguments=f"h2 --isolation serializable {_REGISTERS}",
        holds=(Level.SNAPSHOT_ISOLATION,),
        violated=(Level.SERIALIZABLE,),
        shows=("write-skew",),
        shrinks=Level.SERIALIZABLE,
    ),
    Finding(
        name="hsqldb-mvcc-serializable",
        title="HSQLDB with MVCC: SERIALIZABLE allows write skew",
        says="With `SET DATABASE TRANSACTION CONTROL MVCC`, HSQLDB treats SERIALIZABLE as snapshot "
        "isolation, as its guide says ([Sessions and Transactions]"
        "(https://hsqldb.org/doc/2.0/guide/sessions-chapt.html)), and that is kept; the name suggests more. "
        "In the default model, `LOCKS`, the same level is serializable: the next finding. "
        "[The shrunk counterexample](hsqldb-mvcc-serializable-shrunk.txt).",
        arguments="hsqldb --isolation serializable --set transaction_control=mvcc " + _REGISTERS,
        holds=(Level.SNAPSHOT_ISOLATION,),
        violated=(Level.SERIALIZABLE,),
        shows=("write-skew",),
        shrinks=Level.SERIALIZABLE,
    ),
    Finding(
        name="hsqldb-locks-serializable",
        title="HSQLDB with LOCKS: SERIALIZABLE is serializable",
        says="Tables are locked to the end of each transaction. Serializability holds, also with sessions "
        "and real time, and more transactions are aborted.",
        arguments="hsqldb --isolation serializable --set transaction_control=locks " + _REGISTERS,
        holds=(Level.SERIALIZABLE, Level.STRICT_SERIALIZABLE),
    ),
    Finding(
        name="seekdb-serializable",
        title="OceanBase seekdb: SERIALIZABLE allows write skew",
        says="OceanBase's manual says that its serializable level is like Oracle's and not strictly "
        "serializable ([Isolation levels in MySQL mode]"
        "(https://en.oceanbase.com/docs/common-oceanbase-database-10000000001974669)). It is snapshot "
        "isolation, the same as its repeatable read. The order of versions is that of the commit numbers of "
        "the database itself (`ORA_ROWSCN`). [The shrunk counterexample](seekdb-serializable-shrunk.txt).",
        arguments=f"seekdb --isolation serializable {_REGISTERS}".replace("3000", "1000"),
        holds=(Level.SNAPSHOT_ISOLATION,),
        violated=(Level.SERIALIZABLE,),
        shows=("write-skew",),
        shrinks=Level.SERIALIZABLE,
    ),
    Finding(
        name="dgraph-snapshot-isolation",
        title="Dgraph: snapshot isolation, also by its own clock",
        says="Every answer has the start timestamp of its transaction, and a commit that of its end, both "
        "from the oracle of the zero. So the promise is checked against the clock of the database itself: "
        "every read shows exactly what was committed before the start, and of two transactions that overlap "
        "and write a row one is aborted. Two transactions that read what the other then writes both commit. "
        "One alpha, built from the sources of August 2026 (commit 64804bd2), which call themselves `dev`. "
        "[The shrunk counterexample](dgraph-snapshot-isolation-shrunk.txt).",
        arguments=f"dgraph --isolation snapshot-isolation {_REGISTERS}".replace("3000", "600"),
        holds=(Level.CLOCK_SNAPSHOT_ISOLATION, Level.SNAPSHOT_ISOLATION),
        violated=(Level.SERIALIZABLE,),
        shows=("write-skew",),
        shrinks=Level.SERIALIZABLE,
    ),
    Finding(
        name="dgraph-three-alphas",
        title="Dgraph with three alphas",
        says="Three groups of one alpha each; keys and values are predicates, which the zero gives to "
        "groups. Sessions are spread over the alphas, which ask each other for a predicate as of the start "
        "timestamp: the same levels hold as with one alpha, also in real time.",
        arguments=f"dgraph --nodes 3 {_REGISTERS}".replace("3000", "600"),
        holds=(Level.CLOCK_SNAPSHOT_ISOLATION, Level.STRONG_SNAPSHOT_ISOLATION),
        violated=(Level.SERIALIZABLE,),
        shows=("write-skew",),
    ),
    Finding(
        name="tidb-repeatable-read",
        title="TiDB: REPEATABLE READ loses updates",
        says="The default: pessimistic transactions at REPEATABLE READ. Reads show the snapshot of the start "
        "timestamp, but an `UPDATE` locks and changes the newest version, which its transaction may not have "
        "seen. TiDB's manual says so ([Pessimistic transactions]"
        "(https://docs.pingcap.com/tidb/stable/pessimistic-transaction)), and PL-2 is what is promised. The "
        "timestamps of TiDB's own oracle show each case as a pair of transactions that overlap and write a "
        "row. One server with its store in the same process, built from the sources of August 2026 (commit "
        "6a3e36cc). [The shrunk counterexample](tidb-repeatable-read-shrunk.txt).",
        arguments=f"tidb --isolation repeatable-read {_REGISTERS}".replace("3000", "1000"),
        holds=(Level.PREFIX,),
        violated=(Level.CLOCK_SNAPSHOT_ISOLATION, Level.SNAPSHOT_ISOLATION),
        shows=("lost-update", "read-skew"),
        shrinks=Level.SNAPSHOT_ISOLATION,
    ),
    Finding(
        name="tidb-optimistic",
        title="TiDB: optimistic transactions keep snapshot isolation, also by its own clock",
        says="The same server with `tidb_txn_mode=optimistic`: of two transactions that write a row, the "
        "second to commit is aborted. Every read shows exactly what was committed before the start "
        "timestamp. Two transactions that read what the other then writes both commit.",
        arguments=f"tidb --isolation optimistic {_REGISTERS}".replace("3000", "1000"),
        holds=(Level.CLOCK_SNAPSHOT_ISOLATION, Level.STRONG_SNAPSHOT_ISOLATION),
        violated=(Level.SERIALIZABLE,),
        shows=("write-skew",),
    ),
    Finding(
        name="redis-multi",
        title="Redis: MULTI without WATCH loses updates",
        says="EXEC runs the writes of a transaction at one instant, but nothing compares what was read "
        "before. With `WATCH` on every key that is read, `--isolation watch`, strict serializability holds.",
        arguments=f"redis --isolation multi {_REGISTERS}",
        holds=(Level.READ_COMMITTED,),
        violated=(Level.SNAPSHOT_ISOLATION, Level.SERIALIZABLE),
        shows=("lost-update",),
    ),
    Finding(
        name="sqlite-serializable",
        title="SQLite",
        says="One writer at a time. Serializability holds, also with sessions and real time.",
        arguments=f"sqlite --isolation serializable {_REGISTERS}",
        holds=(Level.SERIALIZABLE, Level.STRICT_SERIALIZABLE),
    ),
    Finding(
        name="sqlite-read-uncommitted",
        title="SQLite, a shared cache and read uncommitted",
        says="Sessions see what others have not committed yet. Serializability is violated, and so are much "
        "weaker levels.",
        arguments=f"sqlite --isolation read-uncommitted {_LISTS}",
        holds=(Level.PL_1,),
        violated=(Level.PL_2, Level.SERIALIZABLE),
        shows=("intermediate-read",),
    ),
)
