"""Orders of versions, dependencies, session guarantees and real time."""

from __future__ import annotations

from isoscope.checkers import check, search
from isoscope.history import (
    History,
    VersionSource,
)
from isoscope.levels import Level
from isoscope.recorder import Recorder
from isoscope.reference import verdicts
from isoscope.verdict import Outcome
from tests.semantics.rules import edn, outcome, rule


@rule("Versions", "its last write")
def a_value_that_its_writer_replaced_is_no_version() -> None:
    """A log that had 1 behind 3 would contradict the read of 2."""
    recorder = Recorder(initial=0)
    with recorder.transaction(session=1) as t:
        t.write("x", 1)
        t.write("x", 2)
    with recorder.transaction(session=2) as t:
        t.read("x", 2)
        t.write("x", 3)
    recorder.version_order("x", [2, 3, 1])
    assert outcome(recorder.history(), "serializable") == "holds"


@rule("Versions", "An append whose element others appended too has none")
def repeated_appends_are_no_versions() -> None:
    assert outcome(edn("ok 0 [:append :x 1]", "ok 1 [:append :x 2]"), "serializable") == "holds"
    repeated = edn("ok 0 [:append :x 1]", "ok 1 [:append :x 1]")
    assert verdicts.outcomes(repeated)[Level.SERIALIZABLE] is Outcome.UNKNOWN
    assert outcome(repeated, "serializable") == "holds"


@rule("Interleaved appends", "that is a `write-cycle`, and breaks `pl-1`")
def interleaved_appends_are_a_write_cycle() -> None:
    appends = ("ok 0 [:append :x 1] [:append :x 3]", "ok 1 [:append :x 2]")
    for shown, is_broken in (("[1 2 3]", True), ("[1 2]", True), ("[1 3 2]", False), ("[]", False)):
        history = edn(*appends, f"ok 2 [:r :x {shown}]")
        assert verdicts.outcomes(history)[Level.PL_1] is (Outcome.VIOLATED if is_broken else Outcome.HOLDS)
        assert reported(history, "pl-1") == ({"write-cycle": 1} if is_broken else {})


@rule("Order of elements", "If two reads are the longest and differ, no read says in which order")
def lists_that_differ_show_no_order() -> None:
    """By the one the session wrote in its order, by the other not: the order of the input decides nothing."""
    appends = ("ok 0 [:append :x 1]", "ok 0 [:append :x 2]")
    one, other = "ok 1 [:r :x [1 2]]", "ok 2 [:r :x [2 1]]"
    for history in (edn(*appends, one, other), edn(*appends, other, one)):
        assert verdicts.outcomes(history)[Level.MONOTONIC_WRITES] is Outcome.UNKNOWN
        assert outcome(history, "monotonic-writes") == "unknown"


@rule("Commit orders", "and everything that [sources](#version-orders) and [claims](#claims) say")
def a_log_binds_the_commit_order() -> None:
    """The third transaction sees the second and then reads what the second had overwritten, says the log."""
    recorder = Recorder(initial=0)
    with recorder.transaction(session=1) as t:
        t.write("x", 1)
    with recorder.transaction(session=2) as t:
        t.write("x", 2)
        t.write("y", 2)
    with recorder.transaction(session=3) as t:
        t.read("y", 2)
        t.read("x", 1)
    assert outcome(recorder.history(), "read-committed") == "holds"
    recorder.version_order("x", [1, 2], source=VersionSource.LOG)
    assert verdicts.outcomes(recorder.history())[Level.READ_COMMITTED] is Outcome.VIOLATED
    assert outcome(recorder.history(), "read-committed") == "violated"


