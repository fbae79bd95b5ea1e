"""Proofs step by step, and the contradiction that each ends with: one sentence for every name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from isoscope import Recorder, check
from isoscope.explain import contradiction, message, proof, trimmed
from isoscope.history import VersionSource
from isoscope.verdict import Anomaly, ConflictFacts
from tests.recorded import record
from tests.small_histories import a, r, w
from tests.step_rows import found
from tests.test_explain import CONFLICTS, SENTENCES, anomaly_in
from tests.test_explain_cycles import CASES


def conflict(case: str) -> Anomaly:
    history, _ = CONFLICTS[case]
    name = case.split(maxsplit=1)[0]
    [verdict] = check(history, ["causal"], method="values").verdicts
    return next(anomaly for anomaly in verdict.anomalies if anomaly.name == name)


SAID = {
    "aborted-read": "But T1 aborted: no transaction may see what it wrote.",
    "aborted-read in a list": "But T1 aborted: no transaction may see what it appended.",
    "intermediate-read": "But T1 replaced it by 2 before it committed: T2 saw it half done.",
    "intermediate-read in a list": "But T1 went on and appended 2 before it committed: T2 saw it half done.",
    "non-monotonic-read-co": (
        "So T3 went back: after it had seen T2, it read x = 1, which T2 had overwritten with 2."
    ),
    "non-monotonic-read-co in lists": (
        "So T3 went back: after it had seen T1, it read x = [] without T1's append of 1."
    ),
    "fractured-read-co": (
        "So T3 saw only part of what T2 wrote: it read x = 1, which T2 had overwritten with 2."
    ),
    "fractured-read-co in a session": (
        "So T3 missed what T2 had done before it in its own session: it read x = 1, which T2 had overwritten "
        "with 2."
    ),
    "causal-conflict": (
        "So T3 comes after T1, and yet it read x = 0, the initial value, which T1 had overwritten with 1."
    ),
    "non-monotonic-read-cm": "So T1 and T2 must each have committed before the other.",
    "commit-order-conflict": "So T2 and T1 must each have committed before the other.",
    "cyclic-causal-order": "So T1 and T2 would each have to come before the other.",
    "cyclic-causal-order of three": "So none of T1, T2 and T3 can have come first.",
    "cyclic-causal-order in a session": (
        "So T1 saw what T2 wrote, although T2 ran only later in the same session."
    ),
    "lost-update of a list": (
        "So T1 and T2 both changed x = [], and neither saw the other's append: T2's came second."
    ),
    "lost-update of a register": (
        "So T2 and T3 both changed x = 5, and neither saw the other's write: T2's was lost."
    ),
    "lost-update in an unknown order": (
        "So T2 and T3 both changed x = 5, and neither saw the other's write: whichever came first was lost."
    ),
    "lost-update by a blind write": (
        "So T2's write of 6 came between T3's read of x and its own write."
    ),
    "read-skew": "So T2 saw only part of what T1 wrote: it would have to come both after and before T1.",
    "read-skew by an overwrite": "So T2 comes after T1 and yet did not see its write to x.",
    "read-skew of one key": (
        "So T2 saw x before and after T1 changed it: it would have to come both after and before T1."
    ),
    "read-skew of three": "So T3 comes after T1 and yet did not see its write to x.",
    "read-skew in a session": (
        "So T2 missed the append of a transaction that ran before it in its session."
    ),
    "read-skew in real time": "So the read was stale: T1's append was complete before T2 began.",
    "long-fork": "So T4 and T3 saw the updates of T2 and T1 in opposite orders.",
    "long-fork of writers": "So none of T2, T3, T4 and T1 can have come first.",
    "write-skew": (
        "So T1 and T2 each read what the other then changed: each would have to come before the other."
    ),
    "write-skew of three": (
        "So T1, T2 and T3 each read what the next of them then changed, in a circle: none of them can have "
        "come first."
    ),
    "write-skew that a third one sees": "So none of T2, T3 and T1 can have come first.",
    "write-cycle of registers": "So T1 and T2 would each have to come before the other.",
    "write-cycle in a session": "So the versions of x are in the opposite order of the session.",
    "write-cycle in real time": "So the versions of x are in the opposite order of real time.",
    "circular-information-flow in real time": (
        "So T1 saw what T2 wrote, although T2 began only after T1 had completed."
    ),
    "dirty-update": "But T1 aborted: a committed update is built on one that was taken back.",
    "cyclic-versions": "So what was claimed, `sequential-keys`, is not true of x.",
    "contradictory-evidence": "So the sources disagree on the versions of x, and one of them is wrong.",
    "no-commit-order": "So whatever the order of the versions, there is a circle.",
}  # fmt: skip


def told(case: str) -> Anomaly:
    if case in CASES:
        return CASES[case][0]
    return conflict(case) if case in CONFLICTS else anomaly_in(SENTENCES[case][0])


@pytest.mark.parametrize("case", SAID)
def test_the_contradiction_is(case: str) -> None:
    assert contradiction(told(case)) == SAID[case]


@pytest.mark.parametrize("case", [*SENTENCES, *CONFLICTS, *CASES])
def test_a_contradiction_is_one_sentence(case: str) -> None:
    said = contradiction(told(case))
    assert said.endswith(".")
    assert ". " not in said
    assert said.startswith(("So ", "But ")) == bool(told(case).steps)


def test_a_list_whose_update_was_lost_is_shown_around_its_last_element() -> None:
    """Both changed the end of the list: what stands far before it does not matter."""
    long = tuple(range(100, 120))
    history = record([r("x", long), a("x", 1)], [r("x", long), a("x", 2)], [r("x", (*long, 1, 2))])
    missed = ("T2 rw T1", "x", "T2.0 T1.1", "list read")
    anomaly = found(history, "lost-update", missed, ("T1 ww T2", "x", "T3.0 T1.1 T2.1", "list read"))
    assert contradiction(anomaly) == (
        "So T1 and T2 both changed x = [... 117 118 119], and neither saw the other's append: T2's came "
        "second."
    )


def test_real_time_is_named_if_it_alone_orders_the_versions_of_a_circle() -> None:
    history = record([r("y", 0), w("x", 1)], [r("x", 0), w("y", 1)])
    back = ("T2 rw T1", "x", "T2.0 T1.1", "real-time")
    anomaly = found(history, "write-skew-real-time", ("T1 rw T2", "y", "T1.0 T2.1", "real-time"), back)
    assert contradiction(anomaly) == (
        "So T1 and T2 each read what the other then changed: each would have to come before the other. Only "
        "real time orders the versions of y and x."
    )


def test_without_steps_the_contradiction_is_the_message() -> None:
    anomaly = anomaly_in(SENTENCES["thin-air-read"][0])
    assert contradiction(anomaly) == message(anomaly)
    unheard_of = Anomaly(name="lock-violation", transactions=("T1", "T2"), keys=())
    assert contradiction(unheard_of) == "lock-violation between T1, T2."


def test_a_log_that_shows_the_commit_of_what_failed_is_the_contradiction() -> None:
    recorder = Recorder(initial=0)
    with recorder.transaction() as t:
        t.write("x", 1)
        t.abort()
    with recorder.transaction() as t:
        t.read("x", 1)
    recorder.version_order("x", [7, 1], source=VersionSource.LOG)
    [verdict] = check(recorder.history(), ["pl-2"]).verdicts
    assert contradiction(verdict.anomalies[0]) == (
        "The history has T1 as failed, but the log shows that it committed: its client has recorded the "
        "wrong outcome."
    )


def test_versions_in_a_circle_without_a_claim_are_told_as_such() -> None:
    anomaly, _ = CASES["cyclic-versions"]
    unclaimed = replace(anomaly, steps=tuple(replace(step, source="log") for step in anomaly.steps))
    assert contradiction(unclaimed) == "So the versions of x come before each other in a circle."


def lines(anomaly: Anomaly) -> list[str]:
    return [
        f"{reason.before} before {reason.after} ({reason.relation}): {reason.because}"
        for part in proof(anomaly)
        for reason in part.reasons
    ]


def test_what_came_to_sight_by_several_steps_has_a_line_for_each_of_them() -> None:
    assert lines(conflict("commit-order-conflict")) == [
        "T2 before T5 (wr): T5 read x = 2, which T2 wrote",
        "T5 before T6 (session): both ran in session 4",
        "T2 before T1 (cm): T6 read x = 1 from T1 although T2, which wrote x = 2 too, happened before it",
        "T1 before T3 (wr): T3 read x = 1, which T1 wrote",
        "T3 before T4 (session): both ran in session 3",
        "T1 before T2 (cm): T4 read x = 2 from T2 although T1, which wrote x = 1 too, happened before it",
    ]


def test_what_a_reason_says_itself_has_no_line_of_its_own() -> None:
    one, other = lines(conflict("non-monotonic-read-cm"))
    assert one.startswith("T1 before T2 (cm): T4 read x = 2 from T2 although it had also read y = 1 from T1,")
    assert other.startswith(
        "T2 before T1 (cm): T3 read x = 1 from T1 although it had also read z = 2 from T2,"
    )


def test_a_stale_read_is_told_with_the_order_the_sight_and_what_was_read() -> None:
    assert lines(conflict("fractured-read-co in a session")) == [
        "T1 before T2 (wr): T2 read x = 1, which T1 wrote",
        "T2 before T3 (session): both ran in session s",
        "T1 before T3 (wr): T3 read x = 1, which T1 wrote",
    ]


def test_versions_are_told_by_their_values_and_sources() -> None:
    anomaly, _ = CASES["contradictory-evidence"]
    assert lines(anomaly) == [
        "2 before 1 (list read): T3 read x = [2 1], where T2's 2 stands before T1's 1",
        "1 before 2 (timestamps): by commit timestamps 1 comes before 2",
    ]
    claimed, _ = CASES["cyclic-versions with the initial one"]
    assert [line.split(":")[0] for line in lines(claimed)] == [
        "the initial value before 1 (initial)",
        "1 before the initial value (claimed)",
    ]


def test_every_order_of_versions_that_was_tried_is_a_part() -> None:
    anomaly, _ = CASES["no-commit-order"]
    parts = proof(anomaly)
    assert [part.supposed for part in parts] == [
        "If T1's 1 came before T2's 2 in x",
        "If T2's 2 came before T1's 1 in x",
    ]
    assert [[reason.before for reason in part.reasons] for part in parts] == [["T3", "T2"], ["T4", "T1"]]


@pytest.mark.parametrize("case", ["thin-air-read", "non-repeatable-read"])
def test_an_anomaly_without_steps_has_no_proof(case: str) -> None:
    assert proof(anomaly_in(SENTENCES[case][0])) == ()


def test_what_is_trimmed_has_no_places_and_short_names() -> None:
    long = "transaction " * 20
    recorder = Recorder(initial=0)
    with recorder.transaction(id=long, session=1) as t:
        t.write("x", 1)
    with recorder.transaction(session=1) as t:
        t.read("x", 0)
    [verdict] = check(recorder.history(), ["read-atomic"], method="values").verdicts
    [anomaly] = verdict.anomalies
    facts = anomaly.facts_as(ConflictFacts)
    placed = replace(
        anomaly,
        witnesses=tuple(replace(w, place="h:1") for w in anomaly.witnesses),
        facts=replace(facts, write=replace(facts.write, place="h:1")),
    )
    short = trimmed(placed)
    assert "h:1" not in contradiction(short)
    assert "h:1" in contradiction(placed)
    assert max(map(len, (short.transactions[0], lines(short)[0].split(" before ")[0]))) < 70
    assert short.participants == placed.participants
