"""Galera: the protocol of databases on one node, and what three nodes show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isoscope.conformance import QUESTIONS, Opened
from isoscope.databases import connect
from isoscope.databases import nodes as nodes_module
from isoscope.errors import UsageError
from isoscope.levels import Level
from isoscope.run import FaultPlan, Limits, Plan, execute
from isoscope.verdict import Outcome
from tests.databases.conformance import close_all, server_marks
from tests.databases.patient_runs import run_with_faults
from tests.databases.test_links import needs_namespaces

if TYPE_CHECKING:
    from isoscope.databases.database import Content

SERVER = pytest.param("galera", marks=server_marks("galera"))


@pytest.mark.parametrize("name", [SERVER])
@pytest.mark.parametrize("content", ["register", "list"])
def test_one_node_does_what_every_database_does(name: str, content: Content) -> None:
    database = connect(name, nodes=1)
    try:
        database.open(content)
        opened = Opened(database=database)
        for question in QUESTIONS[content]:
            # Those that run a workload open the database themselves.
            if not question.__name__.startswith("a_run_of"):
                question(opened)
                close_all(opened)
    finally:
        database.close()


#: Settings, a level, and what a run on three nodes says of it.
KEPT = {
    "default": ({}, Level.CURSOR_STABILITY, Outcome.VIOLATED),
    "snapshots": (
        {"innodb_snapshot_isolation": "ON"},
        Level.STRONG_SESSION_SNAPSHOT_ISOLATION,
        Outcome.HOLDS,
    ),
    "snapshots that wait": (
        {"innodb_snapshot_isolation": "ON", "wsrep_sync_wait": "1"},
        Level.STRONG_SNAPSHOT_ISOLATION,
        Outcome.HOLDS,
    ),
}


@pytest.mark.parametrize("name", [SERVER])
@pytest.mark.parametrize("how", KEPT)
def test_updates_are_lost_by_default_and_reads_are_new_if_they_wait(name: str, how: str) -> None:
    settings, level, outcome = KEPT[how]
    plan = Plan.of(
        name, nodes=3, settings=settings, parameters={"sessions": 6, "keys": 3}, limits=Limits(seconds=8)
    )
    completed = execute(plan)
    assert completed.run.problem is None
    report = completed.check(levels=(level,))
    assert report[level].outcome is outcome
    if outcome is Outcome.VIOLATED:
        assert "lost-update" in report[level].anomaly_counts


@pytest.mark.parametrize("name", [SERVER])
def test_three_nodes_keep_snapshot_isolation_although_one_is_killed(name: str) -> None:
    plan = Plan.of(
        name,
        nodes=3,
        settings={"innodb_snapshot_isolation": "ON"},
        parameters={"sessions": 6, "keys": 10},
        limits=Limits(seconds=6),
        faults=FaultPlan.parse("kill@3s:n3", every=2),
    )
    completed = execute(plan)
    assert completed.run.problem is None
    assert [(fault.kind, fault.node) for fault in completed.run.faults] == [("kill", "n3")]
    assert completed.promises == (Level.STRONG_SESSION_SNAPSHOT_ISOLATION,)
    report = completed.check(levels=completed.promises)
    assert report[Level.STRONG_SESSION_SNAPSHOT_ISOLATION].outcome is Outcome.HOLDS


@pytest.mark.parametrize("name", [SERVER])
@pytest.mark.parametrize("how", ["relays", pytest.param("namespaces", marks=needs_namespaces)])
def test_three_nodes_keep_snapshot_isolation_with_slow_links_and_partitions(
    name: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if how == "relays":
        monkeypatch.setattr(nodes_module, "can_make_network", lambda _kind: False)
    settings = {"innodb_snapshot_isolation": "ON"}
    completed = run_with_faults(name, "slow@2s:n1,partition@8s:n2", seconds=16, every=4, settings=settings)
    # The others have gone on without it, and its sessions were told so.
    assert completed.run.reasons["the node is not in the primary component"] > 0
    report = completed.check(levels=completed.promises)
    assert report[Level.STRONG_SESSION_SNAPSHOT_ISOLATION].outcome is Outcome.HOLDS


def test_settings_and_places_that_make_no_sense_are_refused() -> None:
    with pytest.raises(UsageError, match="wsrep_sync_wait=99 makes no sense"):
        connect("galera", settings={"wsrep_sync_wait": "99"})
    with pytest.raises(UsageError, match="download=perhaps makes no sense"):
        connect("galera", settings={"download": "perhaps"})
    with pytest.raises(UsageError, match="not at a URL"):
        connect("galera://root@127.0.0.1", urls=["galera://root@127.0.0.2"]).use_faults(["kill"])


@pytest.mark.parametrize(
    ("settings", "promised"),
    [
        ({}, Level.PL_2),
        ({"innodb_snapshot_isolation": "ON"}, Level.STRONG_SESSION_SNAPSHOT_ISOLATION),
        ({"innodb_snapshot_isolation": "ON", "wsrep_sync_wait": "1"}, Level.STRONG_SNAPSHOT_ISOLATION),
    ],
)
def test_a_promise_follows_from_the_settings(settings: dict[str, str], promised: Level) -> None:
    assert connect("galera", settings=settings).promises == (promised,)
