"""The specification of certifiers and deduced orders does what `docs/explanation/intervals.md` says."""

from __future__ import annotations

import pytest

from isoscope.profiles import Certifier, Conduct, Lock, Read, Snapshot
from isoscope.reference.mechanisms import Dependency, Finding, Place, Store, judge, judge_pairs
from isoscope.reference.mechanisms.lock_order import Sequence
from isoscope.reference.mechanisms.orders import Source
from isoscope.reference.mechanisms.precedence import of_snapshots
from isoscope.reference.reads import token

from . import timed
from .timed import (
    append,
    commit,
    committed,
    delete,
    history,
    insert,
    profile,
    read,
    write,
)

STALE, FUTURE, ABORTED, INTERMEDIATE, THIN_AIR, OWN, MISSING_ROW = (
    ("inconsistent-read", case)
    for case in ("stale", "future", "aborted", "intermediate", "thin-air", "own", "missing-row")
)
STATEMENT = profile(Snapshot.STATEMENT)


# The certifiers.


@pytest.mark.parametrize(("snapshot", "is_violated"), [((11, 12), True), ((7, 8), False), ((10, 12), False)])
def test_a_reader_is_refused_if_the_third_transaction_had_committed_before_its_snapshot(
    snapshot: tuple[int, int], is_violated: bool
) -> None:
    told = history(
        committed(read("y", 0, *snapshot), commit(19, 20)),
        committed(read("x", 0, 1, 2), write("y", 2, 15, 16), commit(17, 18)),
        committed(write("x", 3, 5, 6), commit(9, 10)),
    )
    found = {("certifier-violation", "ssi")} if is_violated else set()
    assert judge(told, timed.POSTGRESQL_SERIALIZABLE).cases() == found


def test_two_consecutive_rw_are_allowed_if_the_third_did_not_commit_first() -> None:
    told = history(
        committed(read("y", 0, 1, 2), write("z", 1, 3, 4), commit(5, 6)),
        committed(read("x", 0, 1, 2), write("y", 2, 7, 8), commit(9, 10)),
        committed(write("x", 3, 3, 4), commit(11, 12)),
    )
    assert judge(told, timed.POSTGRESQL_SERIALIZABLE).cases() == set()


def test_a_read_of_a_missing_row_does_not_depend_on_a_later_delete() -> None:
    told = history(
        committed(read(7, None, 1, 2), commit(3, 4)),
        committed(insert(7, 70, 5, 6), commit(7, 8)),
        committed(delete(7, 9, 10), commit(11, 12)),
    )
    assert judge(told, timed.COCKROACHDB).cases() == set()


def test_a_snapshot_that_comes_before_its_commit_may_be_the_only_sign_that_the_third_committed_first() -> (
    None
):
    """When T1 asked to commit is not known, but it took its snapshot after T3 had committed."""
    told = history(
        committed(write("z", 1, 1, 2), read("y", 0, 11, 12), commit(None, 20)),
        committed(read("x", 0, 1, 2), write("y", 2, 15, 16), commit(17, 18)),
        committed(read("v", 0, 1, 2), write("x", 3, 5, 6), commit(9, 10)),
        initial=0,
    )
    first_read = profile(
        Snapshot.FIRST_READ, update=Conduct(Lock.EXCLUSIVE, Read.CONSISTENT), certifier=Certifier.SSI
    )
    assert judge(told, first_read).cases() == {("certifier-violation", "ssi")}


@pytest.mark.parametrize(
    ("snapshot", "found"),
    [(Snapshot.FIRST_STATEMENT, {("certifier-violation", "ssi")}), (Snapshot.STATEMENT, set())],
)
def test_a_transaction_without_a_snapshot_is_concurrent_with_none(
    snapshot: Snapshot, found: set[tuple[str, str]]
) -> None:
    told = history(
        committed(read("x", 0, 1, 2), write("y", 1, 3, 4), commit(5, 6)),
        committed(read("y", 0, 1, 2), write("x", 1, 3, 4), commit(7, 8)),
        initial=0,
    )
    assert judge(told, profile(snapshot, certifier=Certifier.SSI)).cases() == found


# What is deduced.


def test_a_row_that_both_changed_is_ordered_by_snapshots_and_other_rows_are_not() -> None:
    """A new row is not compared with the snapshot of its transaction: the update can have come before it."""
    told = history(
        committed(read("v", 0, 1, 2), insert("x", 1, 3, 4), write("y", 1, 3, 4), commit(5, 20)),
        committed(read("v", 0, 1, 2), write("x", 2, 3, 4), write("y", 2, 3, 4), commit(6, 8)),
    )
    free = profile(first_updater_wins=True, update=Conduct())
    found = {o for o in judge(told, free).orders if o.source is Source.SNAPSHOTS}
    assert {(o.key, o.before, o.after) for o in found} == {(token("x"), 1, 0)}


