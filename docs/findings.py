"""`python -m docs.findings [NAME...]`: runs real databases again and writes `docs/examples`.

Each finding is a command and what its history must show; one that does not is an error. The servers are those
that are installed here.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import isoscope
from isoscope import Level, Outcome

__all__ = ["FINDINGS", "FOLDER", "Finding", "problems", "reproduce"]

FOLDER = Path(__file__).with_name("examples")
_REGISTERS = (
    "--workload key-value --sessions 8 --keys 20 --min-txn-length 2 --max-txn-length 4 "
    "--distribution uniform --transactions 3000"
)
_LISTS = "--workload list-append --sessions 8 --min-txn-length 2 --max-txn-length 4 --transactions 3000"
#: The first lines of anomalies, of the heading and of the exit status; and of the outcomes.
_PART = re.compile(r"[a-z-]+: [0-9,]+ found\n|.* \(parquet\): |exit status ")
_OUTCOMES = re.compile(r"  (in short|violated|holds)  ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A run, and what is to be seen there; of the anomalies the first stands on the page.

    `arguments` are those of `isoscope run`; without them, the script `NAME.py` beside the page is the run.
    """

    name: str
    title: str
    says: str
    arguments: str = ""
    holds: tuple[Level, ...] = ()
    violated: tuple[Level, ...] = ()
    shows: tuple[str, ...] = ()

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


def reproduce(finding: Finding, folder: Path) -> str:
    """Runs it in `folder`, which then holds the history and the report; what was printed."""
    given = ["--out", f"{finding.name}.parquet", "--report", f"{finding.name}.html"]
    run = ["-m", "isoscope", "run", *finding.arguments.split(), "--all", *given]
    script = [str(FOLDER / f"{finding.name}.py")]
    done = subprocess.run(
        [sys.executable, *(run if finding.arguments else script)],
        cwd=folder,
        env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1"},
        capture_output=True,
        check=False,
        text=True,
        timeout=300,
    )
    if done.returncode:
        raise RuntimeError(f"{finding.name}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout.rstrip() + "\n"


def problems(finding: Finding, folder: Path) -> list[str]:
    """What the history in `folder` does not show, although it should."""
    history = isoscope.load(folder / f"{finding.name}.parquet")
    expected = {
        **dict.fromkeys(finding.holds, Outcome.HOLDS),
        **dict.fromkeys(finding.violated, Outcome.VIOLATED),
    }
    verdicts = isoscope.check(history, expected, max_anomalies=1).verdicts
    wrong = [f"{v.level}: {v.outcome}" for v in verdicts if v.outcome is not expected[v.level]]
    found = {name for verdict in verdicts for name in verdict.anomaly_counts}
    return [*wrong, *(f"{name}: not found" for name in finding.shows if name not in found)]


def page() -> str:
    """The page about all of them, from the texts that are there."""
    intro = (
        "What real databases did, each with the command that shows it again. The counterexamples differ "
        "from run to run, the answers do not. `python -m docs.findings` runs them all."
    )
    parts = ["<!-- Written by docs/findings.py. -->", "# Findings", intro, *map(_section, FINDINGS)]
    return "\n\n".join(parts) + "\n"


def _section(finding: Finding) -> str:
    text = (FOLDER / f"{finding.name}.txt").read_text(encoding="utf-8")
    parts = [
        f"## {finding.title}",
        finding.says,
        f"```sh\n{finding.command}\n```",
        f"```text\n{_excerpt(finding, text)}\n```",
        f"[The report]({finding.name}.html), [all that was printed]({finding.name}.txt)",
    ]
    return "\n\n".join(parts)


def _excerpt(finding: Finding, text: str) -> str:
    """The answer, what ran, the anomaly that is shown, and the outcomes."""
    if not finding.arguments:
        return text.rstrip()
    blocks = text.rstrip().split("\n\n")
    chosen = [blocks[0]]
    if finding.shows:
        starts = [place for place, block in enumerate(blocks) if _PART.match(f"{block}\n")]
        first = next(place for place in starts if blocks[place].startswith(f"{finding.shows[0]}: "))
        chosen += blocks[first : min((place for place in starts if place > first), default=None)]
    return "\n\n".join([*chosen, next(block for block in blocks if _OUTCOMES.match(block))])


def main(names: list[str]) -> int:
    """Runs those that are named, or all, and writes the page."""
    FOLDER.mkdir(exist_ok=True)
    status = 0
    for finding in FINDINGS:
        if names and finding.name not in names:
            continue
        with TemporaryDirectory() as path:
            text = reproduce(finding, Path(path))
            if wrong := problems(finding, Path(path)):
                print(f"{finding.name}: {'; '.join(wrong)}")
                status = 1
                continue
            (FOLDER / f"{finding.name}.txt").write_text(text, encoding="utf-8")
            shutil.copy(Path(path) / f"{finding.name}.html", FOLDER)
        print(f"written: {finding.name}")
    (FOLDER / "index.md").write_text(page(), encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
