from __future__ import annotations

import threading
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING

import pytest

from isoscope import checkers, databases, formats
from isoscope.errors import DatabaseError
from isoscope.history import EvidenceKind, OperationKind, Status
from isoscope.run import run_scripts, scripts
from isoscope.verdict import Outcome
from isoscope.workloads.hermitage import ANOMALIES, SCRIPTS, Answer
from isoscope.workloads.published import Cell, expectation
from tests.interrupts import wait_until
from tests.toy_database import ToyDatabase

if TYPE_CHECKING:
    from isoscope.levels import Level
    from isoscope.run import ScriptedRun, ScriptResult

PATIENCE = 0.1
BY_NAME = {script.name: script for script in SCRIPTS}
SNAPSHOT = dict.fromkeys(ANOMALIES, Cell.PREVENTED) | {"G2-item": Cell.ALLOWED, "G2": Cell.ALLOWED}
TOYS = {
    "serial": dict.fromkeys(ANOMALIES, Cell.PREVENTED),
    "snapshot": SNAPSHOT,
    "chaos": dict.fromkeys(ANOMALIES, Cell.ALLOWED),
}
#: Target, isolation and settings.
EMBEDDED = [
    ("sqlite", "serializable", ()),
    ("sqlite", "serializable", (("journal_mode", "wal"),)),
    ("sqlite", "read-uncommitted", ()),
    ("duckdb", "snapshot-isolation", ()),
    ("simulated", "serializable", ()),
    ("simulated", "snapshot-isolation", ()),
    ("simulated", "read-committed", ()),
    ("simulated", "read-uncommitted", ()),
]
SERVERS = [
    ("postgresql", "read-committed", ()),
    ("postgresql", "repeatable-read", ()),
    ("postgresql", "serializable", ()),
    ("mariadb", "read-uncommitted", ()),
    ("mariadb", "read-committed", ()),
    ("mariadb", "repeatable-read", ()),
    ("mariadb", "repeatable-read", (("innodb_snapshot_isolation", "ON"),)),
    ("mariadb", "serializable", ()),
]


def toy(isolation: str) -> ToyDatabase:
    return ToyDatabase(isolation, settings={})


@cache
def on_toy(isolation: str) -> ScriptedRun:
    return run_scripts(toy(isolation), patience=PATIENCE)


def only(isolation: str, script: str) -> ScriptResult:
    [result] = run_scripts(toy(isolation), [BY_NAME[script]], patience=PATIENCE).results
    return result


def contradictions(found: ScriptedRun) -> list[tuple[str, Answer, Outcome]]:
    """The scripts of which the checkers do not say what the script itself says."""
    expected = {Answer.ALLOWED: Outcome.VIOLATED, Answer.PREVENTED: Outcome.HOLDS}
    verdicts = [(result, outcome(result)) for result in found.results]
    return [(r.script.name, r.answer, said) for r, said in verdicts if said is not expected[r.answer]]


def outcome(result: ScriptResult) -> Outcome:
    [verdict] = checkers.check(result.history, [result.script.level]).verdicts
    return verdict.outcome


@pytest.mark.parametrize("isolation", TOYS)
def test_scripts_find_what_an_isolation_allows(isolation: str) -> None:
    assert on_toy(isolation).found == TOYS[isolation]


@pytest.mark.parametrize("isolation", TOYS)
def test_checkers_say_of_the_history_what_the_script_says(isolation: str) -> None:
    assert contradictions(on_toy(isolation)) == []


def test_a_waiting_statement_is_answered_when_the_other_transaction_has_ended() -> None:
    history = only("serial", "P4").history
    [first, second, _] = list(history)
    assert (first.status, second.status) == (Status.COMMITTED, Status.COMMITTED)
    begin = second.operations[0]
    assert begin.kind is OperationKind.BEGIN
    assert begin.interval is not None
    assert begin.interval.invoke is not None
    assert begin.interval.complete is not None
    # The script counts from when it hands the statement over, which a busy thread sends a little later.
    assert begin.interval.complete - begin.interval.invoke >= PATIENCE / 2 * 1e9


def test_a_transaction_that_was_rolled_back_sends_nothing_more() -> None:
    result = only("unwritable", "G-single, writing")
    writer = list(result.history)[1]
    assert [o.kind for o in writer.operations] == [
        OperationKind.BEGIN,
        OperationKind.WRITE,
        OperationKind.ABORT,
    ]
    assert writer.status is Status.ABORTED
    assert result.reasons == {1: "no writes", 2: "no writes"}
    assert result.seen.committed == frozenset()


def test_the_write_of_an_aborted_transaction_is_recorded() -> None:
    result = only("snapshot", "P4")
    loser = list(result.history)[1]
    assert loser.status is Status.ABORTED
    assert (1, 12) in [(operation.key, operation.value) for operation in loser.operations]
    assert result.reasons == {2: "another transaction was first"}


