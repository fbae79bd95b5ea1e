"""Online checking on a disk: checkpoints, and segments of transactions that left memory."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from isoscope.checkers.online import Online
from isoscope.history import UNKNOWN, Initial
from isoscope.levels import Level
from isoscope.recorder import build
from isoscope.verdict import Outcome
from tests.reference.clock_histories import clocked
from tests.reference.deliveries import offline, random_delivery
from tests.seeds import DEEP, seeds
from tests.test_online_collection import delivered, first, flags, hurried, only, simulated

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.history import Transaction
    from tests.reference.deliveries import Delivery

SEEDS = seeds(120, deep=10_000)
pytestmark = pytest.mark.timeout(3600 if DEEP else 120)
SI, SER = LEVELS = Level.CLOCK_SNAPSHOT_ISOLATION, Level.CLOCK_SERIALIZABLE


# Checkpoints.


def seen(online: Online) -> tuple[object, ...]:
    """Everything that can be asked; memory is an estimate."""
    status = {name: getattr(online.status(), name) for name in online.status().__slots__ if name != "memory"}
    # Once something was dropped, a verdict may fail: `test_online_collection` knows.
    verdict = online.verdict() if online.status().watermark is None else None
    return status, fields(online.stability()), verdict, [fields(news) for news in online.news()]


def fields(data: object) -> dict[str, object]:
    """The fields of an object of the native core."""
    return {name: getattr(data, name) for name in dir(data) if not name.startswith("_")}


def test_a_loaded_engine_behaves_as_the_saved_one() -> None:
    for seed in range(SEEDS):
        chooser = random.Random(seed)
        delivery = random_delivery(chooser)
        timeout = chooser.choice((0, 2, 1000))
        for level in LEVELS:
            online = Online(level, timeout=timeout, initial=delivery.initial.value)
            for batch in delivery.batches:
                other = Online.load(level, online.save())
                for engine in (online, other):
                    step(engine, delivery, batch.transactions, batch.at)
                assert online.save() == other.save()
                assert seen(online) == seen(other)
            online.flush()
            assert seen(Online.load(level, online.save())) == seen(online)


def step(online: Online, delivery: Delivery, transactions: tuple[Transaction, ...], now: int) -> None:
    try:
        online.take(build(transactions, initial=delivery.initial), now)
    except ValueError:
        return
    online.advance(now)


def test_the_same_calls_give_the_same_bytes() -> None:
    history = simulated("stale-snapshot")
    saved = []
    for _ in range(2):
        online = Online(SI, timeout=500, initial=0)
        delivered(online, history, most=100)
        saved.append(online.save())
    assert saved[0] == saved[1]


def test_a_checkpoint_that_is_cut_off_is_refused() -> None:
    online = Online(SI, timeout=10, initial=0)
    online.take(clocked("a 1-2: w(x,1) a(z,1)", "b 3-4: r(x,0) r(z,[1;2])"), 0)
    online.flush()
    saved = online.save()
    for length in range(len(saved)):
        with pytest.raises(ValueError, match="damaged"):
            Online.load(SI, saved[:length])


def test_a_checkpoint_with_another_byte_is_refused_or_read() -> None:
    online = Online(SI, timeout=10, initial=0)
    online.take(clocked("a 1-2: w(x,1) a(z,1)", "b 3-4: r(x,0) r(z,[1;2])"), 0)
    online.flush()
    saved = online.save()
    refused = 0
    for place in range(len(saved)):
        for bit in (1, 128):
            other = bytearray(saved)
            other[place] ^= bit
            try:
                Online.load(SI, bytes(other))
            except ValueError:
                refused += 1
    assert refused > 100


# Segments.


def spilling(level: Level, folder: Path, *, timeout: int, initial: object = 0) -> Online:
    """An engine whose segments are as small as can be."""
    folder.mkdir()
    online = Online(level, timeout=timeout, max_anomalies=1000, initial=initial)  # type: ignore[arg-type]
    online._engine.spill_to(str(folder), 1)
    return online


def test_with_segments_nothing_comes_too_late(tmp_path: Path) -> None:
    outcomes: Counter[Outcome] = Counter()
    for seed in range(SEEDS):
        chooser = random.Random(seed)
        delivery = random_delivery(chooser)
        for level in LEVELS:
            folder = tmp_path / f"{seed}-{level}"
            online = spilling(
                level, folder, timeout=chooser.choice((0, 1, 3)), initial=delivery.initial.value
            )
            there = hurried(online, delivery, chooser)
            whole = offline(there, delivery.initial, level)
            assert online.status().counts == whole.counts
            assert online.status().ties == whole.ties
            assert flags(online.status())[:2] == (0, 0)
            assert online.verdict().outcome is whole.verdict().outcome
            assert online.trouble is None
            outcomes[whole.verdict().outcome] += 1
    assert min(outcomes[Outcome.HOLDS], outcomes[Outcome.VIOLATED]) > SEEDS // 3


@pytest.mark.parametrize("bug", [None, "stale-snapshot", "reordered-session"])
@pytest.mark.parametrize("lists", [False, True], ids=["registers", "lists"])
def test_long_histories_with_delays_beyond_the_timeout_are_judged_exactly(
    tmp_path: Path, bug: str | None, lists: bool
) -> None:
    history = simulated(bug, lists=lists, transactions=500)
    for level in LEVELS:
        online = spilling(level, tmp_path / level, timeout=20)
        delivered(online, history, most=2000)
        online.flush()
        assert online.status().counts == offline(history, history.initial, level).counts
        assert flags(online.status())[:2] == (0, 0)
        assert online.status().overturned > 0


@pytest.mark.parametrize("level", LEVELS)
def test_transactions_with_equal_commits_are_read_back_in_order(tmp_path: Path, level: Level) -> None:
    history = clocked(
        "a 1-3: w(x,3)", "b 2-3: w(x,0)", "a 5-6: w(x,4)", "a 7-8: w(x,5)", "a 9-10: w(y,5)", "b 4-4: r(x,0)"
    )
    online = spilling(level, tmp_path / level, timeout=0)
    online.take(first(history, 5), 0)
    online.advance(1)
    online.take(only(history, 5), 2)
    online.flush()
    assert online.status().counts == offline(history, history.initial, level).counts


def test_a_late_aborted_write_of_the_learned_initial_value_is_judged(tmp_path: Path) -> None:
    history = clocked("a 1-1: r(z,7) w(z,1)", "b 1-5:", "c 3-4 aborted: w(z,7)", initial=Initial())
    online = spilling(SER, tmp_path / "segments", timeout=1, initial=UNKNOWN)
    online.take(first(history, 2), 0)
    online.advance(2)
    online.take(only(history, 2), 4)
    online.flush()
    assert online.status().counts == offline(history, history.initial, SER).counts == {"stale-read": 1}


def test_transactions_that_cannot_be_spilled_stay_in_memory_and_the_disk_is_quoted(tmp_path: Path) -> None:
    online = spilling(SI, tmp_path / "gone", timeout=10)
    (tmp_path / "gone").rmdir()
    history = clocked("a 1-2: w(x,1)", "b 3-4: w(x,2)", "c 5-6: w(x,3)", "d 3-3: r(x,1)")
    for number in range(4):
        online.take(only(history, number), 20 * number)
        online.advance(20 * number + 10)
    online.flush()
    assert online.trouble
    assert online.verdict().outcome is Outcome.HOLDS
