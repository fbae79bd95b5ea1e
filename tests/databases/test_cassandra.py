"""Cassandra: what its commits compare, on a client that answers from a table; and a run on real nodes."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from isoscope.databases import connect
from isoscope.databases import nodes as nodes_module
from isoscope.databases.cassandra.session import CassandraSession
from isoscope.databases.database import Aborted, ConnectionLost
from isoscope.errors import DatabaseError, UsageError
from isoscope.levels import Level
from isoscope.run import FaultPlan, Limits, Plan, execute
from isoscope.verdict import Outcome
from tests.databases.cassandra_cluster import SharedCassandra, shared_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator


class Row(NamedTuple):
    v: str | None


class Client:
    """Keeps what it was asked, and knows some rows."""

    def __init__(self, rows: dict[int, str]) -> None:
        self.rows, self.asked = rows, list[str]()
        self.is_late = False

    def __call__(self, statement: str) -> list[Any]:
        self.asked.append(statement)
        if self.is_late:
            raise Aborted("WriteTimeout")
        if statement.startswith("SELECT"):
            key = int(statement.rpartition(" ")[2])
            return [Row(self.rows[key])] if key in self.rows else []
        if " IF v" in statement:
            return [(self._is_true(statement),)]
        keys = [int(key) for key in re.findall(r"LET r\d+ = \(SELECT v FROM t WHERE k = (\d+)\)", statement)]
        return [tuple(self.rows.get(key) for key in keys)]

    def _is_true(self, statement: str) -> bool:
        """Whether all conditions of a batch are true."""
        found = re.findall(r"k = (\d+) IF v (!?=) (?:null|'(\d+)')", statement)
        return all((self.rows.get(int(key), "") == text) == (how == "=") for key, how, text in found)


def session(client: Client, isolation: str = "accord") -> CassandraSession:
    return CassandraSession(client, "t", "register", isolation)


def test_a_transaction_of_accord_compares_all_that_was_read_and_then_writes() -> None:
    client = Client({1: "10", 2: "20", 3: "30"})
    one = session(client)
    assert (one.read(1), one.read(9)) == (10, None)
    one.write(3, 33)
    one.commit()
    assert client.asked[-1] == (
        "BEGIN TRANSACTION LET r0 = (SELECT v FROM t WHERE k = 1); LET r1 = (SELECT v FROM t WHERE k = 3); "
        "LET r2 = (SELECT v FROM t WHERE k = 9); SELECT r0.v, r1.v, r2.v; "
        "IF r0.v = '10' AND r1 IS NOT NULL AND r2 IS NULL THEN INSERT INTO t (k, v) VALUES (3, '33'); END IF "
        "COMMIT TRANSACTION"
    )


def test_a_key_that_has_changed_since_it_was_read_aborts() -> None:
    client = Client({1: "10", 2: "20"})
    one = session(client)
    one.read(1)
    one.write(2, 22)
    client.rows[1] = "11"
    with pytest.raises(Aborted, match="a compared key has changed"):
        one.commit()


def test_a_transaction_that_only_reads_is_compared_unless_it_is_one_read() -> None:
    client = Client({1: "10", 2: "20"})
    one = session(client)
    one.read(1)
    one.commit()
    assert len(client.asked) == 1
    one.begin()
    one.read(1)
    one.read(2)
    client.rows[1] = "11"
    with pytest.raises(Aborted, match="a compared key has changed"):
        one.commit()


def test_a_lightweight_transaction_has_a_condition_for_all_that_was_read_or_is_written() -> None:
    client = Client({1: "10", 2: "20", 3: "30"})
    one = session(client, "lightweight")
    assert (one.read(1), one.read(9)) == (10, None)
    assert client.asked[0] == "SELECT v FROM t WHERE p = 0 AND k = 1"
    one.write(3, 33)
    one.delete(2)
    one.commit()
    assert client.asked[-1] == (
        "BEGIN BATCH UPDATE t SET c = 0 WHERE p = 0 AND k = 1 IF v = '10'; "
        "UPDATE t SET v = null WHERE p = 0 AND k = 2 IF v = '20'; "
        "UPDATE t SET v = '33' WHERE p = 0 AND k = 3 IF v != null; "
        "UPDATE t SET c = 0 WHERE p = 0 AND k = 9 IF v = null; APPLY BATCH"
    )


@pytest.mark.parametrize("changed", [{1: "11"}, {9: "90"}])
def test_a_condition_that_is_not_true_aborts(changed: dict[int, str]) -> None:
    client = Client({1: "10", 2: "20"})
    one = session(client, "lightweight")
    one.read(1)
    one.insert(9, 99)
    client.rows |= changed
    with pytest.raises(Aborted, match="a compared key has changed"):
        one.commit()


def test_rows_are_added_with_conditions_and_without_reads() -> None:
    client = Client({})
    one = session(client, "lightweight")
    one.add(1, "0")
    one.commit()
    assert client.asked == ["BEGIN BATCH UPDATE t SET v = '0' WHERE p = 0 AND k = 1 IF v = null; APPLY BATCH"]


def test_a_batch_at_quorum_compares_nothing() -> None:
    client = Client({1: "10"})
    one = session(client, "quorum")
    one.read(1)
    one.write(1, 11)
    client.rows[1] = "99"
    one.commit()
    assert client.asked[-1] == "BEGIN BATCH INSERT INTO t (k, v) VALUES (1, '11'); APPLY BATCH"


def test_a_commit_without_an_answer_may_have_taken_effect() -> None:
    client = Client({1: "10"})
    one = session(client)
    one.write(1, 11)
    client.is_late = True
    with pytest.raises(ConnectionLost, match="WriteTimeout"):
        one.commit()


def test_settings_places_and_faults_that_make_no_sense_are_refused() -> None:
    with pytest.raises(UsageError, match="download=perhaps makes no sense"):
        connect("cassandra", settings={"download": "perhaps"})
    with pytest.raises(UsageError, match="the URL of Cassandra makes no sense"):
        connect("cassandra://host/path")
    with pytest.raises(UsageError, match="takes the faults kill, pause, partition and slow"):
        connect("cassandra").use_faults(["cut"])


@pytest.fixture(scope="module")
def three_nodes() -> Iterator[None]:
    """Nodes between which relays stand, as for a user that is not root."""
    if "ISOSCOPE_CASSANDRA" not in os.environ:
        pytest.skip("three nodes take minutes to start: ISOSCOPE_CASSANDRA is not set")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nodes_module, "can_make_network", lambda _kind: False)
        try:
            with shared_nodes(["partition"]):
                yield
        except DatabaseError as error:
            if "are not found" not in str(error):
                raise
            pytest.skip(str(error).partition("\n")[0])


#: What each isolation keeps; plain requests at QUORUM lose updates.
KEPT = {
    "accord": (Level.STRICT_SERIALIZABLE, Outcome.HOLDS),
    "lightweight": (Level.STRICT_SERIALIZABLE, Outcome.HOLDS),
    "quorum": (Level.CURSOR_STABILITY, Outcome.VIOLATED),
}


@pytest.mark.server
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("three_nodes")
@pytest.mark.parametrize("isolation", KEPT)
@pytest.mark.parametrize("faults", [None, FaultPlan.parse("partition@5s:n2", every=30)])
def test_what_is_compared_decides_what_is_lost_also_with_a_partition(
    isolation: str, faults: FaultPlan | None
) -> None:
    plan = Plan.of(
        "cassandra",
        isolation=isolation,
        parameters={"sessions": 6, "keys": 5},
        limits=Limits(seconds=15 if faults is None else 40),
        faults=faults,
    )
    completed = execute(replace(plan, database=SharedCassandra(isolation, settings={})))
    assert completed.run.problem is None
    expected = [] if faults is None else [("partition", "n2", "")]
    assert [(fault.kind, fault.node, fault.remark) for fault in completed.run.faults] == expected
    level, outcome = KEPT[isolation]
    assert completed.check(levels=(level,))[level].outcome is outcome