def test_the_final_transaction_shows_the_last_writer() -> None:
    result = only("chaos", "G0")
    assert result.seen.final == {1: 12, 2: 21}
    assert [t.id for t in result.history] == [1, 2, scripts.FINAL]
    assert EvidenceKind.VERSION_ORDER in result.history.evidence.present


def test_a_history_of_a_script_can_be_saved_and_checked(tmp_path: Path) -> None:
    for result in on_toy("chaos").results:
        path = tmp_path / "script.parquet"
        formats.save(result.history, path)
        [verdict] = checkers.check(formats.load(path), [result.script.level]).verdicts
        assert (verdict.outcome is Outcome.VIOLATED) is (result.answer is Answer.ALLOWED)


def test_progress_is_told_script_by_script() -> None:
    told: list[ScriptResult] = []
    found = run_scripts(toy("chaos"), patience=PATIENCE, progress=told.append)
    assert tuple(told) == found.results
    assert found.database == "Toy 1.0"


def test_no_scripts_find_nothing() -> None:
    assert run_scripts(toy("chaos"), []).found == {}


@pytest.mark.parametrize("isolation", ["chaos", "stuck", "lost", "short of connections", "unreadable"])
def test_connections_threads_and_the_database_are_closed_whatever_happens(
    isolation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scripts, "_GRACE", 0.2)
    database, before = toy(isolation), threading.active_count()
    with suppress(DatabaseError):
        run_scripts(database, [BY_NAME["P4"]], patience=PATIENCE, limit=0.2)
    assert not database.is_open
    wait_until(lambda: threading.active_count() == before)
    assert not any(session.is_open for session in database.sessions)


def test_a_database_that_does_not_answer_ends_the_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripts, "_GRACE", 0.2)
    with pytest.raises(DatabaseError, match=r"the script G0 is stuck: no answer for 0\.2 seconds"):
        run_scripts(toy("stuck"), patience=PATIENCE, limit=0.2)


def test_a_lost_connection_ends_the_scripts() -> None:
    with pytest.raises(DatabaseError, match="the database is gone: reset by peer"):
        run_scripts(toy("lost"), patience=PATIENCE)


def test_a_database_that_refuses_reads_ends_the_scripts() -> None:
    with pytest.raises(DatabaseError, match="the rows that the script G0 left cannot be read: no reads"):
        run_scripts(toy("unreadable"), patience=PATIENCE)


def test_a_refused_connection_ends_the_scripts() -> None:
    with pytest.raises(DatabaseError, match="too many connections"):
        run_scripts(toy("short of connections"), patience=PATIENCE)


@cache
def on(target: str, isolation: str, settings: tuple[tuple[str, str], ...]) -> tuple[ScriptedRun, list[Level]]:
    """The results on a real database, and its promises."""
    database = databases.connect(target, isolation=isolation, settings=dict(settings))
    # A long patience: a busy machine must not look like a lock.
    found = run_scripts(database, patience=0.5)
    return found, list(getattr(database, "promises", database.ISOLATIONS[isolation].promises))


def skip_if_absent(target: str) -> None:
    if find_spec(f"isoscope.databases.{databases.DATABASES[target]}") is None:
        pytest.skip(f"there is no driver of {target}")
    programs = {"postgresql": "/usr/lib/postgresql", "mariadb": which("mariadbd") or "/usr/sbin/mariadbd"}
    if target in programs and not Path(programs[target]).exists():
        pytest.skip(f"{target} is not installed")


def name_of(target: str, isolation: str, settings: tuple[tuple[str, str], ...]) -> str:
    return "-".join([target, isolation, *(value for _, value in settings)])


real = pytest.mark.parametrize(
    ("target", "isolation", "settings"),
    [
        *(pytest.param(*case, id=name_of(*case)) for case in EMBEDDED),
        *(pytest.param(*case, id=name_of(*case), marks=pytest.mark.server) for case in SERVERS),
    ],
)


@real
def test_a_database_does_what_is_known_of_it(
    target: str, isolation: str, settings: tuple[tuple[str, str], ...]
) -> None:
    skip_if_absent(target)
    found, promises = on(target, isolation, settings)
    known = expectation(target, isolation, promises)
    assert known is not None
    expected = dict(known.cells)
    if target == "duckdb":
        # An update and a delete of one row are no conflict there: its issue 17223.
        expected["PMP"] = Cell.READ_ONLY
    assert found.found == expected


@real
def test_checkers_say_of_a_database_what_the_scripts_say(
    target: str, isolation: str, settings: tuple[tuple[str, str], ...]
) -> None:
    skip_if_absent(target)
    assert contradictions(on(target, isolation, settings)[0]) == []
