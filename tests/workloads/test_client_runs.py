"""Workloads on a database that runs one transaction after the other: its histories satisfy every level."""

from __future__ import annotations

import pytest

from isoscope.checkers import check
from isoscope.levels import Level
from isoscope.run import Limits, run
from isoscope.verdict import Outcome
from isoscope.workloads import CLIENTS, client_workload
from tests.workloads.serial import SerialDatabase

TRANSACTIONS = 400


@pytest.mark.parametrize("name", [name for name in CLIENTS if name != "blindw-rw+"])
def test_a_serial_database_is_strict_serializable(name: str) -> None:
    done = run(
        SerialDatabase(settings={}), client_workload(name, {"sessions": 4}), Limits(transactions=TRANSACTIONS)
    )
    assert done.problem is None
    assert done.progress.committed + done.progress.aborted == TRANSACTIONS
    assert done.history is not None
    [verdict] = check(done.history, [Level.STRICT_SERIALIZABLE]).verdicts
    assert (verdict.outcome, verdict.reason) == (Outcome.HOLDS, "")


def test_range_reads_of_rows_that_stay_are_judged() -> None:
    done = run(
        SerialDatabase(settings={}),
        client_workload("blindw-rw+", {"sessions": 4}),
        Limits(transactions=TRANSACTIONS),
    )
    assert done.history is not None
    assert done.history.counts["range-read"]
    [strict] = check(done.history, [Level.STRICT_SERIALIZABLE]).verdicts
    assert strict.outcome is Outcome.HOLDS


def test_retired_keys_are_replaced_while_sessions_run() -> None:
    database = SerialDatabase(settings={})
    workload = client_workload("list-append", {"sessions": 8, "max_writes_per_key": 1})
    done = run(database, workload, Limits(transactions=600))
    assert (done.problem, done.progress.committed) == (None, 600)
    assert database.inserts > 1
    lists = [value for value in database.rows.values() if value]
    assert {len(value) for value in lists if isinstance(value, tuple)} == {1}
    assert len(lists) > 600


def test_a_rolled_back_program_is_an_aborted_transaction() -> None:
    workload = client_workload("smallbank", {"sessions": 2, "keys": 4})
    done = run(SerialDatabase(settings={}), workload, Limits(transactions=2000))
    assert done.problem is None
    assert done.history is not None
    assert done.history.counts["aborted"] == done.progress.aborted > 0
