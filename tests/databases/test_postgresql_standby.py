"""A primary of PostgreSQL with a hot standby: reads at the standby are old, and nothing worse."""

from __future__ import annotations

import pytest

from isoscope.databases import connect
from isoscope.errors import UsageError
from isoscope.levels import Level
from isoscope.run import FaultPlan, Limits, Plan, execute
from isoscope.verdict import Outcome
from tests.databases.conformance import server_marks

SERVER = pytest.param("postgresql", marks=server_marks("postgresql"))


@pytest.mark.parametrize("name", [SERVER])
def test_a_standby_serves_reads_of_the_past_also_after_a_crash_of_the_primary(name: str) -> None:
    plan = Plan.of(
        name,
        nodes=2,
        isolation="serializable",
        parameters={"sessions": 4, "keys": 10, "read_ratio": 0.8},
        limits=Limits(seconds=6),
        faults=FaultPlan.parse("kill@2s:n1,cut@5s:n2", every=1),
    )
    completed = execute(plan)
    assert completed.run.problem is None
    assert [fault.remark for fault in completed.run.faults] == ["", ""]
    assert completed.promises == (Level.STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION,)
    at_standby = {session for session, node in completed.history.deployment.nodes.items() if node == "n2"}
    committed = [
        one for one in completed.history if one.session_id in at_standby and one.status == "committed"
    ]
    assert committed, "read-only transactions commit at the standby"
    assert not any(operation.kind == "write" for one in committed for operation in one.operations)
    levels = (*completed.promises, Level.STRONG_SNAPSHOT_ISOLATION)
    report = completed.check(levels=levels)
    assert report[completed.promises[0]].outcome is Outcome.HOLDS
    assert report[Level.STRONG_SNAPSHOT_ISOLATION].outcome is Outcome.VIOLATED, "reads at the standby are old"


@pytest.mark.parametrize("name", [SERVER])
def test_a_standby_with_old_data_gets_the_rest_of_the_log_and_the_primary_keeps_its_data(name: str) -> None:
    plan = Plan.of(
        name,
        nodes=2,
        isolation="repeatable-read",
        parameters={"sessions": 4, "keys": 10, "read_ratio": 0.8},
        limits=Limits(seconds=6),
        faults=FaultPlan.parse("old-data@1s:n2,old-data@4s:n1", every=1),
    )
    completed = execute(plan)
    assert completed.run.problem is None
    old, refused = completed.run.faults
    assert old.remark == ""
    assert refused.remark == "n1 keeps its data: no other node has all of it"
    assert old.stop is not None
    at_standby = {session for session, node in completed.history.deployment.nodes.items() if node == "n2"}
    later = [
        one
        for one in completed.history
        if one.session_id in at_standby
        and one.interval is not None
        and one.interval.invoke is not None
        and one.interval.invoke > old.stop
        and one.status == "committed"
    ]
    assert later, "the standby answers again"
    assert completed.promises == (Level.PARALLEL_SNAPSHOT_ISOLATION,), "sessions see the past again"
    report = completed.check(levels=completed.promises)
    assert report[Level.PARALLEL_SNAPSHOT_ISOLATION].outcome is Outcome.HOLDS


def test_faults_need_nodes_that_are_started_here() -> None:
    with pytest.raises(UsageError, match="not at a URL"):
        connect("postgresql://user@host/name").use_faults(["kill"])
