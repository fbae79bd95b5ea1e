"""Every step of every circle is checked against the history, and the check finds what is not true."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from isoscope.checkers import CHECKERS, check, version_order
from isoscope.history import Interval, Timestamp, VersionSource
from isoscope.recorder import build
from isoscope.verdict import AlternativesFacts, Method
from tests.proofs import Replay
from tests.recorded import record
from tests.reference.weak_histories import random_weak_history
from tests.seeds import seeds
from tests.small_histories import a, in_sessions, r, w
from tests.step_rows import Told, found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.history import History, Transaction
    from isoscope.verdict import Anomaly

SEEDS = seeds(400, deep=20_000)
PARTS = 4


def with_evidence(history: History, *, log: Any = (), declared: Any = (), timed: bool = False) -> History:
    """The history with orders of x, and with clocks on which one transaction follows the other."""
    orders = ((VersionSource.LOG, log), (VersionSource.DECLARED, declared))
    transactions = [on_the_clock(t, 10 * t.number, 10 * t.number + 5) if timed else t for t in history]
    versions = [(source, "x", value) for source, values in orders for value in values]
    return build(transactions, initial=history.initial, versions=versions)


def on_the_clock(transaction: Transaction, start: int, end: int) -> Transaction:
    interval = Interval(start, end)
    return replace(transaction, start=Timestamp(start), commit=Timestamp(end), interval=interval)


WRITES = record([w("x", 1)], [w("x", 2)], [r("x", 1)])
CLOCK = with_evidence(WRITES, log=[2, 1], declared=[1, 2], timed=True)
LISTS = record([a("x", 1), a("y", 1)], [r("x", ()), a("x", 2)], [r("x", (1, 2)), r("y", ())], [r("y", (1,))])
SAME = in_sessions((4, [w("x", 1)]), (4, [w("x", 2)]), (5, [r("x", 2)]), (5, [r("x", 1)]), (6, [r("x", 0)]))
BUILT = record([w("x", 1)], [r("x", 1), w("x", 2)], [r("x", 1), w("y", 1)], [r("y", 1), w("x", 3)])
ABORTED = record([a("x", 1), ("abort",)], [a("x", 2)], [r("x", (1, 2))])
#: Steps that are true of these histories.
TRUE: list[tuple[History, Told]] = [
    (CLOCK, ("T1 ww T2", "x", "T1.0 T2.0", "declared")),
    (CLOCK, ("T2 ww T1", "x", "T2.0 T1.0", "log")),
    (CLOCK, ("T1 ww T2", "x", "T1.0 T2.0", "timestamps")),
    (CLOCK, ("T1 ww T2", "x", "T1.0 T2.0", "real-time")),
    (CLOCK, ("T3 rw T2", "x", "T3.0 T2.0 T1.0", "declared")),
    (CLOCK, ("T1 real-time T3", None, "", "")),
    (LISTS, ("T1 ww T2", "x", "T3.0 T1.0 T2.1", "list read")),
    (LISTS, ("T2 rw T1", "x", "T2.0 T1.0", "initial")),
    (LISTS, ("T3 rw T1", "y", "T3.1 T1.1", "list read")),
    (LISTS, ("T1 wr T4", "y", "T4.0 T1.1", "")),
    (SAME, ("T1 ww T2", "x", "T1.0 T2.0", "session")),
    (SAME, ("T1 session T2", None, "", "")),
    (SAME, ("T2 ww T1", "x", "T2.0 T1.0 T3.0 T4.0", "assume sequential-keys")),
    (SAME, ("T5 rw T2", "x", "T5.0 T2.0", "initial")),
    (SAME, ("T4 rw T2", "x", "T4.0 T2.0 T1.0", "session")),
    (BUILT, ("T1 ww T2", "x", "T1.0 T2.1", "read-then-write")),
    (BUILT, ("T3 rw T2", "x", "T3.0 T2.1 T1.0", "read-then-write")),
]
#: The same, each with something in it that is not.
FALSE: list[tuple[History, Told]] = [
    (CLOCK, ("T2 ww T1", "x", "T2.0 T1.0", "declared")),
    (CLOCK, ("T1 ww T2", "x", "T1.0 T2.0", "log")),
    (WRITES, ("T1 ww T2", "x", "T1.0 T2.0", "log")),
    (CLOCK, ("T2 ww T1", "x", "T2.0 T1.0", "timestamps")),
    (CLOCK, ("T2 ww T1", "x", "T2.0 T1.0", "real-time")),
    (CLOCK, ("T3 rw T2", "x", "T3.0 T2.0 T1.0", "log")),
    (CLOCK, ("T3 rw T2", "x", "T3.0 T2.0 T2.0", "declared")),
    (CLOCK, ("T3 rw T1", "x", "T3.0 T1.0", "declared")),
    (CLOCK, ("T3 rw T2", "x", "T3.0 T2.0", "initial")),
    (CLOCK, ("T3 real-time T1", None, "", "")),
    (WRITES, ("T1 real-time T3", None, "", "")),
    (LISTS, ("T2 ww T1", "x", "T3.0 T2.1 T1.0", "list read")),
    (LISTS, ("T4 rw T1", "y", "T4.0 T1.1", "list read")),
    (LISTS, ("T3 wr T4", "y", "T4.0 T1.1", "")),
    (SAME, ("T2 ww T1", "x", "T2.0 T1.0", "session")),
    (SAME, ("T1 ww T2", "x", "T1.0 T2.0 T3.0 T4.0", "assume sequential-keys")),
    (SAME, ("T2 ww T1", "x", "T2.0 T1.0", "assume linearizable-keys")),
    (SAME, ("T1 session T3", None, "", "")),
    (BUILT, ("T1 ww T4", "x", "T1.0 T4.1", "read-then-write")),
    (BUILT, ("T3 rw T4", "x", "T3.0 T4.1 T1.0", "read-then-write")),
]


@pytest.mark.parametrize("number", range(len(TRUE)))
def test_a_true_step_can_be_replayed(number: int) -> None:
    history, told = TRUE[number]
    [step] = found(history, "write-cycle", told).steps
    Replay(history).step(step)


@pytest.mark.parametrize("number", range(len(FALSE)))
def test_a_false_step_cannot_be_replayed(number: int) -> None:
    history, told = FALSE[number]
    [step] = found(history, "write-cycle", told).steps
    with pytest.raises((AssertionError, ValueError)):
        Replay(history).step(step)


#: Anomalies and whether their names fit.
NAMED: list[tuple[History, str, list[Told], bool]] = [
    (CLOCK, "contradictory-evidence", [TRUE[0][1], TRUE[1][1]], True),
    (CLOCK, "contradictory-evidence", [TRUE[0][1]], False),
    (CLOCK, "write-cycle", [TRUE[0][1], TRUE[1][1]], True),
    (CLOCK, "read-skew", [TRUE[0][1], TRUE[1][1]], False),
    (LISTS, "lost-update", [TRUE[6][1], TRUE[7][1]], True),
    (LISTS, "read-skew", [TRUE[6][1], TRUE[7][1]], True),
    (LISTS, "write-skew", [TRUE[6][1], TRUE[7][1]], False),
    (LISTS, "write-cycle", [TRUE[6][1], TRUE[7][1]], False),
    (LISTS, "long-fork", [TRUE[6][1], TRUE[7][1]], False),
    (LISTS, "write-cycle", [TRUE[6][1]], False),
    (SAME, "cyclic-versions", [TRUE[12][1], (*TRUE[10][1][:3], "assume sequential-keys")], True),
    (SAME, "cyclic-versions", [TRUE[12][1]], False),
    (ABORTED, "dirty-update", [("T1 ww T2", "x", "T3.0 T1.0 T2.0", "list read")], True),
    (ABORTED, "write-cycle", [("T1 ww T2", "x", "T3.0 T1.0 T2.0", "list read")], False),
    (ABORTED, "dirty-update", [("T2 ww T1", "x", "T3.0 T2.0 T1.0", "list read")], False),
]


@pytest.mark.parametrize("number", range(len(NAMED)))
def test_a_circle_is_replayed_if_its_name_fits(number: int) -> None:
    history, name, told, fits = NAMED[number]
    anomaly = found(history, name, *told)
    if fits:
        Replay(history).anomaly(anomaly)
        return
    with pytest.raises((AssertionError, ValueError)):
        Replay(history).anomaly(anomaly)


FORKED = record(
    [r("z", 0), w("x", 1)], [r("y", 0), w("x", 2)], [r("x", 1), w("y", 1)], [r("x", 2), w("z", 1)]
)
FIRST: list[Told] = [
    ("T1 ww T2", "x", "T1.1 T2.1", "supposed"),
    ("T3 rw T2", "x", "T3.0 T2.1 T1.1", "supposed"),
    ("T2 rw T3", "y", "T2.0 T3.1", "initial"),
]
SECOND: list[Told] = [
    ("T2 ww T1", "x", "T2.1 T1.1", "supposed"),
    ("T4 rw T1", "x", "T4.0 T1.1 T2.1", "supposed"),
    ("T1 rw T4", "z", "T1.0 T4.1", "initial"),
]


def test_alternatives_are_circles_for_different_orders() -> None:
    Replay(FORKED).anomaly(found(FORKED, "no-commit-order", alternatives=[FIRST, SECOND]))
    for alternatives in ([FIRST, FIRST], [FIRST], [FIRST, SECOND[:-1]], [FIRST[1:], SECOND]):
        with pytest.raises(AssertionError):
            Replay(FORKED).anomaly(found(FORKED, "no-commit-order", alternatives=alternatives))


def random_histories(part: int) -> Iterator[History]:
    """Histories of every kind of evidence, true or not."""
    for seed in range(part, SEEDS, PARTS):
        rng = random.Random(seed)
        history = random_weak_history(rng, unique=seed % 5 > 0)
        yield with_random_evidence(rng, history)


def with_random_evidence(rng: random.Random, history: History) -> History:
    transactions, clock = [], 0
    for transaction in history:
        clock += rng.choice((1, 3))
        end = clock + rng.choice((0, 2, 8))
        transactions.append(on_the_clock(transaction, clock, end) if rng.random() < 0.8 else transaction)
    versions: list[tuple[VersionSource, Any, Any]] = []
    for key in history.keys:
        values = [o.value for t in history for o in t.operations if o.key == key and o.kind == "write"]
        chosen = [value for value in dict.fromkeys(values) if rng.random() < 0.8]
        rng.shuffle(chosen)
        source = rng.choice(list(VersionSource))
        versions += [(source, key, value) for value in chosen if rng.random() < 0.7]
    return build(transactions, initial=history.initial, versions=versions)


def circles_of(history: History) -> Iterator[Anomaly]:
    """What the version order shows, each once."""
    report = check(history, method=Method.VERSION_ORDER, max_anomalies=1000)
    told: dict[str, list[Anomaly]] = {}
    for verdict in report.verdicts:
        for name in {*verdict.anomaly_counts} & {*version_order.NAMES}:
            told[name] = [anomaly for anomaly in verdict.anomalies if anomaly.name == name]
    return (anomaly for anomalies in told.values() for anomaly in anomalies if anomaly.steps)


@pytest.mark.skipif(
    Method.VERSION_ORDER not in {checker.METHOD for checker in CHECKERS},
    reason="no method of this version looks at the order of versions",
)
@pytest.mark.parametrize("part", range(PARTS))
def test_every_step_of_every_circle_can_be_replayed(part: int) -> None:
    seen: Counter[str] = Counter()
    weaker = 0
    for history in random_histories(part):
        replay = Replay(history)
        for anomaly in circles_of(history):
            if anomaly.steps or isinstance(anomaly.facts, AlternativesFacts):
                replay.anomaly(anomaly)
                seen[anomaly.name] += 1
        weaker += replay.weaker
    assert len(seen) > 10, seen
    assert weaker < seen.total() / 50
