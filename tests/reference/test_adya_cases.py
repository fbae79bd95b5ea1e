"""Histories written by hand for Adya's levels: the specification gives each its anomalies and levels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isoscope.history import Range, VersionSource
from isoscope.levels import Level, implying
from isoscope.recorder import Recorder
from isoscope.reference import adya, cycles
from isoscope.verdict import Outcome

from .test_adya import assert_agreement
from .told import told

if TYPE_CHECKING:
    from isoscope.history import History


def violated(history: History, *assume: str) -> frozenset[Level]:
    found = adya.outcomes(history, assume)
    assert Outcome.UNKNOWN not in found.values()
    return frozenset(level for level, outcome in found.items() if outcome is Outcome.VIOLATED)


def breaks(*levels: Level) -> frozenset[Level]:
    return frozenset(stronger for level in levels for stronger in implying(level)) & {*adya.LEVELS}


CASES = [
    pytest.param(
        told("1: a(y,1)", "2: r(y,[1]) r(x,[])", "3: r(x,[]) a(x,1)", "4: r(y,[]) a(x,2)"),
        {"write-skew": 1, "no-commit-order": 3},
        breaks(Level.SNAPSHOT_ISOLATION, Level.UPDATE_SERIALIZABLE, Level.REPEATABLE_READ),
        id="unread appends: no order of them explains both reads of y at one time",
    ),
    pytest.param(
        told("1: a(y,1)", "2: r(y,[1]) r(x,[])", "3: r(x,[]) a(x,1)", "4: a(x,2)"),
        {},
        frozenset(),
        id="nearly the same, without the second read of y",
    ),
    pytest.param(
        told("1: a(x,1) a(y,1)", "2: a(x,2) a(y,2)", "3: r(x,[1;2]) r(y,[2;1])"),
        {"write-cycle": 1},
        breaks(Level.PL_1),
        id="write cycle",
    ),
    pytest.param(
        told("1: w(x,1) r(y,1)", "2: r(x,1) w(y,1)"),
        {"circular-information-flow": 1},
        breaks(Level.PL_2),
        id="two read from each other",
    ),
    pytest.param(
        told("1: r(x,1) w(x,2) w(y,1)", "2: r(y,1) w(y,2) w(x,1)"),
        {"circular-information-flow": 1},
        breaks(Level.PL_2),
        id="two read from each other and write: what is inferred from reads does not make it a write cycle",
    ),
    pytest.param(
        told("1: r(x,0) w(x,1)", "2: r(x,0) w(x,2)"),
        {"lost-update": 1},
        breaks(Level.CURSOR_STABILITY),
        id="two update what both read, in whatever order",
    ),
    pytest.param(
        told("1: r(x,0) w(x,1)", "2: r(x,0) w(x,2)", "3: r(x,0) w(x,3)", x=[3, 1]),
        {"lost-update": 2},
        breaks(Level.CURSOR_STABILITY),
        id="one of three can be the first",
    ),
    pytest.param(
        told("1: r(x,3) w(x,1)", "2: r(x,3) w(x,2)", "3: w(x,3)", x=[1, 2, 3]),
        {"circular-information-flow": 1},
        breaks(Level.PL_2),
        id="what came only after the own version is no version that was updated",
    ),
    pytest.param(
        told("1: r(x,3) w(x,1)", "2: r(x,3) w(x,2)", "3: r(x,1) w(x,3)"),
        {"circular-information-flow": 1, "lost-update": 1},
        breaks(Level.PL_2),
        id="two update what both read, though its writer had read from one of them",
    ),
    pytest.param(
        told("1: w(x,1) w(y,1) r(z,0)", "2: r(x,0) r(y,1) w(z,1)"),
        {"read-skew": 1},
        breaks(Level.CONSISTENT_VIEW, Level.PREFIX),
        id="a read that closes a read skew closes no write skew too",
    ),
    pytest.param(
        told("1: r(x,0) w(x,1)", "2: r(x,1) w(x,2)"),
        {},
        frozenset(),
        id="one update after the other",
    ),
    pytest.param(
        told("1: w(x,1) w(y,1)", "2: r(x,0) r(y,1)"),
        {"read-skew": 1},
        breaks(Level.CONSISTENT_VIEW, Level.PREFIX),
        id="one half is seen, too late to be blamed on an earlier read",
    ),
    pytest.param(
        told("1: w(y,1) w(x,1)", "2: r(x,0) r(y,1)"),
        {"read-skew": 1},
        breaks(Level.CONSISTENT_VIEW, Level.PREFIX),
        id="what counts is when the half is read, and not that it was written first",
    ),
    pytest.param(
        told("1: w(x,1) w(y,1)", "2: r(y,1) r(x,0)"),
        {"read-skew": 1},
        breaks(Level.MONOTONIC_VIEW, Level.PREFIX),
        id="one half is seen, and then the other is not",
    ),
    pytest.param(
        told("1: w(x,1)", "2: w(y,1)", "3: r(x,1) r(y,0)", "4: r(x,0) r(y,1)"),
        {"long-fork": 1},
        breaks(Level.SNAPSHOT_ISOLATION, Level.REPEATABLE_READ, Level.PREFIX),
        id="two readers see two writes in opposite orders",
    ),
    pytest.param(
        told("1: r(x,0) r(y,0) w(x,1)", "2: r(x,0) r(y,0) w(y,1)"),
        {"write-skew": 1},
        breaks(Level.UPDATE_SERIALIZABLE, Level.REPEATABLE_READ),
        id="write skew",
    ),
    pytest.param(
        told("1: w(x,1)", "1: r(x,0)"),
        {"read-skew-session": 1},
        breaks(Level.READ_YOUR_WRITES, Level.PREFIX),
        id="one's own session's write, missed",
    ),
    pytest.param(
        told("2: w(x,1)", "1: r(x,1)", "1: r(x,0)"),
        {"read-skew-session": 1},
        breaks(Level.MONOTONIC_READS, Level.PREFIX),
        id="a session goes back",
    ),
    pytest.param(
        told("1: w(x,1)", "1: w(x,2)", x=[2, 1]),
        {"write-cycle-session": 1},
        breaks(Level.MONOTONIC_WRITES, Level.PREFIX, Level.STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION),
        id="a session's writes the wrong way round",
    ),
    pytest.param(
        told("2: w(x,1)", "1: r(x,1)", "1: w(x,2)", x=[2, 1]),
        {"circular-information-flow-session": 1},
        breaks(Level.WRITES_FOLLOW_READS, Level.PREFIX, Level.STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION),
        id="a session writes before what it read",
    ),
    pytest.param(
        told("1: w(x,1)", "1: r(y,0)", "2: w(y,1)", "2: r(x,0)"),
        {"long-fork-session": 1},
        breaks(Level.STRONG_SESSION_SNAPSHOT_ISOLATION, Level.PREFIX),
        id="two sessions, each of which misses the other's write",
    ),
    pytest.param(
        told("1: w(y,1)", "1: r(x,0)", "2: r(y,0) w(x,1)"),
        {"write-skew-session": 1},
        breaks(Level.STRONG_SESSION_SERIALIZABLE),
        id="a session reads before what is before its own write",
    ),
    pytest.param(
        told("1: w(x,1)", "1: w(x,2)", "2: r(x,2)", "2: r(x,1)"),
        {"read-skew-session": 1},
        breaks(Level.STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION, Level.PREFIX),
        id="a session goes back, if the other's writes are in its order",
    ),
]


@pytest.mark.parametrize(("history", "names", "levels"), CASES)
def test_a_case_has_its_names_and_breaks_its_levels(
    history: History, names: dict[str, int], levels: frozenset[Level]
) -> None:
    assert violated(history) == levels
    assert cycles.names(history) == names
    assert_agreement(history)


def test_a_read_of_the_state_before_a_first_transaction_is_a_read_skew_by_itself() -> None:
    """It breaks `monotonic-view`, `consistent-view` and what implies them, and not `pl-2`."""
    recorder = Recorder(initial=0)
    with recorder.transaction(session=1) as first:
        first.insert("x", 1, statement="init")
    with recorder.transaction(session=2) as reader:
        reader.read("x", 0)
    assert cycles.names(recorder.history()) == {"read-skew": 1}
    assert violated(recorder.history()) == breaks(Level.MONOTONIC_VIEW, Level.CONSISTENT_VIEW, Level.PREFIX)


def test_a_dirty_update_stands_behind_what_was_taken_back() -> None:
    recorder = Recorder()
    with recorder.transaction() as aborted:
        aborted.append("x", 1)
        aborted.abort()
    with recorder.transaction() as behind:
        behind.append("x", 2)
    with recorder.transaction() as reader:
        reader.read("x", [1, 2])
    assert cycles.names(recorder.history()) == {"dirty-update": 1}
    assert violated(recorder.history()) == breaks(Level.PL_2)


def test_a_claim_decides_what_no_level_infers() -> None:
    """That a reader which then writes comes later is inferred from `pl-2` up, and claimed at every level."""
    history = told("1: r(x,1) w(x,2) w(y,1)", "2: r(y,1) w(y,2) w(x,1)")
    assert adya.outcome(history, Level.PL_1) is Outcome.HOLDS
    assert adya.outcome(history, Level.PL_1, ["writes-follow-reads"]) is Outcome.VIOLATED
    assert cycles.names(history, ["writes-follow-reads"])["write-cycle"] == 1


def test_of_two_updates_of_one_version_the_first_in_the_history_is_not_the_lost_one() -> None:
    """What it missed still counts for other names: here the two also read what the other then changed."""
    between = (f"{session}: r(z,0)" for session in range(2, 8))
    history = told("0: r(z,0)", "1: r(x,0) w(x,1) w(y,1)", *between, "8: r(x,0) w(x,2) r(y,0)")
    assert cycles.names(history) == {"lost-update": 1, "write-skew": 1}


def test_a_non_repeatable_read_breaks_what_implies_cut_isolation_also_where_its_versions_are_not_known() -> (
    None
):
    """Repeated values hide which versions were read, but not that they differ."""
    history = told("1: w(x,1)", "2: w(x,1)", "3: w(x,2)", "4: w(x,2)", "5: r(x,1) r(x,2)")
    assert adya.outcome(history, Level.PARALLEL_SNAPSHOT_ISOLATION) is Outcome.VIOLATED
    assert adya.outcome(history, Level.CURSOR_STABILITY) is Outcome.UNKNOWN


def test_versions_that_claims_put_before_themselves_break_every_level_but_the_guarantees() -> None:
    history = told("1: w(x,1)", "2: w(x,2)", "3: r(x,1)", "3: r(x,2)", "3: r(x,1)")
    assert Level.PL_1 not in violated(history)
    assert violated(history, "sequential-keys") >= breaks(Level.PL_1)
    assert cycles.names(history, ["sequential-keys"])["cyclic-versions"] == 1


def test_real_time_orders_what_was_over_and_nothing_else() -> None:
    """A write, another one, and then a read of the first: only a level of real time minds."""
    ticks = iter(range(6))
    recorder = Recorder(initial=0, clock=lambda: next(ticks))
    for kind, value in (("write", 1), ("write", 2), ("read", 1)):
        with recorder.transaction() as transaction:
            getattr(transaction, kind)("x", value)
    assert violated(recorder.history()) == breaks(Level.STRONG_SNAPSHOT_ISOLATION)
    assert cycles.names(recorder.history()) == {"read-skew-real-time": 1}


def test_where_sources_contradict_each_other_a_level_is_decided_if_all_of_them_agree() -> None:
    """Declared is that 2 was first, the clock says 1: a session that reads 1 and then 2 went on or back."""
    recorder = Recorder(initial=0)
    for number in (1, 2):
        with recorder.transaction() as transaction:
            transaction.write("x", number)
            transaction.timestamps(2 * number, 2 * number + 1)
    for number in (1, 2):
        with recorder.transaction(session=1) as transaction:
            transaction.read("x", number)
    recorder.version_order("x", [2, 1])
    found = adya.outcomes(recorder.history())
    assert found[Level.MONOTONIC_READS] is Outcome.UNKNOWN
    assert found[Level.SERIALIZABLE] is Outcome.HOLDS
    assert cycles.names(recorder.history()) == {"contradictory-evidence": 1, "read-skew-session": 1}


def test_an_append_that_may_be_another_s_leaves_undecided_what_is_not_violated() -> None:
    """Two lost updates, if the elements were different: they have no versions, so no level may hold."""
    history = told("1: r(x,[]) a(x,1)", "2: r(x,[]) a(x,1)")
    assert set(adya.outcomes(history).values()) == {Outcome.UNKNOWN}
    assert adya.outcome(told("1: r(x,[]) a(x,1)", "2: a(x,2)"), Level.SERIALIZABLE) is Outcome.HOLDS


@pytest.mark.parametrize("kind", ["delete", "mixed", "range"])
@pytest.mark.parametrize(("seen", "expected"), [(1, Outcome.UNKNOWN), (2, Outcome.VIOLATED)])
def test_what_is_not_judged_leaves_levels_unknown_but_a_violation_stands(
    kind: str, seen: int, expected: Outcome
) -> None:
    recorder = Recorder(initial=0)
    with recorder.transaction() as writer:
        writer.write("x", 1)
    with recorder.transaction() as reader:
        reader.read("x", seen)
        if kind == "delete":
            reader.append("y", 1)
            reader.delete("y")
        elif kind == "mixed":
            reader.append("y", 1)
            reader.write("y", 2)
        else:
            reader.range_read(Range(low=0.5))
    found = adya.outcomes(recorder.history())
    assert (found[Level.PL_1], found[Level.PL_2]) == (Outcome.UNKNOWN, expected)


def test_a_log_proves_that_an_indeterminate_transaction_committed() -> None:
    recorder = Recorder(initial=0)
    with recorder.transaction(session=1) as writer:
        writer.write("x", 1)
        writer.indeterminate()
    with recorder.transaction(session=1) as reader:
        reader.read("x", 0)
    assert violated(recorder.history()) == frozenset()
    recorder.version_order("x", [1], source=VersionSource.LOG)
    assert Level.READ_YOUR_WRITES in violated(recorder.history())


def test_a_reader_between_transactions_that_only_write_breaks_update_serializable() -> None:
    """The writers are in the cycle though they read nothing."""
    lines = ("1: r(y,1) r(x,0)", "2: w(x,1) w(z,1)", "3: w(z,2) w(y,1)")
    assert adya.outcome(told(*lines, z=[1, 2]), Level.UPDATE_SERIALIZABLE) is Outcome.VIOLATED
    assert adya.outcome(told(*lines, z=[2, 1]), Level.UPDATE_SERIALIZABLE) is Outcome.HOLDS
