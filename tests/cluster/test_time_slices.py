"""Slices of a key, with the state at the cut, show what the whole key shows."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from isoscope._native import judge_clock
from isoscope.cluster.time_slices import LastVersion, RawKey, SplitKey, initial_edn, states, time_slices
from isoscope.history import UNKNOWN, Initial, OperationKind, Status
from isoscope.levels import Level
from isoscope.recorder import build
from tests.cluster.generated import with_a_hot_key

if TYPE_CHECKING:
    from isoscope.history import Transaction

LEVELS = (Level.CLOCK_SNAPSHOT_ISOLATION, Level.CLOCK_SERIALIZABLE)
KEY = RawKey(0, 7, None)
OF_SESSIONS = ("session-order", "timestamp-inversion")


def on_the_key(seed: int) -> list[Transaction]:
    """The transactions of a history, with their operations on the key that nearly all are on."""
    history = with_a_hot_key(seed)
    every = [history.transaction(number) for number in range(len(history))]
    kept = [replace(one, operations=tuple(o for o in one.operations if o.key == 7)) for one in every]
    return [one for one in kept if one.operations]


def counts(transactions: list[Transaction], window: tuple[int, int] | None = None) -> Counter[object]:
    history = build(transactions, initial=Initial(value=0))
    judged = judge_clock(history.columns, LEVELS, 0, window)
    return Counter(
        {(one.level, n): count for one in judged for n, count in one.counts.items() if n not in OF_SESSIONS}
    )


def places(one: Transaction, cuts: tuple[int, ...]) -> range:
    """The slices that a transaction runs in."""
    if one.commit is None:
        return range(1)
    ends = [sum(cut < time.physical for cut in cuts) for time in (one.start or one.commit, one.commit)]
    return range(min(ends), max(ends) + 1)


def handed_over(transactions: list[Transaction], split: SplitKey) -> dict[object, list[int]]:
    lasts: dict[int, tuple[int, ...]] = {}
    for one in transactions:
        is_writer = any(o.kind is OperationKind.WRITE for o in one.operations)
        if is_writer and one.status is Status.COMMITTED:
            last = places(one, split.cuts)[-1]
            lasts[last] = max(lasts.get(last, times(one)), times(one))
    versions = (LastVersion(KEY, number, found) for number, found in lasts.items())
    return {found: slices for (_, found), slices in states([split], versions).items()}


def times(one: Transaction) -> tuple[int, ...]:
    ends = (one.commit, one.start)
    return tuple(part for end in ends if end is not None for part in (end.physical, end.logical))


@pytest.mark.parametrize("cuts", [(30,), (5, 6, 20, 21, 50), (100, 300, 420)])
@pytest.mark.parametrize("seed", [1, 7, 10, 13, 16, 22, 25, 28, 3, 9])
def test_slices_show_what_the_whole_key_shows(seed: int, cuts: tuple[int, ...]) -> None:
    transactions = on_the_key(seed)
    split = SplitKey(KEY, cuts, "0", 0)
    state = handed_over(transactions, split)
    found: Counter[object] = Counter()
    for number, one in enumerate(time_slices([split])):
        some = [t for t in transactions if number in places(t, cuts) or number in state.get(times(t), ())]
        found += counts(some, one.window)
    assert found == counts(transactions)


def test_without_the_state_at_the_cut_reads_would_look_stale() -> None:
    transactions = on_the_key(3)
    differs = []
    for cut in range(100, 500, 40):
        alone = [one for one in transactions if 1 in places(one, (cut,))]
        window = (cut + 1, 2**63 - 1)
        differs.append(counts(alone, window) != counts(transactions, window))
    assert any(differs)


@pytest.mark.parametrize(
    ("initial", "is_replaced", "learned", "expected"),
    [
        (Initial(value=0), False, None, "0"),
        (Initial(value=0), True, None, '"isoscope: no value"'),
        (Initial(value=UNKNOWN), False, "5", "5"),
        (Initial(value=UNKNOWN), False, None, '"isoscope: no value"'),
    ],
)
def test_the_initial_value_of_a_key_is_that_of_all_slices(
    initial: Initial, learned: str | None, expected: str, *, is_replaced: bool
) -> None:
    assert initial_edn(initial, is_replaced=is_replaced, learned=learned) == expected
