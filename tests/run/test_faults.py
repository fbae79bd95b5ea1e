"""Faults while a run goes on: the plan, the thread that injects them, and what the history keeps."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest

from isoscope import formats
from isoscope.checkers import check
from isoscope.databases import connect
from isoscope.databases.sessions import DATABASE as SIMULATED
from isoscope.errors import DatabaseError, UsageError
from isoscope.levels import Level
from isoscope.run import Limits, run
from isoscope.run.faults import FaultPlan, ScheduledFault
from isoscope.verdict import Outcome
from tests.databases.conformance import Mix

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path


class Cluster(SIMULATED):
    """The simulated database behind two nodes; `asked` counts connections, `faults` says what happened."""

    def __init__(self) -> None:
        super().__init__("serializable", settings={"latency": "200"})
        self.asked: list[str] = []
        self.faults: list[tuple[str, str, str]] = []

    @property
    def nodes(self) -> tuple[str, ...]:
        return ("n1", "n2")

    def session_at(self, node: str) -> Any:
        self.asked.append(node)
        return self.session()

    def use_faults(self, kinds: Collection[str]) -> Cluster:
        self.faults.append(("asked", ",".join(kinds), ""))
        return self

    def inject(self, kind: str, node: str) -> None:
        self.faults.append(("inject", kind, node))
        if kind == "partition":
            raise DatabaseError("no network")

    def heal(self, kind: str, node: str) -> str:
        self.faults.append(("heal", kind, node))
        return "it did not come back" if kind == "kill" else ""


def test_kinds_come_at_random_from_the_seed_and_in_equal_distances() -> None:
    plan = FaultPlan.parse("kill,pause", every=2, seed=3)
    first = list(islice(plan.faults(("n1", "n2", "n3")), 20))
    assert first == list(islice(plan.faults(("n1", "n2", "n3")), 20))
    assert [fault.at for fault in first] == [2.0 * number for number in range(1, 21)]
    assert {fault.kind for fault in first} == {"kill", "pause"}
    assert {fault.node for fault in first} == {"n1", "n2", "n3"}


def test_a_schedule_names_instants_and_perhaps_nodes() -> None:
    plan = FaultPlan.parse("pause@12s,kill@5:n2")
    assert plan.kinds == ("pause", "kill")
    kill, pause = plan.faults(("n1", "n2"))
    assert kill == ScheduledFault(kind="kill", at=5.0, node="n2")
    assert (pause.kind, pause.at) == ("pause", 12.0)


@pytest.mark.parametrize("text", ["", "kill pause", "kill@5s,pause", "kill@x"])
def test_a_plan_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="expected kinds"):
        FaultPlan.parse(text)


def test_a_schedule_with_an_unknown_node_is_refused_before_sessions_begin() -> None:
    with pytest.raises(UsageError, match="there is no node `n9`"):
        run(Cluster(), Mix(content="register"), Limits(seconds=1), faults=FaultPlan.parse("kill@1s:n9"))


def test_sessions_are_spread_over_nodes_and_the_history_says_so(tmp_path: Path) -> None:
    cluster = Cluster()
    done = run(cluster, Mix(content="register", sessions=3), Limits(transactions=30))
    assert cluster.asked == ["n1", "n2", "n1"]
    assert done.nodes == ("n1", "n2")
    assert done.history is not None
    assert done.history.deployment.nodes == {0: "n1", 1: "n2", 2: "n1"}
    formats.save(done.history, tmp_path / "history.parquet")
    assert formats.load(tmp_path / "history.parquet") == done.history
    part = done.history.part([0])
    assert part.deployment == done.history.deployment


def test_faults_are_injected_and_ended_and_kept_in_the_history() -> None:
    cluster = Cluster()
    plan = FaultPlan.parse("kill@0.1s:n1,cut@0.2s:n2,partition@0.3s:n1", every=0.1)
    done = run(cluster, Mix(content="register"), Limits(seconds=0.6), faults=plan)
    assert done.problem is None
    assert cluster.faults == [
        ("asked", "kill,cut,partition", ""),
        ("inject", "kill", "n1"),
        ("heal", "kill", "n1"),
        ("inject", "cut", "n2"),
        ("heal", "cut", "n2"),
        ("inject", "partition", "n1"),
    ]
    assert done.history is not None
    faults = done.history.deployment.faults
    assert faults == done.faults
    assert [(fault.kind, fault.node, fault.remark) for fault in faults] == [
        ("kill", "n1", "it did not come back"),
        ("cut", "n2", ""),
        ("partition", "n1", "no network"),
    ]
    assert all(fault.stop is not None and fault.start <= fault.stop for fault in faults)
    invoked = [interval.invoke for one in done.history if (interval := one.interval) and interval.invoke]
    assert min(invoked) < faults[0].start < max(invoked), "faults are on the clock of the intervals"


def test_a_fault_that_goes_on_at_the_end_of_the_run_is_ended() -> None:
    cluster = Cluster()
    run(cluster, Mix(content="register"), Limits(seconds=0.3), faults=FaultPlan.parse("pause@0.1s", every=60))
    assert [step for step, *_ in cluster.faults] == ["asked", "inject", "heal"]


def test_a_database_without_nodes_refuses_faults() -> None:
    with pytest.raises(UsageError, match="sqlite takes no faults such as kill"):
        run(connect("sqlite"), Mix(content="register"), Limits(seconds=1), faults=FaultPlan.parse("kill"))
    with pytest.raises(UsageError, match="unknown fault for simulated `kill`"):
        run(connect("simulated"), Mix(content="register"), Limits(seconds=1), faults=FaultPlan.parse("kill"))


def test_a_step_of_a_clock_breaks_the_levels_of_the_clock_and_contradicts_the_log() -> None:
    simulated = connect("simulated", isolation="serializable", settings={"latency": "200"})
    plan = FaultPlan.parse("clock@0.05s:n1,clock@0.3s:n2", every=0.3)
    done = run(simulated, Mix(content="register"), Limits(seconds=0.6), faults=plan)
    assert done.nodes == ("n1", "n2", "n3")
    assert done.history is not None
    report = check(done.history, [Level.CLOCK_SERIALIZABLE, Level.STRICT_SERIALIZABLE])
    assert report[Level.CLOCK_SERIALIZABLE].outcome is Outcome.VIOLATED
    other = report[Level.STRICT_SERIALIZABLE]
    assert other.outcome is Outcome.UNKNOWN
    assert "contradict each other" in other.reason
