"""Sentences about mechanisms that did not work, to the letter: the statements, and the times that convict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import pytest

from isoscope import profiles
from isoscope.checkers import check
from isoscope.explain import message
from isoscope.verdict import MechanismFacts
from tests.reference.timed import (
    append,
    begin,
    commit,
    committed,
    history,
    insert,
    range_read,
    read,
    write,
)

if TYPE_CHECKING:
    from isoscope.history import History
    from isoscope.verdict import Anomaly


class Case(NamedTuple):
    """A history whose first convicted mechanism of this kind is told like this."""

    kind: str
    profile: str
    history: History
    sentence: str


BOTH_UPDATE = (
    "T0 wrote x = 1 and T1 wrote x = 2, and both committed, although neither had committed when the other "
    "took its snapshot: T0's snapshot is of 1 ns at the latest and it did not commit before 6 ns, T1's "
    "snapshot is of 1 ns at the latest and it did not commit before 10 ns."
)
DISAGREEING_LISTS = history(
    committed(append("x", 1, 1, 2), commit(5, 10)),
    committed(append("x", 2, 3, 4), commit(7, 12)),
    committed(read("x", [2, 1], 20, 21), commit(22, 23)),
    committed(read("x", [1, 2], 20, 21), commit(22, 23)),
)
CASES = (
    Case(
        "row",
        "postgresql/read-committed",
        history(
            committed(write("x", 1, 1, 2), commit(7, 8)),
            committed(write("x", 2, 3, 4), commit(5, 6)),
        ),
        "T1 wrote x = 2 and T0 wrote x = 1, and both held the lock on x at the same time: T1 had it by 3 ns "
        "and kept it to 4 ns or longer, T0 had it by 1 ns and kept it to 6 ns or longer.",
    ),
    Case(
        "row",
        "sqlite/rollback-journal",
        history(
            committed(write("x", 1, 1, 2), commit(7, 8)),
            committed(write("y", 2, 3, 4), commit(5, 6)),
        ),
        "T1 wrote y = 2 and T0 wrote x = 1, and both held locks that exclude each other at the same time: "
        "T1 had it by 3 ns and kept it to 4 ns or longer, T0 had it by 1 ns and kept it to 6 ns or longer.",
    ),
    Case(
        "predicate",
        "mysql/serializable",
        history(
            committed(range_read(1, 9, {}, 1, 2), commit(7, 8)),
            committed(insert(5, 2, 3, 4), commit(5, 6)),
            initial=None,
        ),
        "T0 read rows 1 to 9: {} and locked all rows that its predicate speaks of, also those that are not "
        "there; but T1 inserted key 5 = 2 while it did: T0 had it by 1 ns and kept it to 6 ns or longer, T1 "
        "had it by 3 ns and kept it to 4 ns or longer.",
    ),
    Case(
        "overlap",
        "postgresql/repeatable-read",
        history(
            committed(read("y", 0, 1, 2), write("x", 1, 5, 6), commit(7, 8)),
            committed(read("y", 0, 1, 2), write("x", 2, 9, 10), commit(11, 12)),
            initial=0,
        ),
        BOTH_UPDATE,
    ),
    Case(
        "optimistic-writes",
        "tidb/optimistic",
        history(
            committed(begin(1, 2), read("y", 0, 1, 2), write("x", 1, 5, 6), commit(7, 8)),
            committed(begin(1, 2), read("y", 0, 1, 2), write("x", 2, 9, 10), commit(11, 12)),
            initial=0,
        ),
        BOTH_UPDATE,
    ),
    Case(
        "optimistic-reads",
        "cassandra/accord",
        history(
            committed(read("x", 0, 1, 2), write("y", 1, 3, 4), commit(9, 10)),
            committed(write("x", 1, 3, 4), commit(5, 6)),
            initial=0,
        ),
        "T0 read x = 0; T1 wrote x = 1 over that and committed at 5 ns at the latest. T0, which wrote "
        "something, committed all the same, and did not commit before 8 ns.",
    ),
    Case(
        "ssi",
        "postgresql/serializable",
        history(
            committed(read("x", 0, 1, 2), write("y", 1, 5, 6), commit(7, 8)),
            committed(read("y", 0, 1, 2), write("x", 2, 5, 6), commit(11, 12)),
            initial=0,
        ),
        "T0 read x = 0 and did not see that T1 wrote x = 2; T1 read y = 0 and did not see that T0 wrote "
        "y = 1. Both ran at the same time and both committed: one of them had to be refused.",
    ),
    Case(
        "ssi",
        "postgresql/serializable",
        history(
            committed(read("y", 0, 11, 12), commit(19, 20)),
            committed(read("x", 0, 1, 2), write("y", 2, 15, 16), commit(17, 18)),
            committed(write("x", 3, 5, 6), commit(9, 10)),
            initial=0,
        ),
        "T0 read y = 0 and did not see that T1 wrote y = 2; T1 read x = 0 and did not see that T2 wrote "
        "x = 3. They ran at the same time, and T2 committed at 9 ns at the latest, before the others: one of "
        "them had to be refused.",
    ),
    Case(
        "timestamp-order",
        "cockroachdb/serializable",
        DISAGREEING_LISTS,
        "T0 appended 1 to x, which depends on T3: T3 read x = [1 2]. But T3 began only after T0 had ended, "
        "at 9 ns at the latest: it had the newer timestamp.",
    ),
    Case(
        "reads-reads",
        "foundationdb/serializable",
        DISAGREEING_LISTS,
        "T0 appended 1 to x and T1 appended 2 to x. By T3's read of [1 2], T0's version of x is the older "
        "one; by T2's read of [2 1], it is the newer one. One of these mechanisms did not work.",
    ),
)


def convicted(told: History, profile: str, kind: str) -> Anomaly:
    """The first anomaly of this kind."""
    found = check(told, profile=profiles.load(profile)).mechanisms
    assert found is not None
    anomalies = [anomaly for one in found.verdicts for anomaly in one.anomalies]
    return next(anomaly for anomaly in anomalies if anomaly.facts.case == kind)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind} of {case.profile}")
def test_a_mechanism_that_did_not_work_is_told_like_this(case: Case) -> None:
    assert message(convicted(case.history, case.profile, case.kind)) == case.sentence


@pytest.mark.parametrize(
    ("sources", "one", "other"),
    [
        ("intervals-reads", "the times of their commits", "T3's read of [1 2]"),
        ("reads-locks", "T3's read of [1 2]", "the locks that they held"),
        ("locks-snapshots", "the locks that they held", "their snapshots, since the first updater wins"),
    ],
)
def test_a_contradiction_names_the_two_sources_of_the_order(sources: str, one: str, other: str) -> None:
    found = convicted(DISAGREEING_LISTS, "foundationdb/serializable", "reads-reads")
    facts = replace(found.facts_as(MechanismFacts), case=sources)
    reads = found.witnesses[2 : 2 + sources.count("reads")]
    assert message(replace(found, witnesses=(*found.witnesses[:2], *reads), facts=facts)) == (
        f"T0 appended 1 to x and T1 appended 2 to x. By {one}, T0's version of x is the older one; by "
        f"{other}, it is the newer one. One of these mechanisms did not work."
    )


def test_a_time_that_was_not_recorded_is_said_to_be_unknown() -> None:
    found = convicted(CASES[5].history, CASES[5].profile, CASES[5].kind)
    facts = found.facts_as(MechanismFacts)
    unrecorded = tuple(replace(end, interval=None) for end in facts.ends)
    assert message(replace(found, facts=replace(facts, ends=unrecorded))) == (
        "T0 read x = 0; T1 wrote x = 1 over that and committed at an unknown time at the latest. T0, which "
        "wrote something, committed all the same, and did not commit before an unknown time."
    )