@rule("Answers", "The answer for a level does not depend on what else is asked.")
def a_level_has_the_same_answer_alone_and_beside_others() -> None:
    """The log contradicts the session: what the second transaction read came after its own write."""
    recorder = Recorder(initial=0)
    with recorder.transaction(session=1) as t:
        t.write("x", 1)
    with recorder.transaction(session=1) as t:
        t.read("x", 1)
        t.write("x", 2)
    recorder.version_order("x", [2, 1], source=VersionSource.LOG)
    history = recorder.history()
    for level in ("read-committed", "read-atomic", "causal"):
        together = {str(v.level): str(v.outcome) for v in check(history, [level, "pl-2"]).verdicts}
        assert together == {"pl-2": "violated", level: "violated"}
        assert outcome(history, level) == "violated"


@rule("Answers", "it proves no level that forbids something it does not look at")
def a_method_proves_nothing_that_it_does_not_look_at() -> None:
    history = edn("ok 0 [:r :x 7]")
    for method in ("values", "version-order"):
        report = check(history, ["pl-2", "snapshot-isolation", "serializable"], method=method)
        assert "holds" not in {str(verdict.outcome) for verdict in report.verdicts}


@rule("Needless steps", "The counterexample of a level has no step of a session")
def a_level_without_sessions_is_broken_without_them() -> None:
    history = edn("ok 0 [:r :x nil] [:w :y 1]", "ok 0 [:r :y nil] [:w :x 1]")
    assert reported(history, "serializable") == {"write-skew": 1}
    assert "read-skew-session" in reported(history, "strong-session-snapshot-isolation")


def torn(*orders: tuple[list[int], VersionSource], commits: tuple[int, int] | None = None) -> History:
    """Two transactions write x, the second also y; a third reads x from the first and y from the second."""
    recorder = Recorder(initial=0)
    for number in (1, 2):
        with recorder.transaction(session=number) as t:
            t.write("x", number)
            if number == 2:
                t.write("y", number)
            if commits:
                t.timestamps(start=0, commit=commits[number - 1])
    with recorder.transaction(session=3) as t:
        t.read("x", 1)
        t.read("y", 2)
    for values, source in orders:
        recorder.version_order("x", values, source=source)
    return recorder.history()


def reported(history: History, level: str, *assume: str) -> dict[str, int]:
    """The anomalies of the verdict on one level, with their numbers."""
    return dict(check(history, [level], assume=assume).verdicts[0].anomaly_counts)


@rule("Version orders", "from four sources, strongest first")
def every_source_orders_versions() -> None:
    assert outcome(torn(), "consistent-view") == "holds"
    for source in VersionSource:
        assert reported(torn(([1, 2], source)), "consistent-view") == {"read-skew": 1}
        assert outcome(torn(([2, 1], source)), "consistent-view") == "holds"
    assert reported(torn(commits=(5, 6)), "consistent-view") == {"read-skew": 1}
    lists = edn("ok 0 [:append :x 1]", "ok 1 [:append :x 2] [:append :y 2]", "ok 2 [:r :x [1]] [:r :y [2]]")
    assert reported(lists, "consistent-view") == {"read-skew": 1}


@rule("Version orders", "commit timestamps, of which equal ones say nothing")
def equal_timestamps_say_nothing() -> None:
    assert outcome(torn(commits=(5, 5)), "consistent-view") == "holds"


@rule("Version orders", "A log also proves that [indeterminate transactions]")
def a_log_proves_commit() -> None:
    recorder = Recorder()
    with recorder.transaction(session=1) as t:
        t.write("x", 1)
        t.indeterminate()
    assert recorder.history().columns.counted() == [False]
    recorder.version_order("x", [1], source=VersionSource.LOG)
    assert recorder.history().columns.counted() == [True]


@rule("Contradictory evidence", "a level has a verdict only if all of them give the same one")
def sources_that_disagree_must_agree_on_the_verdict() -> None:
    history = torn(([1, 2], VersionSource.LOG), ([2, 1], VersionSource.DECLARED))
    [sighting] = search(history, ["contradictory-evidence"]).sightings
    assert (sighting.presence, sighting.count) == ("found", 1)
    assert outcome(history, "pl-2") == "holds"
    assert outcome(history, "consistent-view") == "unknown"


