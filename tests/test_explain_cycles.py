"""Sentences about cycles of dependencies and orders of versions, each on a small history."""

from __future__ import annotations

from dataclasses import replace

import pytest

from isoscope.explain import because, message
from isoscope.explain.cycle_line import one_line
from isoscope.explain.cycles import WORDINGS
from isoscope.verdict import AlternativesFacts, Anomaly
from tests.recorded import record
from tests.small_histories import a, in_sessions, r, timed, w
from tests.step_rows import found

BOTH_APPEND = record([r("x", ()), a("x", 1)], [r("x", ()), a("x", 2)], [r("x", (1, 2))])
BOTH_WRITE = record([w("x", 5)], [r("x", 5), w("x", 6)], [r("x", 5), w("x", 7)])
FORK = record([a("x", 1)], [a("y", 1)], [r("x", (1,)), r("y", ())], [r("x", ()), r("y", (1,))])
MISSED = record([a("x", 1)], [r("x", ())])
OLD = record([w("x", 5)], [w("x", 6)], [r("x", 5)])
UNREAD = record(
    [r("z", 0), w("x", 1)], [r("y", 0), w("x", 2)], [r("x", 1), w("y", 1)], [r("x", 2), w("z", 1)]
)

CASES: dict[str, tuple[Anomaly, str]] = {
    "lost-update of a list": (
        found(
            BOTH_APPEND,
            "lost-update",
            ("T2 rw T1", "x", "T2.0 T1.1", "initial"),
            ("T1 ww T2", "x", "T3.0 T1.1 T2.1", "list read"),
        ),
        "T1 and T2 both read x = [] and both appended to it: T1 appended 1 and T2 appended 2, and neither"
        " saw the other's append. T2's came second: T3 read x = [1 2], where T1's 1 stands before T2's 2.",
    ),
    "lost-update of a register": (
        found(
            BOTH_WRITE,
            "lost-update",
            ("T3 rw T2", "x", "T3.0 T2.1 T1.0", "log"),
            ("T2 ww T3", "x", "T2.1 T3.1", "log"),
        ),
        "T2 and T3 both read x = 5 and both wrote it: T2 wrote 6 and T3 wrote 7, and neither saw the "
        "other's write. T2's was lost: the log has 6 before 7.",
    ),
    "lost-update in an unknown order": (
        found(
            BOTH_WRITE,
            "lost-update",
            ("T3 rw T2", "x", "T3.0 T2.1 T1.0", "read-then-write"),
            ("T2 rw T3", "x", "T2.0 T3.1 T1.0", "read-then-write"),
        ),
        "T2 and T3 both read x = 5 and both wrote it: T2 wrote 6 and T3 wrote 7, and neither saw the "
        "other's write. Whichever came first was lost.",
    ),
    "lost-update of a list in an unknown order": (
        found(
            record([r("x", ()), a("x", 1)], [r("x", ()), a("x", 2)]),
            "lost-update",
            ("T1 rw T2", "x", "T1.0 T2.1", "list read"),
            ("T2 rw T1", "x", "T2.0 T1.1", "list read"),
        ),
        "T2 and T1 both read x = [] and both appended to it: T2 appended 2 and T1 appended 1, and neither "
        "saw the other's append. Whichever came second missed the first.",
    ),
    "lost-update of the initial value": (
        found(
            record([r("x", 0), w("x", 6)], [r("x", 0), w("x", 7)]),
            "lost-update",
            ("T2 rw T1", "x", "T2.0 T1.1", "initial"),
            ("T1 ww T2", "x", "T1.1 T2.1", "timestamps"),
        ),
        "T1 and T2 both read x = 0, the initial value, and both wrote it: T1 wrote 6 and T2 wrote 7, and "
        "neither saw the other's write. T1's was lost: by commit timestamps 6 comes before 7.",
    ),
    "lost-update by a blind write": (
        found(
            record([w("x", 5)], [w("x", 6)], [r("x", 5), w("x", 7)]),
            "lost-update",
            ("T3 rw T2", "x", "T3.0 T2.0 T1.0", "declared"),
            ("T2 ww T3", "x", "T2.0 T3.1", "declared"),
        ),
        "T3 read x = 5 and then wrote 7, but T2's write of 6 came in between: T3 before T2, because T3 "
        "read x = 5 from T1, which T2 overwrote with 6: the declared order has 5 before 6; T2 before T3, "
        "because T2 wrote x = 6, which T3 overwrote with 7: the declared order has 6 before 7.",
    ),
    "read-skew": (
        found(
            record([a("x", 1), a("y", 1)], [r("x", ()), r("y", (1,))]),
            "read-skew",
            ("T2 rw T1", "x", "T2.0 T1.0", "initial"),
            ("T1 wr T2", "y", "T2.1 T1.1", ""),
        ),
        "T2 saw only part of what T1 wrote: T2 read y = [1], to which T1 appended 1, but it read x = [] "
        "and did not see T1's append of 1.",
    ),
    "read-skew by an overwrite": (
        found(
            record([w("x", 1), w("y", 1)], [r("x", 0), w("y", 2)]),
            "read-skew",
            ("T2 rw T1", "x", "T2.0 T1.0", "initial"),
            ("T1 ww T2", "y", "T1.1 T2.1", "log"),
        ),
        "T2 comes after T1, because T1 wrote y = 1, which T2 overwrote with 2: the log has 1 before 2. "
        "But T2 read x = 0, the initial value, which T1 overwrote with 1.",
    ),
    "read-skew of one key": (
        found(
            record([w("x", 1)], [r("x", 0), r("x", 1)]),
            "read-skew",
            ("T2 rw T1", "x", "T2.0 T1.0", "initial"),
            ("T1 wr T2", "x", "T2.1 T1.0", ""),
        ),
        "T2 saw x before and after T1 changed it: T2 read x = 1, which T1 wrote, but it read x = 0, the "
        "initial value, which T1 overwrote with 1.",
    ),
    "read-skew of three": (
        found(
            record([w("x", 1)], [r("x", 1), w("y", 1)], [r("y", 1), r("x", 0)]),
            "read-skew",
            ("T3 rw T1", "x", "T3.1 T1.0", "initial"),
            ("T1 wr T2", "x", "T2.0 T1.0", ""),
            ("T2 wr T3", "y", "T3.0 T2.1", ""),
        ),
        "T3 comes after T1: T1 before T2, because T2 read x = 1, which T1 wrote; T2 before T3, because T3"
        " read y = 1, which T2 wrote. But T3 read x = 0, the initial value, which T1 overwrote with 1.",
    ),
    "read-skew in a session": (
        found(
            in_sessions(("s", [a("x", 1)]), ("s", [r("x", ())])),
            "read-skew",
            ("T1 session T2", None, "", ""),
            ("T2 rw T1", "x", "T2.0 T1.0", "initial"),
        ),
        "Although T1 ran before T2 in session s, T2 read x = [] and did not see T1's append of 1.",
    ),
    "read-skew in real time": (
        found(
            timed(MISSED, (1, 4), (7, 9), events=True),
            "read-skew",
            ("T1 real-time T2", None, "", ""),
            ("T2 rw T1", "x", "T2.0 T1.0", "initial"),
        ),
        "Stale read: although T1 had completed (event 4) before T2 was invoked (event 7), T2 read x = [] "
        "and did not see T1's append of 1.",
    ),
    "read-skew in real time of a register": (
        found(
            timed(OLD, (0, 1), (2, 1_000), (1_502_000, 1_600_000)),
            "read-skew",
            ("T2 real-time T3", None, "", ""),
            ("T3 rw T2", "x", "T3.0 T2.0 T1.0", "real-time"),
        ),
        "Stale read: although T2 had completed 1.5 ms before T3 began, T3 read x = 5 from T1, which T2 "
        "overwrote with 6: T1 had completed before T2 began.",
    ),
    "long-fork": (
        found(
            FORK,
            "long-fork",
            ("T3 rw T2", "y", "T3.1 T2.0", "initial"),
            ("T2 wr T4", "y", "T4.1 T2.0", ""),
            ("T4 rw T1", "x", "T4.0 T1.0", "initial"),
            ("T1 wr T3", "x", "T3.0 T1.0", ""),
        ),
        "T4 and T3 saw the updates of T2 and T1 in opposite orders: T4 read y = [1], to which T2 appended"
        " 1, but it read x = [] and did not see T1's append of 1; T3 read x = [1], to which T1 appended "
        "1, but it read y = [] and did not see T2's append of 1.",
    ),
    "long-fork of writers": (
        found(
            in_sessions(
                (1, [r("y", 0), w("x", 1)]), (2, [w("x", 2), w("y", 1)]), (3, [r("y", 1)]), (3, [r("x", 0)])
            ),
            "long-fork",
            ("T1 rw T2", "y", "T1.0 T2.1", "initial"),
            ("T2 wr T3", "y", "T3.0 T2.1", ""),
            ("T3 session T4", None, "", ""),
            ("T4 rw T1", "x", "T4.0 T1.1", "initial"),
        ),
        "T2, T3, T4 and T1 come before each other in a circle: T2 before T3, because T3 read y = 1, which"
        " T2 wrote; T3 before T4, because both ran in session 3; T4 before T1, because T4 read x = 0, the"
        " initial value, which T1 overwrote with 1; T1 before T2, because T1 read y = 0, the initial "
        "value, which T2 overwrote with 1.",
    ),
    "write-skew": (
        found(
            record([r("y", ()), a("x", 1)], [r("x", ()), a("y", 1)]),
            "write-skew",
            ("T1 rw T2", "y", "T1.0 T2.1", "initial"),
            ("T2 rw T1", "x", "T2.0 T1.1", "initial"),
        ),
        "T1 and T2 each read what the other then changed: T1 read y = [] and did not see T2's append of "
        "1; T2 read x = [] and did not see T1's append of 1. So each would have to come before the other.",
    ),
    "write-skew of three": (
        found(
            record([r("y", 0), w("x", 1)], [r("z", 0), w("y", 1)], [r("x", 0), w("z", 1)]),
            "write-skew",
            ("T1 rw T2", "y", "T1.0 T2.1", "initial"),
            ("T2 rw T3", "z", "T2.0 T3.1", "initial"),
            ("T3 rw T1", "x", "T3.0 T1.1", "initial"),
        ),
        "T1, T2 and T3 each read what the next of them then changed, in a circle: T1 read y = 0, the "
        "initial value, which T2 overwrote with 1; T2 read z = 0, the initial value, which T3 overwrote "
        "with 1; T3 read x = 0, the initial value, which T1 overwrote with 1. So none of them can have "
        "come first.",
    ),
    "write-skew that a third one sees": (
        found(
            record([r("x", 0), w("y", 1)], [w("x", 1)], [r("x", 1), r("y", 0)]),
            "write-skew",
            ("T1 rw T2", "x", "T1.0 T2.0", "initial"),
            ("T2 wr T3", "x", "T3.0 T2.0", ""),
            ("T3 rw T1", "y", "T3.1 T1.1", "initial"),
        ),
        "T2, T3 and T1 come before each other in a circle: T2 before T3, because T3 read x = 1, which T2 "
        "wrote; T3 before T1, because T3 read y = 0, the initial value, which T1 overwrote with 1; T1 "
        "before T2, because T1 read x = 0, the initial value, which T2 overwrote with 1.",
    ),
    "write-cycle of registers": (
        found(
            record([w("x", 1), w("y", 1)], [w("x", 2), w("y", 2)]),
            "write-cycle",
            ("T1 ww T2", "x", "T1.0 T2.0", "log"),
            ("T2 ww T1", "y", "T2.1 T1.1", "timestamps"),
        ),
        "T1 and T2 each come before the other: T1 before T2, because T1 wrote x = 1, which T2 overwrote "
        "with 2: the log has 1 before 2; T2 before T1, because T2 wrote y = 2, which T1 overwrote with 1:"
        " by commit timestamps 2 comes before 1.",
    ),
    "write-cycle in a session": (
        found(
            in_sessions((4, [a("x", 1)]), (4, [a("x", 2)]), (5, [r("x", (2, 1))])),
            "write-cycle",
            ("T1 session T2", None, "", ""),
            ("T2 ww T1", "x", "T3.0 T2.0 T1.0", "list read"),
        ),
        "Although T2 ran only after T1 in session 4, T3 read x = [2 1], where T2's 2 stands before T1's 1.",
    ),
    "write-cycle in real time": (
        found(
            timed(record([w("x", 1)], [w("x", 2)]), (0, 5), (17, 20)),
            "write-cycle",
            ("T1 real-time T2", None, "", ""),
            ("T2 ww T1", "x", "T2.0 T1.0", "declared"),
        ),
        "Although T1 had completed 12 ns before T2 began, T2 wrote x = 2, which T1 overwrote with 1: the "
        "declared order has 2 before 1.",
    ),
    "circular-information-flow in real time": (
        found(
            timed(record([r("x", 1)], [w("x", 1)]), (0, 5), (2_000_000_005, 2_000_000_020)),
            "circular-information-flow",
            ("T1 real-time T2", None, "", ""),
            ("T2 wr T1", "x", "T1.0 T2.0", ""),
        ),
        "T1 read x = 1, which T2 wrote, although T1 had completed 2 s before T2 began.",
    ),
    "circular-information-flow of registers": (
        found(
            record([w("x", 1), r("y", 1)], [r("x", 1), w("x", 2)], [w("x", 3), w("y", 1)]),
            "circular-information-flow",
            ("T1 ww T2", "x", "T1.0 T2.1", "read-then-write"),
            ("T2 ww T3", "x", "T2.1 T3.0", "session"),
            ("T3 wr T1", "y", "T1.1 T3.1", ""),
        ),
        "T1, T2 and T3 come before each other in a circle: T1 before T2, because T2 read x = 1, which T1 "
        "wrote, and then wrote 2; T2 before T3, because T2 wrote x = 2, which T3 overwrote with 3: T2 ran"
        " before T3 in the same session; T3 before T1, because T1 read y = 1, which T3 wrote.",
    ),
    "dirty-update": (
        found(
            record([a("x", 1), ("abort",)], [a("x", 2)], [r("x", (1, 2))]),
            "dirty-update",
            ("T1 ww T2", "x", "T3.0 T1.0 T2.0", "list read"),
        ),
        "T3 read x = [1 2], where T2's 2 stands behind 1, which T1 appended and then rolled back: a "
        "committed update is built on one that was taken back.",
    ),
    "cyclic-versions": (
        found(
            in_sessions((1, [w("x", 1)]), (1, [w("x", 2)]), (2, [r("x", 2)]), (2, [r("x", 1)])),
            "cyclic-versions",
            ("T1 ww T2", "x", "T1.0 T2.0 T1.0 T2.0", "assume sequential-keys"),
            ("T2 ww T1", "x", "T2.0 T1.0 T3.0 T4.0", "assume sequential-keys"),
        ),
        "The versions of x come before each other in a circle: 1 before 2, because T1 wrote x = 1 and T2 "
        "wrote x = 2, and T1 ran before T2 in session 1; 2 before 1, because T3 read x = 2 and T4 read x "
        "= 1, and T3 ran before T4 in session 2. So what was claimed, `sequential-keys`, is not true of "
        "x.",
    ),
    "cyclic-versions with the initial one": (
        found(
            record([w("x", 1)], [r("x", 1)], [r("x", 0)]),
            "cyclic-versions",
            ("- ww T1", "x", "T1.0", "initial"),
            ("T1 ww -", "x", "T1.0 T2.0 T3.0", "assume linearizable-keys"),
        ),
        "The versions of x come before each other in a circle: the initial value before 1, because every "
        "key starts with it; 1 before the initial value, because T2 read x = 1 and T3 read x = 0, and T2 "
        "had completed before T3 began. So what was claimed, `linearizable-keys`, is not true of x.",
    ),
    "contradictory-evidence": (
        found(
            record([a("x", 1)], [a("x", 2)], [r("x", (2, 1))]),
            "contradictory-evidence",
            ("T2 ww T1", "x", "T3.0 T2.0 T1.0", "list read"),
            ("T1 ww T2", "x", "T1.0 T2.0", "timestamps"),
        ),
        "The sources disagree on the versions of x: T3 read x = [2 1], where T2's 2 stands before T1's 1;"
        " but by commit timestamps 1 comes before 2.",
    ),
    "no-commit-order": (
        found(
            UNREAD,
            "no-commit-order",
            alternatives=[
                [
                    ("T1 ww T2", "x", "T1.1 T2.1", "supposed"),
                    ("T3 rw T2", "x", "T3.0 T2.1 T1.1", "supposed"),
                    ("T2 rw T3", "y", "T2.0 T3.1", "initial"),
                ],
                [
                    ("T2 ww T1", "x", "T2.1 T1.1", "supposed"),
                    ("T4 rw T1", "x", "T4.0 T1.1 T2.1", "supposed"),
                    ("T1 rw T4", "z", "T1.0 T4.1", "initial"),
                ],
            ],
        ),
        "Whatever the order of the versions, there is a circle. If T1's 1 came before T2's 2 in x: T3 "
        "before T2, because T3 read x = 1 from T1, which T2 would then have overwritten with 2; T2 before"
        " T3, because T2 read y = 0, the initial value, which T3 overwrote with 1. If T2's 2 came before "
        "T1's 1 in x: T4 before T1, because T4 read x = 2 from T2, which T1 would then have overwritten "
        "with 1; T1 before T4, because T1 read z = 0, the initial value, which T4 overwrote with 1.",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_sentence_for_a_circle_is(case: str) -> None:
    anomaly, sentence = CASES[case]
    assert case.split(maxsplit=1)[0] == anomaly.name
    assert message(anomaly) == sentence


@pytest.mark.parametrize(
    "name", ["write-cycle", "circular-information-flow", "read-skew", "long-fork", "write-skew"]
)
def test_circles_with_sessions_or_real_time_are_told_like_plain_ones(name: str) -> None:
    plain = WORDINGS[name]
    assert WORDINGS[f"{name}-session"] == plain
    assert WORDINGS[f"{name}-real-time"].message is plain.message


@pytest.mark.parametrize("case", CASES)
def test_every_step_of_a_circle_says_why(case: str) -> None:
    anomaly, _ = CASES[case]
    assert anomaly.steps
    assert not [step for step in anomaly.steps if "the history shows it" in because(step)]


def test_the_state_before_the_first_transaction_is_no_transaction() -> None:
    anomaly, _ = CASES["cyclic-versions with the initial one"]
    assert anomaly.transactions == ("T1", "T2", "T3")


def test_orders_that_are_too_many_to_be_shown_are_said_to_have_been_tried() -> None:
    facts = AlternativesFacts(alternatives=())
    untold = Anomaly(name="no-commit-order", transactions=(), keys=(), facts=facts)
    assert message(untold) == (
        "Every order that the versions can have was tried, and each of them closes a circle."
    )


def test_what_no_order_satisfies_is_said_by_name_and_is_no_single_circle() -> None:
    told, _ = CASES["no-commit-order"]
    facts = told.facts_as(AlternativesFacts)
    named = replace(told, facts=replace(facts, level="snapshot-isolation"))
    assert message(named).startswith(
        "No order of the versions satisfies snapshot-isolation: each closes a circle. If T1's 1 came"
    )
    untold = replace(named, facts=AlternativesFacts(alternatives=(), level="snapshot-isolation"))
    assert message(untold) == (
        "No order of the versions satisfies snapshot-isolation: each that they can have closes a circle."
    )
    assert one_line(named) == ""
