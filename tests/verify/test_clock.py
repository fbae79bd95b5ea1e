"""Clock levels: the verifier evaluates them by itself, and is compared with the axioms pair by pair."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from isoscope.verify.history import UNKNOWN, History, Initial, Transaction
from tests.verify.small import accepts

if TYPE_CHECKING:
    from collections.abc import Iterator

LEVELS = ("clock-snapshot-isolation", "clock-serializable")


def timed(choose: random.Random, *, lists: bool) -> History:
    """A store with snapshots and a clock, in which one read or timestamp may be wrong."""
    made = []
    for number in range(4):
        t = Transaction(number, number + 1, choose.randrange(3))
        t.session_id = t.session
        start = choose.randrange(8)
        t.start, t.commit = (start, 0), (start + choose.randrange(4), 0)
        for _ in range(choose.randrange(1, 4)):
            is_write = choose.random() < 0.5
            kind = ("append" if lists else "write") if is_write else "read"
            t.operations.append((kind, choose.choice("xy"), 10 * number + len(t.operations) + 1))
        made.append(t)
    for t in made:
        _fill(t, made, lists=lists)
    if choose.random() < 0.4:
        t = choose.choice(made)
        at = choose.randrange(len(t.operations))
        kind, key, _ = t.operations[at]
        if kind == "read":
            t.operations[at] = (kind, key, [] if lists else 0)
    return History(made, Initial(value=0), "tiny")


def _fill(t: Transaction, made: list[Transaction], *, lists: bool) -> None:
    """Give every read what the clock says."""
    filled: list[Any] = []
    for kind, key, value in t.operations:
        if kind != "read":
            filled.append((kind, key, value))
            continue
        seen = [u for u in sorted(made, key=order) if u is not t and sees(t, u)]
        writes = [op for u in seen for op in u.operations if op[1] == key and op[0] != "read"]
        values = [op[2] for op in writes + [op for op in filled if op[1] == key and op[0] != "read"]]
        filled.append((kind, key, values if lists else values[-1] if values else 0))
    t.operations = filled


def order(t: Transaction) -> Any:
    return t.commit, t.start, t.session, t.place, t.number


def sees(t: Transaction, other: Transaction) -> bool:
    assert t.start is not None
    assert other.commit is not None
    if other.commit == t.start == t.commit == other.start:
        return bool(order(other) < order(t))
    return other.commit <= t.start


def violations(history: History, level: str) -> Iterator[str]:
    """SESSION, INT, EXT, NOCONFLICT and start before commit, by their definitions."""
    counting = history.transactions
    snapshots = level == "clock-snapshot-isolation"
    for t in counting:
        seen = [u for u in sorted(counting, key=order) if u is not t]
        seen = [u for u in seen if (sees(t, u) if snapshots else order(u) < order(t))]
        yield from _reads(history, t, seen)
    if not snapshots:
        return
    for one in counting:
        assert one.start is not None
        assert one.commit is not None
        if one.start > one.commit:
            yield "inversion"
        for two in counting:
            assert two.start is not None
            assert two.commit is not None
            if one.session == two.session and two.place == one.place + 1 and two.start < one.commit:
                yield "session"
            keys = {op[1] for op in one.operations if op[0] != "read"}
            common = [op for op in two.operations if op[0] != "read" and op[1] in keys]
            overlap = one.commit > two.start or one.commit == two.commit
            if one is not two and common and order(one) < order(two) and overlap:
                yield "conflict"


def _reads(history: History, t: Transaction, seen: list[Transaction]) -> Iterator[str]:
    for place, (kind, key, value) in enumerate(t.operations):
        if kind != "read":
            continue
        before = [op for op in t.operations[:place] if op[1] == key]
        own = [op[2] for op in before if op[0] != "read"]
        others = [op[2] for u in seen for op in u.operations if op[1] == key and op[0] != "read"]
        if key in history.lists:
            reads = [op[2] for op in before if op[0] == "read"]
            if reads:
                last = max(at for at, op in enumerate(before) if op[0] == "read")
                expected = before[last][2] + [op[2] for op in before[last + 1 :]]
            else:
                expected = others + own
        else:
            expected = before[-1][2] if before else (others or [0])[-1]
        if value != expected:
            yield "read"


@pytest.mark.parametrize("lists", [False, True], ids=["registers", "lists"])
def test_a_clock_level_is_verified_exactly_as_the_axioms_say(lists: bool) -> None:
    found = set()
    for seed in range(400):
        history = timed(random.Random(seed), lists=lists)
        for level in LEVELS:
            outcome = "violated" if any(violations(history, level)) else "holds"
            found.add((level, outcome))
            for said in ("holds", "violated"):
                assert accepts(history, {"level": level, "outcome": said}) == (said == outcome), (seed, level)
    assert len(found) == 4


def test_without_timestamps_a_clock_level_is_not_said_to_hold() -> None:
    history = timed(random.Random(1), lists=False)
    history.transactions[0].commit = None
    for t in history.transactions:
        t.operations = [operation for operation in t.operations if operation[0] == "write"][:1]
        t.start, t.session = (t.number, 0), t.number
        t.commit = (t.number, 0) if t.number else None
    assert not accepts(history, {"level": "clock-serializable", "outcome": "holds"})
    assert not accepts(history, {"level": "clock-serializable", "outcome": "violated"})


@pytest.mark.parametrize(("initial", "outcome"), [(UNKNOWN, "holds"), (9, "violated")])
@pytest.mark.parametrize("level", LEVELS)
def test_a_read_of_nil_shows_no_delete_if_the_key_may_not_have_existed(
    level: str, initial: Any, outcome: str
) -> None:
    """If the delete took effect, y is older than what the same transaction wrote."""
    first = Transaction(0, 1, 0, "indeterminate")
    first.operations = [("delete", "x", None), ("write", "y", 7)]
    between = Transaction(1, 2, 1)
    between.operations = [("write", "y", 8)]
    reader = Transaction(2, 3, 2)
    reader.operations = [("read", "x", None), ("read", "y", 8)]
    for t, moment in ((between, 1), (first, 2), (reader, 3)):
        t.start = t.commit = (moment, 0)
    history = History([first, between, reader], Initial(value=initial), "parquet")
    assert accepts(history, {"level": level, "outcome": outcome})