def registers(*transactions: str) -> History:
    """A Jepsen history of registers in which each transaction is over before the next begins."""
    return edn(*(f"{kind} {rest}" for rest in transactions for kind in ("invoke", "ok")))


@rule("Inferred orders", "a session's writes stay in its order, at levels with session order")
def sessions_order_versions_for_levels_with_sessions() -> None:
    history = edn("ok 0 [:w :x 1]", "ok 0 [:w :x 2] [:w :y 2]", "ok 1 [:r :x 1] [:r :y 2]")
    assert outcome(history, "parallel-snapshot-isolation") == "holds"
    assert outcome(history, "strong-session-parallel-snapshot-isolation") == "violated"


@rule("Inferred orders", "comes first, at levels with real time")
def real_time_orders_versions_for_levels_with_real_time() -> None:
    history = registers("0 [:w :x 1]", "1 [:w :x 2] [:w :y 2]", "2 [:r :x 1] [:r :y 2]")
    assert outcome(history, "strong-session-serializable") == "holds"
    assert outcome(history, "strong-snapshot-isolation") == "violated"


@rule("Inferred orders", "What is inferred never overrules a source.")
def a_source_stands_against_what_is_inferred() -> None:
    """By its own read, 2 came after 1; the log says otherwise, and breaks the level with that."""
    recorder = Recorder(initial=0)
    with recorder.transaction(session=1) as t:
        t.write("x", 1)
    with recorder.transaction(session=2) as t:
        t.read("x", 1)
        t.write("x", 2)
    assert outcome(recorder.history(), "pl-2") == "holds"
    recorder.version_order("x", [2, 1], source=VersionSource.LOG)
    assert reported(recorder.history(), "pl-2") == {"circular-information-flow": 1}


@rule("Claims", "`sequential-keys`: a session that touches a key again meets the same version or a later one")
def a_claim_orders_versions_at_every_level() -> None:
    history = edn("ok 0 [:w :x 1]", "ok 1 [:w :x 2] [:w :y 2]", "ok 2 [:r :x 1] [:r :y 2]")
    seen = "ok 3 [:r :x {}]".format
    again = edn(
        "ok 0 [:w :x 1]",
        "ok 1 [:w :x 2] [:w :y 2]",
        "ok 2 [:r :x 1] [:r :y 2]",
        seen(1),
        seen(2),
    )
    assert outcome(history, "consistent-view") == outcome(again, "consistent-view") == "holds"
    assert reported(again, "consistent-view", "sequential-keys") == {"read-skew": 1}


@rule("Claims", "and no claim is used for that key")
def a_claim_that_cannot_be_true_is_an_anomaly() -> None:
    history = edn("ok 0 [:w :x 1]", "ok 1 [:w :x 2]", *(f"ok 2 [:r :x {value}]" for value in (1, 2, 1)))
    assert outcome(history, "serializable") == "holds"
    assert reported(history, "pl-1", "sequential-keys") == {"cyclic-versions": 1}


#: The appends of the third and fourth transaction are never read.
UNREAD = ("ok 0 [:append :y 1]", "ok 1 [:r :y [1]] [:r :x []]", "ok 2 [:r :x []] [:append :x 1]")


@rule("Open orders", "If there is no such cycle and yet no order will do, the anomaly is `no-commit-order`.")
def some_order_must_explain_everything() -> None:
    history = edn(*UNREAD, "ok 3 [:r :y []] [:append :x 2]")
    assert "no-commit-order" in reported(history, "snapshot-isolation")
    assert outcome(history, "parallel-snapshot-isolation") == "holds"
    assert outcome(edn(*UNREAD, "ok 3 [:r :y [1]] [:append :x 2]"), "snapshot-isolation") == "holds"