def test_an_update_of_a_row_that_another_transaction_inserted_has_that_before_its_snapshot() -> None:
    """Only where the later of the two is a new row, nothing is known of its snapshot."""
    updated = history(
        committed(insert("x", 1, 3, 4), commit(5, 6)),
        committed(read("v", 0, 7, 8), write("x", 2, 9, 10), commit(11, 12)),
    )
    found = of_snapshots(Store(updated, profile(first_updater_wins=True, update=Conduct())))
    assert found == (Sequence(token("x"), 0, 1, 0),)


def test_of_two_writes_the_one_that_locked_the_row_later_hides_the_other() -> None:
    """Whichever of the two comes first in the history."""
    told = history(
        committed(write("x", 2, 3, 6), commit(7, 9)),
        committed(write("x", 1, 1, 2), commit(3, 8)),
        committed(read("x", 1, 11, 12), commit(13, 14)),
    )
    assert judge(told, STATEMENT).cases() == {STALE}


def test_a_read_of_the_first_state_stays_open_if_two_versions_can_come_next() -> None:
    told = history(
        committed(read("x", 0, 1, 2), commit(3, 4)),
        committed(write("x", 1, 5, 6), commit(7, 10)),
        committed(write("x", 2, 5, 6), commit(7, 10)),
        initial=0,
    )
    found = judge(told, profile(Snapshot.STATEMENT, update=Conduct()))
    assert found.tallies["rw"] == (1, 1, 1)


def test_a_read_shows_which_of_two_overlapping_commits_came_first() -> None:
    told = history(
        committed(write("x", 1, 1, 2), commit(5, 8)),
        committed(write("x", 2, 3, 4), commit(6, 9)),
        committed(read("x", 1, 11, 12), commit(13, 14)),
        committed(read("x", 2, 15, 16), commit(17, 18)),
    )
    free = profile(Snapshot.STATEMENT, update=Conduct())
    found = judge(told, free)
    assert {(o.before, o.after) for o in found.orders if o.source is Source.READS} == {(1, 0), (0, 1)}
    assert found.findings == {
        Finding(
            "contradictory-dependencies", "reads-reads", (Place(0, 0), Place(1, 0), Place(3, 0), Place(2, 0))
        ),
    }


def test_an_order_by_locks_makes_a_version_garbage() -> None:
    told = history(
        committed(write("x", 1, 1, 2), commit(3, 8)),
        committed(write("x", 2, 3, 6), commit(7, 9)),
        committed(read("x", 1, 11, 12), commit(13, 14)),
    )
    assert judge(told, STATEMENT).cases() == {STALE}
    assert judge_pairs(told, STATEMENT).cases() == set()


def test_two_lists_that_disagree_are_a_contradiction() -> None:
    told = history(
        committed(append("x", 1, 1, 2), commit(3, 8)),
        committed(append("x", 2, 1, 2), commit(3, 8)),
        committed(read("x", [1, 2], 11, 12), commit(13, 14)),
        committed(read("x", [2, 1], 15, 16), commit(17, 18)),
    )
    found = judge(told, profile(Snapshot.STATEMENT, update=Conduct())).cases()
    assert found == {("contradictory-dependencies", "reads-reads")}


def test_certain_dependencies_are_named() -> None:
    told = history(
        committed(write("x", 1, 1, 2), commit(3, 4)),
        committed(read("x", 1, 5, 6), commit(7, 8)),
        committed(write("x", 2, 9, 10), commit(11, 12)),
    )
    key = token("x")
    assert judge(told, STATEMENT).dependencies == {
        Dependency("wr", 0, 1, key),
        Dependency("ww", 0, 2, key),
        Dependency("rw", 1, 2, key),
    }


def test_what_overlaps_is_counted_and_what_stays_open() -> None:
    told = history(
        committed(write("x", 1, 1, 2), commit(5, 8)),
        committed(write("x", 2, 3, 4), commit(6, 9)),
        committed(read("x", 1, 7, 10), commit(11, 12)),
        initial=0,
    )
    found = judge(told, profile(Snapshot.STATEMENT, update=Conduct()))
    assert found.tallies == {"wr": (1, 1, 0), "ww": (1, 1, 1), "rw": (1, 1, 1)}
    assert found.checked["consistent-read"] == (1, 1)