@rule("Open orders", "registers and unread appends together")
def registers_and_lists_are_completed_together() -> None:
    """Of x either append may be first, and of y either write; no two of these choices fit each other."""
    history = edn(
        "ok 0 [:r :x []] [:w :y 3] [:append :x 4]",
        "ok 1 [:r :x []] [:w :y 5]",
        "ok 2 [:r :y 5] [:append :x 7]",
    )
    for level in ("snapshot-isolation", "parallel-snapshot-isolation", "consistent-view"):
        assert verdicts.outcomes(history)[Level(level)] is Outcome.VIOLATED
        assert outcome(history, level) == "violated"
    assert outcome(history, "pl-2") == "holds"


@rule("Dependencies", "A read of a list depends on the writer of every element that it shows.")
def a_list_depends_on_all_of_its_writers() -> None:
    """The writer of the first element read what the reader of the list appended."""
    history = edn(
        "ok 0 [:append :x 1] [:r :y [1]]", "ok 1 [:append :x 2]", "ok 2 [:r :x [1 2]] [:append :y 1]"
    )
    assert "circular-information-flow" in reported(history, "pl-2")


@rule("Dependencies", "A read whose list is no beginning of the canonical one has no rw.")
def a_list_beside_the_canonical_one_misses_no_version() -> None:
    appends = ("ok 0 [:append :x 1]", "ok 1 [:append :x 2] [:append :y 1]", "ok 2 [:r :x [1 2]]")
    assert "read-skew" in reported(edn(*appends, "ok 3 [:r :x [1]] [:r :y [1]]"), "serializable")
    history = edn(*appends, "ok 4 [:append :x 3]", "ok 3 [:r :x [3]] [:r :y [1]]")
    assert reported(history, "serializable") == {"incompatible-order": 1}


@rule("Session guarantees", "the second does not read, or write, a version before one that the first read")
def guarantees_look_at_one_key_and_session() -> None:
    history = edn("ok 0 [:append :x 1]", "ok 1 [:append :x 2]", "ok 2 [:r :x [1 2]]", "ok 2 [:r :x [1]]")
    assert outcome(history, "monotonic-reads") == "violated"
    assert outcome(history, "read-your-writes") == "holds"


@rule("Session guarantees", "They forbid no single read")
def guarantees_forbid_no_single_read() -> None:
    history = edn("ok 0 [:r :x [7]]", "ok 1 [:append :x 1]")
    assert (outcome(history, "pl-2"), outcome(history, "monotonic-reads")) == ("violated", "holds")


@rule("Real time", "An indeterminate transaction may take effect at any time later")
def nothing_follows_an_indeterminate_transaction() -> None:
    def history(kind: str) -> History:
        append, read, again = "[:append :x 1]", "[:r :x []]", "[:r :x [1]]"
        first = (f"invoke 0 {append}", f"{kind} 0 {append}", f"invoke 1 {read}", f"ok 1 {read}")
        return edn(*first, f"invoke 2 {again}", f"ok 2 {again}")

    assert reported(history("ok"), "strict-serializable") == {"read-skew-real-time": 1}
    assert outcome(history("info"), "strict-serializable") == "holds"


@rule("Real time", "An end and a beginning at the same instant are in no order.")
def closed_intervals_that_touch_overlap() -> None:
    def history(began: int) -> History:
        recorder = Recorder(clock=iter([0, 5, began, 9]).__next__)
        with recorder.transaction(session=1) as t:
            t.append("x", 1)
        with recorder.transaction(session=2) as t:
            t.read("x", [])
        return recorder.history()

    assert outcome(history(6), "strict-serializable") == "violated"
    assert outcome(history(5), "strict-serializable") == "holds"


@rule("Real time", "levels with real time are violated or `unknown`, never said to hold")
def without_times_nothing_holds_in_real_time() -> None:
    assert outcome(edn("ok 0 [:append :x 1]"), "strict-serializable") == "unknown"
    assert outcome(registers("0 [:append :x 1]"), "strict-serializable") == "holds"
